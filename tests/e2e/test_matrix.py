"""
The short form of the matrix: each torture program once, every pair of runtime, hooks and settings at least once, and every
stack equal to the runtime's own snapshot. A cell of the lane matrix has four times as many comparisons.
"""
import matrix
from harness import PROGRAM, each

CELLS = {matrix.name_of(cell).replace(' ', ','): cell for cell in matrix.short_cells()}
PART = 4


@each('cell', *CELLS)
def test_cell(t, cell):
    cell = CELLS[cell]
    scale = -(-matrix.SCALES[cell.program] // PART)
    r = t.record(PROGRAM.command(cell.program, cell.framework) + ['--scale', str(scale)], hooks=cell.hooks, check=1,
                 rich=True, env=matrix.environment_of(cell))
    # KnownAllocs ends with what each thread allocated.
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r) if cell.program != 'KnownAllocs' else None
    spared = ' not hooked, and in no stack' in r.errors  # the framework of .NET 11, under ELT2
    t.equal(r.errors.count('\n') <= 4 + spared, True, 'stderr\n%s' % r)
    c = t.exact(r)
    t.true(c['compared'] >= matrix.ENOUGH // PART, '%d comparisons are too few' % c['compared'])
    t.note('repairs: ' + (', '.join('%s %d' % item for item in sorted(c['repairs'].items()) if item[1]) or 'none'))


test_cell.needs = sorted({(cell.program, cell.framework) for cell in CELLS.values()})
