"""A dipole of grid edges fed by a lumped port: impedance, resonance, pattern.

.venv/bin/python -m validation.half_wave_dipole.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.half_wave_dipole.moments import impedance, pattern
from validation.picture import picture

C = 299792458.0
LENGTH = 150e-3  # m
# Far from a filament the potential of the square lattice is that of a round wire of this radius in cells:
# G(r) = -(ln r + gamma + 3/2 ln 2)/(2 pi) + G(0)
EDGE_RADIUS = math.exp(-0.5772156649 - 1.5 * math.log(2.0))  # 0.1985


def graded(fine: np.ndarray, cell: float, coarse: float, reach: float, ratio: float = 1.25) -> np.ndarray:
    """Lines that grow from `cell` on both sides of `fine` to `coarse`, past `reach` beyond it, and the CPML's ten."""
    steps, size = [], cell
    while sum(steps) < reach:
        size = min(size * ratio, coarse)
        steps.append(size)
    outside = np.cumsum(steps + [size] * 10)
    return np.concatenate((fine[0] - outside[::-1], fine, fine[-1] + outside))


def model(cell: float, frequencies: tuple[float, ...], reach: float = 60e-3) -> nf.Simulation:
    """A wire along z on the edges of square cells, its port in the edge above the middle."""
    half = round(LENGTH / cell / 2)
    across = graded(cell * np.arange(-6, 7), cell, 8e-3, reach - 6 * cell)
    along = graded(cell * np.arange(-half - 4, half + 5), cell, 8e-3, reach - 4 * cell)
    return nf.Simulation(
        grid=nf.Grid(across, across, along),
        structures=[
            nf.Structure(nf.Wire([(0, 0, -half * cell), (0, 0, 0)]), nf.PEC),
            nf.Structure(nf.Wire([(0, 0, cell), (0, 0, half * cell)]), nf.PEC),
        ],
        ports=[nf.LumpedPort("feed", (0, 0, 0), (0, 0, cell), "z", resistance=73.0)],
        monitors=[nf.FarField("pattern", frequencies)],
        waveform=nf.Gaussian(1.6e9),
    )


def input_impedance(result: nf.Result, band: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """(frequencies, impedance in ohm) from S11."""
    s = result.sparameters.sel(to="feed", source="feed").sel(frequency=slice(*band))
    return s.frequency.values, 73.0 * (1 + s.values) / (1 - s.values)


def resonance(frequencies: np.ndarray, z: np.ndarray) -> tuple[float, float]:
    """(frequency, resistance) where the reactance vanishes."""
    rising = int(np.nonzero((z.imag[:-1] < 0) & (z.imag[1:] >= 0))[0][0])
    part = -z.imag[rising] / (z.imag[rising + 1] - z.imag[rising])
    step = frequencies[rising + 1] - frequencies[rising]
    return frequencies[rising] + part * step, z.real[rising] + part * (z.real[rising + 1] - z.real[rising])


def wire(cell: float) -> tuple[float, float, int, int]:
    """The round wire that the edges act like: (length, radius, segments, fed joint) for the method of moments.

    Current lives on edges and charge on nodes, that of the two end nodes half a cell beyond them: one cell longer.
    """
    count = round(LENGTH / cell)
    return LENGTH + cell, EDGE_RADIUS * cell, count + 1, count // 2


def reference(frequencies: np.ndarray, cell: float) -> np.ndarray:
    """Its impedance (ohm)."""
    return np.array([impedance(f, *wire(cell)) for f in frequencies])


def main() -> None:
    case = Case(__file__, "Half-wave dipole, 150 mm of edges in 1 mm cells")
    half_wave = 0.5 * C / LENGTH
    result = model(1e-3, (half_wave,)).run(threads=2)
    frequencies, z = input_impedance(result, (0.85e9, 1.05e9))
    sparse = slice(0, None, max(1, len(frequencies) // 12))
    z_reference = reference(frequencies[sparse], 1e-3)
    found, resistance = resonance(frequencies, z)
    other, other_resistance = resonance(frequencies[sparse], z_reference)
    error = float((np.abs(z[sparse] - z_reference) / np.abs(z_reference)).max())
    case.compare("resonance, 0.475 wavelengths (published)", 0.475 * C / LENGTH / 1e6, found / 1e6, 0.01, unit="MHz")
    case.compare("resonance (moments)", other / 1e6, found / 1e6, 0.01, unit="MHz")
    case.compare("resistance at resonance (moments)", other_resistance, resistance, 0.03, unit="ohm")
    case.at_most("impedance off the moments', 0.85 to 1.05 GHz", 0.03, error)
    thin = impedance(half_wave, LENGTH, 1e-30 * LENGTH, 202, 100)
    case.compare("reference, infinitely thin: resistance", 73.08, thin.real, 0.03, unit="ohm")
    case.compare("reference, infinitely thin: reactance", 42.5, thin.imag, 0.03, unit="ohm")
    far = result["pattern"]
    peak, beamwidth = float(far.directivity_dbi.max()), math.degrees(float(far.beamwidth()[0]))
    directivity_reference, beamwidth_reference = pattern(half_wave, *wire(1e-3))
    case.compare("directivity (sinusoidal current)", 2.151, peak, 0.05, absolute=True, unit="dBi")
    case.compare("directivity (moments)", 10 * math.log10(directivity_reference), peak, 0.01, absolute=True, unit="dBi")
    case.compare("beamwidth (moments)", beamwidth_reference, beamwidth, 0.3, absolute=True, unit="degrees")
    case.compare("radiated over accepted power", 1.0, float(far.radiation_efficiency[0]), 0.01)
    with picture(case, columns=2, facts="dots: method of moments, radius 0.1985 mm") as axes:
        for part, name in ((np.real, "resistance"), (np.imag, "reactance")):
            axes[0].plot(frequencies / 1e6, part(z), label=name)
            axes[0].plot(frequencies[sparse] / 1e6, part(z_reference), "o", markersize=3, color="#1F2933")
        axes[0].set(xlabel="frequency (MHz)", ylabel="input impedance (ohm)")
        axes[0].legend()
        theta = far.theta
        cut = far.directivity.isel(frequency=0, phi=0).values
        ideal = 1.6409 * (np.cos(0.5 * math.pi * np.cos(theta)) / np.maximum(np.sin(theta), 1e-6)) ** 2
        axes[1].plot(np.degrees(theta), cut, label="found, 1 GHz")
        axes[1].plot(np.degrees(theta[::4]), ideal[::4], "o", markersize=3, color="#1F2933", label="sinusoidal current")
        axes[1].set(xlabel="theta (degrees)", ylabel="directivity")
        axes[1].legend()
    case.finish()


if __name__ == "__main__":
    main()
