"""Reflection and transmission of a slab of plasma (Drude) at normal incidence, below and above its plasma frequency.

.venv/bin/python -m validation.drude_slab.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.fresnel_slab.run import expected
from validation.fresnel_slab.run import found as slab
from validation.picture import picture

PLASMA = nf.Medium(poles=[nf.Drude(28.7e9, 20e9)])
THICKNESS = 15e-3  # m
CELL = 75e-6  # m: 200 cells in the slab, 50 a wavelength at 80 GHz
FREQUENCIES = np.array([10.0, 20.0, 28.7, 35.0, 50.0, 80.0]) * 1e9
REFLECTED = (-1.0162, -1.3379, -4.1782, -14.4355, -24.2925, -23.8650)  # dB
TRANSMITTED = (-69.11, -50.727, -19.056, -5.4157, -1.7738, -0.6171)  # dB
FAINT = -30.0  # dB; below it the tolerance grows as the amplitude falls


def found(frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(abs r, abs t) from two runs, with and without the slab."""
    return slab(frequencies, PLASMA, CELL, THICKNESS, 100e9, duration=3e-9)


def main() -> None:
    case = Case(__file__, "Drude slab, plasma 28.7 GHz, 15 mm, normal incidence")
    frequencies = np.concatenate((FREQUENCIES, np.linspace(5e9, 100e9, 191)))
    r, t = (20 * np.log10(values) for values in found(frequencies))
    theory = [20 * np.log10(np.abs(values)) for values in expected(frequencies, PLASMA, THICKNESS)]
    for name, published, values in (("r", REFLECTED, r), ("t", TRANSMITTED, t)):
        for frequency, wanted, value in zip(FREQUENCIES, published, values):
            tolerance = 0.2 if wanted > FAINT else 1.0
            label = f"abs {name} at {frequency / 1e9:g} GHz"
            case.compare(label, wanted, float(value), tolerance, absolute=True, unit="dB")
    with picture(case, facts="200 cells in the slab") as (axes,):
        for name, values, exact in (("abs r", r, theory[0]), ("abs t", t, theory[1])):
            axes.plot(frequencies[6:] / 1e9, values[6:], label=f"{name}, found")
            axes.plot(frequencies[6::5] / 1e9, exact[6::5], "o", markersize=3, color="#1F2933")
        axes.set(xlabel="frequency (GHz)", ylabel="magnitude in dB (dots: theory)", ylim=(-75, 3))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
