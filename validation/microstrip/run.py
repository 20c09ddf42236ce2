"""Impedance and effective permittivity of a microstrip line.

.venv/bin/python -m validation.microstrip.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

C = 299792458.0
WIDTH, HEIGHT, PERMITTIVITY = 2.46e-3, 0.795e-3, 2.2


def expected(width: float = WIDTH, height: float = HEIGHT, permittivity: float = PERMITTIVITY) -> tuple[float, float]:
    """(impedance in ohm, effective permittivity) at low frequency: Hammerstad and Jensen 1980, good to 0.2 %."""
    u = width / height
    a = 1 + math.log((u**4 + (u / 52) ** 2) / (u**4 + 0.432)) / 49 + math.log(1 + (u / 18.1) ** 3) / 18.7
    b = 0.564 * ((permittivity - 0.9) / (permittivity + 3)) ** 0.053
    effective = 0.5 * (permittivity + 1) + 0.5 * (permittivity - 1) * (1 + 10 / u) ** (-a * b)
    f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / u) ** 0.7528))
    return 376.730313412 / (2 * math.pi * math.sqrt(effective)) * math.log(f / u + math.sqrt(1 + 4 / u**2)), effective


def model(
    cells: int,
    layers: int,
    width: float = WIDTH,
    height: float = HEIGHT,
    permittivity: float = PERMITTIVITY,
) -> nf.Simulation:
    """A line along y on an infinite board, fed by a sheet, running on into the CPML; the strip takes `cells` cells, its
    edges on grid lines."""
    dx, dz, dy = width / cells, height / layers, 0.5 * height
    half, margin = 0.5 * cells * dx, math.ceil(5 * height / dx) + 10
    x = np.concatenate(
        (
            -half - dx * np.arange(margin, 0, -1),
            np.linspace(-half, half, cells + 1),
            half + dx * np.arange(1, margin + 1),
        )
    )
    y, z = dy * np.arange(81), dz * np.arange(6 * layers + 10 + 1)
    feed, plane, further = y[12], y[35], y[60]
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[
            nf.Structure(nf.Box((x[0], y[0], 0), (x[-1], y[-1], height)), nf.Medium(permittivity)),
            nf.Structure(nf.Sheet((-half, feed, height), (half, y[-1], height)), nf.PEC),
        ],
        boundaries=nf.Boundaries(z_low=nf.PEC),
        ports=[nf.MicrostripPort("in", (-half, feed, 0), (half, feed, height), "z", "+y", reference_plane=plane)],
        monitors=[
            nf.Voltage("first", (0, plane, height), (0, plane, 0)),
            nf.Voltage("second", (0, further, height), (0, further, 0)),
        ],
        waveform=nf.GaussianDerivative(5e9),
    )


def line_constants(simulation: nf.Simulation, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(impedance V/I at the reference plane, effective permittivity from the phase between two planes)."""
    result = simulation.run(threads=2)
    s = result.sparameters.sel(to="in", source="in").interp(frequency=frequencies)
    first, second = (
        fourier_integral(v.time.values, v.values, frequencies) for v in (result["first"], result["second"])
    )
    distance = result.grid.lines[1][60] - result.grid.lines[1][35]
    phase = -np.unwrap(np.angle(second / first))
    return 50 * ((1 + s) / (1 - s)).values, (phase * C / (2 * math.pi * frequencies * distance)) ** 2


def mode_constants(simulation: nf.Simulation, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(impedance, effective permittivity) of the line's mode on the same grid, by a port of shape "open"; no run.

    The strip is drawn on through the CPML; the rectangle reaches as far as the CPML.
    """
    board, strip = simulation.structures
    x, y, z = simulation.grid.x, simulation.grid.y, simulation.grid.z
    shape = nf.Sheet((strip.shape.lower[0], y[0], strip.shape.lower[2]), strip.shape.upper)
    port = nf.WaveguidePort("in", (x[10], y[12], 0), (x[-11], y[12], z[-11]), "+y", 1, "open")
    changes = {"structures": (board, nf.Structure(shape, nf.PEC)), "ports": (port,), "monitors": ()}
    modes = simulation.model_copy(update=changes).guide_modes(frequencies).isel(port=0)
    beta = modes["propagation_constant"].values.imag
    return modes["characteristic_impedance"].values, (beta * C / (2 * math.pi * frequencies)) ** 2


def main() -> None:
    case = Case(__file__, "Microstrip line, w 2.46 mm, h 0.795 mm, eps_r 2.2")
    impedance, effective = expected()
    frequencies = np.linspace(1.5e9, 10e9, 35)
    low = frequencies <= 4e9
    with picture(case, columns=2, facts="dotted: Hammerstad and Jensen, without dispersion") as axes:
        for cells, layers in ((6, 3), (11, 4)):
            z, eps = line_constants(model(cells, layers), frequencies)
            axes[0].plot(frequencies / 1e9, z.real, label=f"{cells} cells in the width, {layers} in the board")
            axes[1].plot(frequencies / 1e9, eps)
        axes[0].axhline(impedance, color="#1F2933", linestyle=":")
        axes[1].axhline(effective, color="#1F2933", linestyle=":")
        axes[0].set(xlabel="frequency (GHz)", ylabel="impedance (ohm)", ylim=(48, 52))
        axes[1].set(xlabel="frequency (GHz)", ylabel="effective permittivity", ylim=(1.80, 1.98))
        axes[0].legend()
    case.compare("impedance, 1.5 to 4 GHz", impedance, float(z.real[low].mean()), 0.015, unit="ohm")
    case.compare("effective permittivity, 1.5 to 4 GHz", effective, float(eps[low].mean()), 0.015)
    case.at_most("largest reactance, 1.5 to 4 GHz", 0.5, float(np.abs(z.imag[low]).max()), unit="ohm")
    at_rest, eps_at_rest = mode_constants(model(cells, layers), np.array([0.2e9]))
    case.compare("impedance of the mode on the grid, 0.2 GHz", impedance, float(at_rest[0]), 0.015, unit="ohm")
    case.compare("effective permittivity of the mode on the grid, 0.2 GHz", effective, float(eps_at_rest[0]), 0.015)
    case.finish()


if __name__ == "__main__":
    main()
