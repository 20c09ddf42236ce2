"""Flat metal along no axis that is too narrow to hold together on edges: strips act as wires, parts of wider metal are
joined by chains of edges, and `check` says so."""

from itertools import pairwise

import numpy as np
import pytest
from test_conformal import largest_eigenvalue

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED

MM = 1e-3
WIDE, HIGH = 30, 12  # mm, of the box about the strips
PEC_WALLS = nf.Boundaries(all=nf.PEC)


def strip(start, end, width, height=6.0):
    """A strip (mm) from the middle of one end to that of the other."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    way = (end - start) / np.hypot(*(end - start))
    side = 0.5 * width * np.array((-way[1], way[0]))
    corners = (start + side, end + side, end - side, start - side)
    return nf.Polygon("z", [tuple(corner * MM) for corner in corners], height * MM, height * MM)


def turned(degrees, width, length=15.0, at=(15.13, 15.29)):
    half = 0.5 * length * np.array((np.cos(np.radians(degrees)), np.sin(np.radians(degrees))))
    return strip(at - half, at + half, width)


def boxed(shapes, cell=1.0, near=(21, 15), medium=nf.PEC, **entries):
    """In a box of metal, with a source over a place (mm) and a probe over that opposite to it."""
    lines = [np.arange(round(size / cell) + 1) * cell * MM for size in (WIDE, WIDE, HIGH)]
    source, probe = ((x * MM, y * MM, 8.5 * MM) for x, y in (near, (WIDE - near[0], WIDE - near[1])))
    return nf.Simulation(
        grid=nf.Grid(*lines), boundaries=PEC_WALLS, structures=[nf.Structure(shape, medium) for shape in shapes],
        sources=[nf.PointCurrent(source, "z", nf.ModulatedGaussian("9 GHz", "5 GHz"))],
        monitors=[nf.Probe("ringing", probe, "Ez")], **({"duration": 4e-9} | entries),
    )  # fmt: skip


def resonance(sim, band=(7e9, 12e9)):
    """The strongest one (Hz) in a band."""
    modes = nf.resonances(sim.run(threads=1), band, probe="ringing")
    return float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))])


@pytest.fixture(scope="module")
def straight():
    """Of strips along x by their width (mm), on cells of 1 mm where they are narrower, else of 0.5 mm."""
    return {width: resonance(boxed([turned(0, width)], 1.0 if width < 1.0 else 0.5)) for width in (0.5, 1.1)}


@pytest.mark.parametrize("width", [0.5, 1.1])
@pytest.mark.parametrize("degrees", [20, 45, 70])
def test_a_turned_strip_rings_as_one_along_an_axis(straight, width, degrees):
    """Within 2.5 %; as flat metal strips of 0.6 to 1.3 cells fell into islands that rang 15 % low to 25 % high."""
    near = 15 + 5 * np.cos(np.radians(degrees)), 15 + 5 * np.sin(np.radians(degrees))
    assert resonance(boxed([turned(degrees, width)], near=near)) == pytest.approx(straight[width], rel=0.025)


@pytest.mark.parametrize("how", ["pieces", "overlapping", "one polygon"])
def test_a_zigzag_conducts_through_its_bends_however_it_is_drawn(how):
    """Rings within 3 % of the same on cells of half the size."""
    corners = np.array([(7.3, 13.2), (11.2, 16.4), (15.1, 13.1), (19.0, 16.3), (22.9, 13.0)])
    if how == "one polygon":
        way = np.diff(corners, axis=0) / np.hypot(*np.diff(corners, axis=0).T)[:, None]
        side = np.stack((-way[:, 1], way[:, 0]), axis=1)
        before, after = np.concatenate((side[:1], side)), np.concatenate((side, side[-1:]))
        offset = 0.5 * (before + after) / (1.0 + (before * after).sum(axis=1))[:, None]
        outline = np.concatenate((corners + offset, (corners - offset)[::-1]))
        shapes = [nf.Polygon("z", [tuple(corner * MM) for corner in outline], 6 * MM, 6 * MM)]
    else:
        past = 0.1 if how == "overlapping" else 0.0
        shapes = [strip(a - past * (b - a), b + past * (b - a), 1.0) for a, b in pairwise(corners)]
    coarse, fine = (resonance(boxed(shapes, cell, near=(20, 14)), (5e9, 9e9)) for cell in (1.0, 0.5))
    assert coarse == pytest.approx(fine, rel=0.03)


def patch_with_arms(width):
    """A patch with two slanting arms, as bodies and as one outline (mm)."""
    way, at = np.array((0.8, 0.6)), np.array((18.0, 15.3))
    side = 0.5 * width * np.array((-0.6, 0.8))
    low, high = (at + way * ((18.0 - (at + turn * side)[0]) / way[0]) + turn * side for turn in (-1, 1))
    arm = np.array([low, at + 7.0 * way - side, at + 7.0 * way + side, high])
    left = np.array((30.0, 0.0)) + arm * (-1.0, 1.0)
    one = np.concatenate(([(18.0, 12.5)], arm, [(18.0, 17.5), (12.0, 17.5)], left[::-1], [(12.0, 12.5)]))
    patch = nf.Sheet((12 * MM, 12.5 * MM, 6 * MM), (18 * MM, 17.5 * MM, 6 * MM))
    arms = [strip(start, start + 7.0 * way * (turn, 1), width) for start, turn in ((at, 1), ((12.0, 15.3), -1))]
    return [patch, *arms], [nf.Polygon("z", [tuple(corner * MM) for corner in one], 6 * MM, 6 * MM)]


@pytest.mark.parametrize("number", [0, 1], ids=["bodies", "outline"])
def test_slanting_arms_of_a_patch_are_part_of_it(number):
    """Rings within 3 % of the same on cells of half the size; without the arms there is no such mode."""
    shapes = patch_with_arms(0.8)[number]
    coarse, fine = (resonance(boxed(shapes, cell, near=(22, 19)), (5e9, 9e9)) for cell in (1.0, 0.5))
    assert coarse == pytest.approx(fine, rel=0.03)


@pytest.mark.parametrize("width", [0.6, 1.0])
def test_a_narrow_ring_is_closed(width):
    """Rings within 5 % of the same on cells of half the size; on whole edges it was in pieces or 6 % low."""
    middle = (15.13 * MM, 15.29 * MM)
    disc, hole = (
        nf.Cylinder((*middle, 6 * MM - high), (*middle, 6 * MM + high), (5 + way * width / 2) * MM)
        for way, high in ((1, 1e-6), (-1, MM))
    )
    ring = nf.Difference(disc, [hole])
    coarse, fine = (resonance(boxed([ring], cell, near=(20, 15)), (7.5e9, 12e9)) for cell in (1.0, 0.5))
    assert coarse == pytest.approx(fine, rel=0.05)


def test_a_dipole_of_turned_strips_is_fed():
    """It matches where one along x does, within 3 %; in pieces it reflected all at every frequency."""
    wide, high = (MM * np.arange(-size, size + 1) for size in (28, 15))

    def dip(degrees):
        way = np.array((np.cos(np.radians(degrees)), np.sin(np.radians(degrees))))
        arms = [strip((0.5 * turn, 0.0), (0.5 * turn, 0.0) + turn * 10.0 * way, 1.1, 0.0) for turn in (1, -1)]
        sim = nf.Simulation(
            grid=nf.Grid(wide, wide, high), structures=[nf.Structure(arm, nf.PEC) for arm in arms],
            ports=[nf.LumpedPort("feed", (-0.5 * MM, 0, 0), (0.5 * MM, 0, 0), "x", resistance=73.0)],
            waveform=nf.Gaussian("9 GHz"), decay=1e-3,
        )  # fmt: skip
        frequencies = np.linspace(4e9, 9e9, 501)
        reflected = np.abs(sim.run().sparameters_at(frequencies).values.ravel())
        return frequencies[np.argmin(reflected)], reflected.min()

    (along, _), (across, least) = dip(0), dip(30)
    assert across == pytest.approx(along, rel=0.03) and least < 0.2


def test_a_circuit_beside_the_middle_of_a_strip_is_joined_to_it():
    """A port on the ground whose line of edges the strip's chain does not pass reaches it by a leg."""
    arm = strip((8.2, 9.1), (21.9, 20.2), 1.2, 3.0)
    for x, y in ((8, 9), (9, 10), (12, 12), (15, 15)):
        port = nf.LumpedPort("feed", (x * MM, y * MM, 0), (x * MM, y * MM, 3 * MM), "z", waveform=nf.Gaussian("9 GHz"))
        metal = boxed([arm], steps=10, duration=None).replace(ports=[port], sources=[])._setup().coefficients.is_metal
        beside = [(axis, x - (axis == 0) * back, y - (axis == 1) * back, 3) for axis in (0, 1) for back in (0, 1)]
        assert any(bool(metal(*edge)) for edge in beside)


@pytest.mark.parametrize("seed", range(3))
def test_the_step_is_stable_about_strips_and_necks(seed):
    random = np.random.default_rng(seed)
    angle, width = np.radians(random.uniform(10, 80)), random.uniform(0.3, 1.2)
    way = np.array((np.cos(angle), np.sin(angle)))
    at = np.array((5.5, 5.5)) + random.uniform(-0.5, 0.5, 2)
    side = np.array((-way[1], way[0]))
    taper = [at - 4 * way - 0.2 * side, at + 4 * way - 1.3 * side, at + 4 * way + 1.3 * side, at - 4 * way + 0.2 * side]
    shapes = [
        strip(at - 4 * way, at + 3 * way, width, 2.0),
        nf.Polygon("z", [tuple(corner * MM) for corner in taper], 5 * MM, 5 * MM),
    ]
    sim = nf.Simulation(
        nf.Grid.uniform(MM, (12, 11, 8)), structures=[nf.Structure(shape, nf.PEC) for shape in shapes],
        boundaries=PEC_WALLS, steps=1, courant=1.0,
    )  # fmt: skip
    setup = sim._setup()
    assert largest_eigenvalue(setup.coefficients, setup.grid, setup.time_step) < 4.0
    assert setup.time_step == pytest.approx(MM / VACUUM_SPEED / 3**0.5 / 2**0.5)


def test_check_says_what_strips_and_necks_act_as():
    report = boxed([turned(30, 1.1)]).check()
    entry = next(each for each in report.moved if "a strip along no axis" in each["what"])
    assert entry["from"] == pytest.approx(1.1 * MM, rel=0.1) and "round wire of 275 um" in entry["effect"]
    assert "loses nothing" in boxed([turned(30, 1.1)], medium=nf.Conductor(5.8e7)).check().moved[-1]["effect"]
    report = boxed(patch_with_arms(0.8)[1]).check()
    assert any("0.8 cells wide along no axis" in each["what"] for each in report.moved)
    assert not any(each["what"].startswith("gap") for each in report.moved)
    slot = nf.Difference(nf.Sheet((0, 0, 6 * MM), (30 * MM, 30 * MM, 6 * MM)), [turned(30, 0.5)])
    assert any(each["what"].startswith("gap of 0.5 cells") for each in boxed([slot]).check().moved)
    report = boxed([turned(30, 1.1)], metal="staircase").check()
    assert any("falls into pieces" in each["effect"] for each in report.moved)
    assert not any("strip along no axis" in each["what"] for each in boxed([turned(30, 1.5)]).check().moved)
