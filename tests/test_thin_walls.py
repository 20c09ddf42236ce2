"""Conformal walls thinner than a cell: closed at any thickness and place, and no openings lost beside them."""

import numpy as np
import pytest
from cases import slow_after
from test_conformal import PEC_WALLS, coefficients, cube, largest_eigenvalue, metal

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.metal import conformal

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


@pytest.mark.parametrize("wall", slow_after(1, [0.05, 0.8]))
@pytest.mark.parametrize("shell", [pytest.param(ball, marks=pytest.mark.slow), can, turned])
def test_nothing_leaves_a_closed_shell(shell, wall):
    at = tuple(0.5 * CELLS + np.random.default_rng(int(100 * wall)).uniform(-0.5, 0.5, 3))
    solver = nf.Solver(
        nf.Simulation(
            grid=nf.Grid.uniform(1.0, (CELLS,) * 3),
            structures=shell(at, wall),
            boundaries=PEC_WALLS,
            metal="conformal",
            sources=[nf.PointCurrent(tuple(q + 0.3 for q in at), "z", nf.Gaussian(60e6))],
            steps=90,
        )
    )
    solver.advance(90)
    for component in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz"):
        field, near = solver.field(component), slice(CELLS // 2 - 2, CELLS // 2 + 3)
        assert field[near, near, near].any()
        for a in range(3):
            assert not np.take(field, (0, -1, -2), axis=a).any()


def test_a_wall_within_cells_leaves_their_larger_part_and_closes_the_edges_behind_it():
    grid, line = cube(6, 6.0), [(2.6, -1), (2.9, -1), (2.9, 7), (2.6, 7)]
    found = coefficients(grid, [metal(nf.Polygon("z", line, -1, 7))])
    drive = [found.dense(component)[1] for component in range(6)]
    np.testing.assert_allclose(drive[0][2, 1:, 1:], 0.6, atol=1e-5)
    np.testing.assert_allclose(1 / drive[5][2, 1:, 1:], 0.6, atol=1e-5)
    for component in (1, 2):
        assert not drive[component][3].any()
        assert drive[component][2, 1:, 1:].all() and drive[component][4, 1:, 1:].all()


def test_thin_lids_on_followed_metal_are_followed_and_others_stay_on_grid_lines():
    grid, lid, block = cube(6, 6.0), metal(nf.Box((1, 1, 3.6), (5, 5, 3.9))), metal(nf.Box((2, 2, 0), (4, 4, 3.6)))
    alone, on_block = (coefficients(grid, bodies) for bodies in ([lid], [block, lid]))
    assert alone.open_fraction(2, 1, 1, 3) == 1.0
    assert on_block.open_fraction(2, 1, 1, 3) == pytest.approx(0.6, abs=1e-5)


@pytest.mark.parametrize("kind", ["staircase", "conformal"])
def test_a_disc_thinner_than_a_cell_is_a_plate(kind):
    grid, ends = cube(12, 12.0), ((6, 6, 4.1), (6, 6, 4.4))
    found = coefficients(grid, [metal(nf.Cylinder(*ends, 4.2))], kind=kind)
    x, y = np.meshgrid(np.arange(12) + 0.5, np.arange(12))
    inside = np.hypot(x - 6, y - 6).T < 3.5
    assert not found.dense(0)[1][:, :, 4][inside].any()
    assert found.dense(2)[1][:, 1:, 3:5][1:].all()


@pytest.mark.parametrize("seed", slow_after(1, range(2)))
def test_the_step_is_stable_about_thin_walls(seed):
    random = np.random.default_rng(seed)
    grid = nf.Grid(*((0.0, *np.cumsum(random.uniform(0.75, 1.33, 11))) for _ in range(3))).resolve()
    at, wall = tuple(random.uniform(5, 6, 3)), random.uniform(0.1, 1.3)
    cross = metal(nf.Polygon("x", [(0, 1), (9, 8), (9, 8.2), (0, 1.2)], 1, 9))
    step = conformal.maximum_time_step(grid, 1.0)
    found = coefficients(grid, [*ball(at, wall), cross, metal(nf.Sphere((3, 3, 3), 1.7), VACUUM)], step=step)
    assert largest_eigenvalue(found, grid, step) < 4.0


@pytest.mark.parametrize("wall", slow_after(1, [0.1, 0.4]))
def test_a_resonance_in_a_thin_wall_is_right_to_a_part_of_a_cell(wall):
    radius, exact = 6.0, 2.7437072 * VACUUM_SPEED / (2 * np.pi * 6.0)
    at, size = (8.3, 8.17, 8.41), (17,) * 3
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1.0, size),
        boundaries=PEC_WALLS,
        metal="conformal",
        duration=1.2e-6,
        courant=0.7,
        structures=[metal(nf.Sphere(at, radius + wall)), metal(nf.Sphere(at, radius), VACUUM)],
        precision="double",
        sources=[nf.PointCurrent((8, 8, 9.5), "z", nf.ModulatedGaussian(exact, 0.5 * exact))],
        monitors=[nf.Probe("ringing", (8, 8, 6.5), "Ez")],
    )
    modes = nf.resonances(sim.run(threads=1), (0.93 * exact, 1.07 * exact), probe="ringing")
    found = float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))])
    assert abs(found / exact - 1.0) < 0.1 / radius  # a tenth of a cell; TM101 between whole cells is a quarter off
