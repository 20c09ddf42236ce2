"""Flat faces of metal just past a line act where they are drawn, or `moved` says how much deeper in the metal."""

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


def of_electric_field(layer, cell=MM):
    """(k h)^2 of a layer (m): what its electric field makes of the last line."""
    return (np.pi / 8 * cell / MM) ** 2 * layer + 1e-3 * cell


@pytest.mark.parametrize("kind, past", [("lid", 0.005), ("hole", 0.02), ("difference", 0.05), ("lid", 0.08)])
def test_a_face_just_past_a_line_acts_where_it_is_drawn(kind, past):
    """Its thin layer alone counts as 0.077, 0.067, 0.046 and 0.026 cells thicker."""
    length = (8 + past) * MM
    assert not cavity(length, kind).check().moved
    assert acts_at(length, kind) == pytest.approx(length, abs=of_electric_field(past * MM))


@pytest.mark.parametrize("part, past", [(0.5, 0.01), (0.25, 0.1)])
def test_in_flat_cells_a_face_acts_deeper_by_no_more_than_moved_says(part, past):
    """Whole faces have little room there, as the time step is of the short side; those at the side walls more."""
    cell = part * MM
    length = 8 * MM + past * cell
    (moved,) = cavity(length, cell=cell).check().moved
    assert "face across z: " in f"{moved['what']}: " and moved["from"] == pytest.approx(length)
    assert moved["to"] - length > 0.05 * cell
    assert 0.3 * (moved["to"] - length) < acts_at(length, cell=cell) - length < moved["to"] - length


@pytest.mark.parametrize("past", [0.0, 0.12, 0.4])
def test_faces_further_past_a_line_act_where_they_are_drawn(past):
    length = (8 + past) * MM
    assert not cavity(length).check().moved
    assert acts_at(length) == pytest.approx(length, abs=0.02 * MM)
