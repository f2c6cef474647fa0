"""What other tests open our files with (consumers.py) works, and tells what went wrong."""
import consumers


def write(t, name, text):
    path = t.path(name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


@consumers.each_browser
def test_a_page_runs_and_asks_nobody(t, browser):
    page = write(t, 'page.html', '<!DOCTYPE html><title>one</title><script>console.log("ran")</script>'
                                 '<button onclick="document.title = \'two\'">b</button>')
    found = consumers.browser_run(t, '''
        await page.goto(args.url);
        const first = await page.title();
        await page.click('button');
        return {titles: [first, await page.title()], width: await page.evaluate(() => innerWidth), messages, requests};
    ''', {'url': 'file://' + page}, browser=browser, size=(700, 500))
    t.equal(found['titles'], ['one', 'two'])
    t.equal((found['width'], found['messages']), (700, ['ran']))
    t.equal([url for url in found['requests'] if not url.startswith('file:')], [])


@consumers.each_browser
def test_what_a_page_asks_for_is_seen(t, browser):
    page = write(t, 'page.html', '<!DOCTYPE html><title>one</title><script src="http://127.0.0.1:49151/lib.js"></script>'
                                 '<script>undefined_function()</script>')
    found = consumers.browser_run(t, 'await page.goto(args.url); return {messages, requests};', {'url': 'file://' + page},
                                  browser=browser)
    t.equal([url for url in found['requests'] if not url.startswith('file:')], ['http://127.0.0.1:49151/lib.js'])
    t.true([text for text in found['messages'] if 'undefined_function' in text], found['messages'])


def refused(t, script, timeout=None):
    try:
        consumers.browser_run(t, script, timeout=timeout)
    except AssertionError as error:
        return str(error)
    raise AssertionError('passes: %s' % script)


def test_a_script_that_fails_or_hangs_says_so(t):
    t.true('no such thing' in refused(t, 'throw new Error("no such thing")'), 'the error is lost')
    t.true('no end after 5 s' in refused(t, 'await new Promise(() => {})', timeout=5), 'a script that hangs')


def test_packages_of_node_are_there(t):
    script = write(t, 'duck.cjs', '''
        const {DuckDBInstance} = require('@duckdb/node-api');
        (async () => {
            const connection = await (await DuckDBInstance.create(':memory:')).connect();
            const rows = await connection.runAndReadAll('select 40 + 2 as answer');
            console.log(JSON.stringify({rows: rows.getRowObjectsJson(), speedscope: require.resolve('speedscope/package.json')}));
        })();
    ''')
    found = consumers.node_json(script)
    t.equal(found['rows'], [{'answer': 42}])
    t.true(found['speedscope'].startswith(consumers.packages()), found['speedscope'])


def test_pprof_runs(t):
    page = write(t, 'no.pprof', 'no profile')
    try:
        consumers.pprof(t, '-top', page)
    except AssertionError as error:
        t.true('no.pprof: ' in str(error), error)
    else:
        raise AssertionError('accepts an invalid profile')
