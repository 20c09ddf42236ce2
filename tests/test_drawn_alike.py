"""One body of metal drawn in several ways has one answer: as a box, polygons, triangles, parts, with others cut off."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3
LOW, HIGH = np.array((5.3, 4.4, 3.6)) * MM, np.array((11.7, 9.8, 8.2)) * MM  # as near to two edges, at 1.1 cells
MIDDLE, FAR = 8.1 * MM, 15 * MM
BEYOND = nf.Box((HIGH[0], 0, 0), (20 * MM, 18 * MM, 16 * MM))


def outline(first: int, second: int, end: float = HIGH[0]) -> list[tuple[float, float]]:
    high = np.array((end, *HIGH[1:]))
    (a, b), (c, d) = ((corner[first], corner[second]) for corner in (LOW, high))
    return [(a, b), (c, b), (c, d), (a, d)]


def block(low, high) -> nf.Mesh:
    """A box as twelve triangles."""
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [each for a, b, c, d in faces for each in ((a, b, c), (a, c, d))]
    return nf.Mesh(vertices=corners, triangles=triangles)


def ways() -> dict[str, list]:
    left, right = (tuple(LOW), (MIDDLE, *HIGH[1:])), ((MIDDLE, *LOW[1:]), tuple(HIGH))
    centre = 0.5 * (LOW + HIGH)
    half = 0.5 * (HIGH - LOW)[[1, 0, 2]]
    turn = nf.Rotate("z", "90 deg", about=tuple(centre))
    return {
        "polygon across x": [nf.Polygon("x", outline(1, 2), LOW[0], HIGH[0])],
        "polygon across y": [nf.Polygon("y", outline(2, 0), LOW[1], HIGH[1])],
        "polygon across z": [nf.Polygon("z", outline(0, 1), LOW[2], HIGH[2])],
        "triangles": [block(LOW, HIGH)],
        "two boxes": [nf.Box(*left), nf.Box(*right)],
        "a box and triangles": [nf.Box(*left), block(*right)],
        "turned": [nf.Transformed(nf.Box(tuple(centre - half), tuple(centre + half)), turn)],
        "polygon with a box cut off": [nf.Polygon("z", outline(0, 1, FAR), LOW[2], HIGH[2]) - BEYOND],
        "triangles with a box cut off": [block(LOW, (FAR, *HIGH[1:])) - BEYOND],
        "box with triangles cut off": [nf.Box(tuple(LOW), (FAR, *HIGH[1:])) - block(*BEYOND.bounds())],
    }


def record(shapes) -> np.ndarray:
    """Of a probe in a box of metal walls."""
    probe = (16 * MM, 14 * MM, 12.5 * MM)
    result = nf.Simulation(
        grid=nf.Grid.uniform(MM, (20, 18, 16)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[nf.Structure(shape, nf.PEC) for shape in shapes],
        sources=[nf.PointCurrent((3 * MM, 3 * MM, 2.5 * MM), "z", nf.ModulatedGaussian(9e9, 12e9))],
        monitors=[nf.Probe("p", probe, "Ez")],
        steps=400,
    ).run(threads=1)
    return np.asarray(result["p"].values)


@pytest.fixture(scope="module")
def as_a_box() -> np.ndarray:
    found = record([nf.Box(tuple(LOW), tuple(HIGH))])
    assert np.abs(found).max() > 0.0
    return found


@pytest.mark.parametrize("way", list(ways()))
def test_a_block_off_the_lines_rings_alike_however_it_is_drawn(way, as_a_box):
    """To rounding in single precision; right-angled edges of triangles had none of their field (0.1)."""
    found = record(ways()[way])
    assert np.linalg.norm(found - as_a_box) < 1e-4 * np.linalg.norm(as_a_box)
