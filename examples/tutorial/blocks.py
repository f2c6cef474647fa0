#!/usr/bin/env python3
"""
Runs the commands that a README shows, and holds what they print against it.

usage: blocks.py check|update README.md FOLDER

A command is a line `    $ COMMAND` in an indented block; what follows it up to the next command or the block's end is what it
printed. It runs in FOLDER, by sh, with the build folder on PATH. check: each ends with status 0 and prints what the comment
before it asks for. update: the same, and what it prints now is written into the README. The comment:

    <!-- shows "TEXT" "TEXT"... first N -->

TEXT must be in what it prints; in the README stand its first N lines (default: all). Paths of FOLDER and of the home folder
are left out.
"""
import os
import re
import shlex
import subprocess
import sys

INDENT = '    '


def output_end(lines, at):
    """Behind what a command printed: indented lines, and empty ones between them."""
    end = at
    while at < len(lines) and not lines[at].startswith(INDENT + '$ ') and (lines[at].startswith(INDENT) or not lines[at]):
        at += 1
        if lines[at - 1]:
            end = at
    return end


def parse(text):
    """The README in pieces: lines of text, and (command, first, shows) in the place of a command with its output."""
    lines, pieces, first, shows, at = text.split('\n'), [], None, [], 0
    while at < len(lines):
        comment = re.fullmatch(r'<!-- ((?:shows |first ).*) -->', lines[at])
        if comment:
            words = shlex.split(comment.group(1))
            first = int(words[words.index('first') + 1]) if 'first' in words else None
            shows = [word for word in words[:words.index('first')] if word != 'shows'] if 'first' in words else words[1:]
        if not lines[at].startswith(INDENT + '$ '):
            pieces.append(lines[at])
            at += 1
            continue
        command = lines[at][len(INDENT) + 2:]
        at += 1
        while command.endswith('\\'):
            command += '\n' + lines[at][len(INDENT):]
            at += 1
        at = output_end(lines, at)
        pieces.append((command, first, shows))
        first, shows = None, []
    return pieces


def output_of(command, folder, build):
    environment = dict(os.environ, PATH=build + os.pathsep + os.environ['PATH'], COLUMNS='100', NO_COLOR='1', LC_ALL='C.UTF-8')
    done = subprocess.run(['sh', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = done.stdout.decode(errors='replace')
    for path, short in (os.path.realpath(folder) + os.sep, ''), (os.path.expanduser('~') + os.sep, '~/'):
        text = text.replace(path, short)
    return done.returncode, text


def shown(command, first, text):
    lines = [line.rstrip() for line in text.rstrip('\n').split('\n')] if text.strip() else []
    if first is not None and len(lines) > first:
        lines = lines[:first] + ['…']
    return [INDENT + '$ ' + command.replace('\n', '\n' + INDENT)] + [(INDENT + line).rstrip() for line in lines]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ('check', 'update'):
        sys.exit(__doc__.strip().split('\n\n')[1])
    what, readme, folder = sys.argv[1:]
    build = os.path.realpath(os.environ['SHADOWTRACE_BUILD'])
    with open(readme, encoding='utf-8') as file:
        pieces = parse(file.read())
    made, failed = [], 0
    for piece in pieces:
        if isinstance(piece, str):
            made.append(piece)
            continue
        command, first, shows = piece
        status, text = output_of(command, folder, build)
        missing = [wanted for wanted in shows if wanted not in text]
        if status or missing:
            failed += 1
            print('$ %s\nexit status %d%s\n%s' % (command, status, ''.join('; %r is missing' % m for m in missing), text),
                  file=sys.stderr)
        made += shown(command, first, text)
    count = sum(not isinstance(piece, str) for piece in pieces)
    if not failed and what == 'update':
        with open(readme, 'w', encoding='utf-8') as file:
            file.write('\n'.join(made))
    print('%s: %d commands, %d of them not as they should be' % (os.path.basename(readme), count, failed))
    return 1 if failed or not count else 0


if __name__ == '__main__':
    sys.exit(main())
