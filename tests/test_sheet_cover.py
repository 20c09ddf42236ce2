"""What flat good conductors cover where they are drawn, and what `check` says of those of few cells."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.metal.sheet_cover import SheetCover

GRID = nf.Grid(np.cumsum(np.r_[0, 1.0 + 0.2 * np.sin(np.arange(14))]), np.arange(13.0), np.arange(11.0)).resolve()


def test_the_shares_of_faces_sum_to_the_areas_of_sheets_in_planes_across_any_axis():
    """A polygon's within the points of its faces; two that overlap count once."""
    cover = SheetCover(
        GRID, [(nf.Sheet((2.3, 3.1, 5), (7.9, 6.6, 5)), (2, 5)), (nf.Sheet((5, 4, 5), (9, 6, 5)), (2, 5))]
    )
    area = np.outer(GRID.primary(0), GRID.primary(1))
    whole = cover.faces(2, 2, 5)
    assert (whole[:-1, :-1] * area).sum() == pytest.approx(5.6 * 3.5 + 1.1 * 2, rel=5e-3)
    assert not whole[-1].any() and not whole[:, -1].any()
    assert cover.faces(2, 2, 4) is None and cover.faces(1, 2, 5) is None and cover.faces(2, 0, 12) is None
    for plane in range(3, 7):
        np.testing.assert_array_equal(cover.faces(2, 0, plane)[:, 5], whole[plane])
        np.testing.assert_array_equal(cover.faces(2, 1, plane)[5], whole[:, plane])
    corner = SheetCover(GRID, [(nf.Polygon("y", [(2, 2), (9, 3), (4, 8)], 6, 6), (1, 6))]).faces(1, 1, 6)
    assert (corner[:-1, :-1] * np.outer(GRID.primary(2), GRID.primary(0))).sum() == pytest.approx(20.0, rel=5e-3)


def test_a_strip_between_lines_has_the_loss_of_its_width():
    """Of H half a cell above it: what 1/Db counts more than without the loss, summed over its width."""
    grid = nf.Grid.uniform(1e-3, (12, 12, 8)).resolve()
    added = []
    for wide in (1.6, 3.2, 4.0):
        strip = nf.Sheet((6e-3 - wide / 2e3, 0, 4e-3), (6e-3 + wide / 2e3, 12e-3, 4e-3))
        found = []
        for medium in (nf.PEC, nf.Conductor(5e4)):
            bodies = filled_shapes([nf.Structure(strip, medium)])
            args = nf.Medium(), nf.Boundaries(nf.PEC), 0.9 * grid.maximum_time_step(), (), "conformal", ()
            found.append(Coefficients(grid, bodies, *args, band=(1e9, 5e9)).dense(4)[1][:, 6, 4])
        kept = found[0] > 0
        added.append((found[0][kept] / found[1][kept] - 1).sum())
    assert np.array(added) / added[2] == pytest.approx([0.4, 0.8, 1.0], rel=0.03)


@pytest.mark.parametrize(("wide", "said"), [(0.6, "without loss"), (2.4, "2.4 cells wide"), (11.0, "")])
def test_check_says_that_strips_of_few_cells_lose_too_little(wide, said):
    strip = nf.Sheet((12e-3 - wide / 2e3, 4e-3, 8e-3), (12e-3 + wide / 2e3, 20e-3, 8e-3))
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (24, 24, 16)), [nf.Structure(strip, nf.Conductor(5e4), "strip")], nf.Boundaries(nf.PEC),
        sources=[nf.PointCurrent((12e-3, 12e-3, 4e-3), "y", nf.ModulatedGaussian(3e9, 1e9))], steps=1,
    )  # fmt: skip
    told = [text for text in model.check().warnings if "loss" in text or "loses" in text]
    assert bool(told) == bool(said) and all(said in text for text in told)
