#!/usr/bin/env python3
"""Makes manual pages from src/manual/NAME.SECTION.md.

usage: pages.py VERSION DATE FOLDER PAGE.md...

A page is written to FOLDER/manSECTION. If it exists there, made from the tables of options, the sections of PAGE.md
are inserted before its exit status. The Markdown: headings, paragraphs, `code`, **bold**, [links](to), lists with "- ",
tables, and indented blocks, which must fit into 80 columns of a manual.
"""
import os
import re
import sys

WIDTH = 71  # of an indented block: 80 columns less the margins of a page
EXIT = '.SH "EXIT STATUS"\n'


def escape(text):
    return text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga')


def link(match):
    """A link to another manual page is its name; any other keeps its text."""
    page = re.search(r'(?:^|/)([\w-]+)\.(\d)\.md(?:#.*)?$', match[2])
    return '**%s**(%s)' % (page[1], page[2]) if page else match[1]


def inline(text):
    text = re.sub(r'\[([^\]]+)\]\(([^)]+)\)', link, text)
    pieces = re.split(r'(`[^`]+`|\*\*[^*]+\*\*)', text)
    made = ''.join('\\fB%s\\fR' % escape(piece.strip('`*' if piece[0] == '*' else '`')) if piece[:1] == '`' or piece[:2] == '**'
                   else piece.replace('\\', '\\e').replace('~', '\\(ti').replace('^', '\\(ha') for piece in pieces)
    return re.sub(r"^([.'])", r'\\&\1', made)


def table(rows):
    """A term for each row. Of more than two columns, each cell has its heading."""
    head, body = rows[0], rows[2:]
    for term, *cells in body:
        yield '.TP\n' + inline(term)
        named = [(name, cell) for name, cell in zip(head[1:], cells) if cell]
        yield inline('; '.join('%s: %s' % pair if len(head) > 2 and pair[0] else pair[1] for pair in named))


def block(lines, where):
    """Troff of one block: lines without an empty line between them."""
    if lines[0].startswith('    '):
        wide = next((line for line in lines if len(line) - 4 > WIDTH), None)
        if wide:
            sys.exit('%s: more than %d columns: %s' % (where, WIDTH, wide.strip()))
        return ['.PP\n.in +2n\n.EX', *(re.sub(r"^([.'])", r'\\&\1', escape(line[4:])) for line in lines), '.EE\n.in']
    if lines[0].startswith('#'):
        marks, text = lines[0].split(' ', 1)
        return ['.SH "%s"' % text.upper() if marks == '##' else '.SS "%s"' % text]
    if lines[0].startswith('|'):
        return list(table([[cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip('|'))] for line in lines]))
    if lines[0].startswith('- '):
        items = re.split(r'\n- ', '\n'.join(lines)[2:])
        return ['.IP \\(bu 2\n' + inline(' '.join(item.split())) for item in items]
    return ['.PP\n' + inline(' '.join(lines))]


def blocks_of(text):
    """Blocks of lines; empty lines within an indented block are its own."""
    text = re.sub(r'^<!--.*-->\n', '', text, flags=re.M)
    blocks = [part.split('\n') for part in re.split(r'\n\s*\n', text.strip('\n'))]
    for at in range(len(blocks) - 1, 0, -1):
        if all(part[0].startswith('    ') for part in blocks[at - 1:at + 1]):
            blocks[at - 1:at + 1] = [blocks[at - 1] + [''] + blocks[at]]
    return blocks


def body_of(blocks, where):
    made = [line for lines in blocks for line in block(lines, where)]
    text = '\n'.join(made) + '\n'
    return re.sub(r'(\.S[HS] .*\n)\.PP\n', r'\1', text)


def main(version, date, folder, *pages):
    for path in pages:
        name, section = re.fullmatch(r'(.+)\.(\d)\.md', os.path.basename(path)).groups()
        with open(path, encoding='utf-8') as file:
            title, *blocks = blocks_of(file.read())
        target = os.path.join(folder, 'man' + section, '%s.%s' % (name, section))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        body = body_of(blocks, path)
        if section == '1':
            with open(target, encoding='utf-8') as file:
                before, after = file.read().split(EXIT)
            text = before + body + EXIT + after
        else:
            what = re.fullmatch(r'# %s\(%s\): (.+)' % (name, section), title[0])[1]
            text = '.\\" Made from %s; do not edit.\n.TH %s %s %s "shadowtrace %s" "shadowtrace manual"\n.SH NAME\n%s \\- %s\n%s' % (
                os.path.basename(path), name.upper(), section, date, version, name.replace('-', '\\-'), inline(what), body)
        with open(target, 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
