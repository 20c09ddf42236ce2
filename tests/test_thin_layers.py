"""Flat faces of metal just past a line act where they are drawn, in cells of any proportions."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED

MM = 1e-3
LOWER, UPPER = (-2 * MM,) * 3, (11 * MM, 5 * MM, 12 * MM)  # of the grid
WIDE, HIGH = 9 * MM, 3 * MM


def cavity(length, kind="lid", cell=MM, **entries):
    """A hollow of 9 x 3 cells, along z in cells of their own and off the lines, in metal, or behind its own lid."""
    hollow, outer = nf.Box((0, 0, 0), (WIDE, HIGH, length)), nf.Box(LOWER, UPPER)
    bodies = {
        "hole": [nf.Structure(outer, nf.PEC), nf.Structure(hollow, nf.Medium(), name="hollow")],
        "difference": [nf.Structure(nf.Difference(outer, hollow), nf.PEC)],
        "lid": [
            nf.Structure(nf.Difference(outer, nf.Box((0, 0, 0), (WIDE, HIGH, 1))), nf.PEC),
            nf.Structure(nf.Box((0, 0, length), (WIDE, HIGH, 1)), nf.PEC, name="lid"),
        ],
    }[kind]
    grid = nf.Grid.uniform((MM, MM, cell), (13, 7, round(14 * MM / cell)), origin=LOWER)
    return nf.Simulation(grid, bodies, nf.Boundaries(nf.PEC), **{"steps": 1, **entries})


def acts_at(length, kind="lid", cell=MM):
    """The length of the box that rings as the model does on this grid, the waves' lag taken out."""
    middle = VACUUM_SPEED / 2 * np.hypot(1 / WIDE, 1 / length)
    current = nf.PointCurrent((4 * MM, 1.5 * MM, 4 * MM), "y", nf.ModulatedGaussian(middle, 6e9))
    probe = nf.Probe("inside", (5 * MM, 1.5 * MM, 3 * MM), "Ey")
    entries = {"sources": [current], "monitors": [probe], "steps": round(4000 * MM / cell), "precision": "double"}
    run = cavity(length, kind, cell, **entries).run(threads=1)
    found = nf.resonances(run, (0.93 * middle, 1.07 * middle), probe="inside").frequency.values
    assert len(found) == 1
    step = run.facts["time_step"]
    square = (np.sin(np.pi * found[0] * step) / (VACUUM_SPEED * step)) ** 2 - (np.sin(np.pi * MM / WIDE / 2) / MM) ** 2
    return np.pi / (2 / cell * np.arcsin(cell * square**0.5))


@pytest.mark.parametrize(
    "kind, cell, past",
    [
        *(("lid", 1, 0.005), ("hole", 1, 0.02), ("difference", 1, 0.05), ("lid", 1, 0.08), ("lid", 1, 0.4)),
        *(("lid", 0.5, 0.01), ("hole", 0.25, 0.1), ("lid", 0.1, 0.01), ("lid", 0.1, 0.3)),
    ],
)
def test_a_face_just_past_a_line_acts_where_it_is_drawn(kind, cell, past):
    """Areas that are added to its thin layer alone put it 0.077 to 0.026 cells deeper in cubes, and 0.06, 0.21, 0.41
    and 0.13 of cells that are flat along z."""
    cell, length = cell * MM, (8 + past * cell) * MM
    assert not cavity(length, kind, cell).check().moved
    assert acts_at(length, kind, cell) == pytest.approx(length, abs=0.005 * cell)


def test_a_face_on_a_line_acts_there():
    assert acts_at(8 * MM) == pytest.approx(8 * MM, abs=1e-4 * MM)
