// Asks logs of shadowtrace questions in SQL: see README.md.
//
//     node run.cjs [--json] [--top N] [--set NAME=VALUE]... [--old LOG]... [--ask QUESTION]... [--schema DIR] LOG...
//     node run.cjs [--schema DIR] --list
//
// QUESTION: a name in questions.sql, or a query. Without --ask all that the log can answer are asked. --old LOG is the
// earlier build that `builds` compares with. --schema: schema.sql and questions.sql of another folder. Needs the package @duckdb/node-api (npm install @duckdb/node-api).
'use strict';
const fs = require('fs');
const path = require('path');

function arguments_of(words) {
    const given = {logs: [], old: [], ask: [], set: {}, json: false, top: 10, list: false, schema: __dirname};
    for (let i = 0; i < words.length; i++) {
        const value = () => words[++i] ?? usage(`${words[i - 1]} wants a value`);
        switch (words[i]) {
        case '--json': given.json = true; break;
        case '--list': given.list = true; break;
        case '--top': given.top = Number(value()) || Infinity; break;
        case '--schema': given.schema = value(); break;
        case '--old': given.old.push(value()); break;
        case '--ask': given.ask.push(value()); break;
        case '--set': {
            const [, name, text] = value().match(/^(\w+)=(.*)$/s) ?? usage('--set wants NAME=VALUE');
            given.set[name] = text;
            break;
        }
        default: words[i].startsWith('-') ? usage(`unknown option ${words[i]}`) : given.logs.push(words[i]);
        }
    }
    return given.list || given.logs.length ? given : usage('which log?');
}

function usage(why) {
    console.error(`run.cjs: ${why}; the first lines of run.cjs say how to call it`);
    process.exit(2);
}

// name -> {title, query} of questions.sql: a comment `-- name: title` begins each.
function questions(folder) {
    const found = new Map();
    const text = fs.readFileSync(path.join(folder, 'questions.sql'), 'utf8');
    for (const [, name, title, query] of text.matchAll(/^-- (\w+): (.*)\n([^]*?);$/gm))
        found.set(name, {title, query});
    return found;
}

const literal = text => `'${text.replaceAll("'", "''")}'`;
const list = texts => `[${texts.map(literal).join(', ')}]::varchar[]`;

const WIDEST = 80; // of a name; of what is longer, parameters are left out, and then its middle
const SUMS = /bytes|allocs|grew|more|before|after|thrown/;

// Names are those of the traced program: what could steer a terminal shows as `?`.
function shown(value, column) {
    if (value === null)
        return '';
    const text = String(value).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, '?');
    if (SUMS.test(column) && /^-?\d+$/.test(text))
        return text.replace(/\B(?=(\d{3})+$)/g, ',');
    const name = text.length <= WIDEST ? text : text.replace(/\(.+\)$/, '(…)');
    return name.length <= WIDEST ? name : `${name.slice(0, WIDEST / 2 - 1)}…${name.slice(-WIDEST / 2)}`;
}

function print(columns, rows, top) {
    const cells = rows.slice(0, top).map(row => row.map((value, i) => shown(value, columns[i])));
    const right = columns.map((_, i) => cells.every(row => /^-?[\d.,]*$/.test(row[i])));
    const width = columns.map((name, i) => Math.max(name.length, ...cells.map(row => row[i].length)));
    for (const row of [columns, ...cells])
        console.log(('  ' + row.map((cell, i) => right[i] ? cell.padStart(width[i]) : cell.padEnd(width[i])).join('  ')).trimEnd());
    if (rows.length > top)
        console.log(`  … ${rows.length - top} more`);
}

async function main() {
    const given = arguments_of(process.argv.slice(2));
    const known = questions(given.schema);
    if (given.list)
        return known.forEach(({title}, name) => console.log(`${name.padEnd(12)} ${title}`));
    const {DuckDBInstance} = require('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(`set variable logs = ${list([...given.logs, ...given.old])}; set variable old = ${list(given.old)}`);
    for (const [name, value] of Object.entries(given.set))
        await connection.run(`set variable "${name}" = ${literal(value)}`);
    await connection.run(fs.readFileSync(path.join(given.schema, 'schema.sql'), 'utf8'));
    const asked = given.ask.length ? given.ask : given.old.length ? ['builds']
        : [...known.keys()].filter(name => name !== 'builds' && (name !== 'marks' || given.set.from || given.set.to));
    const answers = {};
    for (const ask of asked) {
        const {title, query} = known.get(ask) ?? {title: ask, query: ask};
        const answer = await connection.runAndReadAll(query);
        if (given.json) {
            answers[ask] = answer.getRowObjectsJson();
            continue;
        }
        if (!given.ask.length && !given.old.length && !answer.currentRowCount)
            continue; // not in this log
        console.log(`${known.has(ask) ? `${ask}: ` : ''}${title}`);
        print(answer.columnNames(), answer.getRowsJson(), given.top);
        console.log();
    }
    if (given.json)
        console.log(JSON.stringify(answers, (_, value) =>
            typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value));
}

main().catch(error => {
    console.error(`run.cjs: ${error.message}`);
    process.exitCode = 1;
});
