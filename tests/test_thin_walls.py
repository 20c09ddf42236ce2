"""Conformal walls thinner than a cell: closed at any thickness and place, and no openings lost beside them."""

import numpy as np
import pytest
from test_conformal import PEC_WALLS, coefficients, cube, largest_eigenvalue, metal

import nearfield as nf
from nearfield import conformal

VACUUM = nf.Medium()
CELLS, RADIUS = 15, 4.3


def ball(at, wall):
    return [metal(nf.Sphere(at, RADIUS + wall)), metal(nf.Sphere(at, RADIUS), VACUUM)]


def can(at, wall):
    """A round tube with lids as thin as its wall, off the grid lines."""
    low, high = ((*at[:2], at[2] + side * RADIUS) for side in (-1, 1))
    out = [(*at[:2], at[2] + side * (RADIUS + wall)) for side in (-1, 1)]
    tube = [metal(nf.Cylinder(*out, RADIUS + wall)), metal(nf.Cylinder(*out, RADIUS), VACUUM)]
    return [*tube, *(metal(nf.Cylinder(a, b, RADIUS + wall)) for a, b in zip((low, high), out))]


def turned(at, wall):
    """One body, thin by itself: two hollow cones, one upon the other."""
    inner, outer = RADIUS, RADIUS + 2**0.5 * wall
    profile = [(0, -outer), (outer, 0), (0, outer), (0, inner), (inner, 0), (0, -inner)]
    return [metal(nf.Revolved("y", profile, at))]


@pytest.mark.parametrize("wall", [0.02, 0.3, 0.7, 1.0, 1.4])
@pytest.mark.parametrize("shell", [ball, can, turned])
def test_nothing_leaves_a_closed_shell(shell, wall):
    at = tuple(0.5 * CELLS + np.random.default_rng(int(100 * wall)).uniform(-0.5, 0.5, 3))
    solver = nf.Solver(nf.Simulation(
        grid=nf.Grid.uniform(1.0, (CELLS,) * 3), structures=shell(at, wall), boundaries=PEC_WALLS, metal="conformal",
        sources=[nf.PointCurrent(tuple(q + 0.3 for q in at), "z", nf.Gaussian(60e6))], steps=90,
    ))  # fmt: skip
    solver.advance(90)
    for component in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz"):
        field, near = solver.field(component), slice(CELLS // 2 - 2, CELLS // 2 + 3)
        assert field[near, near, near].any()
        for a in range(3):
            assert not np.take(field, (0, -1, -2), axis=a).any()


def test_a_wall_inside_one_layer_of_cells_keeps_the_larger_part():
    grid = cube(6, 6.0)
    wall = metal(nf.Box((2.7, 0, 0), (2.9, 6, 6)))  # 0.7 of the cells lie before it
    found = coefficients(grid, [wall, metal(nf.Sphere((-9, -9, -9), 1.0))])
    assert (found.dense(0)[1] == 0).sum() == 36  # on its own it stays on grid lines
