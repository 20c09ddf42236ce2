"""A parallel-plate line ended by lumped R, L and C: its reflection against circuit theory.

.venv/bin/python -m validation.lumped_elements.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.parallel_plate import ETA, line, spectra
from validation.picture import picture

CELL = 1e-3  # m
END = 120  # grid line of the termination
WAVEFORM = nf.GaussianDerivative(1.5e9)
LOADS = {  # at 1.5 GHz each reactance is about the line's 376.73 ohm
    "R 100 ohm": {"resistance": 100.0},
    "R 1000 ohm": {"resistance": 1000.0},
    "L 40 nH": {"inductance": 40e-9},
    "C 0.3 pF": {"capacitance": 0.3e-12},
    "R-L in series": {"resistance": 200.0, "inductance": 40e-9},
    "R-C in series": {"resistance": 200.0, "capacitance": 0.3e-12},
    "R-L-C in series": {"resistance": 200.0, "inductance": 40e-9, "capacitance": 0.3e-12},
    "L-C in parallel": {"inductance": 40e-9, "capacitance": 0.3e-12, "connection": "parallel"},
    "R-L-C in parallel": {"resistance": 700.0, "inductance": 40e-9, "capacitance": 0.3e-12, "connection": "parallel"},
}


def impedance(
    frequencies: np.ndarray,
    resistance: float | None = None,
    inductance: float | None = None,
    capacitance: float | None = None,
    connection: str = "series",
) -> np.ndarray:
    """Circuit theory's impedance (ohm) of the two-pole."""
    s = 2j * np.pi * frequencies
    parts = [
        None if resistance is None else resistance + 0 * s,
        None if inductance is None else s * inductance,
        None if capacitance is None else 1 / (s * capacitance),
    ]
    present = [part for part in parts if part is not None]
    return sum(present) if connection == "series" else 1 / sum(1 / part for part in present)


def reflection(frequencies: np.ndarray, element: dict) -> np.ndarray:
    """Complex reflection at the termination: E reflected from it over E reflected from the open line."""
    corners = ((0, 0, END * CELL), (CELL, CELL, END * CELL))
    setup = (CELL, END, WAVEFORM, {"probe": 60}, 40)
    incident = spectra(line(CELL, END + 60, *setup[2:], decay=1e-9), frequencies)["probe"]
    opened = spectra(line(*setup, end=nf.PMC, decay=1e-9), frequencies)["probe"]
    loaded = line(*setup, end=nf.PMC, decay=1e-9, elements=[nf.LumpedElement(*corners, "x", **element)])
    return (spectra(loaded, frequencies)["probe"] - incident) / (opened - incident)


def main() -> None:
    case = Case(__file__, "Lumped elements at the end of a parallel-plate line")
    frequencies = np.linspace(0.5e9, 3e9, 26)
    found, expected = {}, {}
    for name, element in LOADS.items():
        z = impedance(frequencies, **element)
        expected[name] = (z - ETA) / (z + ETA)
        found[name] = reflection(frequencies, element)
        error = float(np.abs(found[name] - expected[name]).max())
        case.at_most(f"{name}: largest error of the reflection", 1e-3, error)
    with picture(case, columns=2, facts="line of 376.73 ohm, 0.5 to 3 GHz; dots: circuit theory") as axes:
        for name in ("R 1000 ohm", "R-L-C in series", "R-L-C in parallel", "L 40 nH"):
            for panel, function in zip(axes, (np.abs, lambda r: np.degrees(np.angle(r)))):
                panel.plot(frequencies / 1e9, function(found[name]), label=name)
                panel.plot(frequencies / 1e9, function(expected[name]), ".", color="#1F2933", markersize=4)
        axes[0].set(xlabel="frequency (GHz)", ylabel="abs of the reflection", ylim=(0, 1.05))
        axes[1].set(xlabel="frequency (GHz)", ylabel="phase (degrees)")
        axes[0].legend()
    case.finish()


if __name__ == "__main__":
    main()
