"""Numerical phase velocity along an axis of cubic cells, in a PEC/PMC parallel-plate line.

.venv/bin/python -m validation.phase_velocity.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.parallel_plate import line, spectra
from validation.picture import picture

C = 299792458.0
CELL = 1e-3  # m
CELLS_PER_WAVELENGTH = (5, 10, 20, 40)  # of the wavelength in space


def expected(cells_per_wavelength: float, courant: float = 0.99) -> float:
    """v/c of the Yee grid: sin(w dt/2) = S sin(k d/2), S = c dt/d."""
    s = courant / math.sqrt(3)
    half = math.pi / cells_per_wavelength
    return half / math.asin(math.sin(half * s) / s)


def found(cells_per_wavelength: int) -> float:
    """v/c from the spectra at three points a quarter wavelength apart.

    On the grid E(i + m) + E(i - m) = 2 cos(m k d) E(i) holds for any mixture of waves to both sides, so what little
    the CPML reflects does no harm.
    """
    m = max(1, round(cells_per_wavelength / 4))
    frequency = np.array([C / CELL / cells_per_wavelength])
    probes = {"left": 60, "middle": 60 + m, "right": 60 + 2 * m}
    model = line(CELL, 140, nf.ModulatedGaussian(frequency[0], 0.6 * frequency[0]), probes, 40, decay=1e-20)
    e = spectra(model, frequency)
    cosine = ((e["left"] + e["right"]) / (2 * e["middle"]))[0].real
    wave_number = math.acos(cosine) / (m * CELL)
    return 2 * math.pi * frequency[0] / wave_number / C


def main() -> None:
    case = Case(__file__, "Numerical phase velocity along an axis")
    velocities = {n: found(n) for n in CELLS_PER_WAVELENGTH}
    for n, velocity in velocities.items():
        case.compare(f"v/c at {n} cells per wavelength", expected(n), velocity, 1e-6)
    with picture(case, facts="cubic cells, 0.99 of the stability limit") as (axes,):
        curve = np.linspace(4, 45, 200)
        axes.plot(curve, [expected(n) for n in curve], label="dispersion relation of the Yee grid")
        axes.plot(list(velocities), list(velocities.values()), "o", label="found")
        axes.set(xlabel="cells per wavelength in space", ylabel="phase velocity over c")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
