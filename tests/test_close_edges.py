"""What `check` says of strips, slots and plates whose edges share cells, and how far off these are."""

import numpy as np
import pytest

import nearfield as nf

LIGHT = 299792458.0


def resonator(shape, finer=1):
    """Metal 15 cells long in a closed box of 26 x 16 x 8 cells of 1 m, driven beside its end."""
    drive, middle = (6.0, 8.0, 1.5), LIGHT / 2 / 15.8
    return nf.Simulation(
        grid=nf.Grid.uniform(1.0 / finer, (26 * finer, 16 * finer, 8 * finer)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[nf.Structure(shape, nf.PEC)],
        sources=[nf.PointCurrent(drive, "z", nf.ModulatedGaussian(middle, 0.8 * middle))],
        monitors=[nf.Probe("p", drive, "Ez")],
        duration=40 / middle,
    )


def rings(shape, finer=1):
    modes = nf.resonances(resonator(shape, finer).run(threads=1), (0.7e7, 1.15e7), probe="p")
    return float(modes.frequency[int(np.argmax(np.abs(modes.amplitude.values)))])


def listed(shape):
    return [entry for entry in resonator(shape).check().moved if "cells along" in entry["what"]]


def test_strips_and_plates_whose_edges_share_cells_are_listed():
    assert listed(nf.Sheet((5.0, 7.95, 3.0), (20.0, 9.05, 3.0)))[0]["cells"] == 0.4
    assert not listed(nf.Sheet((0.0, 7.95, 3.0), (26.0, 9.05, 3.0)))  # from wall to wall
    assert not listed(nf.Sheet((5.0, 6.4, 3.0), (20.0, 9.9, 3.0)))
    assert not listed(nf.Sheet((5.0, 7.75, 3.0), (20.0, 8.25, 3.0)))  # a wire (narrow_strips.py)
    assert listed(nf.Box((5.2, 6.4, 3.0), (20.6, 9.9, 4.0)))
    assert listed(nf.Box((5.2, 7.4, 3.2), (20.6, 8.8, 4.6)))  # a bar
    assert not listed(nf.Box((5.0, 6.0, 3.0), (20.0, 10.0, 4.0)))  # on lines
    assert not listed(nf.Box((5.2, 0.0, 3.0), (20.6, 16.0, 4.3)))  # an iris: no vertex


def test_slots_closed_at_an_end_are_listed():
    def said(wide, long):
        hole = nf.Sheet((13 - long / 2, 8.2, 3.0), (13 + long / 2, 8.2 + wide, 3.0))
        return listed(nf.Difference(nf.Sheet((0, 0, 3.0), (26, 16, 3.0)), [hole]))

    assert said(1.2, 12.3)[0]["what"].startswith("slot between")
    assert not said(2.0, 12.3) and not said(1.2, 26.0)


def test_slots_are_listed_however_their_metal_is_drawn():
    """Pieces that overlap, and a polygon with a notch."""
    flat = [((0, 0), (26, 8.2)), ((0, 8.9), (26, 16)), ((0, 6), (6, 12)), ((19.2, 7), (26, 11))]
    pieces = nf.Union([nf.Sheet((*low, 3.0), (*high, 3.0)) for low, high in flat])
    notched = nf.Polygon("z", [(5, 4), (20, 4), (20, 8.2), (9, 8.2), (9, 8.9), (20, 8.9), (20, 12), (5, 12)], 3.0, 3.0)
    for shape in (pieces, notched):
        assert [entry["cells"] for entry in listed(shape)] == [0.3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        nf.Sheet((5.0, 7.95, 3.0), (20.0, 9.05, 3.0)),
        nf.Box((5.2, 6.4, 3.0), (20.6, 9.9, 4.0)),
        nf.Box((5.2, 7.4, 3.2), (20.6, 8.8, 4.6)),
    ],
)
def test_what_is_listed_is_as_far_off_as_said(shape):
    """Two ends of 0.4 cells of 15 and no more: 5.3 %."""
    assert abs(rings(shape) / rings(shape, 3) - 1.0) < 2 * 0.4 / 15
