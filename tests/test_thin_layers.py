"""Flat faces of metal just past a line, which act deeper in the metal than they are drawn: `moved` says how much."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED

MM = 1e-3
LOWER, UPPER = (-2 * MM,) * 3, (11 * MM, 5 * MM, 12 * MM)  # of the grid
WIDE, HIGH = 9 * MM, 3 * MM


def cavity(length, kind="lid", **entries):
    """A hollow of 9 x 3 cells, along z off the lines, in metal, or behind a lid of its own."""
    hollow, outer = nf.Box((0, 0, 0), (WIDE, HIGH, length)), nf.Box(LOWER, UPPER)
    bodies = {
        "hole": [nf.Structure(outer, nf.PEC), nf.Structure(hollow, nf.Medium(), name="hollow")],
        "difference": [nf.Structure(nf.Difference(outer, hollow), nf.PEC)],
        "lid": [
            nf.Structure(nf.Difference(outer, nf.Box((0, 0, 0), (WIDE, HIGH, 1))), nf.PEC),
            nf.Structure(nf.Box((0, 0, length), (WIDE, HIGH, 1)), nf.PEC, name="lid"),
        ],
    }[kind]
    grid = nf.Grid.uniform(MM, (13, 7, 14), origin=LOWER)
    return nf.Simulation(grid, bodies, nf.Boundaries(nf.PEC), **{"steps": 1, **entries})


def acts_at(length, kind):
    """The length of the box that rings as the model does on this grid, the waves' lag taken out."""
    middle = VACUUM_SPEED / 2 * np.hypot(1 / WIDE, 1 / length)
    current = nf.PointCurrent((4 * MM, 1.5 * MM, 4 * MM), "y", nf.ModulatedGaussian(middle, 6e9))
    probe = nf.Probe("inside", (5 * MM, 1.5 * MM, 3 * MM), "Ey")
    run = cavity(length, kind, sources=[current], monitors=[probe], steps=4000, precision="double").run(threads=1)
    found = nf.resonances(run, (0.93 * middle, 1.07 * middle), probe="inside").frequency.values
    assert len(found) == 1
    step = run.facts["time_step"]
    square = (np.sin(np.pi * found[0] * step) / (VACUUM_SPEED * step)) ** 2 - (np.sin(np.pi * MM / WIDE / 2) / MM) ** 2
    return np.pi / (2 / MM * np.arcsin(MM * square**0.5))


@pytest.mark.parametrize("kind, past", [("lid", 0.005), ("hole", 0.02), ("difference", 0.05)])
def test_a_cavity_rings_as_long_as_moved_says(kind, past):
    length = (8 + past) * MM
    (moved,) = cavity(length, kind).check().moved
    assert "face across z: " in f"{moved['what']}: " and moved["from"] == pytest.approx(length)
    assert moved["to"] - length > 0.03 * MM
    layer = moved["to"] - 8 * MM  # of which (k h)^2 is left: what its electric field makes of the last line
    assert acts_at(length, kind) == pytest.approx(moved["to"], abs=(np.pi / 8) ** 2 * layer)


@pytest.mark.parametrize("past", [0.0, 0.12, 0.4])
def test_faces_that_act_where_they_are_drawn_are_not_listed(past):
    length = (8 + past) * MM
    assert not cavity(length).check().moved
    assert acts_at(length, "lid") == pytest.approx(length, abs=0.02 * MM)
