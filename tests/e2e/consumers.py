"""
What opens the files that we write, for tests: packages of node (DuckDB, speedscope, puppeteer), browsers, Go's pprof.

Packages: tests/e2e/node names them and pins their versions; `npm ci` installs them under build/e2e/node, once for all
runners. Debian packages: `make deps-tests` installs those that are missing (src/package/install.sh). A test skips, with the
reason, if a program is not available.

usage: tests/e2e/consumers.py node    install the packages, print their folder; 77 and the reason if that fails
"""
import fcntl
import hashlib
import json
import os
import shutil
import sys

import harness
from harness import ENVIRONMENT, OUT, Skip, each, fetches, program, run

NODE = os.path.join(harness.HERE, 'node')

# Chromium in `make check`, Firefox too in its lane: a decorator.
each_browser = each('browser', 'chromium', full=('browsers', ('chromium', 'firefox-esr')))

# What npm says where there is no registry, or not this package in it: then there is nothing to test with.
NO_REGISTRY = ('ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT',
               'ERR_SOCKET_TIMEOUT', 'E401', 'E403', 'E404', 'E502', 'E503', 'E504', 'ETARGET')

_unreachable = {}


def _stamp(wanted):
    digest = hashlib.sha256(os.path.realpath(program('node')).encode())
    for name in 'package.json', 'package-lock.json':
        with open(os.path.join(wanted, name), 'rb') as file:
            digest.update(file.read())
    return digest.hexdigest()


def packages(what=''):
    """The folder node_modules with what tests/e2e/node, or a folder of it, asks for; installed if it is not there yet."""
    wanted, folder = os.path.join(NODE, what), os.path.join(OUT, 'node', what)
    stamp_path = os.path.join(folder, '.stamp')
    stamp = _stamp(wanted)
    npm = program('npm')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, '.lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if what in _unreachable:
            raise Skip(_unreachable[what])
        if os.path.exists(stamp_path):
            with open(stamp_path, encoding='utf-8') as file:
                if file.read() == stamp:
                    return os.path.join(folder, 'node_modules')
            os.unlink(stamp_path)
        fetches('packages of node')
        for name in 'package.json', 'package-lock.json':
            shutil.copyfile(os.path.join(wanted, name), os.path.join(folder, name))
        result = run(['nice', npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier',
                      '--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=60000'],
                     timeout=600, cwd=folder)
        if result.status:
            for reason in NO_REGISTRY:
                if 'code ' + reason in result.errors:
                    _unreachable[what] = 'packages of node are not available: npm says %s' % reason
                    raise Skip(_unreachable[what])
            raise AssertionError('the packages of %s do not install\n%s' % (os.path.relpath(wanted, harness.ROOT), result))
        with open(stamp_path, 'w', encoding='utf-8') as file:
            file.write(stamp)
    return os.path.join(folder, 'node_modules')


def prepare():
    """What takes long and can be done while other tests run; who needs it will say what is missing."""
    try:
        packages()
    except (Skip, AssertionError):
        pass


def node(script, *arguments, timeout=240, what='', **more):
    """Runs a script with node; require() finds the packages."""
    environment = dict(more.pop('env', ENVIRONMENT), NODE_PATH=packages(what))
    return run([program('node'), script, *arguments], timeout=timeout, env=environment, **more)


def node_json(script, *arguments, **more):
    """What a script prints, which is JSON."""
    result = node(script, *arguments, **more)
    if result.status:
        raise AssertionError(str(result))
    return json.loads(result.out)


def browser_run(t, script, arguments=None, browser='chromium', size=(1280, 800), flags=(), timeout=None):
    """
    Runs JavaScript that drives a browser without a window, and returns what it returns (JSON).

    script: the body of an async function. It has `page` (puppeteer's, of the given size), `browser`, `args` (the
    arguments), `messages` (what the page wrote to its console, and its errors) and `requests` (the addresses that the page
    asked for; Firefox does not tell those of files; in Chromium names of other machines are not found). What it throws fails
    the test.
    """
    folder, timeout = t.path('browser'), timeout or harness.PATIENCE * harness.crowd()
    os.makedirs(folder, exist_ok=True)
    given = {'script': script, 'args': arguments or {}, 'browser': browser, 'path': program(browser),
             'profile': os.path.join(folder, 'profile'), 'size': size, 'flags': list(flags), 'root': os.geteuid() == 0,
             'start': harness.PATIENCE * harness.crowd(), 'timeout': timeout}
    # browser.cjs ends what takes too long once the browser has started; the rest of the time is for that to happen.
    result = node(os.path.join(NODE, 'browser.cjs'), timeout=timeout + harness.PATIENCE, stdin=json.dumps(given).encode(), cwd=t.folder,
                  env=dict(ENVIRONMENT, HOME=folder))
    shutil.rmtree(given['profile'], ignore_errors=True)
    if result.status:
        raise AssertionError('in %s: %s' % (browser, result.errors.strip() or result))
    return json.loads(result.out)


def last_record(path):
    """Of a compressed log."""
    return json.loads(run([program('zstd'), '-dcq', path]).text.splitlines()[-1])


def pprof(t, *arguments, timeout=240):
    """go tool pprof, without asking for anything over a network."""
    environment = dict(ENVIRONMENT, HOME=t.folder, PPROF_TMPDIR=t.folder, GOPROXY='off', GOTOOLCHAIN='local', GOFLAGS='')
    result = run([program('go'), 'tool', 'pprof', *arguments], timeout=timeout, env=environment, cwd=t.folder)
    if result.status:
        raise AssertionError(str(result))
    return result.text


def main():
    if sys.argv[1:] != ['node']:
        sys.exit(__doc__.strip().rsplit('\n', 1)[1])
    try:
        print(packages())
    except Skip as skip:
        print(skip, file=sys.stderr)
        return 77
    return 0


if __name__ == '__main__':
    sys.exit(main())
