"""The short form of the matrix: each torture program once, every pair of runtime, hooks and settings at least once."""
import matrix
from harness import each

CELLS = {matrix.name_of(cell).replace(' ', ','): cell for cell in matrix.short_cells()}


@each('cell', *CELLS)
def test_cell(t, cell):
    numbers, wrong = matrix.run_cell(CELLS[cell], t.folder)
    t.true(not wrong, wrong)
    t.note(matrix.describe(numbers))


test_cell.needs = sorted({(cell.program, cell.framework) for cell in CELLS.values()})
