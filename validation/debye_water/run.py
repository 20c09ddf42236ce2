"""Reflection of water, a Debye medium, at normal incidence from 1 to 40 GHz.

.venv/bin/python -m validation.debye_water.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.half_space import expected, found
from validation.picture import picture

WATER = nf.Medium(4.9, poles=[nf.Debye(75.2, 9.231e-12)], name="water")
CELL = 37.5e-6  # m: 93 cells a wavelength in water at 10 GHz, 39 at 40 GHz
PUBLISHED = {1e9: 0.798909, 5e9: 0.796975, 10e9: 0.791459, 20e9: 0.774395, 40e9: 0.734711}


def main() -> None:
    case = Case(__file__, "Water (Debye), half space, normal incidence")
    frequencies = np.concatenate((list(PUBLISHED), np.linspace(0.5e9, 60e9, 120)))
    r, theory = found(frequencies, WATER, CELL, 60e9, 0.5e-9), np.abs(expected(frequencies, WATER))
    for index, (frequency, published) in enumerate(PUBLISHED.items()):
        case.compare(f"abs r at {frequency / 1e9:g} GHz", published, r[index], 0.005)
    case.at_most(
        "largest deviation from theory, 1 to 40 GHz",
        0.005,
        float(np.abs(r / theory - 1)[(frequencies >= 1e9) & (frequencies <= 40e9)].max()),
    )
    with picture(case, facts="37.5 µm cells") as (axes,):
        shown = slice(len(PUBLISHED), None)
        axes.plot(frequencies[shown] / 1e9, r[shown], label="abs r, found")
        axes.plot(frequencies[shown][::4] / 1e9, theory[shown][::4], "o", markersize=3, color="#1F2933", label="theory")
        axes.set(xlabel="frequency (GHz)", ylabel="reflection")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
