"""Rods thinner than some cells: cross-sections, their lattice, posts in a guide beside the exact field, stability."""

import math

import numpy as np
import pytest
from cases import slow_after
from scipy.sparse import csc_matrix, diags, kron
from scipy.sparse.linalg import spsolve
from test_conformal import random_lines
from test_thin_wires import assert_stable

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.metal.cross_sections import section_of
from nearfield.metal.rod_lattice import WAYS, rod_nodes
from nearfield.metal.rods import rods
from validation import round_post

MM = 1e-3


def metal(shape):
    return nf.Structure(shape, nf.PEC)


def upright(x, y, radius, low=0.0, high=20.0):
    return nf.Cylinder((x * MM, y * MM, low * MM), (x * MM, y * MM, high * MM), radius * MM)


def found(structures, cells=(20, 20, 20), walls=nf.PEC):
    grid = nf.Grid.uniform(MM, cells).resolve()
    return rods(filled_shapes([metal(shape) for shape in structures]), grid, nf.Boundaries(walls))


def test_cross_sections_act_as_round_wires_of_known_radius():
    side = section_of(nf.Box((0, 0, 0), (1, 1, 9)), 2)
    assert side.radius == pytest.approx(math.gamma(0.25) ** 2 / (4 * math.pi**1.5), rel=2e-4)
    assert side.middle == pytest.approx((0.5, 0.5)) and abs(side.squares) < 1e-12
    flat = section_of(nf.Box((0, 0, 0), (1, 9, 1e-6)), 1)  # axes z, x: a strip has w/4, and w^2/8 along itself
    assert flat.radius == pytest.approx(0.25, rel=2e-3) and flat.squares == pytest.approx(-0.125, rel=5e-3)
    ring = 2 * math.pi * np.arange(64) / 64
    many = section_of(nf.Polygon("z", np.stack((np.cos(ring), np.sin(ring)), 1).tolist(), 0, 9), 2)
    assert many.radius == pytest.approx(math.sqrt(math.sin(ring[1]) / ring[1]), rel=1e-3)  # of nearly the same area


@pytest.mark.parametrize("seed", range(8))
def test_the_lattice_has_the_field_of_the_rod_where_it_is_drawn(seed):
    """The nodes as metal, the edges from them with their factors: elsewhere phi is -ln(r)/(2 pi) about the middle."""
    random = np.random.default_rng(seed)
    lines = [np.cumsum(np.r_[0, random.uniform(0.8, 1.25, 48)]) * MM for _ in range(2)]
    lines = [MM * np.arange(49.0)] * 2 if seed % 2 else lines
    grid = nf.Grid(*lines, MM * np.arange(3.0)).resolve()
    middle = [float(random.uniform(line[24], line[25])) for line in lines]
    radius = float(10 ** random.uniform(-1, math.log10(1.9))) * MM
    section = section_of(nf.Cylinder((*middle, 0), (*middle, 1), radius), 2)
    first = (18, 18)
    away = np.hypot(*np.meshgrid(*(line[18:32] - at for line, at in zip(lines, middle)), indexing="ij")) - radius
    kept = rod_nodes(grid, 2, section, away, first)
    matrix = lattice(grid, kept)
    count = 49
    place = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1) - middle
    exact = -np.log(np.hypot(place[..., 0], place[..., 1])) / (2 * np.pi)
    known = np.ones((count, count), dtype=bool)
    known[1:-1, 1:-1] = False
    potential = np.where(known, exact, 0.0)
    for node in kept.nodes:
        potential[node], known[node] = -math.log(radius) / (2 * np.pi), True
    free = np.flatnonzero(~known)
    potential.flat[free] = spsolve(matrix[free][:, free], -(matrix @ potential.ravel())[free])
    ring = np.hypot(place[..., 0], place[..., 1])
    far = (ring > 5 * MM) & (ring < 20 * MM)
    # a node and those beside it have no product of moments, which is at most a quarter: 0.25/(2 pi 5^2) of potential;
    # third moments are free, some 0.7: 0.7/(2 pi 5^3); unequal cells have errors of first order of their own
    np.testing.assert_allclose(potential[far], exact[far], atol=1e-3 if seed % 2 and len(kept.nodes) > 1 else 2e-3)


def lattice(grid, kept):
    """Laplace's equation across z with the factors of a rod's edges."""
    parts = []
    for axis in range(2):
        cell = grid.primary(axis)
        difference = diags([-1.0, 1.0], [0, 1], shape=(cell.size, cell.size + 1))
        parts.append((difference.T @ diags(1.0 / cell) @ difference, diags(grid.dual(axis))))
    matrix = csc_matrix(kron(parts[0][0], parts[1][1]) + kron(parts[0][1], parts[1][0])).tolil()
    size = [n + 1 for n in grid.cells[:2]]
    for node, factors in zip(kept.nodes, kept.factors):
        for axis, way in WAYS:
            other = (node[0] + way * (axis == 0), node[1] + way * (axis == 1))
            if other not in kept.nodes:
                one, two = (np.ravel_multi_index(at, size) for at in (node, other))
                more = (1.0 - factors[axis][int(way > 0)]) * matrix[one, two]
                for at, by in (((one, one), more), ((two, two), more), ((one, two), -more), ((two, one), -more)):
                    matrix[at] += by
    return matrix.tocsr()


# Steps of whole cells are off by 0.1 to 0.2. What is left is of second order in k h = 0.24: 0.2 of its square.
POSTS = [(10.3, 25.2, 1.0), (10.5, 25.5, 1.4), (7.1, 25.4, 1.0), (10.0, 25.0, 1.9), (6.7, 25.25, 2.5)]


@pytest.mark.parametrize("place", slow_after(2, POSTS))
def test_posts_of_any_radius_anywhere_in_a_cell_act_as_they_are_drawn(place):
    middle, along, diameter = place
    sim = round_post.model(middle, along, diameter)
    assert round_post.off(sim, middle, diameter, threads=1) < 0.012
    check = sim.check()
    assert not check.moved and not any("Cylinder" in text or "radius" in text for text in check.warnings)


@pytest.mark.slow
def test_posts_converge_with_the_second_order_of_the_grid():
    off = [round_post.off(round_post.model(10.0, 25.0, 1.0, cells), 10.0, 1.0, threads=1) for cells in (20, 40)]
    assert off[0] < 0.012 and off[1] < 0.4 * off[0]


def test_a_post_asks_for_no_shorter_time_step():
    empty = nf.Simulation(nf.Grid.uniform(MM, (20, 20, 20)), [], nf.Boundaries(nf.PEC), steps=1)
    with_it = empty.model_copy(update={"structures": (metal(upright(9.3, 8.8, 0.7)),)})
    assert with_it.check().time_step == pytest.approx(empty.check().time_step)


@pytest.mark.parametrize(
    "beside",
    [
        upright(11.0, 9.0, 0.5),  # another rod two cells from it
        nf.Box((10 * MM, 8 * MM, 0), (14 * MM, 10 * MM, 20 * MM)),  # a wall that it is part of
        nf.Wire([(11 * MM, 9 * MM, 0), (11 * MM, 9 * MM, 20 * MM)], 0.1 * MM),
    ],
)
def test_rods_beside_other_metal_stay_as_they_were(beside):
    assert 0 not in found([upright(9.0, 9.0, 0.5), beside])


def test_good_conductors_hold_and_touch_rods_as_metal_does():
    grid, copper = nf.Grid.uniform(MM, (20, 20, 20)).resolve(), nf.Conductor(5.8e7)
    post = metal(upright(9.0, 9.0, 0.7, 4, 16))
    lids = [nf.Box((0, 0, low * MM), (20 * MM, 20 * MM, high * MM)) for low, high in ((0, 4), (16, 20))]
    wall = nf.Box((10 * MM, 0, 0), (12 * MM, 20 * MM, 20 * MM))
    between = filled_shapes([post, *(nf.Structure(lid, copper) for lid in lids)])
    assert rods(between, grid, nf.Boundaries(nf.PEC))
    assert not rods(filled_shapes([post, nf.Structure(wall, copper)]), grid, nf.Boundaries(nf.PEC))


def test_rods_at_walls_with_free_ends_or_cut_by_media_stay_as_they_were():
    assert 0 in found([upright(9.0, 9.0, 0.7)])
    assert 0 in found(
        [
            upright(9.0, 9.0, 0.7, 4, 16),
            nf.Sheet((0, 0, 4 * MM), (20 * MM, 20 * MM, 4 * MM)),
            nf.Sheet((8 * MM, 8 * MM, 16 * MM), (12 * MM, 12 * MM, 16 * MM)),
        ]
    )
    assert not found([upright(1.0, 9.0, 0.7)])
    assert not found([upright(9.0, 9.0, 0.7, 4, 16)])  # on several lines, ends in the open
    assert 0 in found([upright(9.0, 9.0, 0.3, 4, 16)])  # a wire
    grid = nf.Grid.uniform(MM, (20, 20, 20)).resolve()
    hole = nf.Box((8 * MM, 8 * MM, 5 * MM), (12 * MM, 12 * MM, 9 * MM))
    cut = filled_shapes([metal(upright(9.0, 9.0, 0.7)), nf.Structure(hole, nf.Medium(2.0))])
    assert not rods(cut, grid, nf.Boundaries(nf.PEC))
    assert rods(cut[::-1], grid, nf.Boundaries(nf.PEC))


def drawn_at_random(seed):
    """A generator, a grid with its lines, an axis, and a place that is away from the walls."""
    random = np.random.default_rng(seed)
    lines = [np.array(random_lines(random, n, seed % 2)) for n in random.integers(14, 18, 3)]
    grid, axis = nf.Grid(*lines).resolve(), int(random.integers(3))
    middle = [float(random.uniform(line[6], line[-7])) for line in lines]
    return random, grid, lines, axis, middle


@pytest.mark.parametrize("seed", slow_after(4, range(16)))
def test_no_face_counts_with_more_than_the_least_of_its_live_edges(seed):
    """The proof of stability of thin wires, sample by sample, for bars of any radius and sides along any axis."""
    random, grid, lines, axis, middle = drawn_at_random(seed)
    wide = float(random.uniform(0.1, 1.9)) * min(float(np.diff(line).min()) for line in lines)

    def ends(half):
        low = tuple(float(line[0]) if a == axis else middle[a] - half for a, line in enumerate(lines))
        return low, tuple(float(line[-1]) if a == axis else middle[a] + half for a, line in enumerate(lines))

    shape = nf.Box(*ends(wide / 2)) if seed % 3 == 0 else nf.Cylinder(*ends(0.0), wide / 2)
    bodies = filled_shapes([metal(shape)])
    assert rods(bodies, grid, nf.Boundaries(nf.PEC))
    step = 0.99 * grid.maximum_time_step()
    assert_stable(grid, Coefficients(grid, bodies, nf.Medium(), nf.Boundaries(nf.PEC), step, (), "conformal", ()))


def test_a_rod_at_a_wall_too_slight_to_be_followed_is_warned_of():
    rod = nf.Structure(nf.Cylinder((1e-3, 0, 6e-3), (1e-3, 12e-3, 6e-3), 0.6e-3), nf.PEC, "post")
    model = nf.Simulation(nf.Grid.uniform(1e-3, (12, 12, 12)), [rod], nf.Boundaries(nf.PEC), steps=1, metal="conformal")
    assert any("'post'" in text and "does not follow it" in text for text in model.check().warnings)
    whole = model.model_copy(update={"metal": "staircase"})
    assert not any("post" in text for text in whole.check().warnings)
