"""
The files of examples/ci: each is read by the program that it is for, or by its schema, what `env` prints stands in them, and
each command line is one that the command takes. The pipelines themselves run in the lane testhost: they
build a project with packages.
"""
import glob
import json
import os
import re
import shlex
import shutil

import consumers
import test_nupkg
from harness import BUILD, BUILDING, ENVIRONMENT, NO_PACKAGE, ROOT, Skip, early, lane, run, tool

FOLDER = os.path.join(ROOT, 'examples/ci')
LIBRARY = '/opt/shadowtrace/libshadowtrace.so'
# What ci.cjs reads, and as what it should be refused: a text of it, and what stands in its place.
READ = {'github/allocations.yml': ('github', 'runs-on:', 'run-on:'), 'kubernetes.yaml': ('kubernetes', 'replicas: 1', 'replicas: one'),
        'Dockerfile': ('docker', 'ENTRYPOINT', 'ENTRYPIONT'), 'compose.yaml': ('yaml', 'services:', 'services'),
        'gitlab/.gitlab-ci.yml': ('yaml', 'stages: [test]', 'stages: [test')}
PIPELINES = 'github/allocations.yml', 'gitlab/.gitlab-ci.yml'
COMMAND = re.compile(r'(?<![\w/.-])shadowtrace ((?=[a-z]+ )[^\n|;&>]*)')


def text_of(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        return file.read()


def read(files):
    """[(kind, name, text)]: what the readers say of each: {'wrong', 'read'}."""
    given = [{'kind': kind, 'path': '.github/workflows/' + os.path.basename(name), 'text': text} for kind, name, text in files]
    return consumers.node_json(os.path.join(consumers.NODE, 'ci.cjs'), what='ci', stdin=json.dumps(given).encode())


def files():
    return [os.path.relpath(os.path.join(where, name), FOLDER) for where, _, names in os.walk(FOLDER) for name in names]


@early
def test_each_file_is_what_its_reader_takes_and_a_wrong_one_is_not(t):
    right = [(READ[name][0], name, text_of(name)) for name in READ]
    wrong = []
    for kind, name, text in right:
        _, old, new = READ[name]
        t.true(old in text, (name, old))
        wrong.append((kind, name, text.replace(old, new)))
    said = read(right + wrong)
    t.equal({name: one['wrong'] for name, one in zip(READ, said)}, {name: [] for name in READ})
    for (_, name, _), one in zip(wrong, said[len(right):]):
        t.true(one['wrong'], '%s: nobody sees what is wrong in it' % name)


def test_no_file_is_read_by_nobody(t):
    others = {'README.md', 'traced.env', 'systemd/shop.service', 'systemd/shop.service.d/traced.conf', 'tests/shop.budget.json'}
    built = {name for name in files() if name.endswith(('.cs', '.csproj'))}
    t.equal(set(files()) - others - built, set(READ))


def test_commands_and_options_of_each_file_are_those_of_the_command(t):
    seen = set()
    for name in files():
        for words in COMMAND.findall(re.sub(r'\\\n *', ' ', text_of(name))):
            line = shlex.split(words.rstrip('`'))
            result = tool(*line, '--help')
            t.equal((result.status, result.errors), (0, ''), '%s: shadowtrace %s' % (name, words))
            t.true(result.text.startswith('Usage: shadowtrace %s ' % line[0]), (name, words))
            seen.add((name, line[0]))
    t.true({(name, command) for name in PIPELINES for command in ('env', 'gate', 'html')} <= seen, seen)
    t.equal(tool('gate', '--fromat', 'github', '--help').status, 2, 'an unknown option')


def gitlab(t, text):
    """gitlab-ci-local, which holds a pipeline against GitLab's own schema."""
    folder = os.path.join(t.folder, 'gitlab')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, '.gitlab-ci.yml'), 'w', encoding='utf-8') as file:
        file.write(text)
    program = os.path.join(consumers.packages('ci'), 'gitlab-ci-local/src/index.js')
    return run([consumers.program('node'), program, '--list-json'], timeout=120, cwd=folder, env=dict(ENVIRONMENT, HOME=t.folder))


def test_the_pipeline_is_one_of_gitlab(t):
    text = text_of('gitlab/.gitlab-ci.yml')
    result = gitlab(t, text)
    t.equal(result.status, 0, result)
    t.equal([job['name'] for job in json.loads(result.out)], ['allocations'], result)
    wrong = gitlab(t, text.replace('codequality:', 'codequalities:'))
    t.true('codequalities' in wrong.errors, wrong)


def test_a_unit_with_the_drop_in_is_one_of_systemd(t):
    analyze, dotnet = consumers.program('systemd-analyze'), consumers.program('dotnet')
    folder = t.path('units')
    shutil.copytree(os.path.join(FOLDER, 'systemd'), folder)
    unit, drop_in = os.path.join(folder, 'shop.service'), os.path.join(folder, 'shop.service.d/traced.conf')

    def verify():
        return run([analyze, 'verify', '--man=no', unit], timeout=60)

    with open(unit, 'w', encoding='utf-8') as file:
        file.write(text_of('systemd/shop.service').replace('/usr/bin/dotnet', os.path.realpath(dotnet)))
    said = verify()
    if 'Failed to' in said.errors and 'manager' in said.errors:
        t.skip('systemd-analyze does not run here: %s' % said.errors.strip())
    t.equal((said.status, [line for line in said.errors.splitlines() if folder in line]), (0, []), said)
    with open(drop_in, 'a', encoding='utf-8') as file:
        file.write('Enviroment=A=1\n')
    t.true('Enviroment' in verify().errors, 'an invalid line of a unit is not found')


def lines_of_env(kind, folder):
    result = tool('env', '--format', kind, '--own', '--max-log', '1G', '-o', folder,
                  env=dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=LIBRARY))
    assert result.status == 0, result
    return result.text


def test_what_env_prints_stands_in_each_file(t):
    printed = lines_of_env('docker', '/logs/')
    values = dict(line.split('=', 1) for line in printed.splitlines())
    t.equal(text_of('traced.env'), printed)
    t.true(text_of('systemd/shop.service.d/traced.conf').endswith('[Service]\n' + lines_of_env('systemd', '/var/log/shop/')),
           'the drop-in')
    documents = read([('kubernetes', 'kubernetes.yaml', text_of('kubernetes.yaml'))])[0]['read']
    t.equal([one['data'] for one in documents if one['kind'] == 'ConfigMap'], [values])
    stages = text_of('Dockerfile').split('\nFROM ')
    t.true(' %s\n' % os.path.dirname(LIBRARY) in stages[-1], 'the image has the library where the environment names it')


def test_the_compose_file_gives_the_program_what_env_prints(t):
    compose = consumers.program('docker-compose')
    result = run([compose, '-f', os.path.join(FOLDER, 'compose.yaml'), 'config'], timeout=120, env=dict(ENVIRONMENT, HOME=t.folder))
    t.equal(result.status, 0, result)
    shop = read([('yaml', 'config', result.text)])[0]['read'][0]['services']['shop']
    t.equal(shop['environment'], dict(line.split('=', 1) for line in text_of('traced.env').splitlines()))


# ---- the pipelines, run

def steps_of(t, name):
    """The scripts of a pipeline, in order: [(script, environment)]."""
    pipeline = read([('yaml', name, text_of(name))])[0]['read'][0]
    if name.startswith('gitlab'):
        job = pipeline['allocations']
        return [('\n'.join(job['before_script'] + job['script']), {})]
    steps = pipeline['jobs']['allocations']['steps']
    return [(step['run'], step.get('env', {})) for step in steps if 'run' in step and 'github.event_name' not in step.get('if', '')]


class Pipeline:
    """A copy of the project, and a machine that has the SDK alone."""

    def __init__(self, t, name):
        self.t, self.name = t, name
        self.folder, home = t.path('project'), t.path('home')
        shutil.copytree(FOLDER, self.folder)
        os.makedirs(home)
        for file in 'path', 'summary':
            open(os.path.join(home, file), 'w', encoding='utf-8').close()
        self.summary = os.path.join(home, 'summary')
        self.environment = dict(BUILDING, HOME=home, FEED=os.path.dirname(test_nupkg.package()), GITHUB_PATH=os.path.join(home, 'path'),
                                GITHUB_STEP_SUMMARY=self.summary, NUGET_PACKAGES=os.path.join(BUILD, 'e2e', 'ci-packages'))

    def run(self):
        """All steps; a shell as the runner starts it. Returns: what the last one that failed, or the last one, said."""
        failed = None
        for script, _ in steps_of(self.t, self.name):
            with open(self.environment['GITHUB_PATH'], encoding='utf-8') as file:
                added = file.read().split()
            environment = dict(self.environment, PATH=':'.join(added + [self.environment['PATH']]))
            said = run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script], timeout=1800, cwd=self.folder,
                       env=environment)
            for code in NO_PACKAGE:
                if code in said.text:
                    raise Skip('xunit is not available from NuGet (%s)' % code)
            failed = said if said.status and not failed else failed
        return failed or said

    def plant(self):
        """One object more in one of 1,000 calls, in a folder without what was made. Returns: the number of its line."""
        for name in set(os.listdir(self.folder)) - set(os.listdir(FOLDER)):
            made = os.path.join(self.folder, name)
            shutil.rmtree(made) if os.path.isdir(made) else os.unlink(made)
        path = os.path.join(self.folder, 'shop/Basket.cs')
        with open(path, encoding='utf-8') as file:
            lines = file.read().splitlines()
        at = next(i for i, line in enumerate(lines) if line.strip() == 'int cents = 0;')
        lines[at] += ' if (_calls++ == 500) _last = new object();'
        lines.insert(at - 2, '    static int _calls; static object? _last;')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        return at + 2


def pipeline(t, name):
    return Pipeline(t, name)


@lane('testhost')
@early
def test_the_steps_for_github_hold_the_budget_and_find_one_object_more(t):
    p = pipeline(t, 'github/allocations.yml')
    held = p.run()
    t.equal(held.status, 0, held)
    with open(p.summary, encoding='utf-8') as file:
        t.true(' held' in file.read(), 'the page of the job says so')
    t.true(os.path.getsize(os.path.join(p.folder, 'allocations.html')) > 10000, 'a page')
    line = p.plant()
    broken = p.run()
    t.equal(broken.status, 1, broken)
    t.true(re.search(r'^::error file=[^,]*Basket\.cs,line=%d,' % line, broken.text, re.M), broken)
    with open(p.summary, encoding='utf-8') as file:
        t.true('Basket.cs:%d' % line in file.read().replace('&#58;', ':'), 'the page of the job says where')


@lane('testhost')
@early
def test_the_script_for_gitlab_holds_the_budget_and_finds_one_object_more(t):
    p = pipeline(t, 'gitlab/.gitlab-ci.yml')
    held = p.run()
    t.equal(held.status, 0, held)
    line = p.plant()
    broken = p.run()
    t.equal(broken.status, 1, broken)
    with open(os.path.join(p.folder, 'gl-code-quality.json'), encoding='utf-8') as file:
        places = {(issue['location']['path'], issue['location']['lines']['begin']) for issue in json.load(file)}
    t.equal(places, {('shop/Basket.cs', line)})


@lane('testhost')
@early
def test_the_image_would_have_command_and_library_in_one_folder(t):
    """The line of the Dockerfile that installs the package, with folders of the test's own."""
    lines = read([('docker', 'Dockerfile', text_of('Dockerfile'))])[0]['read']
    script = next(text for keyword, text in lines if keyword == 'RUN' and 'tool install' in text).replace('\\\n', ' ')
    here = {'tools': t.path('tools'), 'feed': os.path.dirname(test_nupkg.package()), 'shadowtrace': t.path('image')}
    script = re.sub(r' /(tools|feed|shadowtrace)\b', lambda m: ' ' + here[m[1]], script)
    done = run(['sh', '-c', script], timeout=600, env=test_nupkg.clean(t))
    t.equal(done.status, 0, done)
    said = run([t.path('image/shadowtrace'), 'env', '--format', 'json', '-o', '/logs/'], timeout=60)
    t.equal(json.loads(said.text)['CORECLR_PROFILER_PATH'], t.path('image/libshadowtrace.so'))
    t.true(glob.glob(t.path('image/liburcu*')), 'what both need is in the same directory')
