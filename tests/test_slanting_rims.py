"""Flat metal in a plane of the grid with rims along no axis: it rings as it would along one, at the ordinary step."""

import numpy as np
import pytest
from test_conformal import largest_eigenvalue
from test_sheet_rims import PEC_WALLS, coefficients

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.metal import conformal
from nearfield.metal.cell_bound import LIMIT, CellBound, cells_about
from nearfield.metal.sample_numbers import SampleNumbers

LENGTH, SIDE, HIGH = 8.0, 20, 5  # of a square plate, of the box about it, m


def turned(degrees, at, length=LENGTH, width=LENGTH):
    angle = np.radians(degrees)
    c, s = np.cos(angle), np.sin(angle)
    flat = [(u * length / 2, v * width / 2) for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return [(at[0] + u * c - v * s, at[1] + u * s + v * c) for u, v in flat]


def resonance(cells, degrees):
    """Of a plate over the floor of a box, in 1/m; `cells` a metre, twice as many along z."""
    at, guess = (SIDE / 2 + 0.13 / cells, SIDE / 2 + 0.27 / cells), 0.45 * VACUUM_SPEED / LENGTH
    beside = 0.42 * LENGTH * np.array((np.cos(np.radians(degrees)), np.sin(np.radians(degrees))))
    source, probe = ((*(at + way * beside), 0.75) for way in (1.0, -1.0))
    lines = [np.arange(size * n + 1) / n for size, n in ((SIDE, cells), (SIDE, cells), (HIGH, 2 * cells))]
    sim = nf.Simulation(
        grid=nf.Grid(*lines), boundaries=PEC_WALLS, metal="conformal", duration=45 / guess,
        structures=[nf.Structure(nf.Polygon("z", turned(degrees, at), 1.5, 1.5), nf.PEC)],
        sources=[nf.PointCurrent(source, "z", nf.ModulatedGaussian(guess, 0.5 * guess))],
        monitors=[nf.Probe("ringing", probe, "Ez")],
    )  # fmt: skip
    modes = nf.resonances(sim.run(threads=1), (0.7 * guess, 1.3 * guess), probe="ringing")
    return float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))]) / VACUUM_SPEED


@pytest.mark.slow
def test_a_turned_plate_rings_as_one_along_the_axes():
    """To 1 %, a twelfth of a cell of eight; at 20 degrees 3 % lower with rims of first order. On cells of half the size
    within 0.4 % of 0.05105, from those of 1/2 to 1/4."""
    aligned = resonance(1, 0)
    assert [resonance(1, degrees) for degrees in (20, 45)] == pytest.approx([aligned] * 2, rel=0.01)
    assert resonance(2, 0) == pytest.approx(0.05105, rel=4e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_longest_step_is_stable_about_turned_plates_and_rings(seed):
    random = np.random.default_rng(seed)
    grid = nf.Grid.uniform(1.0, (12, 11, 6)).resolve()
    at = 5.5 + random.uniform(-0.5, 0.5, 2)
    angle = 2 * np.pi * np.arange(40) / 40
    ring = np.stack((at[0] + 4.2 * np.cos(angle), at[1] + 4.2 * np.sin(angle)), axis=1)
    plates = [
        nf.Polygon("z", turned(random.uniform(2, 88), at, 7, random.uniform(1.5, 6)), 3, 3),
        nf.Polygon("z", ring.tolist(), 2, 2),
        nf.Sheet((2, 2.4, 4), (9.3, 8.2, 4)),
    ]
    step = grid.maximum_time_step()
    found = coefficients(grid, plates, step=step)
    assert largest_eigenvalue(found, grid, step) < 4.0


def test_a_thin_disc_in_a_hollow_block_counts_once():
    """Near metal that is followed it cuts cells itself; with factors about its rims besides it grew without bound."""
    grid = nf.Grid.uniform(0.5, (16, 16, 8)).resolve()
    block, hole = (
        nf.Structure(nf.Box((0, 0, 0), (8, 8, 4)), nf.PEC),
        nf.Structure(nf.Box((1, 1, 1), (7, 7, 3.5)), nf.Medium()),
    )
    disc = nf.Structure(nf.Cylinder((4.2, 4, 2), (4.2, 4, 2 + 1e-6), 2.3), nf.PEC)
    step = conformal.maximum_time_step(grid, 1.0)
    found = Coefficients(grid, filled_shapes([block, hole, disc]), nf.Medium(), PEC_WALLS, step, (), "conformal")
    assert 2 in found.metal.followed and not found.metal.sheets.taken
    assert largest_eigenvalue(found, grid, step) < 4.0


class NoMetal:
    def conducts(self, numbers):
        return np.zeros(numbers.shape, dtype=bool)

    def opened(self, numbers):
        return np.ones(numbers.shape)


@pytest.mark.parametrize("cell", [(1.0, 1.0, 1.0), (1.0, 0.6, 2.3)])
def test_a_whole_cell_alone_has_the_limit_of_courant(cell):
    samples = SampleNumbers(nf.Grid(*(np.arange(5) * size for size in cell)).resolve())
    step = sum(1 / size**2 for size in cell) ** -0.5
    face = samples.number(3, np.array([[2, 2, 2]]))
    bound = CellBound(samples, face, NoMetal(), step)
    np.testing.assert_allclose(bound.limit, 1.0, rtol=1e-12)
    assert cells_about(samples, face).tolist() == [[1, 2, 2], [2, 2, 2]]
    bound = CellBound(samples, face, NoMetal(), 0.99 * step)
    strong, weak = np.ones(bound.edges.size), np.ones(bound.faces.size)
    weak[bound.faces == face] = 1.7
    changed = bound.within(strong, weak, (strong, weak))
    eigenvalue = bound.modes(np.arange(2), *changed)[0]
    assert LIMIT * 0.99 < eigenvalue.max() < 1.0
    assert (changed[0] >= strong).all() and (changed[1] <= weak).all()


def test_rims_along_axes_are_bounded_as_before():
    """A rectangle drawn as a polygon has no slanting rims, at its corners neither."""
    grid = nf.Grid.uniform(1.0, (12, 12, 6)).resolve()
    corners = [(2.3, 3.1), (9.4, 3.1), (9.4, 8.7), (2.3, 8.7)]
    found = [
        coefficients(grid, [shape])
        for shape in (nf.Polygon("z", corners, 3, 3), nf.Sheet((2.3, 3.1, 3), (9.4, 8.7, 3)))
    ]
    for component in range(6):
        np.testing.assert_allclose(found[0].dense(component)[1], found[1].dense(component)[1], rtol=1e-9)
