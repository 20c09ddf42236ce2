"""Strips of good conductors that lose too little, as `check` says, drawn in any way."""

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
