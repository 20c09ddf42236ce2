"""Flat metal that touches in a plane acts as one, however it is cut into rectangles."""

from itertools import pairwise

import numpy as np
import pytest
from test_sheet_rims import PEC_WALLS, coefficients

import nearfield as nf
from nearfield.bodies.combined import simple_shapes
from nearfield.bodies.geometry import filled_shapes
from nearfield.metal.flat_pieces import redrawn

GRID = nf.Grid.uniform(1.0, (14, 12, 10)).resolve()
LOW, HIGH = (2.3, 2.7), (10.4, 9.45)
SLOTS = [((4.2, 4.6), (4.9, 8.3)), ((6.1, 6.4), (9.7, 7.2))]  # 1.2 and 0.7 cells between them and the sides
ALONE = 1e-6  # of the largest: the fields of facing rims are sums that end there


def rectangle(low, high, height=5.0, thick=0.0):
    ends = (*low, height), (*high, height + thick)
    return nf.Box(*ends) if thick else nf.Sheet(*ends)


def on_grid(*shapes):
    return coefficients(GRID, [part for shape in shapes for part in simple_shapes(shape)])


def slotted(low=LOW, high=HIGH, slots=SLOTS):
    return nf.Difference(rectangle(low, high), [rectangle(*ends) for ends in slots])


def alike(one, other, within=1e-12):
    for a, b in (pair for c in range(6) for pair in zip(one.dense(c), other.dense(c))):
        np.testing.assert_allclose(a, b, rtol=0, atol=within * np.abs(a).max())


def mirrored(ends, axis, size):
    low, high = (list(end) for end in ends)
    low[axis], high[axis] = size - high[axis], size - low[axis]
    return tuple(low), tuple(high)


@pytest.mark.parametrize("across", [0, 1])
@pytest.mark.parametrize("overlap", [0.0, 0.1])
@pytest.mark.parametrize("width", [0.2, 0.6, 1.2])
def test_a_sliver_that_continues_a_sheet_is_part_of_it(width, overlap, across):
    """It went on whole edges (0.2, 0.6), with the rim of the sheet beside it."""
    end, start = list(HIGH), list(LOW)
    end[across], start[across] = HIGH[across] - width + overlap, HIGH[across] - width
    found = on_grid(rectangle(LOW, end), rectangle(start, HIGH))
    alike(on_grid(rectangle(LOW, HIGH)), found)


def test_flat_boxes_are_joined_as_sheets_are():
    parts = [rectangle(LOW, (10.4, 9.0), thick=0.05), rectangle((2.3, 9.0), HIGH, thick=0.05)]
    alike(on_grid(rectangle(LOW, HIGH, thick=0.05)), on_grid(*parts))


def test_slices_are_one_sheet():
    places = np.linspace(LOW[1], HIGH[1], 12)
    found = on_grid(*(rectangle((LOW[0], a), (HIGH[0], b)) for a, b in pairwise(places)))
    alike(on_grid(rectangle(LOW, HIGH)), found)


def test_a_slotted_sheet_is_the_same_however_it_is_cut():
    """Nested, in slices, as polygons: slivers of each on whole edges were up to 1 of the largest coefficient off."""
    whole = on_grid(slotted())
    alike(whole, on_grid(nf.Difference(slotted(slots=SLOTS[:1]), [rectangle(*SLOTS[1])])))
    places = [LOW[0], 4.5, 5.1, 9.6, HIGH[0]]
    slices = [slotted((a, LOW[1]), (b, HIGH[1])) for a, b in pairwise(places)]
    alike(whole, on_grid(*slices))
    alike(whole, on_grid(*slices[::-1]))
    upright = nf.Polygon("z", [LOW, (4.2, 2.7), (4.2, 9.45), (2.3, 9.45)], 5, 5)
    alike(whole, on_grid(upright, slotted((4.2, LOW[1]))))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_slotted_sheet_that_is_mirrored_has_mirrored_coefficients(axis):
    """The order of its rectangles went along x, then y: records were up to 0.3 apart."""
    size = GRID.cells[axis]
    ends = [mirrored(each, axis, size) for each in ((LOW, HIGH), *SLOTS)]
    whole, turned = on_grid(slotted()), on_grid(slotted(*ends[0], ends[1:]))
    for c in range(6):
        own, other = whole.dense(c)[1], np.flip(turned.dense(c)[1], axis)
        if (c % 3 == axis) != (c > 2):  # midway along the axis
            np.testing.assert_allclose(other, own, atol=ALONE * own.max())
        else:  # on nodes, of which the last has no sample
            own, other = (np.moveaxis(each, axis, 0) for each in (own, other))
            np.testing.assert_allclose(other[:-1], own[1:], atol=ALONE * own.max())


def test_a_polygon_with_a_narrow_arm_is_a_sheet_and_a_strip():
    """Its arm held no line of the grid and was lost: T at a resonance was 0.84 for 0.01."""
    arm = (7.0, 6.2), (11.8, 6.8)
    outline = [LOW, (7.0, 2.7), (7.0, 6.2), (11.8, 6.2), (11.8, 6.8), (7.0, 6.8), (7.0, 9.45), (2.3, 9.45)]
    polygon = on_grid(nf.Polygon("z", outline, 5, 5))
    alike(on_grid(rectangle(LOW, (7.0, 9.45)), rectangle(*arm)), polygon)
    alike(on_grid(rectangle(LOW, (7.0, 9.45)), rectangle((5.5, 6.2), arm[1])), polygon)


def test_metal_that_other_bodies_part_stays_as_it_is_drawn():
    wide, sliver = rectangle(LOW, (10.4, 9.0)), rectangle((2.3, 9.0), HIGH)
    through = nf.Box((5.0, 5.0, 4.0), (7.0, 11.0, 6.0))
    media = [nf.PEC, nf.Medium(2.0), nf.PEC]
    structures = [nf.Structure(shape, medium) for shape, medium in zip((wide, through, sliver), media)]
    bodies = filled_shapes(structures)
    assert redrawn(bodies, GRID) == (list(bodies), [])
    apart = filled_shapes([nf.Structure(wide, nf.PEC), nf.Structure(sliver, nf.Conductor(5.8e7))])
    assert redrawn(apart, GRID) == (list(apart), [])


def test_bodies_that_are_joined_keep_their_names():
    wide, sliver, strip = (rectangle(*ends) for ends in ((LOW, (10.4, 9.0)), ((2.3, 9.0), HIGH), ((6, 1), (6.4, 3))))
    bodies = filled_shapes([nf.Structure(wide, nf.PEC, "a"), nf.Structure(sliver, nf.PEC), nf.Structure(strip, nf.PEC)])
    found, joined = redrawn(bodies, GRID)
    assert [(body.label, body.shape.bounds()) for body in found] == [
        ("structure 'a'", ((2.3, 2.7, 5), (10.4, 9.45, 5))),
        ("structures[2]", ((6, 1, 5), (6.4, 2.7, 5))),
    ]
    assert joined[0].drawn == bodies and joined[0].acting == tuple(found)


def test_check_says_nothing_of_slivers_and_of_short_pieces_that_metal_continues():
    """It said that they lie on whole edges, and of pieces of 1.2 cells that their free ends act 0.4 cells off."""
    for width in (0.3, 1.2):
        pieces = rectangle(LOW, (10.4, HIGH[1] - width)), rectangle((2.3, HIGH[1] - width), HIGH)
        model = nf.Simulation(
            grid=nf.Grid.uniform(1.0, (14, 12, 10)),
            structures=[nf.Structure(shape, nf.PEC) for shape in pieces],
            boundaries=PEC_WALLS,
            sources=[nf.PointCurrent((6, 6, 7.5), "z", nf.Gaussian(1e7))],
            steps=1,
        )
        assert model.check().moved == ()


CORNERS = [LOW, (HIGH[0], LOW[1]), HIGH, (LOW[0], HIGH[1])]


def flat(*corners, height=5.0):
    return nf.Polygon("z", corners, height, height)


@pytest.mark.parametrize(
    "cut",
    [
        [(0, 1, 2), (0, 2, 3)],
        [(0, 1, 3), (1, 2, 3)],
        [(0, 1, "middle"), (1, 2, "middle"), (2, 3, "middle"), (3, 0, "middle")],
    ],
)
def test_triangles_are_the_rectangle_that_they_make(cut):
    """Seams are no rims: they hid those beside their ends, and the corners there had no field."""
    places = dict(enumerate(CORNERS)) | {"middle": (6.1, 5.3)}
    alike(on_grid(*(flat(*(places[n] for n in each)) for each in cut)), on_grid(rectangle(LOW, HIGH)))


def test_check_calls_the_outer_sides_of_slanting_pieces_rims_and_no_seams():
    def listed(*shapes):
        model = nf.Simulation(
            nf.Grid.uniform(1e-3, (14, 12, 10)),
            structures=[nf.Structure(shape, nf.PEC) for shape in shapes],
            sources=[nf.PointCurrent((2e-3, 2e-3, 2e-3), "z", nf.GaussianDerivative(9e9))],
            boundaries=PEC_WALLS,
            steps=10,
        )
        return [each["what"] for each in model.check().moved if "slanting rims" in each["what"]]

    a, b, c, d, far = ((1e-3 * x, 1e-3 * y) for x, y in (*CORNERS, (13.6, 6.1)))
    halves = flat(a, b, c, height=5e-3), flat(a, c, d, height=5e-3)
    assert not listed(*halves)
    assert len(listed(*halves, flat(b, far, c, height=5e-3))) == 1
