"""Reflection of a Lorentz medium at normal incidence, through its resonance.

.venv/bin/python -m validation.lorentz_half_space.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.half_space import expected, found
from validation.picture import picture

RADIANS = 1e16  # 1/s
MEDIUM = nf.Medium(1.0, poles=[nf.Lorentz(1.25, 4 * RADIANS / (2 * np.pi), 0.28 * RADIANS)])
CELL = 0.25e-9  # m: 188 cells a wavelength in vacuum at the resonance, 60 in the medium
PUBLISHED = {1: 0.208644, 3: 0.322288, 4: 0.617764, 5: 0.757507, 6: 0.551810}  # abs r by w in 1e16 rad/s


def main() -> None:
    case = Case(__file__, "Lorentz half space, normal incidence")
    w = np.concatenate((list(PUBLISHED), np.linspace(0.5, 8.0, 151)))
    frequencies = w * RADIANS / (2 * np.pi)
    r, theory = found(frequencies, MEDIUM, CELL, 1.3e16, 8e-15), np.abs(expected(frequencies, MEDIUM))
    for index, (radians, published) in enumerate(PUBLISHED.items()):
        case.compare(f"abs r at {radians}e16 rad/s", published, r[index], 0.005 if radians < 4 else 0.01)
    case.at_most(
        "largest deviation from theory, 1e16 to 6e16 rad/s", 0.01, float(np.abs(r - theory)[(w >= 1) & (w <= 6)].max())
    )
    with picture(case, facts="60 cells per wavelength in the medium at its resonance") as (axes,):
        axes.plot(w[5:], r[5:], label="abs r, found")
        axes.plot(w[5::4], theory[5::4], "o", markersize=3, color="#1F2933", label="theory")
        axes.set(xlabel="angular frequency ($10^{16}$ rad/s)", ylabel="reflection", ylim=(0, 1))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
