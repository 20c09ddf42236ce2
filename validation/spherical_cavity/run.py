"""Resonances of a spherical cavity in metal: conformal and staircase walls.

.venv/bin/python -m validation.spherical_cavity.run
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
ROOTS = {"TM101": 2.743707270, "TM201": 3.870238580, "TE101": 4.493409458}  # zeros of (x j_n)' and of j_n
SIGNALS = {"TM101": "electric", "TM201": "electric", "TE101": "magnetic"}
CENTRE = 0.3, 0.17, 0.41  # cells from a grid node, so that no two cuts are alike


def expected(mode: str, radius: float = RADIUS) -> float:
    """Frequency (Hz): root c/(2 pi radius)."""
    return ROOTS[mode] * C / (2 * math.pi * radius)


def ringing(cell: float, duration: float, centre: tuple[float, ...], **options) -> nf.Result:
    """An electric and a magnetic dipole ring the cavity; its centre lies so many cells off a node."""
    half, off = math.ceil(RADIUS / cell - 1e-9) + 2, 0.25 * RADIUS
    edge = half * cell
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, [2 * half] * 3, [-edge] * 3),
        structures=[
            nf.Structure(nf.Box([-edge] * 3, [edge] * 3), nf.PEC),
            nf.Structure(nf.Sphere([part * cell for part in centre], RADIUS), nf.Medium()),
        ],
        boundaries=nf.Boundaries(nf.PEC),
        sources=[
            nf.PointCurrent((0, 0, off), "z", nf.ModulatedGaussian(15.5e9, 9e9)),
            nf.MagneticPointCurrent((0, 0, 0), "z", nf.ModulatedGaussian(21.5e9, 4e9)),
        ],
        monitors=[nf.Probe("electric", (0, 0, -off), "Ez"), nf.Probe("magnetic", (0, 0, 0), "Hz")],
        duration=duration,
        **options,
    ).run(threads=2)


def found(cell: float, duration: float = 5e-9) -> dict[str, float]:
    """Resonances (Hz) between staircase walls."""
    result = ringing(cell, duration, (0, 0, 0), metal="staircase")
    return {
        mode: strongest(result[name], 0.8e-9, 0.94 * expected(mode), 1.06 * expected(mode))
        for mode, name in SIGNALS.items()
    }


def errors(cells: int, courant: float = 0.99) -> dict[str, float]:
    """Relative errors of the resonances between conformal walls, `cells` in the radius."""
    result = ringing(RADIUS / cells, 4e-9, CENTRE, precision="double", metal="conformal", courant=courant)
    return {mode: nearest(result, name, expected(mode)) / expected(mode) - 1.0 for mode, name in SIGNALS.items()}


def nearest(result: nf.Result, probe: str, frequency: float) -> float:
    """The resonance (Hz) nearest to a frequency, of those within 7 % and a fiftieth of the strongest."""
    modes = nf.resonances(result, (0.93 * frequency, 1.07 * frequency), probe=probe)
    size = np.abs(modes.amplitude.values)
    strong = modes.frequency.values[size > 0.02 * size.max()]
    return float(strong[np.argmin(np.abs(strong - frequency))])


def order(found: dict[int, dict[str, float]], mode: str) -> float:
    """The power of the cell with which an error falls, by least squares."""
    return -float(np.polyfit(np.log(list(found)), np.log([abs(error[mode]) for error in found.values()]), 1)[0])


def main() -> None:
    case = Case(__file__, "Spherical cavity, radius 10 mm")
    cells = (5, 7, 10, 14, 20)
    frequencies = {n: found(RADIUS / n) for n in (10, 14, 20)}
    stairs = {n: {mode: here[mode] / expected(mode) - 1 for mode in ROOTS} for n, here in frequencies.items()}
    usual, short = {n: errors(n) for n in cells}, {n: errors(n, 0.7) for n in cells}
    for kind, error, tolerance in (("staircase", stairs[20], 0.01), ("conformal", usual[20], 0.001)):
        for mode in ROOTS:
            exact = expected(mode) / 1e9
            case.compare(f"{mode}, {kind}, 0.5 mm cells", exact, exact * (1 + error[mode]), tolerance, unit="GHz")
    for mode in ROOTS:
        case.at_least(f"{mode}, conformal, courant 0.7: order of convergence", 1.65, order(short, mode))
    with picture(case, facts="thin lines: first and second order") as (axes,):
        for mode, colour in zip(ROOTS, ("#1F6F8B", "#C8553D", "#6B8E23")):
            for kind, style, values in (("staircase", "^:", stairs), ("conformal", "s-", short)):
                size = [100 * abs(values[n][mode]) for n in values]
                axes.loglog(list(values), size, style, color=colour, label=f"{mode}, {kind}")
        for power in (1, 2):
            axes.loglog(cells, [5 / n**power for n in cells], "k", linewidth=0.7)
        axes.set(xlabel="cells in the radius", ylabel="error of the resonance (%)")
        axes.legend(fontsize=7)
    case.finish()


if __name__ == "__main__":
    main()
