"""Sub-pixel averages at curved and slanting surfaces against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.contrasts import contrasts
from nearfield.coefficients.interfaces import VANISHING, narrowness, thinned, weighed
from nearfield.coefficients.media_means import PERMITTIVITY
from nearfield.coefficients.plane_means import PlaneMeans
from nearfield.entry.constants import VACUUM_SPEED

WALLS = nf.Boundaries(all=nf.PEC)
GRID = nf.Grid.uniform(1.0, (12, 12, 6)).resolve()
STEP = 0.9 * GRID.maximum_time_step()


def coefficients(structures, grid=GRID, boundaries=WALLS, **options):
    return Coefficients(grid, filled_shapes(structures), nf.Medium(), boundaries, STEP, **options)


def permittivity(structures, component, **options):
    """Away from the walls, where no media conduct."""
    return 1.0 / coefficients(structures, **options).dense(component)[1][3:9, 3:9, 2:4]


def half_space(angle, medium, point=(6.13, 5.71)):
    """What lies behind a plane through a point, whose normal is at an angle (degrees) to x."""
    normal = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    along = np.array([-normal[1], normal[0]])
    corners = [point + 30 * (a * along - b * normal) for a, b in ((-1, 0), (1, 0), (1, 1), (-1, 1))]
    return nf.Structure(nf.Polygon("z", [tuple(map(float, corner)) for corner in corners], -1.0, 7.0), medium), normal


@pytest.mark.parametrize("angle", [5, 20, 45, 70, 130])
def test_a_slanting_interface_is_weighed_by_its_normal(angle):
    """Parts, of the space and of the steepest grid line, known to 0.1 (rms 0.03) from 8 x 8 x 8 samples of a cell."""
    body, normal = half_space(angle, nf.Medium(8.0))
    parts = np.linspace(0.0, 1.0, 1001)
    for component in range(3):
        i, j = np.meshgrid(*(np.arange(3, 9) + 0.5 * (component == a) for a in range(2)), indexing="ij")
        depth = -((i - 6.13) * normal[0] + (j - 5.71) * normal[1])
        along = normal[component] ** 2 if component < 2 else 0.0
        weighted = 1 / (along * (parts / 8 + 1 - parts) + (1 - along) / (8 * parts + 1 - parts))
        found = np.interp(permittivity([body], component)[..., 0], weighted, parts)
        width = narrowness(along, 8.0)
        part = np.clip(0.5 + depth / np.abs(normal).max(), 0, 1)
        error = width * (found - np.clip(0.5 + (part - 0.5) / width, 0, 1))
        assert np.abs(error).max() < 0.1
        assert np.sqrt(np.mean(error**2)) < 0.03
        assert abs(error.mean()) < 0.006
    plain = permittivity([body], 2, averaging="volume")  # along the interface
    np.testing.assert_allclose(permittivity([body], 2), plain, rtol=7e-9)  # shares are rounded to nine digits


@pytest.mark.parametrize("angle", [20, 45, 70])
def test_metal_that_comes_into_the_space_of_samples_leaves_their_means_as_they_were(angle):
    """Ey and Ez on the plane x = 4 have their space from 3.5 on. Of that metal takes a thousandth, and shares change by
    as much; once more for means of 1/eps along a line."""
    body, _ = half_space(angle, nf.Medium(8.0), point=(4.2, 5.9))
    for component in (1, 2):
        metal = (nf.Structure(nf.Box((-1, -1, -1), (x, 13, 7)), nf.PEC) for x in (3.5 - 1e-3, 3.5 + 1e-3))
        before, after = (
            PlaneMeans(coefficients([body, block], metal="conformal").means, 0, 4, ((1, 11), (2, 4))).mean(
                component, PERMITTIVITY
            )
            for block in metal
        )
        assert np.ptp(before) > 3.0
        np.testing.assert_allclose(after, before, atol=0.01 * np.ptp(before))


@settings(max_examples=50, deadline=None)
@given(st.tuples(*[st.floats(0.05, 1.0)] * 3), st.tuples(*[st.floats(0.5, 2.0)] * 3), st.floats(-0.4, 0.4))
def test_a_line_of_samples_adds_up_to_what_a_plane_cuts_off(normal, lengths, place):
    """Cells one after the other along the steepest grid line, through which a plane passes anywhere."""
    normal, lengths = np.array(normal) / np.linalg.norm(normal), np.array(lengths)
    steep = np.argmax(normal * lengths)
    fine = (np.arange(24) + 0.5) / 24 - 0.5
    x, y, z = np.meshgrid(*(fine * length for length in lengths), indexing="ij")
    depth = normal[0] * x + normal[1] * y + normal[2] * z
    along = normal[steep] * lengths[steep]
    steps = np.arange(-2, 3)
    parts = np.array([(depth + n * along <= place * along).mean() for n in steps])
    found = thinned(parts, np.tile(normal**2, (5, 1)), np.tile(lengths, (5, 1)))
    np.testing.assert_allclose(found, np.clip(0.5 + place - steps, 0, 1), atol=0.03)


media = st.lists(st.tuples(st.floats(0.05, 1.0), st.floats(0.5, 20.0)), min_size=2, max_size=4)


@settings(max_examples=50, deadline=None)
@given(media, st.floats(0.0, 1.0))
def test_media_lend_what_their_permittivity_weighs(found, along):
    parts, relative = np.array(found).T
    parts, slim, along = parts[None] / parts.sum(), parts[None] ** 2 / np.sum(parts**2), np.array([along])
    eps, lent = weighed(parts, slim, along, relative)
    assert relative.min() * (1 - 1e-12) <= eps[0] <= relative.max() * (1 + 1e-12)
    assert (lent >= 0).all()
    for medium in range(relative.size):
        more, less = (relative * (1 + sign * 1e-5 * np.eye(relative.size)[medium]) for sign in (1, -1))
        change = weighed(parts, slim, along, more)[0] - weighed(parts, slim, along, less)[0]
        assert lent[0, medium] == pytest.approx(change[0] / (2e-5 * relative[medium]), rel=1e-5, abs=1e-8)


def test_a_straight_polygon_is_the_box_that_it_is():
    """Faces at eighths of a cell, which the samples know exactly, across both axes of the outline."""
    low, high = (3.375, 4.25), (7.625, 8.875)
    outline = [low, (high[0], low[1]), high, (low[0], high[1])]
    polygon, box = nf.Polygon("z", outline, -1.0, 7.0), nf.Box((*low, -1.0), (*high, 7.0))
    for component in range(3):
        bodies = (nf.Structure(shape, nf.Medium(5.0)) for shape in (polygon, box))
        found, expected = (coefficients([body]).dense(component)[1] for body in bodies)
        for i, j in ((3, 4), (3, 9), (8, 4), (8, 9)):
            corner = slice(i - 1, i + 2), slice(j - 1, j + 2)
            found[corner] = expected[corner]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@settings(max_examples=50, deadline=None)
@given(media, st.floats(0.0, 1.0), st.lists(st.floats(0.05, 20.0), min_size=4, max_size=4))
def test_what_is_lent_of_other_permittivities_is_no_less_than_their_own_mean(found, along, others):
    """The mean is concave, so at infinite frequency no mixture has less than the least of its media."""
    parts, relative = np.array(found).T
    parts, slim, along = parts[None] / parts.sum(), parts[None] ** 2 / np.sum(parts**2), np.array([along])
    others = np.array(others[: relative.size])
    lent = weighed(parts, slim, along, relative)[1][0] @ others
    assert lent >= weighed(parts, slim, along, others)[0][0] * (1 - 1e-12) >= others.min() * (1 - 2e-12)


def test_a_layer_narrows_with_contrast_and_slant():
    """At 45 degrees to as much as the mean in series is less than the arithmetic one."""
    assert narrowness(0.5, 6.0) == pytest.approx((2 / (1 + 1 / 6)) / 3.5)
    np.testing.assert_array_equal(narrowness(np.array([0.0, 1.0]), 80.0), 1.0)
    assert narrowness(0.3, 1.0) == 1.0
    assert narrowness(0.3, 7.0) == pytest.approx(narrowness(0.7, 1 / 7))


SHAPES = nf.Sphere((6.1, 5.8, 3.2), 2.3), nf.Box((3.3, 3.3, 1.3), (8.2, 8.2, 4.6))
BAND = 1e6, 2e7  # Hz; STEP resolves 9 times the upper edge


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
@pytest.mark.parametrize("metal", [(), [nf.Structure(nf.Sphere((3.0, 4.0, 3.0), 2.1), nf.PEC)]], ids=["", "metal"])
def test_media_with_poles_have_the_mean_of_the_band_at_its_middle(shape, metal):
    """With each pole put in its place by the size over the band, it is what a medium without poles has of that size."""
    wet = nf.Medium(2.0, poles=[nf.Debye(30.0, 1e-8)])
    contrast = contrasts([nf.Medium(), wet], (), BAND, STEP)[0]
    now = wet.poles[0]._step(STEP).now
    dispersive, plain = (
        coefficients([nf.Structure(shape, medium), *metal], metal="conformal", band=BAND)
        for medium in (wet, nf.Medium(float(contrast.sizes[1])))
    )
    for component in range(3):
        (_, drive), weight = dispersive.dense(component), dispersive.dense_poles(0, component)[1]
        expected = plain.dense(component)[1]
        live = expected > 0
        np.testing.assert_array_equal(live, drive > 0)
        opened = dispersive.open_fraction(component, *np.indices(drive.shape)) * np.ones(drive.shape)
        opened, drive = opened[live], drive[live]
        instant, part = opened / drive, opened * weight[live] / drive
        assert ((part > 1e-3) & (part < 0.999)).any()
        found = instant - part * now + part * (contrast.sizes[1] - 2.0)
        # means in series differ from plain ones where they do by more than this, and shares are rounded to nine digits
        np.testing.assert_allclose(found, opened / expected[live], rtol=VANISHING)


@pytest.mark.parametrize("shape, parted", [(SHAPES[0], False), (SHAPES[1], True)], ids=["sphere", "box"])
def test_media_of_negative_permittivity_are_whole_at_curved_surfaces_and_parted_at_flat_ones(shape, parted):
    found = coefficients([nf.Structure(shape, nf.Medium(2.0, poles=[nf.Drude(2e7, 1e6)]))])
    for component in range(3):
        drive, weight = found.dense(component)[1], found.dense_poles(0, component)[1]
        part = weight[drive > 0] / drive[drive > 0]
        assert ((part > 1e-9) & (part < 1 - 1e-9)).any() == parted
        assert {0.0, 1.0} <= set(part.round(9).tolist())


@pytest.mark.parametrize(
    "pole, turns",
    [
        (nf.Debye(70.0, 1e-8), False),
        (nf.Drude(1e6, 1e5), False),
        (nf.Drude(4e6, 1e5), True),
        (nf.Lorentz(0.5, 1e8, 0.0), False),
        (nf.Lorentz(0.5, 1.9e7, 1e4), True),
        (nf.Lorentz(0.5, 1.9e7, 0.0), True),
        (nf.Lorentz(0.01, 1e7, 3e6), False),
    ],
)
def test_a_medium_turns_where_its_permittivity_is_negative_in_the_band(pole, turns):
    electric, magnetic = contrasts([nf.Medium(), nf.Medium(2.0, poles=[pole])], (), BAND, STEP)[::3]
    assert electric.turns.tolist() == [False, turns]
    assert electric.remembers.tolist() == [False, True]
    assert not magnetic.turns.any() and not magnetic.remembers.any()
    assert np.isfinite(electric.sizes).all()


def test_a_part_of_the_grid_has_the_bits_of_the_whole():
    bodies = [
        nf.Structure(nf.Sphere((6.1, 5.8, 3.2), 2.3), nf.Medium(4.0, conductivity=1e-3)),
        nf.Structure(nf.Cylinder((2.0, 3.0, 1.0), (9.0, 8.0, 5.0), 1.2), nf.Medium(7.0, 2.0)),
        half_space(35, nf.Medium(2.0, poles=[nf.Drude(2e7, 1e6)]), (9.0, 9.0))[0],
    ]
    found = coefficients(bodies)
    lower, upper = (3, 2, 1), (10, 9, 5)
    for axis in range(3):
        whole, part = (np.full((6, 2, *found.active), np.nan) for _ in range(2))
        for built, ends, first in ((whole, (), (0, 0, 0)), (part, (lower, upper), lower)):
            turned = np.moveaxis(built, [2 + (axis + n) % 3 for n in range(3)], (2, 3, 4))
            last = upper if ends else found.active
            across = tuple(slice(first[a], last[a]) for a in ((axis + 1) % 3, (axis + 2) % 3))
            for planes in found.planes(axis, *ends):
                at = slice(first[axis] + planes.start, first[axis] + planes.stop)
                values = np.concatenate((planes.electric, planes.magnetic))
                turned[:, :, at, *across] = values[:, :, None]
        cut = (..., *(slice(*ends) for ends in zip(lower, upper)))
        np.testing.assert_array_equal(whole[cut], part[cut])


def test_volume_averaging_does_not_look_at_the_normal():
    """It takes the mean across an edge in series along it, which for a surface along the edge is the mean alone."""
    body, _ = half_space(45, nf.Medium(8.0), (6.0, 6.0))
    plain, by_normal = (permittivity([body], 0, averaging=kind) for kind in ("volume", "diagonal"))
    assert (np.abs(by_normal / plain - 1) > 0.1).any()
    with pytest.raises(nf.ModelError, match="averaging"):
        nf.Simulation(grid=nf.Grid.uniform(1e-3, (4, 4, 4)), steps=1, averaging="none")


def test_a_wall_mirrors_the_surface_that_meets_it():
    """Half a sphere on a magnetic wall has on it what the whole one has in its middle; a slope of 1e-3 stands for none
    there (FLATTEST), over half the length."""
    whole = coefficients([nf.Structure(nf.Sphere((6.0, 6.2, 3.1), 2.3), nf.Medium(6.0))])
    grid = nf.Grid(np.arange(6.0, 13.0), np.arange(13.0), np.arange(7.0)).resolve()
    body = [nf.Structure(nf.Sphere((6.0, 6.2, 3.1), 2.3), nf.Medium(6.0))]
    half = coefficients(body, grid, boundaries=nf.Boundaries(all=nf.PEC, x_low=nf.PMC))
    for component in range(3):
        np.testing.assert_allclose(half.dense(component)[1][:6], whole.dense(component)[1][6:], rtol=1e-6)


def board_quality(thickness, **loss):
    """Q of a line of two plates, 10 cells apart, with a board of eps_r 4 of some cells on the lower one."""
    height, length, mm = 10, 60, 1e-3
    guess = VACUUM_SPEED / (2 * length * mm) / np.sqrt(height / (height - thickness + thickness / 4))
    board = nf.Box((0, 0, 0), (2 * mm, length * mm, thickness * mm))
    medium = nf.Medium(4.0, loss_tangent=0.02, **{name: value(guess) for name, value in loss.items()})
    model = nf.Simulation(
        nf.Grid.uniform(mm, (2, length, height)), [nf.Structure(board, medium)], nf.Boundaries(nf.PMC, z=nf.PEC),
        sources=[nf.PointCurrent((mm, mm, 8.5 * mm), "z", nf.ModulatedGaussian(guess, 0.4 * guess))],
        monitors=[nf.Probe("end", (mm, 0, 8.5 * mm), "Ez")], duration=60 / guess,
    )  # fmt: skip
    found = nf.resonances(model.run(threads=1), (0.8 * guess, 1.2 * guess), probe="end")
    return float(found.quality_factor[np.argmax(np.abs(found.amplitude.values))])


@pytest.mark.parametrize("thickness", [3.25, 3.5])
def test_a_board_s_face_inside_a_cell_loses_what_it_would_on_a_line(thickness):
    """Q goes as (height - t + t/eps)/(t/eps) with the thickness; by shares of the cell it was 254 and 227."""
    on_lines = [board_quality(t, loss_frequency=lambda f: f) * t / (10 - 0.75 * t) for t in (3.0, 4.0)]
    expected = np.mean(on_lines) * (10 - 0.75 * thickness) / thickness
    found = board_quality(thickness, loss_frequency=lambda f: f)
    assert found == pytest.approx(expected, rel=0.02)
    assert found == pytest.approx(board_quality(thickness, loss_band=lambda f: (0.5 * f, 2 * f)), rel=0.01)
