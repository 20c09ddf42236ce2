"""Bodies of revolution: against closed forms, and against the cylinders and spheres that they can be."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.media_means import faces_across

SEED = 4
ANGLE = np.linspace(0, 2 * np.pi, 60, endpoint=False)
AREA = 30 * 0.01 * np.sin(2 * np.pi / 60)  # of the ring's polygon


def cone():
    return nf.Revolved("x", [(0, 0), (0.3, 0), (0, 0.6)], (0.2, 0.5, 0.5))


def ring():
    profile = np.transpose((0.3 + 0.1 * np.cos(ANGLE), 0.1 * np.sin(ANGLE)))
    return nf.Revolved("y", profile.tolist(), (0.5, 0.5, 0.5))


def rod():
    return nf.Revolved("z", [(0, -0.3), (0.25, -0.3), (0.25, 0.3), (0, 0.3)], (0.45, 0.5, 0.5))


@pytest.mark.parametrize(
    ("make", "volume"),
    [(cone, np.pi * 0.09 * 0.6 / 3), (ring, 2 * np.pi * 0.3 * AREA), (rod, np.pi * 0.0625 * 0.6)],
)
def test_random_points_inside_measure_the_volume(make, volume):
    shape = make()
    points = np.random.default_rng(SEED).random((3, 200_000))
    inside = shape.contains(*points)
    assert inside.mean() == pytest.approx(volume, abs=4 * np.sqrt(volume / 200_000))  # four standard deviations
    lower, upper = np.array(shape.bounds())
    held = points[:, inside]
    assert (held.min(axis=1) >= lower).all() and (held.max(axis=1) <= upper).all()
    assert (held.min(axis=1) < lower + 0.06).all() and (held.max(axis=1) > upper - 0.06).all()


def test_the_distance_is_a_bound_everywhere_and_exact_at_the_surface():
    x, y, z = np.random.default_rng(SEED).uniform(-0.2, 1.2, (3, 50_000))
    out = np.stack((np.hypot(x - 0.45, y - 0.5) - 0.25, np.abs(z - 0.5) - 0.3))
    true = np.minimum(out.max(axis=0), 0.0) + np.hypot(*np.maximum(out, 0.0))
    found = rod()._signed_distance(x, y, z)
    assert (np.sign(found) == np.sign(true)).all() and (np.abs(found) <= np.abs(true) * (1 + 1e-9)).all()
    near = np.abs(true) < 5e-4
    assert near.sum() > 20
    np.testing.assert_allclose(found[near], true[near], atol=1e-11)


def test_coordinates_broadcast_and_may_be_numbers():
    x = np.linspace(0, 1, 3)
    assert rod().contains(x[:, None, None], x[None, :, None], x).shape == (3, 3, 3)
    assert bool(rod().contains(0.5, 0.5, 0.5)) and not rod().contains(0.5, 0.5, 0.9)


def test_a_profile_of_many_points_is_the_sphere_within_its_chords():
    half = np.linspace(0, np.pi, 200)
    ball = nf.Revolved("z", [*np.transpose((np.sin(half), np.cos(half))).tolist()[:100], (0, 0)])
    x, y, z = np.random.default_rng(SEED).uniform(-1, 1, (3, 50_000))
    radius, sagitta = np.sqrt(x**2 + y**2 + z**2), (half[1] / 2) ** 2 / 2
    sure = (np.abs(radius - 1) > sagitta) & (z > half[1])
    assert (ball.contains(x, y, z) == (radius < 1))[sure].all()


def test_the_axis_turns_the_body_and_the_centre_moves_it():
    at, body = np.random.default_rng(SEED).random((3, 2000)), cone()
    for axis in range(3):
        turned = nf.Revolved("xyz"[axis], body.profile, tuple(np.roll((0.2, 0.5, 0.5), axis).tolist()))
        assert (turned.contains(*np.roll(at, axis, axis=0)) == body.contains(*at)).all()
    assert (body.moved([1.0, 0.0, -2.0]).contains(at[0] + 1, at[1], at[2] - 2) == body.contains(*at)).all()


def coefficients(structure, cells):
    """In a unit cube; the step is short, so that no face is too small for it."""
    grid = nf.Grid.uniform(1 / cells, (cells, cells, cells)).resolve()
    step = 1e-3 * grid.maximum_time_step()
    return Coefficients(grid, filled_shapes([structure]), nf.Medium(), nf.Boundaries(all=nf.PEC), step, (), "conformal")


@pytest.mark.parametrize("medium", [nf.PEC, nf.Medium(4.0)], ids=["conformal metal", "dielectric"])
def test_a_rod_has_the_cells_of_the_cylinder(medium):
    cylinder = nf.Cylinder((0.45, 0.5, 0.2), (0.45, 0.5, 0.8), 0.25)
    found, wanted = (coefficients(nf.Structure(shape, medium), 10) for shape in (rod(), cylinder))
    for component in range(6):
        for one, other in zip(found.dense(component), wanted.dense(component)):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)


def test_open_areas_above_a_cone_add_up_to_what_its_circles_leave():
    body = nf.Revolved("z", [(0, 0), (0.4, 0), (0, 0.8)], (0.51, 0.48, 0.1))
    found = coefficients(nf.Structure(body, nf.PEC), 20)
    drive, edges = found.dense(5)[1], np.abs(found.dense(0)[1]) > 0
    opened = edges | np.roll(edges, -1, axis=1)
    for plane in (4, 8, 12):
        metal = 1.0 - (opened / drive)[:, :, plane].sum() / 400
        lost = np.pi * (0.4 - 0.5 * (0.05 * plane - 0.1)) ** 2 - metal
        assert 0.0 < lost < np.pi / 3 * 0.05**2  # chords of l cut off (l/radius)^2/6, l^2 < 2 cells^2


def test_flat_rings_want_grid_lines_and_cut_media():
    assert rod()._levels(2) == sorted(faces_across([rod()], 2, np.linspace(-1, 2, 31))) == pytest.approx([0.2, 0.8])
    assert rod()._levels(0) == [] == cone()._levels(1)
    assert cone()._levels(0) == [0.2]


def test_a_profile_comes_from_tables_with_units():
    table = {"kind": "revolved", "axis": "y", "profile": [[0, 0], ["2 mm", 0], [0, "1 mm"]], "center": [0, "1 mm", 0]}
    assert nf.Structure(table, "pec").shape == nf.Revolved("y", [(0, 0), (2e-3, 0), (0, 1e-3)], (0, 1e-3, 0))


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ([(0, 0), (1, 0)], "needs at least 3"),
        ([(0, 0), (1, 0), (-0.5, 1)], "point 3 has the radius -0.5 m; .* cannot be negative"),
        ([(0, 0), (1, 0), (2, 0)], "on one line"),
        ([(1, 0), (2, 1), (2, 0), (1, 1)], "from point 1 and from point 3 meet"),
    ],
)
def test_profiles_that_make_no_body_are_refused(profile, message):
    with pytest.raises(nf.ModelError, match=message):
        nf.Revolved("z", profile)
