// Drives a browser without a window, for tests/e2e/consumers.py: standard input is one JSON object (what browser_run
// collects), standard output what its script returns, as JSON.
'use strict';
const fs = require('fs');
const puppeteer = require('puppeteer-core');

const given = JSON.parse(fs.readFileSync(0, 'utf8'));
const chromium = given.browser === 'chromium';

const flags = chromium
    ? ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1', '--disable-dev-shm-usage',
       ...(given.root ? ['--no-sandbox'] : [])]
    : [];

async function main() {
    const browser = await puppeteer.launch({
        browser: chromium ? 'chrome' : 'firefox',
        executablePath: given.path,
        headless: true,
        pipe: chromium,  // it ends when we do
        userDataDir: given.profile,
        defaultViewport: {width: given.size[0], height: given.size[1]},
        args: [...flags, ...given.flags],
        timeout: given.start * 1000,
        protocolTimeout: (given.start + given.timeout) * 1000,  // the browser may take long to start
    });
    const late = setTimeout(() => {
        console.error(`no end after ${given.timeout} s`);
        browser.process().kill('SIGKILL');
        process.exit(1);
    }, given.timeout * 1000);
    try {
        const page = await browser.newPage();
        page.setDefaultTimeout(given.timeout * 1000);
        const messages = [], requests = [];
        page.on('console', message => messages.push(message.text()));
        page.on('pageerror', error => messages.push(String(error)));
        page.on('request', request => requests.push(request.url()));
        const body = Object.getPrototypeOf(main).constructor('page', 'browser', 'args', 'messages', 'requests', given.script);
        const result = await body(page, browser, given.args, messages, requests);
        process.stdout.write(JSON.stringify(result === undefined ? null : result));
    } finally {
        clearTimeout(late);
        await browser.close();
    }
}

main().catch(error => {
    console.error(error.stack || String(error));
    process.exitCode = 1;
});
