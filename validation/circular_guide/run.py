"""Cut-off frequencies of a circular waveguide, staircase and conformal, as resonances of its cross-section.

.venv/bin/python -m validation.circular_guide.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.picture import picture
from validation.resonance import strongest

C = 299792458.0
RADIUS = 10e-3  # m
ROOTS = {"TE11": 1.841183781, "TE21": 3.054236928, "TM01": 2.404825558}  # of J1', J2', J0


def expected(mode: str, radius: float = RADIUS) -> float:
    """Cut-off (Hz): root c/(2 pi radius)."""
    return ROOTS[mode] * C / (2 * math.pi * radius)


def found(cell: float, metal: str = "staircase", courant: float = 0.99) -> dict[str, float]:
    """Cut-offs (Hz) from a slice one cell thick: between PMC walls it holds TE modes, between PEC walls TM modes."""
    half = math.ceil(RADIUS / cell) + 2
    edge, middle = half * cell, 0.5 * cell
    pulse = nf.ModulatedGaussian(11.5e9, 9e9)
    cutoffs = {}
    for wall, axis, component, place in ((nf.PMC, "x", "Ex", 0.0), (nf.PEC, "z", "Ez", middle)):
        off = 0.35 * RADIUS
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(cell, (2 * half, 2 * half, 1), (-edge, -edge, 0)),
            structures=[
                nf.Structure(nf.Box((-edge, -edge, 0), (edge, edge, cell)), nf.PEC),
                nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, cell), RADIUS), nf.Medium()),
            ],
            boundaries=nf.Boundaries(nf.PEC, z_low=wall, z_high=wall),
            sources=[nf.PointCurrent((off, 0.2 * RADIUS, place), axis, pulse)],
            monitors=[nf.Probe("ringing", (-off, 0.3 * RADIUS, place), component)],
            duration=6e-9,
            precision="double",
            metal=metal,
            courant=courant,
        )
        signal = simulation.run(threads=1)["ringing"]
        for mode in ROOTS:
            if mode.startswith("TE") == (wall == nf.PMC):
                near = expected(mode)
                cutoffs[mode] = strongest(signal, 1e-9, 0.93 * near, 1.07 * near)
                if metal == "conformal":  # to all digits
                    modes = nf.resonances(signal, (0.98 * near, 1.02 * near), start=1e-9)
                    cutoffs[mode] = float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))])
    return cutoffs


def main() -> None:
    case = Case(__file__, "Circular waveguide, radius 10 mm")
    cells = (1e-3, 0.5e-3, 0.25e-3, 0.1e-3)
    results = {cell: found(cell) for cell in cells}
    for mode, cutoff in results[cells[-1]].items():
        case.compare(f"{mode}, 0.1 mm cells", expected(mode) / 1e9, cutoff / 1e9, 0.005, unit="GHz")
    smooth = {cell: found(cell, "conformal") for cell in cells[:3]}
    for mode, cutoff in smooth[cells[2]].items():
        case.compare(f"{mode}, conformal, 0.25 mm cells", expected(mode) / 1e9, cutoff / 1e9, 0.0005, unit="GHz")
    with picture(case, facts="solid: whole cells; dashed: conformal") as (axes,):
        for mode in ROOTS:
            errors = [100 * (results[cell][mode] / expected(mode) - 1) for cell in cells]
            (line,) = axes.plot([RADIUS / cell for cell in cells], errors, "o-", label=mode)
            errors = [100 * (smooth[cell][mode] / expected(mode) - 1) for cell in smooth]
            axes.plot([RADIUS / cell for cell in smooth], errors, "s--", color=line.get_color())
        axes.axhspan(-0.5, 0.5, color="#E4E8EC", zorder=0)
        axes.set(xlabel="cells in the radius", ylabel="error of the cut-off (%)")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
