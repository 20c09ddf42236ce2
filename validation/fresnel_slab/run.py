"""Reflection and transmission of a dielectric slab at normal incidence, in a parallel-plate line.

.venv/bin/python -m validation.fresnel_slab.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.parallel_plate import line, spectra
from validation.picture import picture

C = 299792458.0
THICKNESS = 15e-3  # m
CELL = 0.375e-3  # m, 40 cells in the slab, 64 per wavelength in it at 6.25 GHz
FRONT = 200  # grid line of the slab's front


def expected(frequencies: np.ndarray, medium: nf.Medium, thickness: float = THICKNESS) -> tuple[np.ndarray, np.ndarray]:
    """Complex (r, t) at the slab's front and back, from the Airy sum of its two faces."""
    omega = 2 * np.pi * frequencies
    permittivity, permeability = medium.relative_permittivity(frequencies), medium.relative_permeability(frequencies)
    impedance, index = np.sqrt(permeability / permittivity), np.sqrt(permittivity * permeability)
    face = (impedance - 1) / (impedance + 1)
    delay = np.exp(-1j * omega * index * thickness / C)
    common = 1 - face**2 * delay**2
    return face * (1 - delay**2) / common, (1 - face**2) * delay / common


def found(
    frequencies: np.ndarray,
    medium: nf.Medium,
    cell: float = CELL,
    thickness: float = THICKNESS,
    highest: float = 4e9,
    **until,
) -> tuple[np.ndarray, np.ndarray]:
    """(abs r, abs t) from two runs, with and without the slab, of a pulse up to a frequency (Hz); `until` ends them."""
    until = until or {"decay": 1e-10}
    back = FRONT + round(thickness / cell)
    slab = nf.Structure(nf.Box((0, 0, FRONT * cell), (cell, cell, back * cell)), medium)
    arguments = (cell, back + 100, nf.GaussianDerivative(highest), {"before": 100, "behind": back + 50}, 50)
    empty = spectra(line(*arguments, **until), frequencies)
    filled = spectra(line(*arguments, structures=[slab], **until), frequencies)
    reflected = filled["before"] - empty["before"]
    return np.abs(reflected / empty["before"]), np.abs(filled["behind"] / empty["behind"])


def main() -> None:
    case = Case(__file__, "Dielectric slab, eps_r 4, 15 mm, normal incidence")
    frequencies = np.concatenate(([2.5e9, 3.5e9, 5e9, 6.25e9], np.linspace(0.1e9, 10e9, 200)))
    board = nf.Medium(permittivity=4.0)
    r, t = found(frequencies, board)
    r_expected, t_expected = np.abs(expected(frequencies, board))
    for index, name in ((0, "2.5"), (1, "3.5"), (3, "6.25")):
        case.compare(f"abs r at {name} GHz", r_expected[index], r[index], 0.005)
        case.compare(f"abs t at {name} GHz", t_expected[index], t[index], 0.005)
    case.compare("transmitted power at 5 GHz", t_expected[2] ** 2, t[2] ** 2, 0.005)
    band = (frequencies >= 2e9) & (frequencies <= 6.25e9)
    case.at_most("largest of abs(r^2 + t^2 - 1), 2 to 6.25 GHz", 1e-4, float(np.abs(r**2 + t**2 - 1)[band].max()))
    with picture(case, facts="64 cells per wavelength in the slab at 6.25 GHz") as (axes,):
        for name, value, theory in (("abs r", r, r_expected), ("abs t", t, t_expected)):
            axes.plot(frequencies[4:] / 1e9, value[4:], label=f"{name}, found")
            axes.plot(frequencies[4::6] / 1e9, theory[4::6], "o", markersize=3, color="#1F2933")
        axes.set(xlabel="frequency (GHz)", ylabel="magnitude (dots: theory)", ylim=(0, 1.05))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
