"""Thin metal across no axis is never taken in silence: a warning, and an entry of `moved` with its effect."""

import math

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3


def strip(degrees, thickness, length=20 * MM):
    """A plate about the z axis that is turned about it."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    flat = [(u * length / 2, v * thickness / 2) for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return nf.Polygon("z", [(u * c - v * s, u * s + v * c) for u, v in flat], -3 * MM, 3 * MM)


def cone(thickness):
    half = 0.5 * thickness * 2**0.5
    low, high = 4 * MM, 10 * MM
    return nf.Revolved("z", [(low - half, low), (high - half, high), (high + half, high), (low + half, low)])


def shell(thickness, radius=6 * MM):
    """A tube of triangles about the z axis, with flat rims."""
    turns = np.arange(40) * 2 * math.pi / 40
    rings = [
        [(r * math.cos(t), r * math.sin(t), z) for t in turns]
        for r, z in ((radius, -4 * MM), (radius, 4 * MM), (radius - thickness, 4 * MM), (radius - thickness, -4 * MM))
    ]
    triangles = []
    for ring in range(4):
        for n in range(40):
            a, b = 40 * ring + n, 40 * ring + (n + 1) % 40
            c, d = (a + 40) % 160, (b + 40) % 160
            triangles += [(a, b, d), (a, d, c)]
    return nf.Mesh(vertices=[corner for ring in rings for corner in ring], triangles=triangles)


def checked(shape, metal):
    grid = nf.Grid.uniform(MM, (40, 40, 40), origin=(-20 * MM,) * 3)
    body = nf.Structure(shape, nf.PEC, "plate")
    return nf.Simulation(grid, [body], nf.Boundaries(nf.CPML(8)), steps=1, metal=metal).check()


@pytest.mark.parametrize("shape", [strip, cone, shell, "disc"])
@pytest.mark.parametrize(("metal", "word", "effect"), [("staircase", "holes", 1.0), ("conformal", "closed", 0.6)])
def test_thin_metal_across_no_axis_is_warned_of_and_listed_with_its_effect(shape, metal, word, effect):
    thickness = 0.1 * MM
    if shape == "disc":
        body = nf.Cylinder((0, 0, 0), tuple(thickness / 3**0.5 for _ in range(3)), 7 * MM)
    else:
        body = strip(30, thickness) if shape is strip else shape(thickness)
    report = checked(body, metal)
    assert any("'plate'" in text and "across no axis" in text and word in text for text in report.warnings)
    entry = next(each for each in report.moved if "thickness" in each["what"])
    assert entry["from"] == pytest.approx(thickness, rel=0.02)  # twice volume over surface, rims included
    assert entry["to"] == pytest.approx(effect * MM, rel=0.01)
    assert word in entry["effect"]


def test_what_acts_in_place_of_thin_and_slanting_rims_is_listed():
    entry = next(each for each in checked(strip(30, 0.1 * MM), "conformal").moved if "free rims" in each["what"])
    assert entry["to"] == pytest.approx(0.3 * MM, rel=0.01)  # a third of what a bead adds
    assert "beads 1 mm thick" in entry["effect"]
    bow = nf.Polygon("z", [(0, 0), (8 * MM, -4 * MM), (8 * MM, 4 * MM)], 0, 0)
    entry = next(each for each in checked(bow, "conformal").moved if "slanting rims" in each["what"])
    assert entry["to"] == pytest.approx(0.1 * MM)
    square = nf.Polygon("z", [(0, 0), (8.3 * MM, 0), (8.3 * MM, 4 * MM), (0, 4 * MM)], 0, 0)
    assert not any("slanting rims" in each["what"] for each in checked(square, "conformal").moved)


@pytest.mark.parametrize("metal", ["staircase", "conformal"])
def test_thick_metal_draws_no_such_warning(metal):
    for body in (strip(30, 4 * MM), cone(4 * MM), nf.Cylinder((0, 0, -5 * MM), (0, 0, 5 * MM), 6 * MM)):
        report = checked(body, metal)
        assert not any("across no axis" in text for text in report.warnings)
        assert not any("thickness" in each["what"] for each in report.moved)


def test_slanting_rods_thinner_than_cells_are_warned_of_on_whole_cells_too():
    report = checked(nf.Cylinder((0, 0, 0), (5 * MM, 6 * MM, 0), 0.3 * MM), "staircase")
    assert any("'plate'" in text and "a Wire with its radius" in text for text in report.warnings)
    straight = checked(nf.Cylinder((0, 0, 0), (5 * MM, 0, 0), 0.3 * MM), "staircase")
    assert not any("a Wire with its radius" in text for text in straight.warnings)
