// Runs the scripts of pages that `shadowtrace html` made, without a browser, and prints as JSON what they sum up.
//
// stdin: [{"path": a page, "states": [{...}, ...]}, ...]; a state is what shadowtrace.set() takes.
// stdout: [[sums, ...], ...], one for each state.
'use strict';
const fs = require('fs');
const vm = require('vm');

const TABLES = ['types', 'methods', 'lines', 'modules', 'namespaces', 'threads', 'sizes'];
const BEGIN = '\nbegin();';

function partsOf(path) {
    const text = fs.readFileSync(path, 'utf8');
    const [, data] = text.match(/<script type="application\/octet-stream" id="data">([^<]*)<\/script>/);
    const [, script] = text.match(/<script>([^]*?)<\/script>/);
    const at = script.lastIndexOf(BEGIN);
    if (at < 0)
        throw new Error(path + ': the script does not begin as it did');
    // All of it but what shows the page: what shows is in the way of nothing here.
    const given = '\nreturn {Log, App, unpacked, bytesOfBase64, cleanNames, readable};';
    return {data, script: script.slice(0, at) + given + script.slice(at + BEGIN.length)};
}

function evaluate(script) {
    const {atob, Blob, DecompressionStream, Response, TextDecoder, URLSearchParams, performance} = globalThis;
    return vm.runInNewContext(script, {
        atob, Blob, DecompressionStream, Response, TextDecoder, URLSearchParams, performance, Uint8Array,
        location: {hash: '', pathname: '', search: ''}, history: {pushState() {}, replaceState() {}},
    });
}

function amounts(row) {
    const {name, full, heap, key, bytes, allocs, totalBytes, totalAllocs} = row;
    return {name, full, heap, key, bytes, allocs, total_bytes: totalBytes, total_allocs: totalAllocs};
}

function sums(page) {
    const {slice_ns: slice, slices, threads, heaps, estimated} = page.head;
    const of = page.slices();
    return {
        total: page.total(), slice_ns: slice, slice_count: slices, threads, heaps, estimated,
        tables: Object.fromEntries(TABLES.map(table => [table, page.rows(table).map(amounts)])),
        slices: {bytes: Array.from(of.bytes), allocs: Array.from(of.allocs)},
        picture: page.picture(), reversed: page.reversed(), nearest: page.nearest().map(amounts),
    };
}

async function read({path, states}) {
    const {data, script} = partsOf(path);
    const made = evaluate(script);
    const log = new made.Log(await made.unpacked(made.bytesOfBase64(data.trim())));
    made.cleanNames(log.head);
    return states.map(state => {
        const app = new made.App(log);
        app.show = () => {};
        app.set(state);
        return sums(made.readable(app, null, null));
    });
}

async function main() {
    const out = [];
    for (const page of JSON.parse(fs.readFileSync(0, 'utf8')))
        out.push(await read(page));
    process.stdout.write(JSON.stringify(out));
}

main();
