"""Shapes: what is inside, how far the surface is, and what is refused."""

import numpy as np
import pytest

import nearfield as nf

SHAPES = [
    nf.Box((0.1, 0.2, 0.3), (0.9, 0.7, 0.8)),
    nf.Sphere((0.5, 0.4, 0.6), 0.3),
    nf.Cylinder((0.5, 0.5, 0.1), (0.5, 0.5, 0.9), 0.25),
    nf.Cylinder((0.2, 0.3, 0.2), (0.7, 0.8, 0.9), 0.2),
    nf.Polygon("y", [(0.1, 0.1), (0.9, 0.2), (0.6, 0.6), (0.8, 0.9), (0.2, 0.7)], 0.2, 0.7),
]
VOLUMES = [0.8 * 0.5 * 0.5, 4 / 3 * np.pi * 0.027, np.pi * 0.0625 * 0.8, np.pi * 0.04 * np.sqrt(0.99), None]
SEED = 12


def points(count):
    return np.random.default_rng(SEED).random((3, count))


@pytest.mark.parametrize(("shape", "volume"), list(zip(SHAPES, VOLUMES)), ids=lambda value: getattr(value, "kind", ""))
def test_random_points_inside_measure_the_volume(shape, volume):
    x, y, z = points(200_000)
    if volume is None:
        u, v = np.array(shape.vertices).T
        volume = 0.5 * abs(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1))) * 0.5
    found = shape.contains(x, y, z).mean()
    assert found == pytest.approx(volume, abs=4 * np.sqrt(volume / 200_000))  # four standard deviations


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_signed_distance_never_exceeds_the_true_distance(shape):
    """A bound of the distance changes by at most the way between two points."""
    a, b = points(4000).reshape(2, 3, 2000)
    change = np.abs(shape._signed_distance(*a) - shape._signed_distance(*b))
    assert (change <= np.linalg.norm(a - b, axis=0) * (1 + 1e-12)).all()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_bounds_hold_the_shape_tightly(shape):
    x, y, z = points(200_000)
    inside = np.stack([x, y, z])[:, shape.contains(x, y, z)]
    lower, upper = np.array(shape.bounds())
    assert (inside.min(axis=1) >= lower).all() and (inside.max(axis=1) <= upper).all()
    assert (inside.min(axis=1) < lower + 0.06).all() and (inside.max(axis=1) > upper - 0.06).all()


def test_coordinates_broadcast():
    x = np.linspace(0, 1, 3)
    for shape in SHAPES:
        assert shape.contains(x[:, None, None], x[None, :, None], x).shape == (3, 3, 3)


def test_surfaces_belong_to_the_shape():
    assert nf.Box((0, 0, 0), (1, 1, 1)).contains(1, 1, 1)
    assert nf.Sphere((0, 0, 0), 1).contains(0, 0, 1)
    assert nf.Sheet((0, 0, 1), (1, 1, 1)).contains(0.5, 1, 1)


def test_shapes_come_from_tables_with_units():
    structure = nf.Structure(shape={"kind": "sphere", "center": ["1 mm", 0, 0], "radius": "2 mm"}, medium="pec")
    assert structure.shape == nf.Sphere((1e-3, 0, 0), 2e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.Box((0, 0, 0), (1, 0, 1)), "along y it goes from 0 to 0 m"),
        (lambda: nf.Sheet((0, 0, 0), (1, 1, 1)), "exactly one zero extent"),
        (lambda: nf.Sheet((0, 0, 0), (1, 0, 0)), "exactly one zero extent"),
        (lambda: nf.Sphere((0, 0, 0), 0), "radius: must be positive"),
        (lambda: nf.Cylinder((0, 0, 0), (0, 0, 0), 1), "same point"),
        (lambda: nf.Wire([(0, 0, 0)]), "at least 2"),
        (lambda: nf.Wire([(0, 0, 0), (1, 1, 0)]), "not parallel to an axis"),
        (lambda: nf.Polygon("z", [(0, 0), (1, 0)], 0, 1), "at least 3"),
        (lambda: nf.Polygon("z", [(0, 0), (1, 0), (2, 0)], 0, 1), "on one line"),
        (lambda: nf.Polygon("z", [(0, 0), (1, 1), (2, 2)], 0, 1), "on one line"),
        (lambda: nf.Polygon("z", [(0.1, 0.3), (0.2, 0.6), (0.4, 1.2), (0.1, 0.3)], 0, 1), "on one line"),
        (lambda: nf.Polygon("z", [(0, 0), (1, 0), (0, 1)], 1, 0), "exchange them"),
        (lambda: nf.Structure(nf.Sheet((0, 0, 0), (1, 1, 0)), nf.Medium(2)), 'can only be "pec"'),
        (lambda: nf.Structure(nf.Box((0, 0, 0), (1, 1, 1)), 7), "allowed: a Medium"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()
