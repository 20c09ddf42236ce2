"""Ports of coaxial lines whose axis lies off the lines of the grid."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3
OUTER, INNER, LENGTH = 6 * MM, 2.4 * MM, 70 * MM


@pytest.mark.parametrize(("place", "graded"), [((0.3, 0.2), 0.0), ((0.47, 0.31), 0.0), ((0.3, 0.2), 0.3)])
def test_a_wave_leaves_nothing_in_a_coaxial_line_off_the_lines(place, graded):
    """Where steps about metal are bounded faces kept 0.9 of the energy as a static field, and runs went on to the
    last step they were allowed."""
    x, y = (MM * each for each in place)
    ends = (x, y, -MM), (x, y, LENGTH + MM)
    across = MM * np.arange(-8, 9)
    solids = [
        nf.Structure(nf.Box((-8 * MM, -8 * MM, -MM), (8 * MM, 8 * MM, LENGTH + MM)), nf.PEC),
        nf.Structure(nf.Cylinder(*ends, OUTER), nf.Medium()),
        nf.Structure(nf.Cylinder(*ends, INNER), nf.PEC),
    ]
    result = nf.Simulation(
        grid=nf.Grid(across, across, MM * (np.arange(71) + graded * np.sin(0.45 * np.arange(71)))),
        boundaries=nf.Boundaries(nf.PEC, z=nf.CPML(8)),
        structures=solids,
        ports=[
            nf.WaveguidePort(
                name, (x - OUTER, y - OUTER, z), (x + OUTER, y + OUTER, z), way, "TEM", "coaxial", inner_radius=INNER
            )
            for name, z, way in (("in", 20 * MM, "+z"), ("out", 50 * MM, "-z"))
        ],
        waveform=nf.Gaussian(8e9),
    ).run(threads=1)
    for facts in result.facts["runs"].values():
        assert facts["ended"] == "decayed" and facts["steps"] < 3000
    assert not [entry for entry in result.trust if entry.verdict == "bad"]
