#!/usr/bin/env python3
"""What a page costs in a browser: its size, how soon it is ready, how fast it draws and finds, what memory it takes.

usage: tests/bench/page.py [--browser firefox-esr] [--times 20] [LOG]

LOG is what to make the page of; without one the F# compiler of the SDK is recorded. Each time is the median of 20: "ready"
counts from when the browser begins to load the file until the first screen stands; "redraw" lays out and draws the picture
of the whole log anew; "search" marks what matches a text and draws; "range" is a part of the time line until everything
shows it. Memory is what the process of the page has for itself, with the view of each kind opened once.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'e2e'))
import consumers  # noqa: E402
import harness  # noqa: E402
from harness import run, tool  # noqa: E402

SOURCE = '''module Small
open System
let squares = [ for i in 1 .. 100 -> i * i ]
[<EntryPoint>]
let main _ =
    squares |> List.filter (fun x -> x % 3 = 0) |> List.map string |> String.concat "," |> printfn "%s"
    0
'''

MEASURE = '''
    const fs = process.getBuiltinModule('fs');
    const median = values => values.sort((a, b) => a - b)[values.length >> 1];
    const timed = async expression => page.evaluate(`(async () => {
        const out = [];
        for (let i = 0; i < ${args.times}; i++) {
            const begun = performance.now();
            ${expression};
            out.push(performance.now() - begun);
            await new Promise(done => requestAnimationFrame(done));
        }
        return out;
    })()`);
    const ready = [];
    for (let i = 0; i < args.times; i++) {
        await page.goto('about:blank');
        await page.goto(args.url);
        await page.waitForFunction('window.shadowtrace', {timeout: 60000});
        ready.push(await page.evaluate('shadowtrace.times.shown'));
    }
    const out = {ready: median(ready), nodes: await page.evaluate('shadowtrace.nodes()'),
                 cells: await page.evaluate('shadowtrace.cells()'), slices: await page.evaluate('shadowtrace.head.slices')};
    const memoryOf = () => {
        const of = pid => fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').split('\\n')
            .filter(line => line.startsWith('Private_')).reduce((sum, line) => sum + Number(line.split(/ +/)[1]), 0);
        const pages = fs.readdirSync('/proc').filter(name => /^[0-9]+$/.test(name)).filter(pid => {
            try {
                const text = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
                return text.includes('--type=renderer') && text.includes(args.profile) || text.includes(args.profile) &&
                    text.includes('tab');
            } catch { return false; }
        });
        return Math.max(0, ...pages.map(pid => of(pid) / 1024));
    };
    out.memoryFirst = memoryOf();
    await page.evaluate("shadowtrace.set({view: 'flame', fold: false})");
    out.redraw = median(await timed('shadowtrace.redraw()'));
    out.boxes = await page.evaluate('shadowtrace.boxes().reduce((a, b) => a + b, 0)');
    out.search = median(await timed("shadowtrace.set({query: i % 2 ? 'Add' : 'List'})"));
    await page.evaluate("shadowtrace.set({query: ''})");
    if (out.slices > 3)
        out.range = median(await timed("shadowtrace.set({from: i % 2, to: i % 2 + 2})"));
    await page.evaluate("shadowtrace.set({from: null, to: null, fold: true})");
    out.folded = median(await timed('shadowtrace.redraw()'));
    for (const view of ['tree', 'butterfly', 'tables', 'overview', 'flame'])
        await page.evaluate(`shadowtrace.set({view: '${view}', mode: 'reversed', table: 'methods'})`);
    out.methods = median(await timed("shadowtrace.rows('methods')"));
    out.memory = memoryOf();
    return out;
'''


def record(folder):
    sdk = harness.SDK
    import glob
    references = sorted(glob.glob(os.path.join(os.path.dirname(os.path.dirname(sdk)),
                                               'packs/Microsoft.NETCore.App.Ref/*/ref/net*/*.dll')))
    with open(os.path.join(folder, 'small.fs'), 'w', encoding='utf-8') as file:
        file.write(SOURCE)
    with open(os.path.join(folder, 'fsc.rsp'), 'w', encoding='utf-8') as file:
        file.writelines('-r:%s\n' % path for path in references)
    log = os.path.join(folder, 'fsc.ndjson')
    result = run([harness.TOOL, 'record', '-o', log, '--', 'dotnet', os.path.join(sdk, 'FSharp/fsc.dll'), '@fsc.rsp', '--nologo',
                  '--noframework', '--targetprofile:netcore', '-o:made.dll', '--simpleresolution',
                  '-r:' + os.path.join(sdk, 'FSharp/FSharp.Core.dll'), 'small.fs'], timeout=1200, cwd=folder)
    if not os.path.exists(log):
        sys.exit(str(result))
    return log


class Room:
    def __init__(self, folder):
        self.folder = folder

    def path(self, *parts):
        return os.path.join(self.folder, *parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('log', nargs='?')
    parser.add_argument('--browser', default='chromium')
    parser.add_argument('--times', type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = options.log or record(folder)
        page = os.path.join(folder, 'page.html')
        made = tool('html', '--slice=1s', log, '-o', page, timeout=1200)
        if made.status:
            sys.exit(str(made))
        size = os.path.getsize(page)
        found = consumers.browser_run(Room(folder), MEASURE, {'url': 'file://' + page, 'times': options.times, 'profile': folder},
                                      browser=options.browser, size=(1440, 900), timeout=900)
    print('made in %.1f s, %.2f MB; %d nodes, %d cells, %d slices' % (
        made.seconds, size / 1e6, found['nodes'], found['cells'], found['slices']))
    for what, most in ('ready', 1000), ('redraw', 16), ('folded', 16), ('search', 50), ('range', None), ('methods', None):
        if what in found:
            print('%-8s %7.1f ms%s' % (what, found[what], ', at most %d' % most if most else ''))
    print('memory   %7.0f MB, %.0f on the first screen; at most 300' % (found['memory'], found['memoryFirst']))
    print('%d boxes' % found['boxes'])


if __name__ == '__main__':
    main()
