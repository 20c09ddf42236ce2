"""Wires of a stated radius: lines in a metal tube, a half-wave dipole, a loop.

.venv/bin/python -m validation.thin_wire.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.half_wave_dipole.moments import impedance
from validation.half_wave_dipole.run import graded, input_impedance, resonance
from validation.picture import picture
from validation.thin_wire.loop import impedance as loop_impedance

ETA = 376.730313412  # ohm
SIDE = 24e-3  # of the tube (m)
CELL, ARM = 3e-3, 25  # of dipole and loop: m, and cells of an arm; the loop's side is as long as an arm
EVEN, LONG = 1e-3 * np.arange(25), 2e-3 * np.arange(13)
STEPS = np.array([0.7, 0.85, 1.0, 1.2, 1.5, 1.9, 2.3, 2.55])
GRADED = SIDE * np.append(0.0, np.cumsum(np.append(STEPS[::-1], 0.8 * STEPS))) / (1.8 * STEPS.sum())


def tube_impedance(radius: float, x: float, y: float, side: float = SIDE) -> float:
    """Impedance (ohm) of a round wire at (x, y) in a square tube.

    Between the two plates y = 0 and y = side a line charge has a closed form; images in the other two walls alternate.
    """
    scale = math.pi / side
    total = 2.0 * math.log(2.0 / (scale * radius) * math.sin(scale * y))
    total += 2.0 * (math.acosh(y / radius) - math.log(2.0 * y / radius))  # the wire's own width beside the nearest wall
    for n in range(-6, 7):
        for sign, apart in ((1.0, 2 * n * side), (-1.0, 2 * n * side - 2 * x)):
            if apart != 0.0:
                wide = math.cosh(scale * apart)
                total += sign * math.log((wide - math.cos(2 * scale * y)) / (wide - 1.0))
    return ETA * total / (4.0 * math.pi)


def tube(radius: float, x: np.ndarray, y: np.ndarray, place: tuple[float, float]) -> nf.Simulation:
    """The tube along z between two CPMLs, fed by a current from the wire to the floor, V and I past it."""
    cell = 1e-3
    z = cell * np.arange(91)
    wire = nf.Wire([(*place, z[0]), (*place, z[-1])], radius=radius)
    beside = [
        (line[max(np.searchsorted(line, at - 1e-9) - 1, 0)], line[np.searchsorted(line, at - 1e-9) + 1])
        for line, at in zip((x, y), place)
    ]
    lower, upper = zip(*beside)
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[nf.Structure(wire, nf.PEC)],
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(16), z_high=nf.CPML(16)),
        sources=[nf.LineCurrent((place[0], 0, 30e-3), (*place, 30e-3), nf.GaussianDerivative(2e9))],
        monitors=[
            nf.Voltage("voltage", (*place, 60e-3), (place[0], 0, 60e-3)),
            nf.Current("current", (*lower, 60e-3), (*upper, 60e-3)),
        ],
    )


def line_impedance(radius: float, x: np.ndarray, y: np.ndarray, place: tuple[float, float]) -> float:
    """V/I (ohm) of the travelling wave at 1 GHz."""
    result = tube(radius, x, y, place).run(threads=2)
    spectra = [
        fourier_integral(part[part.dims[0]].values, part.values, np.array([1e9]))[0]
        for part in (result["voltage"], result["current"])
    ]
    return float(abs(spectra[0] / spectra[1]))


def dipole(radius: float) -> nf.Simulation:
    """Two arms along z and a port of one cell between them."""
    half, gap = (ARM + 0.5) * CELL, 0.5 * CELL
    across = graded(CELL * np.arange(-5, 6), CELL, 8e-3, 45e-3)
    along = graded(CELL * (np.arange(-ARM - 4, ARM + 6) - 0.5), CELL, 8e-3, 48e-3)
    arms = [nf.Wire([(0, 0, way * gap), (0, 0, way * half)], radius) for way in (-1, 1)]
    return fed(nf.Grid(across, across, along), arms, (0, 0, -gap), (0, 0, gap), "z")


def loop(radius: float) -> nf.Simulation:
    """A square in the plane z = 0, its port in the middle of the side at low y."""
    half, gap = 0.5 * ARM * CELL, 0.5 * CELL
    across = graded(CELL * (np.arange(ARM + 9) - 4 - 0.5 * ARM), CELL, 8e-3, 48e-3)
    along = graded(CELL * np.arange(-5, 6), CELL, 8e-3, 45e-3)
    corners = [(gap, -half), (half, -half), (half, half), (-half, half), (-half, -half), (-gap, -half)]
    turns = nf.Wire([(*corner, 0) for corner in corners], radius)
    return fed(nf.Grid(across, across, along), [turns], (-gap, -half, 0), (gap, -half, 0), "x")


def fed(grid: nf.Grid, wires: list[nf.Wire], lower: tuple, upper: tuple, axis: str) -> nf.Simulation:
    """The wires in free space with a port of 73 ohm."""
    port = nf.LumpedPort("feed", lower, upper, axis, resistance=73.0)
    structures = [nf.Structure(wire, nf.PEC) for wire in wires]
    return nf.Simulation(grid=grid, structures=structures, ports=[port], waveform=nf.Gaussian(1.6e9))


def compare_lines(case: Case) -> None:
    """Impedances of the travelling wave beside the closed form."""
    middle = 0.5 * SIDE
    for radius in (1e-3, 0.1, 0.5):
        found = line_impedance(radius * 1e-3, EVEN, EVEN, (middle, middle))
        expected = tube_impedance(radius * 1e-3, middle, middle)
        case.compare(f"square tube, radius {radius:g} cells", expected, found, 0.003, unit="ohm")
    for name, x, y, radius in (("cells of 2 x 1", LONG, EVEN, 0.1), ("graded cells, 0.6 x 1", GRADED, EVEN, 0.1)):
        place = float(x[x.size // 2]), middle
        found = line_impedance(radius * 1e-3, x, y, place)
        case.compare(f"square tube, {name}", tube_impedance(radius * 1e-3, *place), found, 0.003, unit="ohm")
    for cells, radius, tolerance in ((2, 1e-3, 0.003), (2, 0.4, 0.006), (5, 0.4, 0.003)):
        place = middle, cells * 1e-3
        found, expected = line_impedance(radius * 1e-3, EVEN, EVEN, place), tube_impedance(radius * 1e-3, *place)
        case.compare(f"{cells} cells above a wall, radius {radius:g} cells", expected, found, tolerance, unit="ohm")


def main() -> None:
    case = Case(__file__, "Wires of a stated radius, 1 um to half a cell")
    compare_lines(case)
    with picture(case, columns=2, facts="dots: method of moments") as axes:
        for radius in (1e-3, 0.1, 0.4):
            length = (2 * ARM + 1 + radius) * CELL  # half a radius more at each end, for the charge on its face
            pieces = 2 * int(min(length / CELL, 0.25 * length / (radius * CELL)))  # none shorter than 2 radii
            frequencies, z = input_impedance(dipole(radius * CELL).run(threads=2), (0.85e9, 1.05e9))
            sparse = slice(0, None, max(1, len(frequencies) // 12))
            reference = np.array(
                [impedance(f, length, radius * CELL, pieces, pieces // 2 - 1) for f in frequencies[sparse]]
            )
            name = f"dipole, radius {radius:g} cells"
            compare_resonance(case, name, (frequencies, z), (frequencies[sparse], reference), 0.005, 0.02)
            show(axes[0], frequencies, z, frequencies[sparse], reference, f"{radius:g} cells")
        axes[0].set(title="dipole")
        for radius in (1e-2, 0.4):
            frequencies, z = input_impedance(loop(radius * CELL).run(threads=2), (0.95e9, 1.25e9))
            sparse = slice(0, None, max(1, len(frequencies) // 8))
            reference = np.array([loop_impedance(f, ARM * CELL, radius * CELL, 24) for f in frequencies[sparse]])
            name = f"square loop, radius {radius:g} cells"
            compare_resonance(case, name, (frequencies, z), (frequencies[sparse], reference), 0.01, 0.04)
            show(axes[1], frequencies, z, frequencies[sparse], reference, f"{radius:g} cells")
        axes[1].set(title="square loop")
    case.finish()


def compare_resonance(case: Case, name: str, found: tuple, moments: tuple, at: float, there: float) -> None:
    """Frequencies and impedances of a run beside those by moments, to so much of the resonance and its resistance."""
    (frequency, resistance), (other, other_resistance) = resonance(*found), resonance(*moments)
    case.compare(f"{name}: resonance (moments)", other / 1e6, frequency / 1e6, at, unit="MHz")
    case.compare(f"{name}: resistance there", other_resistance, resistance, there, unit="ohm")


def show(axes, frequencies: np.ndarray, z: np.ndarray, sparse: np.ndarray, reference: np.ndarray, name: str) -> None:
    """The reactance that was found, and dots of the reference."""
    axes.plot(frequencies / 1e6, z.imag, label=name)
    axes.plot(sparse / 1e6, reference.imag, "o", markersize=3, color="#1F2933")
    axes.set(xlabel="frequency (MHz)", ylabel="input reactance (ohm)")
    axes.legend()


if __name__ == "__main__":
    main()
