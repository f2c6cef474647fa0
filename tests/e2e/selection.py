"""
Which tests run, and with which values: the sample of `make check`, or the full set of a lane of `make check-all`.

A test declares its full set next to its sample:

  @lane('kills')                                  runs in this lane only
  @lane('live', sample=lambda hooks, **_: …)      outside the lane, only the variants for which the function holds
  @each('hooks', 'elt3', full=('live', HOOKS))    one value in `make check`, all of them in the lane
  @longer('kills')                                always runs, but uses full('kills', 12, 200) somewhere

The lanes are rows of tests/lanes.py. SHADOWTRACE_ALL names those to run in full, separated by commas; 1 means all.
"""
import itertools
import os

_chosen = set()


def use_lanes(names):
    """The lanes to run in full. Call it before the tests are imported: most sets are chosen while they are."""
    _chosen.clear()
    _chosen.update(names)


use_lanes(os.environ.get('SHADOWTRACE_ALL', '').replace(',', ' ').split())


def chosen(name):
    """Is this lane run in full?"""
    return bool(_chosen & {name, '1'})


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


def variants(function):
    """(name, arguments, whether it is run) for each way a test can be run."""
    axes = getattr(function, 'each', [])
    for values in itertools.product(*(v for _, v in axes)):
        arguments = dict(zip((a for a, _ in axes), values))
        name = function.__name__[len('test_'):] + ('[%s]' % ','.join(str(v) for v in values) if values else '')
        yield name, arguments, all(sample(**arguments) for sample in getattr(function, 'sample', []))


def named(texts, tests):
    """Those of (name, …) whose name contains one of the texts; a text that is a whole name means that test alone."""
    whole = {test[0] for test in tests}
    return [test for test in tests if not texts or any(test[0] == text if text in whole else text in test[0] for text in texts)]
