"""The line of examples/microstrip_line.toml in Python: its mode on the grid beside Hammerstad and Jensen, and S.

.venv/bin/python -m examples.microstrip_line
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from examples import figures
from validation.microstrip.run import expected

C = 299792458.0
DX, DY, DZ = 0.4e-3, 0.4e-3, 0.265e-3  # m
STRIP, BOARD = 1.23e-3, 3 * DZ  # m, half the strip's width, which ends between grid lines; the board's height
SIDE, TOP = 25 * DX, 25 * DZ  # m, as far as the CPML
PERMITTIVITY = 2.2
FREQUENCIES = [0.2e9, 1.5e9, 4e9, 10e9]


def model(length: int = 60) -> nf.Simulation:
    """A piece of line of so many cells, CPML included, between two ports that know its mode; S for 50 ohm."""
    end = length * DY
    ports = [
        nf.WaveguidePort(name, (-SIDE, y, 0), (SIDE, y, TOP), way, "1", "open", reference_impedance=50)
        for name, y, way in (("in", 14 * DY, "+y"), ("out", end - 14 * DY, "-y"))
    ]
    return nf.Simulation(
        title="Microstrip line, w 2.46 mm, h 0.795 mm, eps_r 2.2",
        grid=nf.Grid.uniform((DX, DY, DZ), (66, length, 33), (-33 * DX, 0, 0)),
        boundaries=nf.Boundaries(nf.CPML(8), y_low=nf.CPML(10), y_high=nf.CPML(10), z_low=nf.PEC),
        structures=[
            nf.Structure(nf.Box((-33 * DX, 0, 0), (33 * DX, end, BOARD)), nf.Medium(PERMITTIVITY), "board"),
            nf.Structure(nf.Sheet((-STRIP, 0, BOARD), (STRIP, end, BOARD)), nf.PEC, "strip"),
        ],
        ports=ports, waveform=nf.Gaussian(10e9), excitations=["in"],
    )  # fmt: skip


def mode(simulation: nf.Simulation, frequencies: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """(impedance in ohm, effective permittivity) of the line's mode on the grid; no run."""
    modes = simulation.guide_modes(frequencies).isel(port=0)
    wave_number = modes["propagation_constant"].values.imag.ravel()
    effective = (wave_number * C / (2 * math.pi * np.array(frequencies))) ** 2
    return modes["characteristic_impedance"].values.real.ravel(), effective


def main() -> None:
    """Find the mode, run, keep the figures."""
    simulation = model()
    impedance, effective = mode(simulation, FREQUENCIES)
    (entry, *_) = simulation.check().modes
    s = simulation.run().sparameters.sel(source="in").interp(frequency=FREQUENCIES)
    levels = 20 * np.log10(np.abs(s))
    values = {
        "impedance": impedance.tolist(), "effective": effective.tolist(),
        "s11": levels.sel(to="in").values.tolist(), "s21": levels.sel(to="out").values.tolist(),
        "expected": [float(value) for value in expected()],
        "middle": [entry.frequency / 1e9, 1e3 * entry.guide_wavelength, entry.line_impedance],
    }  # fmt: skip
    for name, each in values.items():
        print(f"{name:10}", *(f"{value:8.3f}" for value in each))
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")


if __name__ == "__main__":
    main()
