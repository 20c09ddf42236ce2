"""`check` lists gaps below a cell between round and turned bodies, at walls too, and none where bodies touch."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3


def post(x, y, radius, low=0.0, high=20.0):
    """A cylinder along z, in mm."""
    return nf.Cylinder((x * MM, y * MM, low * MM), (x * MM, y * MM, high * MM), radius * MM)


def plate(sign):
    """A trapezium whose short side is 0.25 mm from the middle."""
    corners = [(0.25, -0.5), (9, -5), (9, 5), (0.25, 0.5)]
    return nf.Polygon("z", [((15 + sign * u) * MM, (15 + sign * v) * MM) for u, v in corners], 10 * MM, 10 * MM)


def turned(start, end):
    """A slanting cylinder of 2 mm radius."""
    return nf.Cylinder([q * MM for q in start], [q * MM for q in end], 2 * MM)


def gaps(*shapes):
    """Widths (mm) of the gaps that are listed."""
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(MM, (30, 30, 20)),
        structures=[nf.Structure(shape, nf.PEC) for shape in shapes],
        boundaries=nf.Boundaries(nf.PEC),
        steps=1,
    )
    return [one["from"] / MM for one in simulation.check().moved if one["what"].startswith("gap")]


@pytest.mark.parametrize(
    ("shapes", "wide"),
    [
        ((post(8, 15, 4), post(16.5, 15, 4)), 0.5),
        ((post(8, 15, 4), nf.Box((12.4 * MM, 3 * MM, 0), (15 * MM, 20 * MM, 10 * MM))), 0.4),
        ((nf.Sphere((8 * MM,) * 3, 4 * MM), nf.Sphere((13 * MM,) * 3, 4 * MM)), 5 * np.sqrt(3) - 8),
        ((turned((3, 3, 3), (20, 20, 3)), turned((3, 20, 7.6), (20, 3, 7.6))), 0.6),
        ((plate(1), plate(-1)), 0.5),
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
    ],
)
def test_wider_ones_and_bodies_that_touch_or_are_joined_are_not(shapes):
    assert gaps(*shapes) == []
