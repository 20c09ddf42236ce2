"""Thin plates and shells across no axis: beads along their free rims make them end where they are drawn."""

import math

import numpy as np
import pytest
from test_conformal import PEC_WALLS, coefficients, cube, largest_eigenvalue, metal

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.metal import conformal
from nearfield.metal.midlines import beaded, midline
from nearfield.metal.thin_rims import RIM, beads_of

THIN = 0.05
GRID = nf.Grid.uniform(1.0, (20, 20, 20)).resolve()


def strip(degrees, at=(0.0, 0.0), length=10.0, thickness=THIN):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    flat = [(u * length / 2, v * thickness / 2) for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return [(at[0] + u * c - v * s, at[1] + u * s + v * c) for u, v in flat]


def resonance(degrees, off, cells=1):
    """Of a strip of 10 by 3 m about the axis of a round cavity, times twice its length over c; a sheet at 0 degrees."""
    at, high = (13 + off[0] / cells, 13 + off[1] / cells), 9
    low = (high - 3) / 2 + 0.2 / cells
    plate = nf.Polygon("z", strip(degrees, at, thickness=THIN / cells), low, low + 3)
    if degrees == 0:
        plate = nf.Sheet((at[0] - 5, at[1], low), (at[0] + 5, at[1], low + 3))
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    source, probe = ((at[0] + 4 * way * c - 1.6 * s, at[1] + 4 * way * s + 1.6 * c, high / 2) for way in (1, -1))
    guess = 0.465 * VACUUM_SPEED / 10
    pulse = [
        nf.PointCurrent(source, axis, nf.ModulatedGaussian(guess, 0.5 * guess, amplitude=part))
        for axis, part in (("x", -s), ("y", c))
        if part
    ]
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1 / cells, (26 * cells, 26 * cells, high * cells)), boundaries=PEC_WALLS,
        metal="conformal", duration=40 / guess, sources=pulse,
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (26, 26, high)), nf.PEC),
            nf.Structure(nf.Cylinder((*at, -1), (*at, high + 1), 12), nf.Medium()),
            nf.Structure(plate, nf.PEC),
        ],
        monitors=[nf.Probe("ringing", probe, "Ey")],
    )  # fmt: skip
    modes = nf.resonances(sim.run(threads=1), (0.75 * guess, 1.25 * guess), probe="ringing")
    return float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))]) / VACUUM_SPEED * 20


@pytest.mark.slow
def test_a_turned_strip_rings_within_a_quarter_of_a_cell_at_its_ends():
    """0.25 cells at one of two ends of ten are 2.5 %, the grid's waves 1 %; -5.5 and 6 % without beads."""
    sheet = resonance(0, (0.13, 0.0), 2)
    for off in ((0.13, 0.27), (0.41, 0.02)):
        assert resonance(30, off) == pytest.approx(sheet, rel=0.035)


def found(*structures, gaps=()):
    return beads_of(filled_shapes(structures), GRID, PEC_WALLS, gaps)


def test_free_rims_of_a_strip_are_drawn_back_by_a_third_of_the_thickness_added():
    beads = found(metal(nf.Polygon("z", strip(30, (10, 10)), 5, 12)))[0]
    thin, *slabs = beads.parts
    back = RIM * (1 - beads.thickness)
    assert beads.drawn_back == pytest.approx(back)
    assert (thin.lower, thin.upper) == pytest.approx((5 + back, 12 - back))
    assert [(s.lower, s.upper) for s in slabs] == [
        pytest.approx(ends) for ends in ((5 + back, 6.5 + back), (10.5 - back, 12 - back))
    ]
    c, s = math.cos(math.radians(30)), math.sin(math.radians(30))
    along, across = ((np.array(thin.vertices) - 10) @ np.array(way) for way in ((c, s), (-s, c)))
    assert along.max() == pytest.approx(5 - back) and along.min() == pytest.approx(back - 5)
    ends = np.abs(along) > 4 - back - 1e-9
    np.testing.assert_allclose(np.abs(across[ends]), 0.5)
    np.testing.assert_allclose(np.abs(across[~ends]), 0.5 * beads.thickness, rtol=1e-6)


def test_rims_on_walls_metal_and_ports_stay_where_they_are():
    wall = nf.Polygon("z", [(-1, 5), (21, 12), (21, 12.1), (-1, 5.1)], -1, 21)
    assert not found(metal(wall))
    plate = metal(nf.Polygon("z", strip(30, (10, 10)), 5, 12))
    c, s = 5 * math.cos(math.radians(30)), 5 * math.sin(math.radians(30))
    block = metal(nf.Box((9 + c, 9 + s, 0), (18, 18, 20)))
    port = 0, np.array([5]), np.array([int(10 - s)]), np.arange(4, 13)
    for others, gaps in (([block], []), ([], [port])):
        thin = found(plate, *others, gaps=gaps)[0].parts[0]
        along = (np.array(thin.vertices) - 10) @ np.array((math.cos(math.radians(30)), math.sin(math.radians(30))))
        free = 5 - RIM * (1 - found(plate)[0].thickness)
        fixed = (5.0, -free) if others else (free, -5.0)
        assert (along.max(), along.min()) == pytest.approx(fixed, abs=1e-9)


def test_beads_join_nothing_that_the_plates_do_not_touch():
    two = [metal(nf.Polygon("z", strip(30, (10, y)), 5, 12)) for y in (10, 11)]
    assert not found(*two)
    assert set(found(two[0], metal(nf.Polygon("z", strip(30, (10, 13)), 5, 12)))) == {0, 1}


def test_shells_and_discs_have_beads_too():
    half = 0.05
    tube = nf.Revolved("z", [(6 - half, -4), (6 + half, -4), (6 + half, 4), (6 - half, 4)], (10, 10, 10))
    cone = nf.Revolved("z", [(0, 0), (6, 6), (6, 6.1), (0, 0.1)], (10, 10, 5))
    disc = nf.Cylinder((10, 10, 10), (10.06, 10.05, 10.06), 6)
    bent = nf.Polygon("z", [(4, 4), (10, 6), (16, 4), (16, 4.1), (10, 6.1), (4, 4.1)], 5, 12)
    for shape in (tube, cone, disc, bent):
        parts = found(metal(shape))[0].parts
        lower, upper = zip(*(part.bounds() for part in parts))
        assert all(shape.bounds()[0][a] - 0.6 < min(low[a] for low in lower) for a in range(3))
        assert all(shape.bounds()[1][a] + 0.6 > max(high[a] for high in upper) for a in range(3))
    turned = found(metal(cone))[0].parts[0]
    assert min(radius for radius, _ in turned.profile) == 0.0


def test_a_midline_lies_between_two_narrow_ends():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    assert midline(square) is None
    angle = np.linspace(0, np.pi, 20)
    arc = np.concatenate([r * np.stack((np.cos(q), np.sin(q)), 1) for r, q in ((5.1, angle), (4.9, angle[::-1]))])
    np.testing.assert_allclose(np.hypot(*midline(arc).T), 5.0)
    assert beaded(np.array([(0.0, 0.0), (1.0, 0.0)]), 0.1, 1.0, (0.6, 0.6)) is None


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_step_is_stable_about_beads(seed):
    random = np.random.default_rng(seed)
    at = 6 + random.uniform(-0.5, 0.5, 3)
    plate = metal(nf.Polygon("xyz"[seed], strip(random.uniform(5, 85), at[:2], 7), 2.2, 9.1))
    cone = metal(nf.Revolved("z", [(1, 0), (4, 2), (4, 2.1), (1, 0.1)], tuple(at)))
    grid = cube(12, 12.0)
    step = conformal.maximum_time_step(grid, 1.0)
    shapes = [plate] if seed else [cone]
    assert largest_eigenvalue(coefficients(grid, shapes, step=step), grid, step) < 4.0
