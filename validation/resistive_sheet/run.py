"""Reflection of resistive sheets and of a Salisbury screen at normal incidence, in a periodic cell.

.venv/bin/python -m validation.resistive_sheet.run
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.parallel_plate import ETA
from validation.picture import picture

C = 299792458.0
CELL = 1e-3  # m, 30 cells per wavelength at 10 GHz
FRONT, PROBE, SHEET = 25, 30, 40  # grid lines: where the wave enters, where it is recorded, the sheet
PUBLISHED = {100.0: -0.653217, 188.365: -0.5, 376.73: -0.333334, 1000.0: -0.158508}  # ohm: r
SPACER = 15  # cells before the mirror of the screen: a quarter of a wavelength at 5 GHz


def expected(impedance: np.ndarray | float, frequencies: np.ndarray, mirror: float | None = None) -> np.ndarray:
    """r of a sheet in space, or of one at a distance (m) before a mirror."""
    behind = ETA if mirror is None else 1j * ETA * np.tan(2 * np.pi * frequencies * mirror / C)
    load = impedance * behind / (impedance + behind)
    return (load - ETA) / (load + ETA)


def found(medium: Any, frequencies: np.ndarray, mirror: int | None = None, highest: float = 10e9) -> np.ndarray:
    """r at the sheet, from runs with and without it, of a sheet in space or of one `mirror` cells before a PEC wall."""
    sheet = nf.Structure(nf.Sheet((0, 0, SHEET * CELL), (CELL, CELL, SHEET * CELL)), medium)
    cells = SHEET + (mirror or 60)
    empty, filled = (
        nf.Simulation(
            grid=nf.Grid.uniform(CELL, (1, 1, length)),
            structures=structures,
            boundaries=nf.Boundaries(x="periodic", y="periodic", z_low=nf.CPML(20), z_high=end),
            sources=[
                nf.PlaneWave(
                    (0, 0, FRONT * CELL),
                    (CELL, CELL, (length - behind) * CELL),
                    "+z",
                    "x",
                    nf.GaussianDerivative(highest),
                )
            ],
            monitors=[nf.Probe("before", (0.5 * CELL, 0, PROBE * CELL), "Ex")],
            precision="double",
            decay=1e-12,
        ).run(threads=1)["before"]
        for length, structures, end, behind in (
            (SHEET + 60, (), nf.CPML(20), 30),
            (cells, (sheet,), nf.CPML(20) if mirror is None else nf.PEC, 30 if mirror is None else 0),
        )
    )
    incident, total = (fourier_integral(e.time.values, e.values, frequencies) for e in (empty, filled))
    return (total / incident - 1.0) * np.exp(4j * np.pi * frequencies * (SHEET - PROBE) * CELL / C)


def main() -> None:
    case = Case(__file__, "Resistive sheets and a Salisbury screen, normal incidence")
    frequencies = np.concatenate(([1e9, 5e9], np.linspace(0.25e9, 9.75e9, 96)))
    with picture(case, columns=2, facts="30 cells per wavelength at 10 GHz") as (left, right):
        for resistance, r in PUBLISHED.items():
            values = found(nf.ResistiveSheet(resistance), frequencies)
            case.compare(f"r of {resistance:g} ohm, 1 GHz", r, float(values[0].real), 0.005)
            left.plot(frequencies[2:] / 1e9, np.abs(values[2:]), label=f"{resistance:g} ohm")
            left.axhline(-r, color="#1F2933", linewidth=0.8, linestyle=":")
        left.set(xlabel="frequency (GHz)", ylabel="abs r (dots: theory)", ylim=(0, 1))
        left.legend()
        drude = nf.ResistiveSheet(100.0, inductance=5e-9)
        difference = found(drude, frequencies) - expected(drude.impedance(frequencies), frequencies)
        case.at_most(
            "100 ohm + 5 nH per square: largest error of r, to 5 GHz",
            0.005,
            float(np.abs(difference[frequencies <= 5e9]).max()),
        )
        screen = found(nf.ResistiveSheet(ETA), frequencies, SPACER)
        theory = expected(ETA, frequencies, SPACER * CELL)
        case.compare("screen: abs r at 1 GHz", abs(theory[0]), abs(screen[0]), 0.005)
        case.at_most("screen: abs r at 5 GHz, quarter wave", 0.005, abs(screen[1]))
        case.at_most("screen: largest error of r, to 9.75 GHz", 0.02, float(np.abs(screen - theory).max()))
        right.plot(frequencies[2:] / 1e9, np.abs(screen[2:]), label="Salisbury screen, 15 mm")
        right.plot(frequencies[2::4] / 1e9, np.abs(theory[2::4]), "o", markersize=3, color="#1F2933", label="theory")
        right.set(xlabel="frequency (GHz)", ylabel="abs r", ylim=(0, 1))
        right.legend()
    case.finish()


if __name__ == "__main__":
    main()
