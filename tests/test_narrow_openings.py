"""Slots and cavities narrower than a cell that a later body of another medium opens in solid metal."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3


def coefficients(structures) -> list[np.ndarray]:
    source = nf.PointCurrent((1.5e-3, 2e-3, 3e-3), "x", nf.Gaussian(9e9))
    setup = nf.Simulation(
        nf.Grid.uniform(MM, (16, 12, 14)),
        structures,
        nf.Boundaries(nf.PEC),
        sources=[source],
        precision="double",
        steps=10,
    )._setup()
    return [setup.coefficients.dense(component)[1] for component in range(6)]


def box(low, high) -> nf.Box:
    return nf.Box(tuple(MM * q for q in low), tuple(MM * q for q in high))


@pytest.mark.parametrize("ends", [(8.05, 8.95), (8.55, 9.45), (8.6, 9.2)])
def test_a_slot_drawn_as_a_later_body_is_one_cut_out_of_the_metal(ends):
    """It vanished where both its faces were nearest to one line."""
    block, slot = box((0, 0, 5), (16, 12, 10)), box((ends[0], 2, 0), (ends[1], 10, 14))
    drawn = coefficients([nf.Structure(block, nf.PEC), nf.Structure(slot, nf.Medium(1.0))])
    cut = coefficients([nf.Structure(block - slot, nf.PEC)])
    assert (cut[0][7:10, 6, 7] > 0.0).any()
    for found, expected in zip(drawn, cut):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_closed_cavity_narrower_than_a_cell_stays_open():
    block, cavity = box((3, 3, 3), (13, 9, 12)), box((5, 5, 8.55), (11, 8, 9.45))
    found = coefficients([nf.Structure(block, nf.PEC), nf.Structure(cavity, nf.Medium(4.0))])[2][8, 6]
    assert (found[8:10] > 0.0).all() and not found[4:8].any() and not found[10:11].any()
