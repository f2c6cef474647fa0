#!/usr/bin/env python3
"""
Runs the commands that a README shows, and holds what they print against it.

usage: blocks.py check|update README.md FOLDER [HEADING]

A command is a line `    $ COMMAND` in an indented block; what follows it up to the next command or the block's end is what it
printed. It runs in FOLDER, by sh, with the build folder on PATH. check: each ends with status 0 and prints what the comment
before it asks for. update: the same, and what it prints now is written into the README. The comment:

    <!-- shows "TEXT" "TEXT"... first N needs PROGRAM -->

TEXT must be in what it prints; in the README stand its first N lines (default: all); without PROGRAM on PATH it is not run,
and stands as it stood. HEADING: only commands below a heading of that text, up to the next heading. Of paths in FOLDER, the repository and the home folder these are left out; long lines are cut.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

INDENT = '    '
WIDEST = 120
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def output_end(lines, at):
    """Behind what a command printed: indented lines, and empty ones between them."""
    end = at
    while at < len(lines) and not lines[at].startswith(INDENT + '$ ') and (lines[at].startswith(INDENT) or not lines[at]):
        at += 1
        if lines[at - 1]:
            end = at
    return end


class Command:
    def __init__(self, comment):
        self.shows, self.first, self.needs = [], None, None
        words = iter(shlex.split(comment))
        for word in words:
            if word == 'first':
                self.first = int(next(words))
            elif word == 'needs':
                self.needs = next(words)
            elif word != 'shows':
                self.shows.append(word)


def parse(text):
    """The README in pieces: lines of text, and Commands, with their outputs."""
    lines, pieces, comment, at = text.split('\n'), [], '', 0
    while at < len(lines):
        found = re.fullmatch(r'<!-- ((?:shows|first|needs) .*) -->', lines[at])
        comment = found.group(1) if found else comment
        if not lines[at].startswith(INDENT + '$ '):
            pieces.append(lines[at])
            at += 1
            continue
        command, comment, begin = Command(comment), '', at
        at += 1
        while lines[at - 1].endswith('\\'):
            at += 1
        command.text = '\n'.join(line[len(INDENT):] for line in lines[begin:at])[2:]
        at = output_end(lines, at)
        command.lines = lines[begin:at]
        pieces.append(command)
    return pieces


def output_of(command, folder, build):
    """(exit status, what it printed)"""
    environment = dict(os.environ, PATH=build + os.pathsep + os.environ['PATH'], COLUMNS='100', NO_COLOR='1', LC_ALL='C.UTF-8')
    done = subprocess.run(['sh', '-c', command.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = done.stdout.decode(errors='replace')
    for path, short in (os.path.realpath(folder) + os.sep, ''), (ROOT + os.sep, ''), (os.path.expanduser('~') + os.sep, '~/'):
        text = text.replace(path, short)
    return done.returncode, text


def run(command, folder, build):
    """Whether it prints what it should; command.lines are then as they should stand in the README."""
    if command.needs and not shutil.which(command.needs):
        print('%s is not there: not run: %s' % (command.needs, command.text))
        return True
    status, text = output_of(command, folder, build)
    missing = [wanted for wanted in command.shows if wanted not in text]
    if status or missing:
        print('$ %s\nexit status %d%s\n%s' % (command.text, status, ''.join('; %r is missing' % m for m in missing), text),
              file=sys.stderr)
        return False
    lines = [line if len(line) <= WIDEST else line[:WIDEST - 1] + '…' for line in text.rstrip().split('\n') if text.strip()]
    if command.first is not None and len(lines) > command.first:
        lines = lines[:command.first] + ['…']
    command.lines = [(INDENT + line).rstrip() for line in ['$ ' + command.text.replace('\n', '\n' + INDENT)] + lines]
    return True


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ('check', 'update'):
        sys.exit(__doc__.strip().split('\n\n')[1])
    what, readme, folder = sys.argv[1:4]
    heading = sys.argv[4] if len(sys.argv) > 4 else None
    build = os.path.realpath(os.environ['SHADOWTRACE_BUILD'])
    with open(readme, encoding='utf-8') as file:
        pieces = parse(file.read())
    commands, below = [], heading is None
    for piece in pieces:
        if isinstance(piece, Command):
            commands += [piece] * below
        elif heading and piece.startswith('#'):
            below = piece.lstrip('#').strip() == heading
    failed = sum(not run(command, folder, build) for command in commands)
    if not failed and what == 'update':
        with open(readme, 'w', encoding='utf-8') as file:
            file.write('\n'.join('\n'.join(piece.lines) if isinstance(piece, Command) else piece for piece in pieces))
    print('%s: %d commands, %d of them not as they should be' % (os.path.basename(readme), len(commands), failed))
    return 1 if failed or not commands else 0


if __name__ == '__main__':
    sys.exit(main())
