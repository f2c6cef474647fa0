#!/usr/bin/env python3
"""How soon `retained` tells who keeps memory, and in how much of it: of a made-up heap of a million objects (gen_heap.c).

usage: tests/bench/retained.py BUILD [--objects N] [--rounds N]
"""
import argparse
import os
import re
import subprocess
import tempfile

import show
from opening import timed
from runs import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS = 1000000
SECONDS_MOST, MEGABYTES_MOST = 1, 200


def make(folder, objects):
    """A dump and its log; how many references it has."""
    program, dump, log = (os.path.join(folder, name) for name in ('gen_heap', 'heap', 'log.ndjson'))
    built = subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-I' + os.path.join(HERE, '../../include'), '-o', program,
                            os.path.join(HERE, 'gen_heap.c')], stderr=subprocess.PIPE, check=False)
    if built.returncode:
        raise Missing('gen_heap.c: ' + built.stderr.decode()[-300:])
    said = subprocess.run([program, str(objects), dump, log], stdout=subprocess.PIPE, check=True).stdout.decode()
    return dump, log, int(re.search(r'(\d+) references', said).group(1))


def measure_command(command, objects, rounds):
    """All samples of the two ways to ask."""
    with tempfile.TemporaryDirectory() as folder:
        dump, log, references = make(folder, objects)
        ways = {way: [command, 'retained', '--quiet', '--no-lines', *options, log, dump]
                for way, options in (('rows', ()), ('paths', ('--type', '*Thing7')))}
        found = {'objects': objects, 'references': references, 'dump_bytes': os.path.getsize(dump), 'rows': [], 'paths': []}
        for _ in range(rounds):
            for way, argv in ways.items():
                found[way].append(timed(argv, dict(os.environ), folder))
    return found


def measure(bench, rounds, say):
    say('who keeps a million objects')
    return measure_command(bench.command, OBJECTS, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--objects', type=int, default=OBJECTS)
    parser.add_argument('--rounds', type=int, default=9)
    options = parser.parse_args()
    found = measure_command(os.path.join(os.path.abspath(options.build), 'shadowtrace'), options.objects, options.rounds)
    print(show.retained_title(found))
    print(show.retained(found))


if __name__ == '__main__':
    main()
