"""Strips of good conductors that lose too little, as `check` says, drawn in any way."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3
HEIGHT = 5 * MM


def plate(*corners) -> nf.Polygon:
    return nf.Polygon("z", [(MM * x, MM * y) for x, y in corners], HEIGHT, HEIGHT)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (nf.Sheet((5 * MM, 5 * MM, HEIGHT), (25 * MM, 8 * MM, HEIGHT)), True),
        (plate((5, 5), (25, 5), (25, 8), (5, 8)), True),
        (plate((5, 5), (25, 5), (25, 25), (22, 25), (22, 8), (5, 8)), True),  # bent
        (plate((5, 5), (25, 6), (25, 9), (5, 8)), True),  # slanting
        (plate((5, 5), (25, 5), (25, 20), (5, 20)), False),
    ],
)
def test_strips_drawn_as_polygons_are_reported_as_sheets_are(shape, said):
    structure = nf.Structure(shape, nf.Conductor(5.8e7), name="strip")
    source = nf.PointCurrent((1.5 * MM, 2 * MM, 3 * MM), "x", nf.Gaussian(9e9))
    grid, faces = nf.Grid.uniform(MM, (30, 30, 12)), nf.Boundaries(nf.PEC)
    found = nf.Simulation(grid, [structure], faces, sources=[source], steps=10).check().warnings
    assert any("that is 3 cells wide and loses too little" in text for text in found) == said


@pytest.mark.parametrize(
    "shape",
    [plate((3, 5), (27, 5), (27, 8), (3, 8)), nf.Sheet((3 * MM, 5 * MM, HEIGHT), (27 * MM, 8 * MM, HEIGHT))],
)
def test_cells_along_a_strip_do_not_count(shape):
    """Of 2 mm, beside 0.25 mm across it."""
    lines = np.arange(0, 31, 2) * MM, np.arange(0, 30.1, 0.25) * MM, np.arange(0, 12.1) * MM
    source = nf.PointCurrent((1.5 * MM, 2 * MM, 3 * MM), "x", nf.Gaussian(3e9))
    strip = [nf.Structure(shape, nf.Conductor(5.8e7))]
    found = nf.Simulation(nf.Grid(*lines), strip, nf.Boundaries(nf.PEC), sources=[source], steps=10).check().warnings
    assert not any("loses too little" in text for text in found)


@pytest.mark.parametrize("marks, said", [(1, False), (9, True)])
def test_small_marks_of_a_layout_do_not_stand_for_it(marks, said, tmp_path):
    """Squares of 3 cells beside one of 15, of which nine have a fourth of the area."""
    gdstk = pytest.importorskip("gdstk")
    squares = [(5, 5, 15), *((5 + 2 * n, 24, 3) for n in range(0, 2 * marks, 2))]
    library = gdstk.Library(unit=MM, precision=1e-9)
    library.new_cell("top").add(*(gdstk.rectangle((x, y), (x + side, y + side), layer=1) for x, y, side in squares))
    library.write_gds(tmp_path / "marks.gds")
    layout = nf.Layout(tmp_path / "marks.gds", 1, HEIGHT, HEIGHT)
    source = nf.PointCurrent((1.5 * MM, 2 * MM, 3 * MM), "x", nf.Gaussian(9e9))
    grid, structure = nf.Grid.uniform(MM, (50, 30, 12)), nf.Structure(layout, nf.Conductor(5.8e7))
    found = nf.Simulation(grid, [structure], nf.Boundaries(nf.PEC), sources=[source], steps=10).check().warnings
    assert any("3 cells wide and loses too little" in text for text in found) == said
