"""
Which tests run, and with which values: the sample of `make check`, or the full set of a lane of `make check-all`.

A test declares its full set next to its sample:

  @lane('kills')                                  runs in this lane only
  @lane('live', sample=lambda hooks, **_: …)      outside the lane, only the variants for which the function holds
  @each('hooks', 'elt3', full=('live', HOOKS))    one value in `make check`, all of them in the lane
  @longer('kills')                                always runs, but uses full('kills', 12, 200) somewhere
  @sampled                                        outside the lane combinations: each value of each @each at least once
  @sampled_in_pairs                               the same: each pair of values of two @each at least once

The lanes are rows of tests/lanes.py. SHADOWTRACE_ALL names those to run in full, separated by commas; 1 means all.
"""
import itertools
import os
import random
import zlib

_chosen = set()


def use_lanes(names):
    """The lanes to run in full. Call it before the tests are imported: most sets are chosen while they are."""
    _chosen.clear()
    _chosen.update(names)


use_lanes(os.environ.get('SHADOWTRACE_ALL', '').replace(',', ' ').split())


def chosen(name):
    """Is this lane run in full?"""
    return bool(_chosen & {name, '1'})


def any_lane():
    """Is any lane run in full?"""
    return bool(_chosen)


def full(name, some, everything):
    """`everything` if the lane is run in full, else `some`: a count, a list of values."""
    return everything if chosen(name) else some


def _joins(function, name):
    function.lanes = getattr(function, 'lanes', set()) | {name}


def each(argument, *values, full=None):
    """Runs the test once for each value; full: (lane, all values)."""
    def mark(function):
        if full:
            _joins(function, full[0])
        function.each = [(argument, full[1] if full and chosen(full[0]) else values)] + getattr(function, 'each', [])
        return function
    return mark


def lane(name, sample=None):
    """The test is of this lane; outside it, only the variants run for whose arguments `sample` holds."""
    def mark(function):
        _joins(function, name)
        if not chosen(name):
            function.sample = getattr(function, 'sample', []) + [sample or (lambda **_: False)]
        return function
    return mark


def longer(name):
    """The test runs everywhere, and longer in this lane."""
    return lane(name, sample=lambda **_: True)


def sampled(function):
    """Outside the lane combinations only enough variants run that each value of each argument is in one of them."""
    _joins(function, 'combinations')
    function.strength = 1
    return function


def sampled_in_pairs(function):
    """The same for each pair of values of two arguments."""
    _joins(function, 'combinations')
    function.strength = 2
    return function


def pairs_of(row):
    return {frozenset(pair) for pair in itertools.combinations(sorted(row.items(), key=str), 2)}


def covering(axes, seed=1, possible=lambda row: True):
    """Rows that hold every possible pair of values of two axes; few, by a greedy search that is the same every time."""
    draw = random.Random(seed)
    names = list(axes)
    every = [dict(zip(names, values)) for values in itertools.product(*axes.values())]
    every = [row for row in every if possible(row)]
    wanted = set().union(*(pairs_of(row) for row in every))
    rows = []
    while wanted:
        draw.shuffle(every)
        best = max(every, key=lambda row: len(pairs_of(row) & wanted))
        wanted -= pairs_of(best)
        rows.append(best)
    return rows


def sample_of(function, axes):
    """The variants that a sampled function runs with. Functions with the same axes get different ones."""
    seed = zlib.crc32(function.__name__.encode())
    if function.strength == 2:
        return covering(axes, seed)
    turned = {name: [values[(i + seed // 7 ** at) % len(values)] for i in range(len(values))]
              for at, (name, values) in enumerate(axes.items())}
    return [{name: values[i % len(values)] for name, values in turned.items()} for i in range(max(map(len, turned.values())))]


def variants(function):
    """(name, arguments, whether it is run) for each way a test can be run."""
    axes = getattr(function, 'each', [])
    some = sample_of(function, dict(axes)) if hasattr(function, 'strength') and not chosen('combinations') else None
    for values in itertools.product(*(v for _, v in axes)):
        arguments = dict(zip((a for a, _ in axes), values))
        name = function.__name__[len('test_'):] + ('[%s]' % ','.join(str(v) for v in values) if values else '')
        yield name, arguments, (some is None or arguments in some) and all(
            sample(**arguments) for sample in getattr(function, 'sample', []))


def named(texts, tests):
    """Those of (name, …) whose name contains one of the texts; a text that is a whole name means that test alone."""
    whole = {test[0] for test in tests}
    return [test for test in tests if not texts or any(test[0] == text if text in whole else text in test[0] for text in texts)]
