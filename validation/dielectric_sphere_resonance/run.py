"""Resonances of a dielectric sphere in the middle of a spherical cavity: how averages of media converge.

.venv/bin/python -m validation.dielectric_sphere_resonance.run
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import spherical_jn, spherical_yn

import nearfield as nf
from validation.case import Case
from validation.picture import picture

C = 299792458.0
CAVITY, RADIUS, PERMITTIVITY = 10e-3, 6e-3, 6.0
OFF = 0.41  # cells along z from a grid node to the centre, so that cells are cut in many ways
MODES = {"TM101": (5e9, 10e9), "TE101": (8e9, 13e9)}  # Hz, between which there is no other of the kind
CELLS = 7, 10, 14, 20  # in the sphere's radius
KINDS = {"volume": "#C8553D", "diagonal": "#1F6F8B", "tensor": "#3A7D44"}


def equation(kind: str) -> Callable[[float], float]:
    """What is zero at the frequencies (Hz) of modes with one node of the angle: psi = r f(r), f spherical Bessel.

    Tangential E is zero at the cavity's wall: psi' of TM, psi of TE. At the sphere psi is continuous, and psi' of TE,
    psi'/eps of TM.
    """

    def bessel(function, x: float) -> tuple[float, float]:
        return x * function(1, x), function(1, x) + x * function(1, x, derivative=True)

    def mismatch(frequency: float) -> float:
        k, n = 2 * math.pi * frequency / C, math.sqrt(PERMITTIVITY)
        wall = [bessel(f, k * CAVITY)[kind == "TM"] for f in (spherical_jn, spherical_yn)]
        (j, dj), (y, dy) = (bessel(f, k * RADIUS) for f in (spherical_jn, spherical_yn))
        inside, slope = bessel(spherical_jn, n * k * RADIUS)
        slope *= n / (PERMITTIVITY if kind == "TM" else 1.0)
        return slope * (wall[1] * j - wall[0] * y) - inside * (wall[1] * dj - wall[0] * dy)

    return mismatch


def expected(mode: str) -> float:
    """Frequency (Hz)."""
    return brentq(equation(mode[:2]), *MODES[mode])


def error(mode: str, cells: int, averaging: str) -> float:
    """Relative error of a resonance, with so many cells in the sphere's radius; a quarter is stepped."""
    cell, exact = RADIUS / cells, expected(mode)
    half = math.ceil(CAVITY / cell + 0.5) + 2
    edge, centre, off = half * cell, (0.0, 0.0, OFF * cell), round(0.5 * cells) * cell
    electric = mode.startswith("TM")
    source, component = (nf.PointCurrent, "Ez") if electric else (nf.MagneticPointCurrent, "Hz")
    plane = "magnetic" if electric else "electric"
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, [2 * half] * 3, [-edge] * 3),
        structures=[
            nf.Structure(nf.Box([-edge] * 3, [edge] * 3), nf.PEC),
            nf.Structure(nf.Sphere(centre, CAVITY), nf.Medium()),
            nf.Structure(nf.Sphere(centre, RADIUS), nf.Medium(PERMITTIVITY)),
        ],
        boundaries=nf.Boundaries(nf.PEC),
        symmetry=nf.Symmetry(x=plane, y=plane),
        sources=[source((0, 0, 0), "z", nf.ModulatedGaussian(exact, 0.5 * exact))],
        monitors=[nf.Probe("inside", (0, 0, off), component)],
        duration=3e-9,
        precision="double",
        metal="conformal",
        courant=0.7,
        averaging=averaging,
    ).run()
    modes = nf.resonances(result, (0.9 * exact, 1.1 * exact), probe="inside")
    return float(modes.frequency.values[np.argmax(np.abs(modes.amplitude.values))]) / exact - 1.0


def order(errors: dict[int, float]) -> float:
    """The power of the cell with which an error falls, by least squares."""
    return -float(np.polyfit(np.log(list(errors)), np.log(np.abs(list(errors.values()))), 1)[0])


def main() -> None:
    case = Case(__file__, "Dielectric sphere in a spherical cavity")
    found = {(mode, kind): {cells: error(mode, cells, kind) for cells in CELLS} for mode in MODES for kind in KINDS}
    for (mode, kind), errors in found.items():
        exact = expected(mode) / 1e9
        case.compare(
            f"{mode}, {kind}, 20 cells in the radius",
            exact,
            exact * (1 + errors[20]),
            0.001 if kind == "tensor" else 0.01,
            unit="GHz",
        )
    ratio = found["TM101", "diagonal"][20] / found["TM101", "volume"][20]
    case.at_most("TM101, 20 cells in the radius: error of diagonal over that of volume", 0.4, ratio)
    worst = max(map(abs, found["TM101", "tensor"].values()))  # too small to have an order
    case.at_most("TM101, tensor, 7 to 20 cells in the radius: largest relative error", 5e-4, worst)
    case.at_least("TE101, tensor: order of convergence", 1.5, order(found["TE101", "tensor"]))
    with picture(case, facts="thin lines: first and second order") as (axes,):
        for mode, style in zip(MODES, ("s-", "^:")):
            for kind, colour in KINDS.items():
                size = [100 * abs(value) for value in found[mode, kind].values()]
                axes.loglog(CELLS, size, style, color=colour, label=f"{mode}, {kind}")
        for power in (1, 2):
            axes.loglog(CELLS, [10 / n**power for n in CELLS], "k", linewidth=0.7)
        axes.set(xlabel="cells in the sphere's radius", ylabel="error of the resonance (%)")
        axes.legend(fontsize=7)
    for key, errors in found.items():
        print(*key, {cells: round(100 * value, 3) for cells, value in errors.items()}, f"order {order(errors):.2f}")
    case.finish()


if __name__ == "__main__":
    main()
