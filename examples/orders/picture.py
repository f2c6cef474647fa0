#!/usr/bin/env python3
"""
The picture of the README: what three commands print on a terminal, as SVG.

usage: sh examples/orders/run.sh && python3 examples/orders/picture.py > examples/orders/terminal.svg
"""
import html
import os
import pty
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('SHADOWTRACE_BUILD', os.path.join(HERE, '..', '..', 'build'))
COLUMNS = 100
COMMANDS = ['shadowtrace record -o orders.ndjson -- dotnet orders.dll',
            'shadowtrace report orders.ndjson',
            'shadowtrace annotate orders.ndjson Program.cs']
# The overview without what comes after the hottest paths; of a source file the head of the table and some lines.
PART = {1: (slice(0, 29),), 2: (slice(3, 4), slice(9, 20))}
SIZE, ADVANCE, LEADING, MARGIN = 13, 7.83, 18, 18


def output_of(command, folder):
    """What the command prints on a terminal, line by line."""
    screen, theirs = pty.openpty()
    environment = {**os.environ, 'PATH': os.path.abspath(BUILD) + ':' + os.environ['PATH'], 'TERM': 'xterm',
                   'COLUMNS': str(COLUMNS)}
    subprocess.run(['stty', 'cols', str(COLUMNS), 'rows', '60'], stdin=theirs, check=True)
    with subprocess.Popen(['sh', '-c', command], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        text = b''
        while True:
            try:
                piece = os.read(screen, 65536)
            except OSError:  # the last one that had the terminal open has ended
                break
            if not piece:
                break
            text += piece
    text = re.sub(r'\x1b\][^\x1b\x07]*(\x1b\\|\x07)', '', text.decode())  # links
    text = re.sub(r'[^\n]*\r\x1b\[K', '', text.replace('\r\n', '\n'))  # progress lines
    return re.sub(r'\x1b(\[[0-9;?]*[A-Za-z]|[=>])', '', text).rstrip('\n').split('\n')


def lines():
    folder = os.path.join(BUILD, 'examples', 'orders')
    for name, target in (('orders.dll', 'bin/orders.dll'), ('orders.runtimeconfig.json', 'bin/orders.runtimeconfig.json'),
                         ('orders.pdb', 'bin/orders.pdb'), ('Program.cs', os.path.join(HERE, 'Program.cs'))):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(target, path)
    if os.path.exists(os.path.join(folder, 'orders.ndjson')):
        os.unlink(os.path.join(folder, 'orders.ndjson'))
    for number, command in enumerate(COMMANDS):
        yield 'prompt', '$ ' + command
        shown = output_of(command, folder)
        if number in PART:
            shown = [line for part in PART[number] for line in shown[part]]
        for line in shown:
            yield 'text', line[:COLUMNS]
        yield 'text', ''


def main():
    rows = list(lines())[:-1]
    width, height = COLUMNS * ADVANCE + 2 * MARGIN, len(rows) * LEADING + 2 * MARGIN
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">' % (width, height, width, height))
    print('<style>text { font: %dpx ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre }'
          '\n.prompt { fill: #7ee787 }</style>' % SIZE)
    print('<rect width="100%" height="100%" rx="8" fill="#0d1117"/>')
    for number, (kind, line) in enumerate(rows):
        text = line.lstrip(' ')
        if text:
            print('<text x="%.1f" y="%d" class="%s" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>' % (
                MARGIN + (len(line) - len(text)) * ADVANCE, MARGIN + LEADING * number + SIZE, kind,
                round(len(text) * ADVANCE), html.escape(text, quote=False).replace(' ', '\u00a0')))
    print('</svg>')
    return 0


if __name__ == '__main__':
    sys.exit(main())
