"""Fields that leave, and bits: one dipole seen from two surfaces, cuts along rows in double precision."""

from __future__ import annotations

import numpy as np
from row import Row

import nearfield as nf

C = 299792458.0
FREQUENCY = 3e9
CELL = C / FREQUENCY / 12


def directivity(cells: int) -> float:
    """Largest directivity (dBi) of a short dipole, 12 cells a wavelength, by a surface so many cells from it."""
    count = 2 * (cells + 13) + 1
    middle = 0.5 * count * CELL
    low, high = (middle + sign * (cells + 0.5) * CELL for sign in (-1, 1))
    place = middle - 0.5 * CELL, middle - 0.5 * CELL, middle
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(CELL, (count,) * 3),
        boundaries=nf.Boundaries(nf.CPML(10)),
        sources=[nf.PointCurrent(place, "z", nf.ModulatedGaussian(3e9, 2e9))],
        monitors=[nf.FarField("far", [FREQUENCY], lower=(low,) * 3, upper=(high,) * 3)],
        decay=1e-6,
    )
    return float(simulation.run(threads=2)["far"].directivity_dbi.max())


def two_surfaces() -> list[Row]:
    """B6: the exact value is 1.761 dBi."""
    near, far = directivity(4), directivity(13)
    off = max(abs(near - 10 * np.log10(1.5)), abs(far - 10 * np.log10(1.5)))
    return [
        Row(
            "B6",
            "one dipole, 12 cells a wavelength, directivity by surfaces 4 and 13 cells away (1.761 dBi)",
            "1.86 and 2.37 dBi from two surfaces",
            "within 0.03 dB",
            f"{near:.3f} and {far:.3f} dBi",
            off < 0.03,
        )
    ]


def cut_rows() -> list[Row]:
    """D14: samples of a probe in double precision that differ when the row axis is cut."""
    block = nf.Structure(nf.Box((3.3e-3, 4.7e-3, 31.2e-3), (11.1e-3, 12.4e-3, 97.6e-3)), nf.Medium(2.0))
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (16, 18, 130)),
        boundaries=nf.Boundaries(nf.PEC),
        structures=[block],
        sources=[nf.PointCurrent((8e-3, 9e-3, 60.5e-3), "z", nf.Gaussian(15e9))],
        monitors=[nf.Probe("tip", (6e-3, 7e-3, 70.5e-3), component="Ez")],
        precision="double",
        steps=150,
    )
    one, cut = (simulation.run(threads=1, parallel=nf.Parallel(domains=domains)) for domains in (1, "1x1x2"))
    apart = int(np.count_nonzero(one["tip"].values != cut["tip"].values))
    return [
        Row(
            "D14", "samples of 150 in double that change when the row axis is cut", "97", "none", f"{apart}", apart == 0
        )
    ]


CASES = (two_surfaces, cut_rows)
