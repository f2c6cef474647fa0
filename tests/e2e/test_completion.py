"""Completion in the three shells: each completes the same command lines, in a folder with a few files."""
import os
import pty
import re

import consumers
from control import Living
import harness
from harness import BUILD, ENDLESS, ENVIRONMENT, PROGRAM, Skip, built, each, needs, run, tool, until

COMPLETIONS = os.path.join(BUILD, 'completion')
FILES = ('app.ndjson', 'app.heap', 'older.ndjson', 'two words.ndjson', 'Shop.cs')
FOLDERS = ('logs', 'symbols')

# A command whose completion the test has written: what stands behind `record` is completed as it would be alone.
TRACED = ('alpha', 'alpine', 'beta')

COMMANDS = ('record env list dump top ctl report browse annotate diff html events profile retained replay export compare '
            'validate help').split()
ACTIONS = 'start stop mark gc heap only sample rotate status'.split()
EVENTS = 'alloc calls threads modules classes jit exceptions gc suspend transitions finalizers all'.split()
LOGS = ('app.ndjson', 'older.ndjson', 'two words.ndjson')

# A line up to the cursor, and what it is completed with: all there is, no more and no less.
EXACTLY = {
    'shadowtrace rep': ('report', 'replay'),
    'shadowtrace e': ('env', 'events', 'export'),
    'shadowtrace help re': ('record', 'report', 'retained', 'replay'),
    'shadowtrace report --vi': ('--view',),
    'shadowtrace report --view t': ('tree', 'types', 'threads', 'time', 'temporary'),
    'shadowtrace report --view=t': ('tree', 'types', 'threads', 'time', 'temporary'),
    'shadowtrace report app.ndjson --sort ': ('bytes', 'allocs', 'total'),
    'shadowtrace diff --view ': ('allocated', 'end', 'peak', 'temporary'),
    'shadowtrace report --top ': (),
    'shadowtrace report --type ': (),
    'shadowtrace report app': ('app.ndjson', 'app.heap'),
    'shadowtrace report older.ndjson app': ('app.ndjson', 'app.heap'),
    'shadowtrace report --symbols ': FOLDERS,
    'shadowtrace report --symbols=s': ('symbols',),
    'shadowtrace annotate app.ndjson S': ('Shop.cs',),
    'shadowtrace html -o app.h': ('app.heap',),
    'shadowtrace html --heap=app.h': ('app.heap',),
    'shadowtrace html --heap app.heap -o x.html old': ('older.ndjson',),
    'shadowtrace events ': ('exceptions', 'gc', 'jit', 'suspensions', 'calls'),
    'shadowtrace events --format ': ('text', 'json'),
    'shadowtrace events gc old': ('older.ndjson',),
    'shadowtrace env --format ': ('shell', 'json', 'docker', 'systemd', 'runsettings'),
    'shadowtrace env --status ': FOLDERS,
    'shadowtrace ctl 4711 ': ACTIONS,
    'shadowtrace ctl 4711 st': ('start', 'stop', 'status'),
    'shadowtrace ctl 4711 mark --': ('--full',),
    'shadowtrace ctl 4711 heap -': ('-o',),
    'shadowtrace ctl 4711 heap -o app.h': ('app.heap',),
    'shadowtrace record --hooks ': ('auto', 'elt2', 'elt3'),
    'shadowtrace record --events ': EVENTS,
    'shadowtrace record --own --events=tr': ('transitions',),
    'shadowtrace record --pau': ('--paused',),
    'shadowtrace record --heap-at-exit app.h': ('app.heap',),
    'shadowtrace record -o app.ndjson --live -- traced ': TRACED,
    'shadowtrace record -o app.ndjson --live traced al': ('alpha', 'alpine'),
    'shadowtrace record --min-size=64K traced alpha be': ('beta',),
    'shadowtrace record --own-code A:B -- traced b': ('beta',),
    'shadowtrace record traced --opt': ('--option-of-traced',),
}
# The same, if only some of them are listed.
AMONG = {
    'shadowtrace ': COMMANDS,
    'shadowtrace -': ('--help', '--version'),
    'shadowtrace record -- trac': ('traced',),
    'shadowtrace record trac': ('traced',),
    'shadowtrace export ': LOGS + FOLDERS,
    'shadowtrace report -': ('--view', '--by', '--own', '--help'),
    'shadowtrace validate --': ('--format', '--schema', '--quiet', '--help'),
}
# Nothing more is taken here; some shells offer options, then.
NOTHING = ('shadowtrace help record ', 'shadowtrace annotate app.ndjson Shop.cs ')
# Words with commas between: shells differ in what of the word they give back.
SETS = {
    'shadowtrace record --events alloc,ca': ('calls',),
    'shadowtrace record --events gc,alloc,': set(EVENTS) - {'gc', 'alloc'},
}


def bash(folder, lines):
    """COMP_WORDS as readline makes them, and what the completion function of the command leaves in COMPREPLY."""
    script = ['set +o history', *(['. /usr/share/bash-completion/bash_completion']
                                  if os.path.exists('/usr/share/bash-completion/bash_completion') else []),
              '. ' + os.path.join(COMPLETIONS, 'bash'), "traced() { :; }",
              "_traced() { COMPREPLY=($(compgen -W \"$([[ ${COMP_WORDS[COMP_CWORD]} == -* ]] && echo --option-of-traced || echo %s)\" -- \"${COMP_WORDS[COMP_CWORD]}\")); }" % ' '.join(TRACED),
              'complete -F _traced traced']
    for line in lines:
        words = re.findall(r'[=:]|(?:\\.|[^\s=:])+', line)
        if line[-1:] == ' ':
            words.append('')
        script.append('COMP_LINE=%s COMP_POINT=%d COMP_CWORD=%d COMP_WORDS=(%s)' % (
            quoted(line), len(line), len(words) - 1, ' '.join(quoted(word) for word in words)))
        script.append("_shadowtrace shadowtrace; printf '%s\\n' \"${COMPREPLY[@]}\" END")
    result = run(['bash', '--norc', '-c', '\n'.join(script)], cwd=folder, env=environment(folder))
    return result, answers(result.text, lines)


def fish(folder, lines):
    script = ['source ' + os.path.join(COMPLETIONS, 'fish'), 'function traced; end',
              "complete -c traced -x -a '%s'" % ' '.join(TRACED), 'complete -c traced -l option-of-traced']
    for line in lines:
        script.append('complete -C %s; echo END' % quoted(line))
    result = run(['fish', '--no-config', '-c', '\n'.join(script)], cwd=folder, env=environment(folder))
    return result, answers(result.text, lines)


# In a shell with a line editor: compadd is where every match comes by.
ZSH = r'''
PS1= zle_highlight=(none)
fpath=("$here/functions" $fpath)
autoload -Uz compinit && compinit -u -D
traced() { : }
compadd() {
    # -O, -A and -D are questions; what the rest adds is looked at, and added.
    if [[ " ${(j: :)@[1,(i)(-|--)]} " == *' -'[OAD]' '* ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -O hits "$@"
    found+=("${hits[@]}")
    builtin compadd "$@"
}
one() {
    _main_complete
    compstate[insert]= compstate[list]=
}
zle -C one complete-word one
all() {
    local line
    local -a found
    while IFS= read -r line; do
        LBUFFER=$line RBUFFER=
        found=()
        zle one
        print -rl -- "${found[@]}" END
    done <"$here/lines" >"$here/answers.new"
    LBUFFER=
    mv "$here/answers.new" "$here/answers"
}
zle -N all
bindkey '^T' all
print ready >"$here/ready"
'''


def zsh(folder, lines):
    made = os.path.join(os.path.dirname(folder), 'zsh')
    os.makedirs(os.path.join(made, 'functions'), exist_ok=True)
    os.replace(write(os.path.join(made, 'copy'), open(os.path.join(COMPLETIONS, 'zsh'), encoding='utf-8').read()),
               os.path.join(made, 'functions', '_shadowtrace'))
    write(os.path.join(made, 'functions', '_traced'),
          "#compdef traced\n_arguments --option-of-traced '*:word:(%s)'\n" % ' '.join(TRACED))
    write(os.path.join(made, 'lines'), ''.join(line + '\n' for line in lines))
    write(os.path.join(made, 'setup'), 'here=%s\n' % quoted(made) + ZSH)
    for name in 'ready', 'answers':
        if os.path.exists(os.path.join(made, name)):
            os.unlink(os.path.join(made, name))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe('zsh', ['zsh', '-f', '-i'], dict(environment(folder), TERM='xterm'))
    said = []

    def there(name):
        while harness.readable(terminal, 0):
            try:
                said.append(os.read(terminal, 65536))
            except OSError:
                raise AssertionError('zsh has ended: %s' % b''.join(said).decode(errors='replace')) from None
        return os.path.exists(os.path.join(made, name))
    try:
        os.write(terminal, b'. ../zsh/setup\r')
        until(lambda: there('ready'), lambda: 'zsh is ready: %s' % b''.join(said))
        os.write(terminal, b'\x14')
        until(lambda: there('answers'), lambda: 'zsh has completed: %s' % b''.join(said))
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    with open(os.path.join(made, 'answers'), encoding='utf-8') as file:
        return b''.join(said).decode(errors='replace'), answers(file.read(), lines)


COMPLETERS = {'bash': bash, 'zsh': zsh, 'fish': fish}
SHELLS = tuple(COMPLETERS)


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


def environment(folder):
    return dict(ENVIRONMENT, HOME=os.path.dirname(folder), PATH='%s:%s' % (BUILD, ENVIRONMENT['PATH']))


def answers(text, lines):
    parts = text.split('END\n')
    if len(parts) != len(lines) + 1:
        raise AssertionError('%d answers for %d lines: %s' % (len(parts) - 1, len(lines), text[-2000:]))
    return {line: {word.split('\t')[0].rstrip('/=').replace('\\', '') for word in part.splitlines() if word.strip()}
            for line, part in zip(lines, parts)}


def complete(t, shell, lines):
    """What the shell completes each line with: {line: words}. Behind the words, fish says what they mean."""
    consumers.program(shell)
    built('completion/' + shell, 'make')
    folder = t.path('here')
    os.makedirs(folder, exist_ok=True)
    for name in FOLDERS:
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for name in FILES:
        write(os.path.join(folder, name), '')
    said, found = COMPLETERS[shell](folder, list(lines))
    return str(said), found


def last_words(line, words):
    """Of --view=tree some shells give back tree, and of a,b some give b."""
    return {word.rsplit('=', 1)[-1].rsplit(',', 1)[-1] if '=' in line or ',' in line else word for word in words}


@each('shell', *SHELLS)
def test_command_lines_are_completed(t, shell):
    said, found = complete(t, shell, [*EXACTLY, *AMONG, *NOTHING, *SETS])
    wrong = []
    for line, expected in EXACTLY.items():
        if last_words(line, found[line]) != set(expected):
            wrong.append('%r: %s, not %s' % (line, sorted(found[line]), sorted(expected)))
    for line, expected in AMONG.items():
        if not set(expected) <= found[line]:
            wrong.append('%r: %s lacks %s' % (line, sorted(found[line]), sorted(set(expected) - found[line])))
    for line, expected in SETS.items():
        if last_words(line, found[line]) != set(expected):
            wrong.append('%r: %s, not %s' % (line, sorted(found[line]), sorted(expected)))
    for line in NOTHING:
        if not all(word.startswith('-') for word in found[line]):
            wrong.append('%r: %s' % (line, sorted(found[line])))
    t.true(not wrong, '\n'.join(wrong + [said[-2000:]]))
    t.note('%d lines' % len(found))


def commands_of_help():
    text = tool('help').text
    return re.findall(r'^  ([a-z][\w-]*) ', text, re.M)


def options_of_help(command):
    """Options as the help page has them."""
    return set(re.findall(r'^  (?:-\w, )?(--[\w-]+)', tool('help', '--all', command).text, re.M))


@each('shell', *SHELLS)
def test_every_option_of_every_command_is_offered(t, shell):
    commands = commands_of_help()
    lines = {'shadowtrace %s --' % command: command for command in commands}
    said, found = complete(t, shell, ['shadowtrace ', *lines])
    t.true(set(commands) <= found['shadowtrace '], 'commands: %s' % sorted(found['shadowtrace ']))
    for line, command in lines.items():
        t.equal(found[line], options_of_help(command), 'options of %s\n%s' % (command, said[-1000:]))
    t.note('%d options' % sum(map(len, found.values())))


@needs('Ticker')
def test_processes_are_those_that_are_traced(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0', '--paused')
    pid = str(ticker.wait())
    lines = ['shadowtrace dump ', 'shadowtrace top --once ', 'shadowtrace ctl ', 'shadowtrace report ']
    tried = 0
    for shell in SHELLS:
        try:
            said, found = complete(t, shell, lines)
        except Skip as skip:
            t.note(str(skip))
            continue
        for line in lines[:3]:
            t.true(pid in found[line], '%s, %r: %s, not %s\n%s' % (shell, line, found[line], pid, said[-1000:]))
        t.true(pid not in found[lines[3]], found[lines[3]])
        tried += 1
    ticker.end()
    if not tried:
        t.skip('no shell is installed')
