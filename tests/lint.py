#!/usr/bin/env python3
"""Holds the sources against the levels of src/README.md and the limits of size.

usage: tests/lint.py [--objects BUILD/obj] [ROOT]      the rules below, on a tree
       tests/lint.py --self-test                       a made-up tree for each rule that breaks it

Rules: a folder includes only folders on lower lines of its block, and those of the last block (common); every folder
under src/ is on a line, and every line's folders exist; no circle of files within a folder, by #include (a header and
the file of the same name are one); no function over 70 lines; no line over 100 columns; no phrase of PHRASES
anywhere, nor of IN_PAGES in pages, help and messages: text is plain English. With --objects, circles of files by the
symbols they use are listed, too, and do not fail.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
FUNCTION_MAX, COLUMN_MAX, COLUMNS_FAIL = 70, 100, True

# Plain English: subject, verb, object, and the field's words.
PHRASES = """told of|is told|are told|is had|be had|there is none|are there none|nobody asks|somebody asks|who asks|whoever
whose it is|stands for the|stays out of|for want of|behind it|in place of what|so many|so long|so much|meets every
given otherwise|what is no|that is none|of its own|of ours|comes of it|has it all|begin anew|start anew|begins anew|began anew
makes? them anew|dearer|need not have been|as it is told|is meant|lies beside|goes by that|nobody waits|one behind the other
told apart|all the same|if need be|what (?:came|comes) of (?:it|them|that)|hears? of"""
# In pages, and in help and messages as fixtures have them.
IN_PAGES = r"""is no (?!longer)\w+|anew|tells? of|beside|our|stands? (?:at|beside|as|in|on)|held against|has to meet|so does|put together
asked for|in one way or another|nothing else to do|comes? twice|leave that out"""
PAGES = re.compile(r'\.md$|^tests/fixtures/messages/')
PLAIN = 'README.md src hooks include tests examples'.split()
DATA = '.svg', '.webp', '.gz', '.zst', '.ndjson', '.pyc', '.heap'


def texts(root):
    """Of what people read: not data, not what was built, and not the list of phrases."""
    for place in PLAIN:
        full = os.path.join(root, place)
        paths = [full] if os.path.isfile(full) else [os.path.join(folder, name) for folder, _, names in os.walk(full)
                                                     for name in names]
        for path in sorted(path for path in paths if not path.endswith(DATA) and '/fuzz/corpus/' not in path):
            name = os.path.relpath(path, root)
            if name != 'tests/lint.py':
                with open(path, encoding='utf-8', errors='replace') as file:
                    yield name, file.read()


def pattern_of(phrases):
    """Also of phrases that a line break divides, with the mark of a comment in between."""
    return re.compile(r'\b(?<!there\s)(?:%s)\b' % phrases.replace('\n', '|').replace(' ', r'(?:\s|[*#/"])+'), re.I)


def check_phrases(root):
    anywhere, in_pages = pattern_of(PHRASES), pattern_of(PHRASES + '|' + IN_PAGES)
    for path, text in texts(root):
        for match in (in_pages if PAGES.search(path) else anywhere).finditer(text):
            yield '%s:%d' % (path, text.count('\n', 0, match.start()) + 1), 'not plain English: "%s"' % ' '.join(re.sub(r'[*#/"]', ' ', match[0]).split())


def sources(root):
    for top in 'src', 'hooks', 'include':
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(name for name in names if name.endswith(('.c', '.h', '.S', '.inc'))):
                with open(os.path.join(folder, name), encoding='utf-8') as file:
                    yield os.path.relpath(file.name, root), file.read().splitlines()


def levels_of(root):
    """[{folder: line} for each block], from the fenced block under "## Levels"."""
    with open(os.path.join(root, 'src/README.md'), encoding='utf-8') as file:
        found = re.search(r'^## Levels\n.*?^```\n(.*?)^```', file.read(), re.M | re.S)
    blocks = re.split(r'\n\s*\n', found.group(1).strip()) if found else []
    return [{folder: line for line, text in enumerate(block.splitlines()) for folder in text.split()}
            for block in blocks]


def room_of(path):
    parts = path.split('/')
    return 'hooks' if parts[0] == 'hooks' else '/'.join(parts[:3]) if parts[0] == 'src' and len(parts) > 3 else None


def included(path, text, known):  # beside it, in its wing, in common, at the root; the wing of packages sees the command
    wing = 'src/tracer' if path.startswith('hooks/') else '/'.join(path.split('/')[:2])
    for base in os.path.dirname(path), wing, *(['src/tool'] if wing == 'src/package' else []), 'src/common', '.':
        target = os.path.normpath(os.path.join(base, text))
        if target in known:
            return target
    return None


def includes_of(files):
    return {path: [(number, target) for number, line in enumerate(lines, 1)
                   for text in re.findall(r'^#\s*include\s+"([^"]+)"', line)
                   for target in [included(path, text, files)] if target]
            for path, lines in files.items()}


def check_levels(files, blocks):
    rooms, listed = {room_of(path) for path in files} - {None}, {folder for block in blocks for folder in block}
    for room in sorted(rooms - listed):
        yield room, 'stands on no line of the levels in src/README.md'
    for folder in sorted(listed - rooms):
        yield 'src/README.md', 'lists %s, which has no sources' % folder
    for path, targets in includes_of(files).items():
        here = room_of(path)
        block = next((b for b in blocks if here in b), None)
        for number, target in targets:
            there = room_of(target)
            if block is None or there in (here, None):
                continue
            below = there in block and block[there] > block[here]
            if not below and (there not in blocks[-1] or block is blocks[-1]):
                yield '%s:%d' % (path, number), 'includes %s, which is not below %s' % (target, here)


def circles(edges):
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            new = set(edges.get(todo.pop(), ())) - seen
            seen |= new
            todo += new
        return seen
    reached = {node: reach(node) for node in edges}
    return sorted({tuple(sorted(other for other in reached[node] if node in reached.get(other, ())))
                   for node in edges if node in reached[node]})


def check_circles(files):
    """A header and the .c of its name are one file; a header without one is seen through."""
    includes, edges, headers = includes_of(files), {}, {}

    def add(node, path, seen):
        for target in (target for _, target in includes[path]):
            stem = os.path.splitext(target)[0]
            if os.path.dirname(target) != os.path.dirname(node) or target in seen or stem == node:
                continue
            seen.add(target)
            if stem + '.c' in files:
                edges.setdefault(node, set()).add(stem)
            else:
                add(node, target, seen)
    for path in files:
        add(os.path.splitext(path)[0], path, set())
        headers[path] = {target for _, target in includes[path]}
    for circle in circles(edges) + circles(headers):
        yield circle[0], 'a circle of includes: ' + ', '.join(os.path.basename(node) for node in circle)


def symbol_circles(objects, files):
    defines, uses = {}, {}
    made = [path[:-2] + '.o' for path in files if path.endswith('.c')]
    made = [path for path in made if os.path.exists(os.path.join(objects, path))]
    out = subprocess.run(['nm', '-A'] + made, cwd=objects, capture_output=True, text=True, check=False)
    for node, kind, symbol in re.findall(r'^(.*)\.o:.* ([TDBRVU]) (\w+)$', out.stdout, re.M):
        if kind == 'U':
            uses.setdefault(node, set()).add(symbol)
        else:
            defines[symbol] = node
    there = {node: {defines.get(symbol, '') for symbol in symbols} - {node} for node, symbols in uses.items()}
    for circle in circles({node: {other for other in others if os.path.dirname(other) == os.path.dirname(node)}
                           for node, others in there.items()}):
        yield circle[0], 'a circle of calls: ' + ', '.join(os.path.basename(node) for node in circle)


def check_functions(files):
    for path, lines in files.items():
        start = None
        for number, line in enumerate(lines):
            if line == '{':  # clang-format: only a function's brace stands in the first column, alone
                start = number
                while start and lines[start - 1] and not re.search(r'([;}]|\*/)$|^#', lines[start - 1]):
                    start -= 1
            elif line == '}' and start is not None:
                length, start = number + 1 - start, None
                if length > FUNCTION_MAX:
                    yield '%s:%d' % (path, number + 1), 'the end of a function of %d lines' % length


def check_columns(files):
    for path, lines in files.items():
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMN_MAX:
                yield '%s:%d' % (path, number), '%d columns' % len(line)


def problems(root):
    files = dict(sources(root))
    found = [*check_levels(files, levels_of(root)), *check_circles(files), *check_functions(files),
             *check_phrases(root)]
    return found, list(check_columns(files))


CLEAN = {'src/README.md': '## Levels\n\n```\nsrc/tool/high\nsrc/tool/low src/tool/near\n\nsrc/common/base\n```\n',
         'src/tool/high/high.c': '#include "low/low.h"\n#include "base/base.h"\n\nvoid high(void)\n{\n}\n',
         'src/tool/low/low.h': '#include "base/base.h"\n', 'src/tool/low/low.c': '#include "low/low.h"\n',
         'src/tool/near/near.h': '\n', 'src/common/base/base.h': '\n', 'src/common/base/more.h': '\n'}
BROKEN = {'not below': {'src/tool/low/low.c': '#include "high/high.h"\n', 'src/tool/high/high.h': '\n'},
          'not below src/tool/low': {'src/tool/low/low.c': '#include "near/near.h"\n'},
          'no line of the levels': {'src/tool/other/other.c': '\n'},
          'has no sources': {'src/tool/near/near.h': None},
          'circle': {'src/common/base/base.h': '#include "base/more.h"\n', 'src/common/base/base.c': '\n',
                     'src/common/base/more.c': '#include "base/base.h"\n'},
          'base.h, more.h': {'src/common/base/base.h': '#include "base/more.h"\n',
                             'src/common/base/more.h': '#include "base/base.h"\n'},
          'function of 71 lines': {'src/tool/low/low.c': 'int\nlow(void)\n{\n' + '    ;\n' * 67 + '}\n'},
          'not plain English: "for want of"': {'README.md': 'It fails, for want\nof memory.\n'},
          'not plain English: "so long"': {'src/common/base/more.h': '/* waits so\n * long */\n'},
          'not plain English: "is no file"': {'README.md': 'FILE is no file; it is no longer there.\n'},
          '101 columns': {'src/tool/low/low.c': '/*' + 'ä' * 97 + '*/\n'}}


def self_test():
    for wanted, changes in {None: {}, **BROKEN}.items():
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changes}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                if text is not None:
                    with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                        file.write(text)
            found = [text for part in problems(root) for _, text in part]
            if len(found) != (wanted is not None) or not all(wanted in text for text in found):
                sys.exit('a tree with "%s" gives: %s' % (wanted, found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('root', nargs='?', default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument('--objects')
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found, wide = problems(arguments.root)
    made = os.path.isdir(arguments.objects or '')
    listed = list(symbol_circles(arguments.objects, dict(sources(arguments.root)))) if made else []
    for place, text in found + listed + (wide if COLUMNS_FAIL else [('all', '%d lines over the limit' % len(wide))]):
        print('%s: %s' % (place, text))
    sys.exit(1 if found or (wide and COLUMNS_FAIL) else 0)


if __name__ == '__main__':
    main()
