"""`check` lists gaps below a cell between round and turned bodies, at walls too, and none where bodies touch."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3


def post(x, y, radius, low=0.0, high=20.0):
    """A cylinder along z, in mm."""
    return nf.Cylinder((x * MM, y * MM, low * MM), (x * MM, y * MM, high * MM), radius * MM)


def plate(sign):
    """A trapezium whose short side is 0.25 mm from the middle, turned by 30 degrees."""
    corners = [(0.25, -0.5), (9, -5), (9, 5), (0.25, 0.5)]
    turned = [(0.5 * np.sqrt(3) * u - 0.5 * v, 0.5 * u + 0.5 * np.sqrt(3) * v) for u, v in corners]
    return nf.Polygon("z", [((15 + sign * u) * MM, (15 + sign * v) * MM) for u, v in turned], 10 * MM, 10 * MM)


def turned(start, end):
    """A slanting cylinder of 2 mm radius."""
    return nf.Cylinder([q * MM for q in start], [q * MM for q in end], 2 * MM)


def listed(*shapes, grid=None, **boundaries):
    """Entries of gaps."""
    simulation = nf.Simulation(
        grid=grid or nf.Grid.uniform(MM, (30, 30, 20)),
        structures=[nf.Structure(shape, nf.PEC) for shape in shapes],
        boundaries=nf.Boundaries(nf.PEC, **boundaries),
        steps=1,
    )
    return [one for one in simulation.check().moved if one["what"].startswith("gap")]


def gaps(*shapes, **entries):
    """Widths (mm) of the gaps that are listed."""
    return [one["from"] / MM for one in listed(*shapes, **entries)]


def drilled(past):
    """A plate with a hole of 6 mm radius, drawn so far past its faces."""
    return nf.Difference(
        nf.Box((3 * MM,) * 2 + (8 * MM,), (27 * MM,) * 2 + (12 * MM,)), [post(15, 15, 6, 8 - past, 12 + past)]
    )


@pytest.mark.parametrize(
    ("shapes", "wide"),
    [
        ((post(8, 15, 4), post(16.5, 15, 4)), 0.5),
        ((post(8, 15, 4), nf.Box((12.4 * MM, 3 * MM, 0), (15 * MM, 20 * MM, 10 * MM))), 0.4),
        ((nf.Sphere((8 * MM,) * 3, 4 * MM), nf.Sphere((13 * MM,) * 3, 4 * MM)), 5 * np.sqrt(3) - 8),
        ((turned((3, 3, 3), (20, 20, 3)), turned((3, 20, 7.6), (20, 3, 7.6))), 0.6),
        ((plate(1), plate(-1)), 0.5),
        ((drilled(0.7), post(15, 15, 5.4)), 0.6),
        ((post(4.7, 15, 4),), 0.7),  # at the wall
    ],
)
def test_a_gap_below_a_cell_is_listed_with_its_width(shapes, wide):
    assert gaps(*shapes) == [pytest.approx(wide, abs=0.01)]


@pytest.mark.parametrize(
    "shapes",
    [
        (post(8, 15, 4), post(17.3, 15, 4)),
        (post(8, 15, 4), post(16, 15, 4)),
        (post(8, 15, 4), post(15, 15, 4)),
        (turned((3, 3, 3), (20, 20, 17)), turned((3, 20, 3), (20, 3, 17))),
        (post(8, 15, 4), post(16.5, 15, 4), nf.Box((11 * MM, 13 * MM, 0), (13 * MM, 17 * MM, 20 * MM))),
        (post(4, 15, 4),),
        *((drilled(past), post(15, 15, 1)) for past in (0.0, 0.5, 1.0, 1.5, 3.0)),
        (nf.Sphere((8 * MM,) * 3, 3.37 * MM), nf.Sphere(((8 + 6 / np.sqrt(3)) * MM,) * 3, 2.63 * MM)),
        (turned((3, 3, 3), (20, 20, 3)), turned((3, 20, 7), (20, 3, 7))),
    ],
)
def test_wider_ones_and_bodies_that_touch_or_are_joined_are_not(shapes):
    assert gaps(*shapes) == []


def test_a_gap_counts_in_the_cells_that_it_crosses():
    """Four cells of 0.2 mm across a gap of 0.8 mm resolve it, however long cells are in other directions."""
    fine = np.concatenate((np.arange(13.0), 12.4 + 0.2 * np.arange(13), 15.6 + np.arange(13.0)))
    for long in (1.0, 3.0):
        grid = nf.Grid(np.unique(np.round(fine, 6)) * MM, np.arange(31) * MM, np.arange(7) * long * MM)
        rods = [post(13.6 - way * 4.4, 15, 4, 0, 6 * long) for way in (-1, 1)]
        assert gaps(*rods, grid=grid) == []
        close = [post(13.6 - way * 4.05, 15, 4, 0, 6 * long) for way in (-1, 1)]
        assert gaps(*close, grid=grid) == [pytest.approx(0.1, abs=0.01)]


def test_gaps_over_periodic_faces_are_listed_and_only_the_narrowest_of_many():
    cell = nf.Grid.uniform(MM, (10, 10, 20))
    found = listed(post(5, 5, 4.75), grid=cell, x="periodic", y="periodic")
    assert [one["from"] for one in found] == [pytest.approx(0.5 * MM, abs=0.02 * MM)] * 2
    assert all("its copy over a periodic face" in one["what"] for one in found)
    many = [post(3 + 4.5 * m, 3 + 4.5 * n, 2) for m in range(6) for n in range(6)]
    found = listed(*many)
    assert len(found) == 20 and "40 wider ones" in found[-1]["effect"]


def test_rims_of_flat_metal_that_share_their_field_are_not_listed_however_they_are_drawn():
    def flat(low, high):
        return nf.Polygon("z", [(u * MM, v * MM) for u, v in ((low, 5), (high, 5), (high, 20), (low, 20))], 0.01, 0.01)

    assert gaps(flat(3, 12), flat(12.6, 22)) == []
