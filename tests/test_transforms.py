"""Structures moved, turned, mirrored and repeated: what is inside moves with them, exactly."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.mesh import turned
from nearfield.model_file import loads

L_SHAPE = [(0, 0), (2e-3, 0), (2e-3, 1e-3), (1e-3, 1e-3), (1e-3, 2e-3), (0, 2e-3)]
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
SHAPES = {
    "box": nf.Box((0, 1e-3, 0), (3e-3, 2e-3, 2e-3)),
    "sphere": nf.Sphere((1e-3, 0, 0), 1e-3),
    "cylinder": nf.Cylinder((0, 0, 0), (3e-3, 1e-3, 0), 1e-3),
    "polygon": nf.Polygon("y", L_SHAPE, 0, 1e-3),
    "revolved": nf.Revolved("z", [(0, 0), (2e-3, 0), (0, 3e-3)], center=(1e-3, 0, 0)),
    "mesh": nf.Mesh(
        vertices=CORNERS, triangles=FACES, unit="mm", offset=("1 mm", 0, 0), scale=3, rotation=(0.3, 0, 0.2)
    ),
}
ROTATIONS = [("x", "90 deg"), ("y", "180 deg"), ("z", "-90 deg"), ("z", "30 deg"), ("x", 0.7)]
RANDOM = np.random.default_rng(3).uniform(-4e-3, 4e-3, (4000, 3))


def part(shape, *transforms):
    (found,) = nf.Structure(shape, nf.Medium(2), name="a", transforms=transforms).parts()
    assert found.transforms == () and found.name == "a"
    return found.shape


@pytest.mark.parametrize(("axis", "angle"), ROTATIONS)
@pytest.mark.parametrize("kind", SHAPES)
def test_a_turned_solid_holds_the_turned_points(kind, axis, angle):
    shape, about = SHAPES[kind], (1e-3, 2e-3, -1e-3)
    rotate = nf.Rotate(axis, angle, about)
    if kind == "revolved" and axis != "z" and angle == 0.7:
        with pytest.raises(nf.ModelError, match="stays along an axis"):
            part(shape, rotate)
        return
    matrix = turned([rotate.angle if name == axis else 0.0 for name in "xyz"])
    points = (RANDOM - about) @ matrix.T + about
    inside = shape.contains(*RANDOM.T)
    assert 5 < inside.sum() < 1000
    assert np.array_equal(part(shape, rotate).contains(*points.T), inside)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_mirrored_solid_holds_the_mirrored_points(kind):
    points = RANDOM * (1, -1, 1) + (0, 2e-3, 0)
    inside = SHAPES[kind].contains(*RANDOM.T)
    assert np.array_equal(part(SHAPES[kind], nf.Mirror("y", "1 mm")).contains(*points.T), inside)


def test_quarter_turns_keep_kinds_and_decimals():
    box = nf.Box((0, 0, 0), (3e-3, 1.27e-3, 0.1))
    assert part(box, nf.Rotate("z", "90 deg")) == nf.Box((-1.27e-3, 0, 0), (0, 3e-3, 0.1))
    sheet = nf.Sheet((0, 0, 0.795e-3), (1e-3, 2e-3, 0.795e-3))
    assert nf.Structure(sheet, nf.PEC, transforms=[nf.Rotate("x", "90 deg")]).parts()[0].shape == nf.Sheet(
        (0, -0.795e-3, 0), (1e-3, -0.795e-3, 2e-3)
    )


@pytest.mark.parametrize(
    "transform", [nf.Mirror("x"), nf.Mirror("z"), nf.Rotate("z", "90 deg"), nf.Rotate("x", "90 deg")]
)
@pytest.mark.parametrize("z", [1e-3 / 3, 0.7e-3 / 9])
def test_what_shares_a_coordinate_shares_it_after_a_transform(transform, z):
    """Digits were rounded point by point: a sheet at a third of a millimetre was refused, a wire ran along no axis."""
    sheet, wire = nf.Sheet((0, 0, z), (0.1, 0.05, z)), nf.Wire([(0, 0, z), (0.1, 0, z), (0.1, 2e-4, z)], 1e-5)
    for shape in (sheet, wire):
        (part,) = nf.Structure(shape, nf.PEC, transforms=[transform]).parts()
        assert sum(low == high for low, high in zip(*part.shape.bounds())) == 1


def test_a_bowtie_turned_by_thirty_degrees_is_the_polygon_of_the_turned_corners():
    flat = nf.Polygon("z", [(0, 0), ("9 mm", "4 mm"), ("9 mm", "-4 mm")], 0, 0)
    transforms = [nf.Mirror("x", keep=True), nf.Rotate("z", "30 deg")]
    arms = nf.Structure(flat, nf.PEC, name="arm", transforms=transforms).parts()
    assert [arm.name for arm in arms] == ["arm 1", "arm 2"]
    cosine, sine = np.cos(np.pi / 6), np.sin(np.pi / 6)
    wanted = [(x * cosine - y * sine, x * sine + y * cosine) for x, y in ((0, 0), (9e-3, 4e-3), (9e-3, -4e-3))]
    assert np.allclose(arms[0].shape.vertices, wanted, atol=1e-15)
    assert np.allclose(arms[1].shape.vertices, np.negative(wanted)[[0, 2, 1]], atol=1e-15)


def test_an_array_in_a_model_file_becomes_structures_that_it_keeps():
    text = """
grid = { kind = "uniform", spacing = "1 mm", cells = [20, 20, 9] }
[parameters]
pitch = "3 mm"
[[structures]]
name = "via"
medium = "pec"
shape = { kind = "box", lower = ["1 mm", "1 mm", 0], upper = ["2 mm", "2 mm", "4 mm"] }
transforms = [{ kind = "array", counts = [3, 2, 1], step = ["= pitch", "= 2 * pitch", 0] }]
"""
    model = loads(text)
    assert [each.name for each in model.structures] == [f"via {n}" for n in range(1, 7)]
    assert model.structures[-1].shape.lower == pytest.approx((7e-3, 7e-3, 0))
    assert loads(model.to_toml()) == model


@pytest.mark.parametrize(
    ("shape", "medium", "transform", "words"),
    [
        (nf.Sheet((0, 0, 0), (1, 1, 0)), "pec", nf.Rotate("x", "10 deg"), "give metal that is tilted a thickness"),
        (nf.Polygon("z", [(0, 0), (1, 0), (0, 1)], 0, 0), "pec", nf.Rotate("y", 1), "tilted a thickness"),
        (nf.Wire([(0, 0, 0), (1, 0, 0)]), "pec", nf.Rotate("z", "10 deg"), "give `radius`"),
        (nf.Voxels(array=[[[0, 3]]], spacing=1), nf.Medium(2), nf.Rotate("z", 1), "not turned or mirrored"),
        (nf.Box((0, 0, 0), (1, 1, 1)), "pec", nf.Array((1000, 1000, 1), (1, 1, 1)), "at most 100,000"),
    ],
)
def test_transforms_that_leave_no_shape_are_refused(shape, medium, transform, words):
    with pytest.raises(nf.ModelError, match=words):
        nf.Structure(shape, medium, transforms=[transform])
