"""
What the end-to-end tests stand on: programs built once, recorded, and their logs read.

A test is a function test_…(t) in a file test_*.py of this folder; t is a Test. Decorators: @needs(program, …) names what
is to be built, @each(argument, value, …) runs the test once for each value. A test fails by raising; t.skip(reason) skips.
What is a sample in `make check` and a full set in `make check-all`: selection.py.
"""
import atexit
import collections
import contextlib
import ctypes
import fcntl
import glob
import hashlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from xml.sax.saxutils import quoteattr

from logfile import Log
from selection import any_lane, each, full, lane, longer, sampled, sampled_in_pairs  # noqa: F401: of the tests

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('SHADOWTRACE_BUILD') or os.path.join(ROOT, 'build'))
OUT = os.path.join(BUILD, 'e2e')
TOOL = os.path.join(BUILD, 'shadowtrace')
LIBRARY = os.path.join(BUILD, 'libshadowtrace.so')
PROGRAMS = os.path.join(HERE, 'programs')
# Of --own and --only: frames with hooks only, so that what is compared is the shadow stack; test_walk.py compares whole paths.
SHADOWED = '--framework-frames', 'none'
HOOKS = ('elt2', 'elt3')
OFFLINE = bool(os.environ.get('OFFLINE'))  # nothing is fetched or installed

# How long a test waits for what has to come, seconds: a hundred times what it takes. until(), wait() and run() wait longer
# on a busy machine (crowd()).
PATIENCE = 120
# For programs that run until the test ends them: how long they live if the test itself is killed.
ENDLESS = ['--seconds', '900']
UNTIL_EOF = ENDLESS + ['--until', 'eof']  # of Ticker: it ends in order when its input does


def _environment():
    """Ours, without what would change how programs run; and what the SDK is: its framework, its version, its folder."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(('CORECLR_', 'COR_', 'SHADOWTRACE_', 'DOTNET_Enable', 'DOTNET_Tiered', 'DOTNET_TC_',
                                     'DOTNET_OSR_', 'DOTNET_gc', 'COMPlus_'))}
    clean.update(DOTNET_CLI_TELEMETRY_OPTOUT='1', DOTNET_NOLOGO='1', DOTNET_CLI_USE_MSBUILD_SERVER='0',
                 MSBUILDDISABLENODEREUSE='1', DOTNET_SKIP_FIRST_TIME_EXPERIENCE='1', LC_ALL='C.UTF-8')
    if OFFLINE:
        clean['RestoreSources'] = HERE  # a folder without packages: NuGet has only what is in its cache
    try:
        info = subprocess.run(['dotnet', '--info'], env=clean, stdout=subprocess.PIPE, check=True, timeout=120).stdout.decode()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit('the .NET SDK is missing: %s' % error)
    base = os.path.normpath(re.search(r'^ *Base Path: *(.*)$', info, re.M).group(1).strip())
    version = os.path.basename(base)
    clean.setdefault('DOTNET_ROOT', os.path.dirname(os.path.dirname(base)))
    return clean, base, 'net%d.0' % min(NEWEST, int(version.split('.', 1)[0]))


def _supported():
    """The major versions of .NET that the library is for: the oldest, the newest."""
    with open(os.path.join(ROOT, 'src/tracer/clr/runtime.h'), encoding='utf-8') as file:
        return [int(number) for number in re.findall(r'^#define CLR_MAJOR_(?:OLDEST|NEWEST) +(\d+)', file.read(), re.M)]


OLDEST, NEWEST = _supported()
ENVIRONMENT, SDK, SDK_FRAMEWORK = _environment()
DEFAULT_FRAMEWORK = SDK_FRAMEWORK
# Each major version, the newest first. Programs of the SDK's own use its runtime; the others bring the newest patch.
FRAMEWORKS = tuple('net%d.0' % major for major in range(NEWEST, OLDEST - 1, -1))
# The SDK's framework with the newest patch of its runtime, which may be newer than the SDK's.
SDK_PATCHED = SDK_FRAMEWORK + '-newest'


def use_framework(framework):
    """
    Programs run on another framework than the SDK's where a test does not say; before the tests are imported. If it is the
    newest patch of the SDK's framework, also those of tests that name that framework.
    """
    global DEFAULT_FRAMEWORK
    DEFAULT_FRAMEWORK = framework


def patched(framework):
    """The framework that runs if a test names this one."""
    return SDK_PATCHED if framework == SDK_FRAMEWORK and DEFAULT_FRAMEWORK == SDK_PATCHED else framework


def take_signals():
    """What is ignored here (nohup, a job in the background) stays ignored in all that is started, which tests send signals
    to. A handler that does nothing is as good for us, and not inherited."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


take_signals()


class Skip(Exception):
    pass


def program(name):
    """The path of a program; a test that needs it is skipped where it is not installed."""
    found = shutil.which(name, path=ENVIRONMENT.get('PATH', '') + ':/usr/sbin')
    if not found:
        raise Skip('%s is not installed (src/package/install.sh)' % name)
    return found


def fetches(what):
    """Before something is fetched over the network: skips the test if nothing may be."""
    if OFFLINE:
        raise Skip('OFFLINE=1: %s would be fetched' % what)


def needs(*programs, framework=None):
    """Names the programs (folders of tests/e2e/programs) to be built before the test."""
    def mark(function):
        function.needs = getattr(function, 'needs', []) + [(p, framework or DEFAULT_FRAMEWORK) for p in programs]
        return function
    return mark


def publishes(asked):
    """
    Names what a test publishes, so that it is built with all programs, at once: asked(**arguments of the test) returns what
    PROGRAM.publish takes, several times.
    """
    def mark(function):
        function.publishes = getattr(function, 'publishes', []) + [asked]
        return function
    return mark


def prepares(make):
    """Names what makes something that a test asks for later, so that it is made beside other tests, by a warm compiler."""
    def mark(function):
        function.prepares = getattr(function, 'prepares', []) + [make]
        return function
    return mark


def heavy(function):
    """Runs alone: measures time, or takes both processors."""
    function.heavy = True
    return function


def early(function):
    """Takes long: begins before others, so that none runs alone at the end."""
    function.early = True
    return function


def waits(function):
    """Hardly does anything but wait: runs beside those that keep the processors busy, and takes the place of none."""
    function.waits = True
    return function


def built(path, how, newer_than=None):
    """A file below the build folder. No test runs make there: its user may be running it, and with other options."""
    made = os.path.join(BUILD, path)
    if not os.path.exists(made) and '/unit/' in path and subprocess.run(['pkg-config', '--exists', 'cmocka'], check=False).returncode:
        raise Skip('cmocka is not installed')
    if not os.path.exists(made) or newer_than and os.path.getmtime(made) < os.path.getmtime(newer_than):
        raise AssertionError('%s is missing or old: run `%s`' % (os.path.relpath(made, ROOT), how))
    return made


def without(rules):
    """The environment for a recording by a library in which these rules are switched off, several with commas."""
    library = built('negative/libshadowtrace.so', 'make negative', newer_than=LIBRARY)
    return dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=library, SHADOWTRACE_WITHOUT=rules)


# ---- processes

class Result:
    def __init__(self, command, status, out, err, seconds):
        self.command, self.status, self.out, self.err, self.seconds = command, status, out, err, seconds

    @property
    def text(self):
        return self.out.decode(errors='replace')

    @property
    def errors(self):
        return self.err.decode(errors='replace')

    def __str__(self):
        return '$ %s\nexit status %s after %.1f s\nstdout: %s\nstderr: %s' % (
            ' '.join(shlex.quote(c) for c in self.command), self.status, self.seconds, self.text[-3000:],
            self.errors[-3000:])


# CPU seconds of the processes that each thread of the runner has waited for, and of what those waited for.
CPU = threading.local()


def cpu_used():
    return getattr(CPU, 'seconds', 0.0)


def crowd():
    """How many threads share a processor, at least 1: everything takes this many times as long, and time limits are stretched by it."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Process(subprocess.Popen):
    """A child. Its CPU time, and that of its children, is counted however its end is waited for."""

    def communicate(self, input=None, timeout=None):  # pylint: disable=redefined-builtin
        return super().communicate(input, timeout and timeout * crowd())

    def _try_wait(self, wait_flags):
        try:
            pid, status, used = os.wait4(self.pid, wait_flags)
        except ChildProcessError:  # another thread has waited
            return self.pid, 0
        if pid:
            CPU.seconds = cpu_used() + used.ru_utime + used.ru_stime
        return pid, status


def readable(what, seconds):
    """Has a file or socket something to read? select.select() refuses descriptors from 1024 on; many tests at once have those."""
    poller = select.poll()
    poller.register(what, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def wait(process, timeout):
    """Its exit status at the moment it ends; Popen.wait with a time limit looks every 50 ms."""
    if hasattr(os, 'pidfd_open') and process.returncode is None:
        descriptor = os.pidfd_open(process.pid)
        start = time.monotonic()
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            while not poller.poll(1000):
                if time.monotonic() - start > timeout * crowd():
                    raise subprocess.TimeoutExpired(process.args, timeout)
        finally:
            os.close(descriptor)
    return process.wait(timeout * crowd())


def runtime_sockets(pid, folder='/tmp'):
    """
    The diagnostics sockets of a runtime on which it listens, by the number of its process where it lives: it makes its own first,
    and a process that was killed leaves one of the same number.
    """
    with open('/proc/net/unix', encoding='utf-8', errors='replace') as file:
        rows = [line.split() for line in file]
    listening = {os.path.basename(row[7]) for row in rows if len(row) > 7 and row[3] == '00010000'}
    paths = glob.glob(os.path.join(folder, 'dotnet-diagnostic-%d-*-socket' % pid))
    return [path for path in paths if os.path.basename(path) in listening]


def until(holds, what, seconds=PATIENCE):
    """Asks again and again until it holds; what it is then. what: told when it never does; may be a function."""
    start = time.monotonic()
    while True:
        found = holds()
        if found:
            return found
        waited = time.monotonic() - start
        if waited > seconds * crowd():
            raise AssertionError('not within %d s: %s' % (waited, what() if callable(what) else what))
        time.sleep(0.02)


def run(command, timeout=240, env=None, stdin=None, cwd=None, preexec=None):
    """Runs a command to its end; its whole process group is killed when it takes too long."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        if stdin:
            given.write(stdin)
            given.seek(0)
        process = Process(command, stdin=given, stdout=out, stderr=err, cwd=cwd, env=env or ENVIRONMENT,
                                   start_new_session=True, preexec_fn=preexec)
        late = False
        try:
            status = wait(process, timeout)
        except subprocess.TimeoutExpired:
            late = True
        # A grandchild may live on and must not: it would disturb the tests that follow.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if late:
            status = process.wait()
        out.seek(0)
        err.seek(0)
        result = Result(command, status, out.read(), err.read(), time.monotonic() - start)
    if late:
        raise AssertionError('no end after %d s\n%s' % (result.seconds, result))
    return result


def on_terminal(command, columns, rows=50, cwd=None):
    """What a command writes on a terminal of that size, as text without colours and links: its status, that, its stderr."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    said = b''
    with tempfile.TemporaryFile() as errors:
        process = Process(command, cwd=cwd, env=dict(ENVIRONMENT, TERM='xterm'), stdin=subprocess.DEVNULL,
                                   stdout=theirs, stderr=errors, start_new_session=True)
        os.close(theirs)
        try:
            while more := os.read(ours, 65536):
                said += more
        except OSError:  # nobody writes any more
            pass
        os.close(ours)
        status = wait(process, PATIENCE)
        errors.seek(0)
        return status, re.sub(r'\x1b\[[0-9;]*[A-Za-z]|\x1b\]8;;.*?\x1b\\', '', said.decode()), errors.read().decode()


# ---- programs

def _hash(paths):
    digest = hashlib.sha256()
    for path in paths:
        for folder, folders, files in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), [], [path])]:
            folders.sort()
            for file in sorted(files):
                full = os.path.join(folder, file)
                digest.update(os.path.relpath(full, HERE).encode() + b'\0')
                with open(full, 'rb') as f:
                    digest.update(f.read())
    return digest.hexdigest()


def _folders_of(program):
    """Folders of other programs that a project takes files from."""
    found = set()
    for name in os.listdir(os.path.join(PROGRAMS, program)):
        if name.endswith(('proj', '.props')):
            with open(os.path.join(PROGRAMS, program, name), encoding='utf-8') as file:
                found.update(re.findall(r'(?:Include|Project)="\.\./(\w+)/', file.read()))
    return found.union(*(_folders_of(other) for other in found - {program}))


# What restoring, or installing a tool, says without a package: unknown, no such version, source not reachable.
NO_PACKAGE = ('NU1101', 'NU1102', 'NU1103', 'NU1301', 'Unable to load the service index')


# Compilers and MSBuild end before measuring their own code pays. Without a network, NuGet's six tries take minutes.
BUILDING = dict(ENVIRONMENT, DOTNET_TieredPGO='0', NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT='2')


LIBC = ctypes.CDLL(None)


def end_with_parent():
    """For preexec_fn: the process is killed when the thread that starts it ends, however that ends."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Patches:
    """The newest patch of each runtime that NuGet has, asked once a day: its package is restored, or the SDK's own choice."""

    PACKAGE = 'Microsoft.NETCore.App.Runtime.linux-x64'
    LASTS = 24 * 3600  # seconds

    def __init__(self):
        self.path = os.path.join(OUT, '.patches')
        self.versions = None

    def _ask(self):
        result = run(['nice', 'dotnet', 'package', 'search', self.PACKAGE, '--exact-match', '--format', 'json'], env=BUILDING)
        try:
            found = [package['version'] for source in json.loads(result.out)['searchResult'] for package in source['packages']]
        except (ValueError, KeyError, TypeError):
            return []
        return [version for version in found if re.fullmatch(r'\d+\.\d+\.\d+', version)]

    def _read(self):
        with contextlib.suppress(OSError, ValueError), open(self.path, encoding='utf-8') as file:
            return json.load(file)
        return []

    def newest(self, framework):
        """Such as 8.0.34 of net8.0; '' when no source says."""
        if self.versions is None:
            self.versions = self._read()
            if not self.versions or time.time() - os.path.getmtime(self.path) > self.LASTS:
                self.versions = self._ask() or self.versions
                with open(self.path, 'w', encoding='utf-8') as file:
                    json.dump(self.versions, file)
        wanted = framework.removesuffix('-newest')[len('net'):] + '.'
        patches = [int(version[len(wanted):]) for version in self.versions if version.startswith(wanted)]
        return wanted + str(max(patches)) if patches else ''


class CompilerServer:
    """
    One C# compiler for all programs: once warm it takes a third of the time that a new one takes. It is ours, and started
    when there is something to build; nobody else's is asked, and none is left behind.
    """

    def __init__(self):
        self.name = 'shadowtrace-e2e-%d' % os.getpid()
        self.process = None
        atexit.register(self.end)

    def properties(self):
        """The properties of a build; the server runs from here on."""
        program = os.path.join(SDK, 'Roslyn/bincore/VBCSCompiler.dll')
        if not self.process and os.path.exists(program):
            self.process = subprocess.Popen(['nice', 'dotnet', program, '-pipename:' + self.name], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=BUILDING,
                                            start_new_session=True, preexec_fn=end_with_parent)
        if not self.process or self.process.poll() is not None:
            return []
        return ['-p:UseSharedCompilation=true', '-p:SharedCompilationId=' + self.name]

    def end(self):
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(tempfile.gettempdir(), 'CoreFxPipe_' + self.name))


# A program to build, or to publish (target): where, with which properties of MSBuild, what is there then (made), and the hash of
# what it is made of.
Item = collections.namedtuple('Item', 'program flavour target properties made stamp')


class Programs:
    """Builds what is asked for, once; a stamp with the hash of the sources says what is up to date."""

    def __init__(self):
        self.lock = threading.RLock()
        self.server = CompilerServer()
        self.patches = Patches()
        self.failed = {}
        self.no_runtime = set()

    def runtime(self, framework):
        """MSBuild properties for the runtime that programs of a framework run on."""
        if framework == SDK_FRAMEWORK:
            return ['E2EBringRuntime=false']
        patch = self.patches.newest(framework)
        return ['E2EBringRuntime=true'] + (['E2EPatch=' + patch] if patch else [])

    def _stamp(self, program, more):
        names = sorted(_folders_of(program) | {program}) + ['Common', 'Directory.Build.props']
        if more:  # a program on the SDK's own runtime takes nothing from there
            names.append('Directory.Build.targets')
        return _hash([os.path.join(PROGRAMS, name) for name in names]) + ' ' + os.path.basename(SDK) + ' ' + more

    @contextlib.contextmanager
    def once(self, folder, sources):
        """Yields whether the folder of build/e2e is up to date with these files and folders; if not, the body builds it."""
        path = os.path.join(OUT, folder)
        os.makedirs(path, exist_ok=True)
        stamp_path, stamp = os.path.join(path, '.stamp'), _hash(sources) + ' ' + os.path.basename(SDK)
        with open(os.path.join(path, '.lock'), 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            there = False
            with contextlib.suppress(OSError), open(stamp_path, encoding='utf-8') as file:
                there = file.read() == stamp
            yield there
            with open(stamp_path, 'w', encoding='utf-8') as file:
                file.write(stamp)

    def _stamp_path(self, program, flavour):
        return os.path.join(OUT, flavour, '.' + program + '.stamp')

    def _current(self, program, flavour, stamp):
        try:
            with open(self._stamp_path(program, flavour), encoding='utf-8') as file:
                return file.read() == stamp
        except OSError:
            return False

    @contextlib.contextmanager
    def alone(self):
        """One builder at a time, of all runners."""
        os.makedirs(OUT, exist_ok=True)
        with self.lock, open(os.path.join(OUT, '.lock'), 'w', encoding='utf-8') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _item(self, program, framework):
        brought = ' '.join(self.runtime(framework)[1:])
        properties = ['TargetFramework=' + framework.removesuffix('-newest'), 'E2EFlavour=' + framework] + self.runtime(framework)
        return Item(program, framework, 'Build', properties, os.path.join(OUT, framework, program + '.dll'), self._stamp(program, brought))

    def _published(self, program, flavour, properties):
        """The folder is below build/e2e, and what lies in it is of this program alone."""
        folder = os.path.join(OUT, flavour)
        wanted = ['E2EBringRuntime=false', 'E2EFlavour=' + flavour + '.build', '_IsPublishing=true',
                  'PublishDir=' + folder + '/'] + list(properties)
        return Item(program, flavour, 'Publish', wanted, os.path.join(folder, program), self._stamp(program, ' '.join(properties)))

    def build(self, wanted, published=(), say=lambda text: None):
        """
        wanted: (program, framework) pairs; published: what publish() will be asked for. What fails to build is remembered and
        fails the tests that need it.
        """
        with self.alone():
            items = [self._item(*pair) for pair in sorted({(program, patched(framework)) for program, framework in wanted})]
            items += [self._published(program, flavour, properties) for program, flavour, *properties in sorted(set(published))]
            for flavour in {item.flavour for item in items}:
                self.native(flavour)
            items = [item for item in items if not self._current(item.program, item.flavour, item.stamp)]
            if not items:
                return
            counts = collections.Counter(item.flavour if item.target == 'Build' else 'publishing' for item in items)
            say('building %d programs: %s' % (len(items), ', '.join('%d for %s' % (counts[name], name) for name in sorted(counts))))
            # One MSBuild for all. If something fails, one for each framework: a runtime that cannot be restored stops its own.
            result = self._build(items)
            if result.status == 0:
                return
            for framework in sorted({item.flavour for item in items if item.target == 'Build'}):
                own = [item for item in items if item.target == 'Build' and item.flavour == framework]
                result = self._build(own)
                for item in own:
                    self._judge(item, result)

    def _judge(self, item, result):
        """Of the run of MSBuild for one framework: does a program have errors?"""
        bad = [line for line in (result.text + result.errors).splitlines()
               if 'error' in line and (os.sep + item.program + '.' in line or 'MSB4' in line or 'NETSDK' in line)]
        if not bad and os.path.exists(item.made):
            self._done(item)
            return
        self.failed[item.program, item.flavour] = '\n'.join(bad) or str(result)
        if item.flavour != SDK_FRAMEWORK and any(code in result.text for code in NO_PACKAGE):
            self.no_runtime.add(item.flavour)

    def _done(self, item):
        with open(self._stamp_path(item.program, item.flavour), 'w', encoding='utf-8') as file:
            file.write(item.stamp)

    def _build(self, items):
        """One run of MSBuild; if it succeeds, all of them are built."""
        folder = os.path.join(OUT, 'obj')
        os.makedirs(folder, exist_ok=True)
        project = os.path.join(folder, 'all.proj')
        lines = ''
        for item in items:
            if item.target == 'Publish':
                shutil.rmtree(os.path.dirname(item.made), ignore_errors=True)
                os.makedirs(os.path.dirname(item.made))
                self.native(item.flavour)
            ending = 'fsproj' if os.path.exists(os.path.join(PROGRAMS, item.program, item.program + '.fsproj')) else 'csproj'
            lines += '    <P Include=%s To="%s" AdditionalProperties=%s />\n' % (
                quoteattr(os.path.join(PROGRAMS, item.program, item.program + '.' + ending)), item.target,
                quoteattr(';'.join(item.properties)))
        with open(project, 'w', encoding='utf-8') as file:
            file.write('<Project>\n  <ItemGroup>\n%s  </ItemGroup>\n'
                       '  <Target Name="Restore"><MSBuild Projects="@(P)" Targets="Restore" ContinueOnError="true" /></Target>\n'
                       '  <Target Name="Build"><MSBuild Projects="@(P)" Targets="%%(To)" ContinueOnError="true" '
                       'SkipNonexistentTargets="false" /></Target>\n</Project>\n' % lines)
        # The programs need not know their commit: that takes a tenth of the time.
        result = run(['nice', 'dotnet', 'msbuild', project, '-restore', '-t:Build', '-m:1', '-nodeReuse:false', '-nologo', '-v:q',
                      '-p:EnableSourceControlManagerQueries=false', '-p:EnableSourceLink=false', '-p:Configuration=Release',
                      '-p:E2EOut=' + OUT] + self.server.properties(), timeout=1800, env=BUILDING)
        for item in items if result.status == 0 else []:
            self._done(item)
        return result

    def native(self, flavour):
        """The C library, beside the programs."""
        source = os.path.join(PROGRAMS, 'native', 'e2enative.c')
        made = os.path.join(OUT, flavour, 'libe2enative.so')
        os.makedirs(os.path.dirname(made), exist_ok=True)
        if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(source):
            return
        result = run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-O1', '-g', '-fPIC', '-shared',
                      '-fno-omit-frame-pointer', '-o', made + '.new', source, '-lpthread'])
        if result.status:
            raise AssertionError('cannot build the native library\n%s' % result)
        os.replace(made + '.new', made)

    def command(self, program, framework=None):
        """The command line that starts a program."""
        framework = patched(framework or DEFAULT_FRAMEWORK)
        if framework in self.no_runtime:
            raise Skip('the runtime of %s cannot be restored from a package' % framework)
        failed = self.failed.get((program, framework))
        if failed:
            raise AssertionError('%s does not build for %s:\n%s' % (program, framework, failed))
        dll = os.path.join(OUT, framework, program + '.dll')
        if not os.path.exists(dll):
            self.build([(program, framework)])
            return self.command(program, framework)
        if framework == SDK_FRAMEWORK:
            return ['dotnet', dll]
        return [dll[:-4]]

    def publish(self, program, flavour, *properties):
        """The path of a program published in another form; skips if a package is not available."""
        with self.alone():
            item = self._published(program, flavour, properties)
            if not self._current(program, flavour, item.stamp):
                result = self._build([item])
                for code in NO_PACKAGE:
                    if code in result.text:
                        raise Skip('a package for this form cannot be restored (%s)' % code)
                if result.status:
                    raise AssertionError('does not publish as %s\n%s' % (flavour, result))
            return item.made

    def tool(self, package, version, command=None):
        """The path of a tool's command (default: the package's name), installed from NuGet once for all runners."""
        command = command or package
        folder = os.path.join(OUT, '%s-%s' % (package.lower(), version))
        with self.alone():
            if not os.path.exists(os.path.join(folder, command)):
                fetches(package)
                shutil.rmtree(folder, ignore_errors=True)
                result = run(['nice', 'dotnet', 'tool', 'install', package, '--version', version, '--tool-path', folder],
                             timeout=600, env=BUILDING)
                if any(code in result.text + result.errors for code in NO_PACKAGE):
                    raise Skip('%s %s is not available from NuGet' % (package, version))
                if result.status:
                    raise AssertionError('%s does not install\n%s' % (package, result))
        return os.path.join(folder, command)


PROGRAM = Programs()


# ---- recording

class Record(Result):
    """A finished recording: how it ended, and its logs."""

    def __init__(self, result, folder, path):
        super().__init__(result.command, result.status, result.out, result.err, result.seconds)
        self.folder, self.path = folder, path
        self._log = None

    @property
    def paths(self):
        """All logs, of this and of other processes."""
        return sorted(os.path.join(self.folder, f) for f in os.listdir(self.folder) if '.ndjson' in f)

    @property
    def log(self):
        if self._log is None:
            if not os.path.exists(self.path):
                raise AssertionError('no log was written\n%s' % self)
            self._log = Log(self.path)
        return self._log

    def compare(self):
        return tool_json('compare', '--format=json', self.path)

    def report(self, *options):
        return whole_stacks(tool_json('report', '--format=json', *options, self.path))


def tool(*arguments, timeout=300, **more):
    return run([TOOL] + list(arguments), timeout=timeout, **more)


def tool_json(*arguments):
    result = tool(*arguments)
    if result.status not in (0, 1):
        raise AssertionError(str(result))
    return json.loads(result.out)


def whole_stacks(report):
    """The same report with the names of each row's stack, the innermost first, in the place of its number in the tables."""
    shares = [share for group in report['rows'] + [report.get('since', {})] for share in group.get('by', [])]
    for row in [row for row in report['rows'] + shares if 'stack' in row]:
        number, row['stack'] = row['stack'], []
        while number is not None:
            stack = report['stacks'][number]
            row['stack'].append(report['frames'][stack['frame']]['method'])
            number = stack['parent']
    return report


class Test:
    """Handed to each test: where it may write, how it starts things."""

    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(OUT, 'run', name.replace('/', '-'))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.records = 0
        self.notes = []
        self.unchecked = set()
        self.killed = set()
        self.started = []

    def skip(self, reason):
        raise Skip(reason)

    def note(self, text):
        """Shown behind the test's name."""
        self.notes.append(text)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def equal(self, found, expected, what=''):
        if found != expected:
            raise AssertionError('%s: found %r, expected %r' % (what or 'differs', found, expected))

    def true(self, holds, what):
        if not holds:
            raise AssertionError(str(what))

    def record(self, command, *options, env=None, **more):
        """
        shadowtrace record … -o LOG -- command, in a separate folder. A program that aborts threads is run again when the
        runtime itself crashes over that; any program is, twice at the most, when the log's writer could not run for the 200 ms
        that a callback waits for space, and events were dropped for that reason.
        """
        def repeated(crashed):
            self.killed.update(crashed.paths)
            self.note('the runtime crashed while it aborted a thread (%d): repeated' % crashed.status)
        def made():
            return outliving_aborts(command, self.folder, lambda reports: self.record_once(
                command, *options, env=dict(env or ENVIRONMENT, **reports), **more), repeated)
        return made() if {'--full', '--call-buffer'}.intersection(options) else self.unstarved(made)

    def unstarved(self, made):
        """What made() returned, a Record: of the first recording whose writer could run, of three at the most."""
        for _ in range(STARVED_RUNS):
            result = made()
            if not starved(result):
                break
            self.note('the log was not written for 200 ms, and events were dropped')
        return result

    def record_once(self, command, *options, hooks=None, check=None, rich=None, timeout=240, log='log.ndjson', **more):
        """
        rich: whether the runtime's rich debug info is recorded, the default of the command. It tells the lines of inlined methods,
        and its session costs a short program more CPU time than everything else. Unless a lane runs, recordings that compare stacks
        leave it out; the tests of lines, of --own and of the matrix record it.
        """
        self.records += 1
        if rich is None:
            rich = '--own' in options or any_lane() or not (check or {'--check-calls', '--check-threads'} & set(options))
        folder = self.path(str(self.records))
        os.makedirs(folder)
        path = os.path.join(folder, log)
        line = [TOOL, 'record', '-o', path]
        if hooks:
            line += ['--hooks', hooks]
        if check is not None:
            line += ['--check', str(check)]
        if not rich:
            line.append('--no-rich')
        more.setdefault('cwd', folder)
        return Record(run(line + list(options) + ['--'] + list(command), timeout=timeout, **more), folder, path)

    def start(self, command, env=ENVIRONMENT, **more):
        """A command that runs beside the test, its outputs piped; what is left of it is killed at the test's end."""
        process = Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True, **more)
        self.started.append(process)
        return process

    def close(self):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if process.returncode is None:
                wait(process, PATIENCE)
            process.stdout.close()
            process.stderr.close()

    def exact(self, record, status=0, ends_amid=False):
        """What holds for every recording with --check 1 that ran to its end; returns the comparison.

        ends_amid: the program ends while threads of it allocate. Each may have lost its last allocation or
        comparison to that, which the log counts. In any program one of the runtime's pool may have lost its last
        comparison: the end does not wait for what it does after the last piece of work.
        """
        self.equal(record.status, status, 'exit status\n%s' % record)
        log = record.log
        self.true(log.end, 'the log has no end')
        amid = log.end['lost_by'].get('stopped', 0) if ends_amid else 0
        self.equal(log.end['lost'], amid, 'lost: %s' % log.end.get('lost_by'))
        self.equal(log.end['seen'], log.end['written'] + log.end['lost'], 'seen')
        self.equal(log.end['written'], len(log.allocs), 'allocations in the log')
        self.equal(log.end['bytes'], sum(a['bytes'] for a in log.allocs), 'bytes')
        self.equal(log.end.get('hooks', {}).get('unpatched', 0), 0, "what of CoreLib's allocation fast path stays")
        c = record.compare()
        if log.mismatches or c['mismatched']:
            raise AssertionError('%d of %d comparisons differ; the first of %d in the log:\n%s' % (
                c['mismatched'], c['compared'], len(log.mismatches), show_mismatch(log)))
        self.equal(c['equal'], c['compared'], 'equal')
        self.equal(c['accuracy'], 1, 'accuracy')
        unfinished = c['snapshots'].get('unfinished', 0)
        if ends_amid:
            self.true(amid + unfinished <= len(log.threads), 'stopped %d, unfinished %d' % (amid, unfinished))
        elif unfinished:
            left = log.uncompared()
            self.true(left.keys() <= log.pool() and set(left.values()) == {1}, 'unfinished: %s' % left)
        snapshots = log.end.get('walks', {}).get('fallbacks', 0)  # in place of a walk, there is nothing to compare them with
        self.equal(c['compared'] + c['snapshots']['refused'] + unfinished + snapshots, len(log.allocs), 'compared + refused')
        self.equal(set(c['snapshots']['refused_by']) - {'0x80131360', '0x80004005'}, set(), 'refused by')
        for register, classes in c.get('registers', {}).items():
            self.equal(classes.get('other', 0), 0, '%s that nothing explains, of %s' % (register, classes))
        self.note('%d equal, %d refused' % (c['equal'], c['snapshots']['refused']))
        return c

    def has_stacks(self, log):
        """
        Of a log without hooks: each allocation has a stack, but for those of the runtime's own threads (the one that compiles makes
        an array now and then) and of a thread that starts, which run nothing managed yet. As snapshots, those are refused.
        Returns: those with a stack.
        """
        having = [a for a in log.allocs if log.stack(a['node'])]
        self.true(having, 'allocations that have a stack')
        bare = [a for a in log.allocs if not log.stack(a['node'])]
        since = {a['thread']: a['t'] for a in reversed(having)}
        self.equal([a for a in bare if a['t'] > since.get(a['thread'], a['t'])], [], 'without a stack, in a thread that had one')
        if log.header['capture'] == 'snapshot':
            self.equal(log.end['snapshots']['refused_by'].get('0x80004005', 0), len(bare), 'without a stack: %s' % bare[:3])
        return having

    def finish(self):
        """After a test that passed: every line of every log loads with jq, and validate agrees."""
        for folder, _, files in os.walk(self.folder):
            for file in sorted(files):
                path = os.path.join(folder, file)
                if file.endswith('.ndjson') and not file.endswith('.rows.ndjson') and path not in self.unchecked:
                    check_log(path, path in self.killed)


class Shared:
    """Data for several tests, made once in a run: by the first that needs it, with a separate Test."""

    def __init__(self):
        self.lock = threading.Lock()
        self.made = {}

    def get(self, name, make):
        """What make(t) returned; logs are checked as after a test. What failed once fails each that asks."""
        with self.lock:
            one = self.made.setdefault(name, {'lock': threading.Lock()})
        with one['lock']:
            if 'result' not in one and 'error' not in one:
                t = Test('shared.' + name)
                try:
                    one['result'] = make(t)
                    t.finish()
                    one['folder'] = t.folder
                except Exception as error:  # as a test may fail
                    one['error'] = error
                finally:
                    t.close()
        if 'error' in one:
            raise one['error']
        return one['result']

    def end(self):
        """No test looks at it any more; what failed stays."""
        for one in self.made.values():
            if 'folder' in one:
                shutil.rmtree(one['folder'], ignore_errors=True)


SHARED = Shared()


def show_mismatch(log):
    if not log.mismatches:
        return '(none)'
    m = log.mismatches[0]
    sides = ['  %s:\n    %s' % (side, '\n    '.join(log.methods[i]['name'] for i in m[side][:40]) or '(empty)')
             for side in ('shadow', 'snapshot')]
    return '%s, repairs %s\n%s' % (m['cause'], m.get('repairs'), '\n'.join(sides))


def ends_of(path):
    """
    Whole lines from the start and the end of a log, of a long one 64 KB each, of which jq reads 15 MB a second: `validate`
    reads all lines.
    """
    most = full('load', 1 << 16, 1 << 40)
    with open(path, 'rb') as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= 2 * most:
            return file.read()
        first = file.read(most) + file.readline()
        file.seek(size - most)
        file.readline()
        return first + file.read()


def last_record(path):
    """Of a log, however long: it is read from its end. A line of it has to be shorter than 1 MB."""
    with open(path, 'rb') as file:
        file.seek(max(0, os.path.getsize(path) - (1 << 20)))
        return json.loads(file.read().splitlines()[-1])


# The runtime itself now and then ends a program that aborts threads, without a profiler too (tests/README.md, "Statistical
# tests, and faults of the runtime"): by SIGABRT or SIGSEGV, with a ThreadAbortException and no frame of the tracer.
ABORT_SIGNALS = {128 + signal.SIGABRT, 128 + signal.SIGSEGV}
ABORTED = '0x80131530'  # COR_E_THREADABORTED
ABORT_DEATHS = 10
STARVED_RUNS = 3


def crash_reports(folder):
    """The environment in which the runtime describes the threads of a program that crashes, in a file of that folder."""
    return {'DOTNET_DbgEnableMiniDump': '1', 'DOTNET_EnableCrashReportOnly': '1',
            'DOTNET_DbgMiniDumpName': os.path.join(folder, 'crash.%p')}


def killed_unseen(result):
    """Whether createdump could not describe a crash, because a thread ended under it: nothing says who caused it."""
    return '[createdump] Problem suspending threads' in result.text + result.errors


def killed_by_an_abort(path):
    """Whether a crash report is of a thread abort in the runtime's own code: no frame of the crashed thread is the tracer's."""
    with open(path, encoding='utf-8') as file:
        report = json.load(file)
    for thread in report['payload']['threads']:
        if thread.get('crashed') == 'true':
            modules = [str(frame.get('native_module')) for frame in thread['stack_frames']]
            return (thread.get('managed_exception_hresult') == ABORTED and any('libcoreclr' in m for m in modules) and
                    not any('shadowtrace' in m for m in modules))
    return False


def starved(record):
    """Did a recording drop events only because its writer did not make space in time? It may on a busy machine, and says so."""
    for path in record.paths:
        with contextlib.suppress(ValueError, IndexError):  # of one that was cut off, or is empty
            end = last_record(path) if path.endswith('.ndjson') else {}
            if set(end.get('lost_by', ())) == {'ring_full'} or ('beginnings_lost' in end and not end.get('lost')):
                return True
    return False


def aborts_threads(command):
    """Of the programs only Threads does, unless a case that does not is chosen."""
    cases = [word for before, word in zip(command, command[1:]) if before == '--case']
    return (any(os.path.basename(word) in ('Threads', 'Threads.dll') for word in command) and
            (not cases or any(case.startswith('controlled') for case in cases)))


def outliving_aborts(command, folder, record, repeated):
    """
    What record(environment) returns for a command, of which the status is looked at. A run that the runtime itself crashed because a thread
    was aborted is handed to repeated(), and made again; so is one of which nothing is known. Any other crash is returned. Skips when
    the runtime crashes every time.
    """
    if not aborts_threads(command):
        return record({})
    for _ in range(ABORT_DEATHS):
        crashes = tempfile.mkdtemp(dir=folder)
        result = record(crash_reports(crashes))
        reports = [os.path.join(crashes, name) for name in os.listdir(crashes)]
        known = all(map(killed_by_an_abort, reports)) if reports else killed_unseen(result)
        if result.status not in ABORT_SIGNALS or not known:
            return result
        repeated(result)
    raise Skip('the runtime crashed %d times while it aborted a thread' % ABORT_DEATHS)


def check_log(path, killed=False):
    """jq reads lines as they are (numbers as text compare equal to what is written), and the log fits its schema.

    Where the process was killed in the middle of a write, the kernel ends the file in the middle of a line.
    """
    data = ends_of(path)
    if killed:
        data = data[:data.rfind(b'\n') + 1]
    result = run([program('jq'), '-n', 'reduce inputs as $line (0; . + 1)'], timeout=300, stdin=data)
    lines = data.count(b'\n')
    if result.status or int(result.out) != lines:
        raise AssertionError('jq reads %s of %d lines of %s\n%s' % (result.text.strip(), lines, path, result))
    result = tool('validate', path, timeout=300 + os.path.getsize(path) // (10 << 20))  # 10 MB/s: the slowest machine
    if result.status:
        raise AssertionError('does not validate\n%s' % result)


def on_full_disk(t, *words, size='512k'):
    """Records into a file system of that size. Returns: how it ended, and the path of what was written, which is cut."""
    small, kept = t.path('small'), t.path('kept')
    os.makedirs(small)
    os.makedirs(kept)
    script = ('mount -t tmpfs -o size=' + size + ' none "$1" || exit 99; log=$1/log.ndjson; kept=$2; shift 2; "$@"; status=$?; '
              'cp "$log" "$kept"/; exit $status')
    probe = run(['unshare', '-rm', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', small])
    if probe.status:
        t.skip('no mount in a namespace of our own: %s' % probe.errors.strip())
    log = os.path.join(small, 'log.ndjson')
    result = run(['unshare', '-rm', 'sh', '-c', script, 'sh', small, kept, TOOL, 'record', '-o', log, *words])
    path = os.path.join(kept, 'log.ndjson')
    t.unchecked.add(path)
    return result, path


def one_line(result, status, *words):
    """A clear refusal: this exit status, one line on stderr, these words in it."""
    lines = result.errors.strip('\n').split('\n')
    if result.status != status or len(lines) != 1 or not lines[0]:
        raise AssertionError('expected exit status %d and one line\n%s' % (status, result))
    for word in words:
        if word.lower() not in lines[0].lower():
            raise AssertionError('%r is not in %r' % (word, lines[0]))
    return lines[0]
