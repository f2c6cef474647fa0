"""
What people install: `make install`, the source package, the Debian package, and the manual pages in them.

Building the Debian package compiles everything once more, and a clean root has to be fetched: with SHADOWTRACE_PACKAGES=1,
as in `make check-all`.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tarfile

import arm64
import consumers
import debian
from harness import BUILD, ENVIRONMENT, PROGRAM, ROOT, SHARED, each, early, fetches, lane, needs, run, tool

ARCHITECTURES = 'amd64', 'arm64'
LONG = 3 * 3600  # a compilation on a machine that is busy
TOPICS = 'shadowtrace-log.5', 'shadowtrace-limits.7'
SECTIONS = ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'SEE ALSO')


PLAIN_MAKE = {name: value for name, value in ENVIRONMENT.items() if not name.startswith(('MAKE', 'MFLAGS'))}


def make(*arguments, cwd=ROOT, **more):
    return done(['make', *arguments], cwd=cwd, env={**PLAIN_MAKE, **more.pop('env', {})}, **more)


def done(command, **more):
    more.setdefault('timeout', LONG)
    result = run(command, **more)
    if result.status:
        raise AssertionError(str(result))
    return result


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)


def commands():
    return re.findall(r'^  ([a-z][\w-]*) ', tool('help').text, re.M)


def expected_files(prefix, zsh='share/zsh/site-functions'):
    pages = ['shadowtrace'] + ['shadowtrace-' + command for command in commands()]
    include = os.path.join(ROOT, 'include/shadowtrace')
    there = ['bin/shadowtrace', 'lib/shadowtrace/libshadowtrace.so', 'share/bash-completion/completions/shadowtrace',
             zsh + '/_shadowtrace', 'share/fish/vendor_completions.d/shadowtrace.fish', 'share/doc/shadowtrace/README.md']
    there += ['share/man/man1/%s.1' % page for page in pages]
    there += ['share/man/man%s/%s' % (page[-1], page) for page in TOPICS]
    there += ['share/shadowtrace/' + name for name in os.listdir(include) if name.endswith('_schema.json')]
    there += ['include/shadowtrace/' + name for name in files_of(include) if name.endswith('.h')]
    return sorted(os.path.join(prefix, name) for name in there)


def records(t, command, folder, hello):
    """An installed command records a real program, compares each stack and reports."""
    log = os.path.join(folder, 'log.ndjson')
    said = done([command, 'record', '--check', '1', '-o', log, '--', *hello], cwd=folder)
    t.true(', none lost' in said.errors, said)
    compared = done([command, 'compare', log])
    t.true(re.search(r'equalled the snapshot in all of [\d,]+ comparisons', compared.text), compared)
    report = done([command, 'report', '--by', 'own', log])
    t.true('Program.' in report.text, report)


@needs('Hello')
def test_make_install_puts_everything_there_and_uninstall_takes_it_away(t):
    root = t.path('root')
    place = ['DESTDIR=' + root, 'PREFIX=/opt/some-where', 'BUILD=' + BUILD]
    make('install-built', *place)
    wanted = expected_files('opt/some-where') + ['opt/some-where/share/doc/shadowtrace/LICENSE']
    if os.path.exists(os.path.join(BUILD, 'shadowtrace-serve')):  # where its library is
        wanted.append('opt/some-where/bin/shadowtrace-serve')
    if os.path.exists(os.path.join(BUILD, 'shadowtrace-ship')):
        wanted.append('opt/some-where/bin/shadowtrace-ship')
    t.equal(files_of(root), sorted(wanted))
    records(t, os.path.join(root, 'opt/some-where/bin/shadowtrace'), t.folder, PROGRAM.command('Hello'))
    other = os.path.join(root, 'opt/some-where/share/man/man1/shadow.1')
    with open(other, 'w', encoding='utf-8') as file:
        file.write('of another program\n')
    make('uninstall', *place)
    t.equal(files_of(root), [os.path.relpath(other, root)], 'what is left')


def test_other_flags_rebuild_what_they_change(t):
    build = t.path('build')
    compiled = build + '/obj/src/common/base/clock.o'

    def stale(target, *flags):
        return run(['make', '-q', 'BUILD=' + build, *flags, target], cwd=ROOT, env=PLAIN_MAKE).status

    make('BUILD=' + build, compiled)
    t.equal(stale(compiled), 0, 'the same flags')
    for flags in 'CFLAGS=-DOTHER', 'OPT=-O1', 'CPPFLAGS=-DOTHER', 'FLAGS_common=-DOTHER', 'WERROR=1', 'VERSION=9':
        t.equal(stale(compiled, flags), 1, flags)
    t.equal(stale(compiled, 'LDFLAGS=-Wl,-O1'), 0, 'an object is not linked')
    make('BUILD=' + build, 'CFLAGS=-DOTHER', compiled)
    t.equal((stale(compiled), stale(compiled, 'CFLAGS=-DOTHER')), (1, 0), 'the flags of the last build')


def test_the_source_package_is_the_same_from_git_and_without(t):
    first, second = t.path('first'), t.path('second')
    make('dist', 'BUILD=' + first)
    package = next(name for name in os.listdir(first) if name.endswith('.tar.gz'))
    with tarfile.open(os.path.join(first, package)) as tar:
        names = tar.getnames()
        tar.extractall(first)
    tree = os.path.join(first, package[:-len('.tar.gz')])
    t.true(not os.path.exists(os.path.join(tree, '.git')), 'git in a source package')
    if os.path.exists(os.path.join(ROOT, '.git')):
        listed = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        t.equal(sorted(names), sorted(os.path.join(os.path.basename(tree), name)
                                      for name in listed.decode().split('\0') if name))
    make('dist', 'BUILD=' + second, cwd=tree)
    t.equal(digest(os.path.join(second, package)), digest(os.path.join(first, package)), 'the package of the package')
    shutil.rmtree(first)


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


# ---- manual pages

def pages():
    return sorted(path for section in '157' for path in glob.glob(os.path.join(BUILD, 'man' + section, '*')))


def test_manual_pages_are_right_for_man_and_mandoc(t):
    t.equal([os.path.basename(page) for page in pages()],
            ['shadowtrace-%s.1' % command for command in sorted(commands())] + ['shadowtrace.1', *TOPICS])
    consumers.program('man')
    consumers.program('mandoc')
    environment = dict(ENVIRONMENT, MANWIDTH='80', MANPAGER='cat', LC_ALL='C.UTF-8', TERM='dumb')
    for page in pages():
        shown = done(['man', '--warnings', '-E', 'UTF-8', '-l', page], env=environment)
        t.equal(shown.errors, '', 'man says of %s' % os.path.basename(page))
        plain = re.sub('.\b', '', shown.text)
        wanted = SECTIONS if page.endswith('.1') else ('NAME', 'SEE ALSO')
        places = [plain.find('\n%s\n' % section) for section in wanted]
        t.true(-1 not in places and places == sorted(places), 'sections of %s: %s' % (page, places))
        for line in plain.splitlines():
            t.true(len(line) <= 80, 'wide: %s' % line)
        linted = run(['mandoc', '-T', 'lint', '-W', 'warning', page])
        t.equal(linted.text + linted.errors, '', 'mandoc says')
    t.note('%d pages' % len(pages()))


def test_manual_pages_say_what_help_says(t):
    """Every option and its words, as people see them."""
    consumers.program('mandoc')
    options = 0
    for command in commands():
        page = done(['mandoc', '-T', 'utf8', '-O', 'width=78', os.path.join(BUILD, 'man1/shadowtrace-%s.1' % command)])
        plain = ' '.join(re.sub('.\b', '', page.text).split())
        for term in re.findall(r'^  ((?:-\w, )?--[\w-]+(?: [A-Z][A-Z:]*| [\w|-]+\|[\w|-]+)?)$', help_terms(command), re.M):
            t.true(term in plain, 'the page of %s lacks %r' % (command, term))
            options += 1
    t.true(options > 150, '%d options' % options)


def test_manual_pages_have_the_sections_of_doc(t):
    """Each heading and each indented line, in the section of its page; a line that is too wide fails the build."""
    lines = 0
    for source in glob.glob(os.path.join(ROOT, 'src/manual/*.md')):
        name = os.path.basename(source)[:-len('.md')]
        page = done(['mandoc', '-T', 'utf8', '-O', 'width=80', os.path.join(BUILD, 'man' + name[-1], name)])
        plain = re.sub('.\b', '', page.text)
        with open(source, encoding='utf-8') as file:
            text = file.read()
        for heading in re.findall(r'^## (.*)$', text, re.M):
            t.true('\n%s\n' % heading.upper() in plain, '%s lacks %s' % (name, heading))
        for line in re.findall(r'^    (.*\S)$', text, re.M):
            t.true(line in plain, '%s lacks %s' % (name, line))
            lines += 1
    t.true(lines > 50, lines)
    wide = t.path('wide.5.md')
    with open(wide, 'w', encoding='utf-8') as file:
        file.write('# wide(5): a page\n\n## Too wide\n\n    %s\n' % ('x' * 72))
    refused = run(['python3', os.path.join(ROOT, 'src/package/manual/pages.py'), '1', '2026-01-01', t.folder, wide])
    t.equal(refused.status, 1, refused)
    t.true('more than 71 columns' in refused.errors, refused)


def help_terms(command):
    """The left column of a help page: what is before two blanks."""
    return '\n'.join(re.split(r'(?<=\S)  +', line)[0] for line in tool('help', '--all', command).text.splitlines())


# ---- the Debian package

def packages_wanted(t):
    consumers.program('dh')
    consumers.program('dpkg-buildpackage')


def build_deb(t, architecture, **environment):
    """`make deb` into a separate folder: the packages, without the sources (which contain logs)."""
    folder = os.path.join(t.path('build'), 'deb')
    if architecture == 'arm64':
        make('deb-arm64', env=environment)
        shutil.move(os.path.join(arm64.ARM64, 'deb'), folder)
    else:
        make('deb', 'BUILD=' + t.path('build'), env=environment)
    for name in os.listdir(folder):
        if os.path.isdir(os.path.join(folder, name)):
            shutil.rmtree(os.path.join(folder, name))
    return folder


def debs(folder):
    return {name: os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.deb')}


def package_in(folder):
    return next(path for name, path in debs(folder).items() if name.startswith('shadowtrace_'))


def the_deb(architecture='amd64'):
    if architecture == 'arm64':
        arm64.emulator()
    return SHARED.get('package.deb.' + architecture, lambda t: build_deb(t, architecture))


@lane('packages')
@early
@needs('Hello')
@each('architecture', *ARCHITECTURES)
def test_the_debian_package_holds_everything_and_runs(t, architecture):
    packages_wanted(t)
    folder = the_deb(architecture)
    names = sorted(debs(folder))
    t.equal([name.split('_')[-1] for name in names], [architecture + '.deb'] * 2, names)
    t.true(names[0].startswith('shadowtrace-dbgsym_'), names)
    root = t.path('root')
    done(['dpkg-deb', '-x', package_in(folder), root])
    found = {name[:-3] if name.startswith('usr/share/man/') else name for name in files_of(root)}
    extra = {'usr/share/doc/shadowtrace/' + name for name in ('changelog.gz', 'copyright')}
    programs = {'usr/bin/shadowtrace-serve', 'usr/bin/shadowtrace-ship'}
    wanted = programs.union(expected_files('usr', 'share/zsh/vendor-completions'))
    readme = 'usr/share/doc/shadowtrace/README.md'
    found = {readme if name == readme + '.gz' else name for name in found}
    t.equal(sorted(found ^ (wanted | extra)), [], 'files')
    if architecture == 'arm64':
        library = os.path.join(root, 'usr/lib/shadowtrace/libshadowtrace.so')
        t.exact(arm64.record(t, 'net10.0', arm64.command('net10.0', 'Hello'), '--check', '1', library=library))
        done([*arm64.emulator(), os.path.join(root, 'usr/bin/shadowtrace'), 'help'])
    else:
        records(t, os.path.join(root, 'usr/bin/shadowtrace'), t.folder, PROGRAM.command('Hello'))
    depends = done(['dpkg-deb', '-f', package_in(folder), 'Depends']).text
    for library in 'libc6', 'libjansson4', 'liburcu8', 'zlib1g', 'libzstd1', 'libelf1', 'libmicrohttpd12', 'libcurl4':
        t.true(library in depends, depends)
    symbols = t.path('symbols')
    done(['dpkg-deb', '-x', debs(folder)[names[0]], symbols])
    t.equal(len(files_of(symbols)) >= 2, True, files_of(symbols))


@lane('packages')
def test_the_library_in_the_package_is_the_one_that_was_tested(t):
    packages_wanted(t)
    root = t.path('root')
    done(['dpkg-deb', '-x', package_in(the_deb()), root])
    packed = instructions(os.path.join(root, 'usr/lib/shadowtrace/libshadowtrace.so'))
    tested = instructions(os.path.join(BUILD, 'libshadowtrace.so'))
    t.true(packed == tested, 'the instructions differ: %d and %d' % (len(packed), len(tested)))
    t.note('%d instructions' % len(packed))


def instructions(path):
    """What each instruction is and does, without where things lie."""
    text = done(['objdump', '-d', '--no-show-raw-insn', '--no-addresses', '-j', '.text', path]).text
    return [re.sub(r'\s*#.*|<.*>|-?0x[0-9a-f]+\(%rip\)', '', line).strip() for line in text.splitlines() if line.startswith('\t')]


@lane('packages')
@each('architecture', *ARCHITECTURES)
def test_the_debian_package_is_the_same_when_built_again(t, architecture):
    packages_wanted(t)
    first = the_deb(architecture)
    second = build_deb(t, architecture, TZ='Pacific/Auckland', LC_ALL='C', DEB_BUILD_OPTIONS='parallel=1')
    t.equal({name: digest(path) for name, path in debs(second).items()},
            {name: digest(path) for name, path in debs(first).items()}, 'packages')


@lane('packages')
@each('architecture', *ARCHITECTURES)
def test_lintian_finds_nothing(t, architecture):
    packages_wanted(t)
    consumers.program('lintian')
    folder = the_deb(architecture)
    changes = next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.changes'))
    said = run(['lintian', '--allow-root', '--display-info', '--fail-on', 'error,warning', changes], timeout=LONG)
    t.equal((said.status, re.findall(r'^[EW]: .*', said.text, re.M)), (0, []), said)


CLEAN_ROOT = '''
set -e
mount --bind "$2" "$1/usr/share/dotnet"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \\
  DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 sh -c "$3"
'''
INSTALL = '''
set -e
apt-get -qq -o Acquire::Check-Valid-Until=false -o Acquire::Check-Date=false update
apt-get -qq install --no-install-recommends -y /work/shadowtrace.deb
'''
THREE_COMMANDS = '''
set -e
cd /work
shadowtrace record --check 1 -o log.ndjson -- /usr/share/dotnet/dotnet Hello.dll
shadowtrace report --by own log.ndjson
shadowtrace compare log.ndjson
shadowtrace-serve --help >/dev/null
shadowtrace-ship --help >/dev/null
shadowtrace serve log.ndjson --listen 127.0.0.1:0 >served & server=$!
until grep -q '^http://127.0.0.1:' served; do kill -0 $server; sleep 0.1; done
kill $server
wait $server || true
'''
REMOVE = '''
set -e
apt-get -qq purge -y shadowtrace
find / -xdev -path /work -prune -o -path /proc -prune -o -path /dev -prune -o -path /tmp -prune -o -name '*shadowtrace*' -print
'''


@lane('packages')
@early
@needs('Hello')
def test_the_debian_package_installs_and_runs_in_a_clean_root(t):
    packages_wanted(t)
    if os.geteuid() != 0:
        t.skip('a clean root needs to be root')
    root = clean_root(t)
    work = os.path.join(root, 'work')
    os.makedirs(work)
    shutil.copy(package_in(the_deb()), os.path.join(work, 'shadowtrace.deb'))
    hello = PROGRAM.command('Hello')[-1]
    for name in os.listdir(os.path.dirname(hello)):
        if name.startswith('Hello.'):
            shutil.copy(os.path.join(os.path.dirname(hello), name), work)
    os.makedirs(os.path.join(root, 'usr/share/dotnet'))
    inside(root, INSTALL)
    said = inside(root, THREE_COMMANDS)
    t.true(', none lost' in said.errors, said)
    t.true('Program.' in said.text and re.search(r'equalled the snapshot in all of [\d,]+ comparisons', said.text), said)
    left = inside(root, REMOVE)
    t.equal([line for line in left.text.splitlines() if line.startswith('/')], [], 'what is left')
    shutil.rmtree(root)


def inside(root, script):
    """In separate namespaces: mounts are gone when it ends."""
    sdk = os.path.realpath(ENVIRONMENT['DOTNET_ROOT'])
    return done(['unshare', '--mount', '--pid', '--fork', 'sh', '-c', CLEAN_ROOT, 'sh', root, sdk, script])


def clean_root(t):
    consumers.program('debootstrap')
    fetches('a clean root')
    root = t.path('root')
    said = run(['debootstrap', '--variant=minbase', debian.suite(), root, *debian.mirror()], timeout=LONG)
    if said.status:
        t.skip('cannot make a clean root: %s' % (said.text + said.errors).strip().splitlines()[-1])
    return root
