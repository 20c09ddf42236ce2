"""Resonances of a spherical cavity in metal, staircase walls.

    .venv/bin/python -m validation.spherical_cavity.run
"""

from __future__ import annotations

import math

import nearfield as nf
from validation.case import Case
from validation.picture import picture
from validation.resonance import strongest

C = 299792458.0
RADIUS = 10e-3  # m
ROOTS = {"TM101": 2.743707270, "TM201": 3.870238580, "TE101": 4.493409458}  # zeros of (x j_n)' and of j_n


def expected(mode: str, radius: float = RADIUS) -> float:
    """Frequency (Hz): root c/(2 pi radius)."""
    return ROOTS[mode] * C / (2 * math.pi * radius)


def found(cell: float, duration: float = 5e-9) -> dict[str, float]:
    """Resonances (Hz) from the ringing of an electric and a magnetic dipole off the centre."""
    half = math.ceil(RADIUS / cell) + 2
    edge, off = half * cell, 0.25 * RADIUS
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(cell, [2 * half] * 3, [-edge] * 3),
        structures=[
            nf.Structure(nf.Box([-edge] * 3, [edge] * 3), nf.PEC),
            nf.Structure(nf.Sphere((0, 0, 0), RADIUS), nf.Medium()),
        ],
        boundaries=nf.Boundaries(nf.PEC),
        sources=[
            nf.PointCurrent((0, 0, off), "z", nf.ModulatedGaussian(15.5e9, 9e9)),
            nf.MagneticPointCurrent((0, 0, 0), "z", nf.ModulatedGaussian(21.5e9, 4e9)),
        ],
        monitors=[nf.Probe("electric", (0, 0, -off), "Ez"), nf.Probe("magnetic", (0, 0, 0), "Hz")],
        duration=duration,
    )
    result = simulation.run(threads=2)
    signals = {"TM101": "electric", "TM201": "electric", "TE101": "magnetic"}
    return {
        mode: strongest(result[name], 0.8e-9, 0.94 * expected(mode), 1.06 * expected(mode))
        for mode, name in signals.items()
    }


def main() -> None:
    case = Case(__file__, "Spherical cavity, radius 10 mm")
    cells = (1e-3, 0.7e-3, 0.5e-3)
    results = {cell: found(cell) for cell in cells}
    for mode, frequency in results[cells[-1]].items():
        case.compare(f"{mode}, 0.5 mm cells", expected(mode) / 1e9, frequency / 1e9, 0.01, unit="GHz")
    with picture(case, facts="walls of whole cells") as (axes,):
        for mode in ROOTS:
            errors = [100 * (results[cell][mode] / expected(mode) - 1) for cell in cells]
            axes.plot([RADIUS / cell for cell in cells], errors, "o-", label=mode)
        axes.axhspan(-1, 1, color="#E4E8EC", zorder=0)
        axes.set(xlabel="cells in the radius", ylabel="error of the resonance (%)")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
