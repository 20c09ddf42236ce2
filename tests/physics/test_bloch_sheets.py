"""A sheet over a cell with a Bloch phase launches one plane wave: what it meets does not depend on the cell's width."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.entry.constants import VACUUM_SPEED

FREQUENCIES = np.array([290e12, 300e12, 310e12])
CELL = 20e-9
WAVE_NUMBER = 0.45 * 2 * np.pi * 300e12 / VACUUM_SPEED  # along the cell
GLASS = 2.25


def over(along: str, a: float, b: float, c: float) -> tuple[float, float, float]:
    """A point at `a` along the axis with the phase, `b` across it, and z."""
    return (a, b, c) if along == "x" else (b, a, c)


def reflected(along: str, current: str, columns: int, bodies, room: float) -> np.ndarray:
    """Power that comes back from bodies below `room` (m) of vacuum over the incident power, at FREQUENCIES."""
    width, layer = columns * CELL, 20
    cells = layer * 2 + round(2 * room / CELL)

    def flux(structures) -> np.ndarray:
        def plane(z):
            return over(along, 0, 0, z), over(along, width, CELL, z)

        across = "y" if along == "x" else "x"
        faces = {along: nf.Bloch(wave_number=WAVE_NUMBER), across: "periodic", "z": nf.CPML(layer)}
        simulation = nf.Simulation(
            nf.Grid.uniform(CELL, over(along, columns, 1, cells)),
            structures=structures,
            boundaries=nf.Boundaries(**faces),
            sources=[nf.CurrentSheet(*plane((layer + 3) * CELL), current, nf.ModulatedGaussian(300e12, 120e12))],
            monitors=[nf.Flux("behind", *plane((layer + 8) * CELL), FREQUENCIES)],
            precision="double",
            decay=1e-8,
        )
        return simulation.run(threads=1)["behind"].values

    return 1 - flux(bodies(layer * CELL + room)) / flux([])


@pytest.mark.parametrize(("along", "current"), [("x", "x"), ("x", "y"), ("y", "y")])
def test_a_half_space_reflects_alike_in_cells_of_any_width(along, current):
    """H lies half a cell off the face, where E is: admittances are off by up to (k d)^2/8, and r by half of that."""

    def glass(top):
        return [nf.Structure(nf.Box((-1e-6, -1e-6, top), (3e-6, 3e-6, 1e-5)), nf.Medium(GLASS))]

    k = 2 * np.pi * FREQUENCIES / VACUUM_SPEED
    above, below = (np.sqrt(index * k**2 - WAVE_NUMBER**2) for index in (1.0, GLASS))
    weight = GLASS if along == current else 1.0  # E in the plane of incidence
    r = (weight * above - below) / (weight * above + below)
    one, *wider = (reflected(along, current, columns, glass, 0.4e-6) for columns in (1, 10, 50))
    assert np.all(np.abs(one - r**2) < 2 * np.abs(r) * 0.5 * GLASS * (k * CELL) ** 2 / 8)
    for found in wider:
        assert np.abs(found - one).max() < 1e-9  # rounding: no other order is there


def grating_reflectance(frequency: float, period: float, bar: tuple[float, float], permittivity: float, depth: float):
    """Power in all reflected orders of bars on glass, E along them, by Fourier modes in the layer.

    With z in 1/k0: E'' = (K^2 - [eps]) E in the layer, E' = -q E below, E' = -q (2 incident - E) above.
    """
    k, orders = 2 * np.pi * frequency / VACUUM_SPEED, np.arange(-10, 11)
    along = (WAVE_NUMBER + 2 * np.pi * orders / period) / k
    above, below = (np.sqrt(along**2 - index + 0j) for index in (1.0, GLASS))
    apart = np.subtract.outer(orders, orders)
    x = period * (np.arange(4096) + 0.5) / 4096
    inside = (x > bar[0]) & (x < bar[1])  # its ends lie on multiples of period/50: exact to 1/4096 of the period
    parts = np.array([np.mean(inside * np.exp(2j * np.pi * n * x / period)) for n in range(apart.max() + 1)])
    shape = np.where(apart >= 0, parts[abs(apart)], parts[abs(apart)].conj())
    squares, modes = np.linalg.eig(np.diag(along**2) - np.eye(orders.size) - (permittivity - 1.0) * shape)
    rates, back = np.sqrt(squares + 0j), np.linalg.inv(modes)
    angle = rates * k * depth
    even, odd, steep = ((modes * f) @ back for f in (np.cosh(angle), np.sinh(angle) / rates, np.sinh(angle) * rates))
    top, slope = even + odd * below, steep + even * below  # E and -E' at the layer's top, for E below it
    incident = (orders == 0).astype(complex)
    passed = np.linalg.solve(above[:, None] * top + slope, 2 * above * incident)
    powers = np.abs(top @ passed - incident) ** 2 * above.imag
    return float(powers.sum() / above[orders == 0].imag[0])


def test_a_grating_reflects_as_by_its_fourier_modes():
    """The grid's waves are slow by (k d)^2/24, as if the bars' permittivity were larger by its part (k d)^2/12."""
    period, bar, depth, permittivity = 1.2e-6, (0.2e-6, 0.8e-6), 0.3e-6, 4.0

    def bars(top):
        ends = (bar[0], -1e-6, top), (bar[1], 1e-6, top + depth)
        below = (-1e-6, -1e-6, top + depth), (3e-6, 3e-6, 1e-5)
        return [nf.Structure(nf.Box(*ends), nf.Medium(permittivity)), nf.Structure(nf.Box(*below), nf.Medium(GLASS))]

    found = reflected("x", "y", round(period / CELL), bars, 0.8e-6)
    for frequency, power in zip(FREQUENCIES, found):
        slow = permittivity * (2 * np.pi * frequency / VACUUM_SPEED * CELL) ** 2 / 12
        expected, denser = (
            grating_reflectance(frequency, period, bar, value, depth)
            for value in (permittivity, permittivity * (1 + slow))
        )
        assert abs(power - expected) < abs(denser - expected)


def currents(lines, sources, **phases: float) -> np.ndarray:
    """Complex currents (A) of sources in the edges of a cell, by component."""
    faces = {"x": "periodic", "y": "periodic", "z": nf.CPML(3)}
    faces |= {axis: nf.Bloch(phase=phase) for axis, phase in phases.items()}
    setup = Discretization(nf.Simulation(nf.Grid(*lines), boundaries=nf.Boundaries(**faces), sources=sources, steps=1))
    weights = np.zeros((12, *setup.grid.cells))
    for term in setup.plan.terms:
        np.add.at(weights, (term.component, *term.index), term.weight)
    return weights[:6] + 1j * weights[6:]


GRADED = 1e-3 * np.array([0.0, 1.0, 2.1, 3.0, 3.8, 4.9, 6.0])
LINES = (GRADED, 1e-3 * np.arange(5), 1e-3 * np.arange(13))
PULSE = nf.GaussianDerivative(10e9)


def sheet(low: float, high: float, axis: str) -> nf.CurrentSheet:
    """A sheet from `low` to `high` (m) along x, over the cell along y."""
    return nf.CurrentSheet((low, 0, 6e-3), (high, 4e-3, 6e-3), axis, PULSE)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_sheet_is_one_wave_of_the_cell_on_graded_lines_whatever_it_covers(axis):
    number = "xy".index(axis)
    for low, high in ((0.0, 6e-3), (1e-3, 3.8e-3)):
        phased = currents(LINES, [sheet(low, high, axis)], x=2.0, y=-0.7)[number]
        real = currents(LINES, [sheet(low, high, axis)], x=0.0, y=0.0)[number]
        x, y = (0.5 * (line[1:] + line[:-1]) if n == number else line[:-1] for n, line in enumerate(LINES[:2]))
        wave = np.exp(-1j * (2.0 * x[:, None] / 6e-3 - 0.7 * y / 4e-3))
        assert not real.imag.any() and real.real.any()
        assert np.allclose(phased, real * wave[..., None], rtol=0, atol=1e-12 * np.abs(real).max())


def test_sheets_side_by_side_are_one_and_a_line_is_a_wave_along_itself_alone():
    halves = currents(LINES, [sheet(0.0, 3e-3, "y"), sheet(3e-3, 6e-3, "y")], x=2.0)
    assert np.allclose(halves, currents(LINES, [sheet(0.0, 6e-3, "y")], x=2.0), rtol=0, atol=1e-12 * abs(halves).max())
    line = [nf.LineCurrent((3e-3, 4e-3, 6e-3), (3e-3, 0, 6e-3), PULSE)]
    real = currents(LINES, line)
    assert np.array_equal(currents(LINES, line, x=2.0), real)
    y = np.arange(4) + 0.5
    assert np.allclose(currents(LINES, line, y=-0.7)[1, 3, :, 6], real[1, 3, :, 6] * np.exp(0.7j * y / 4), rtol=1e-12)


@pytest.mark.parametrize(("along", "charged"), [("x", True), ("y", False)])
def test_charge_of_a_wave_of_current_is_said(along, charged):
    """A Gaussian leaves charge where the current changes along its flow: along x, the axis of the phase, everywhere."""
    source = nf.CurrentSheet((0, 0, 6e-3), (6e-3, 4e-3, 6e-3), along, nf.Gaussian(10e9))
    faces = nf.Boundaries(x=nf.Bloch(phase=2.0), y="periodic", z=nf.CPML(3))
    model = nf.Simulation(nf.Grid(*LINES), boundaries=faces, sources=[source], steps=1)
    assert any("does not sum up to zero" in warning for warning in model.check().warnings) == charged
