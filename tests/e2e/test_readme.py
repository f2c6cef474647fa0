"""The READMEs and manual pages: their commands, options, views and links exist, and the README stays short."""
import glob
import os
import re
import shlex

from harness import BUILD, ENVIRONMENT, run, tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README_MAX = 15 * 1024
PAGES = sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, 'src/manual/*.md')))
READMES = 'README.md', 'src/package/README.md', *PAGES, *('examples/%s/README.md' % name for name in ('leak', 'tutorial', 'sql', 'fleet', 'ci', 'production'))


def lines_of(text):
    """Command lines in indented blocks, continued ones as one."""
    text = re.sub(r'\\\n *', ' ', text)
    return [line.strip() for line in text.split('\n') if line.startswith('    ') and 'shadowtrace ' in line]


def commands_of(line):
    """The words behind each `shadowtrace` of a line, up to a pipe, a redirection, and to what it starts."""
    line = re.sub(r'    \(.*', '', line.removeprefix('$ ').removeprefix('shadowtrace: ').strip())
    for piece in re.split(r'\||;|&&', line):
        try:
            words = shlex.split(piece.split('>')[0], comments=True)
        except ValueError: # a quote of jq or SQL that goes on
            continue
        if len(words) > 1 and words[0] == 'shadowtrace' and not words[1].endswith(':'): # else a message
            words = words[1:]
            yield words[:words.index('--')] if words[:1] == ['record'] and '--' in words else words


def test_commands_and_options_of_readmes_are_there(t):
    pages, seen = {}, set()
    for name in READMES:
        with open(os.path.join(ROOT, name), encoding='utf-8') as file:
            text = file.read()
        for words in [words for line in lines_of(text) for words in commands_of(line)]:
            command = words[0]
            if command not in pages:
                page = tool('help', '--all', command)
                t.equal(page.status, 0, '%s: %s\n%s' % (name, ' '.join(words), page))
                pages[command] = page.text
            for word in words[1:]:
                option = re.match(r'--?[a-zA-Z][a-z-]*', word)
                if option and option[0] != '--':
                    t.true(re.search(r'(^|[ ,])%s\b' % re.escape(option[0]), pages[command], re.M),
                           '%s: %s: %s is no option of %s' % (name, ' '.join(words), option[0], command))
                    seen.add((command, option[0]))
    t.true({('record', '--live'), ('ctl', '--full'), ('report', '--view'), ('report', '--by')} <= seen, seen)


def test_the_readme_is_short_and_names_every_command(t):
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as file:
        text = file.read()
    t.true(len(text.encode()) <= README_MAX, '%d bytes' % len(text.encode()))
    section = text.split('## Commands')[1].split('\n## ')[0]
    named = set(re.findall(r'`([a-z]+)\b[^`]*`', ' '.join(re.findall(r'^\| (`[^|]*) \|', section, re.M))))
    commands = set(re.findall(r'^  ([a-z][\w-]*) ', tool('help').text, re.M)) - {'help'}
    t.equal(sorted(named), sorted(commands))


def anchors(text):
    """As GitHub makes them of headings."""
    return {re.sub(r'[^\w\- ]', '', heading.lower()).strip().replace(' ', '-')
            for heading in re.findall(r'^#+ (.*)$', text, re.M)}


def test_links_lead_somewhere(t):
    """To a file of the sources, and to one of its headings. Every manual page is linked from the README."""
    linked = set()
    for name in READMES + ('src/README.md', 'tests/README.md', 'tests/bench/README.md'):
        with open(os.path.join(ROOT, name), encoding='utf-8') as file:
            text = file.read()
        for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'^    .*$|`[^`]*`', '', text, flags=re.M)):
            if re.match(r'\w+:', target):
                continue
            path, _, anchor = target.partition('#')
            full = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), path)) if path else os.path.join(ROOT, name)
            t.true(os.path.exists(full), '%s: %s does not exist' % (name, target))
            if name == 'README.md':
                linked.add(os.path.relpath(full, ROOT))
            if anchor:
                with open(full, encoding='utf-8') as file:
                    t.true(anchor in anchors(file.read()), '%s: %s is no heading' % (name, target))
    t.equal(sorted(set(PAGES) - linked), [], 'pages that the README does not link')


def test_views_that_the_manual_explains_are_those_of_live_objects(t):
    with open(os.path.join(ROOT, 'src/manual/shadowtrace-report.1.md'), encoding='utf-8') as file:
        section = file.read().split('## What stays alive')[1].split('\n## ')[0]
    views = re.findall(r'^\| `(\w+)` \|', section, re.M)
    page = ' '.join(tool('help', 'report').text.split())
    t.equal(len(views), 6, views)
    for view in views:
        t.true(re.search(r'\b%s\b' % view, page), '%s is no view' % view)
        refused = tool('report', '--view', view, os.devnull)
        t.true('--view' not in refused.errors, refused)
    for command, word in re.findall(r'`(ctl|mark|retained)(?: PID| LOG FILE)?[^`]*?(--[a-z-]+)', section):
        t.true(word in tool('help', '--all', 'ctl' if command == 'mark' else command).text, '%s %s' % (command, word))


def test_the_demo_shows_lines(t):
    """Of the program that it builds: the report has file and line in each row of own code, and annotate has the source."""
    said = run(['sh', os.path.join(ROOT, 'examples/demo.sh'), '--small'], env=dict(ENVIRONMENT, SHADOWTRACE_BUILD=BUILD), timeout=600)
    t.equal(said.status, 0, said)
    t.true(re.search(r'^ *72,000 .* Program\.cs:26 +Program\.MakeOrder', said.text, re.M), said)
    t.true('$ shadowtrace report --top 4 demo.ndjson' in said.text, said)
    t.true(re.search(r'72,000 +2,000 .*var order = new Order', said.text), said)
