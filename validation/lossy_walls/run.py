"""Walls of finite conductivity: loss of a WR-90 guide, quality factors of a box and of a sphere.

.venv/bin/python -m validation.lossy_walls.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture
from validation.spherical_cavity.run import CENTRE, RADIUS, ROOTS, expected, order

C, ETA = 299792458.0, 376.730313412
WIDTH, HEIGHT = 22.86e-3, 10.16e-3  # m, WR-90
COPPER = nf.Conductor(5.8e7)
POOR = nf.Conductor(2e5)  # S/m: enough loss for a short guide, little enough for theory's first order
BOX = (30e-3, 12e-3, 24e-3)  # m
QUALITY = {"TM101": 1 - 2 / ROOTS["TM101"] ** 2, "TE101": 1.0}  # of a sphere, times radius over skin depth


def guide_loss(frequency: np.ndarray, metal: nf.Conductor) -> np.ndarray:
    """Attenuation of TE10 (Np/m), to first order in the surface resistance (Pozar, Microwave Engineering, 3.3)."""
    k = 2 * np.pi * frequency / C
    beta = np.sqrt(k**2 - (math.pi / WIDTH) ** 2)
    resistance = metal.impedance(frequency).real
    return resistance * (2 * HEIGHT * math.pi**2 + WIDTH**3 * k**2) / (WIDTH**3 * HEIGHT * beta * k * ETA)


def guide(
    metal: nf.Conductor, frequencies: np.ndarray, cells: tuple[int, int] = (18, 8), length: int = 60
) -> np.ndarray:
    """Attenuation of TE10 (Np/m) between two probes `length` cells of 1 mm apart, behind a port."""
    step, first = 1e-3, 45
    behind, end = first + 10, first + 10 + length
    port = nf.WaveguidePort("in", (0, 0, first * step), (WIDTH, HEIGHT, first * step), "+z", "TE10")
    probes = [nf.Probe(f"at {n}", (0.5 * WIDTH, 0.5 * HEIGHT, n * step), "Ey") for n in (behind, end)]
    result = nf.Simulation(
        grid=nf.Grid.uniform((WIDTH / cells[0], HEIGHT / cells[1], step), (*cells, end + 50)),
        boundaries=nf.Boundaries(nf.PEC, z=nf.CPML(40), conductor=metal),
        ports=[port],
        monitors=probes,
        waveform=nf.ModulatedGaussian(10e9, 5e9),
        precision="double",
        decay=1e-11,
    ).run(threads=2)
    signals = [result[probe.name] for probe in probes]
    near, far = (np.abs(fourier_integral(e.time.values, e.values, frequencies)) for e in signals)
    return np.log(near / far) / (length * step)


def box_quality(frequency: float, metal: nf.Conductor) -> float:
    """Q of TE101 of the box, E along its height (Pozar 6.3)."""
    a, b, d = BOX
    k = 2 * math.pi * frequency / C
    losses = 2 * a**3 * b + 2 * b * d**3 + a**3 * d + a * d**3
    return (k * a * d) ** 3 * b * ETA / (2 * math.pi**2 * metal.impedance(frequency).real * losses)


def ringing(simulation: nf.Simulation, frequency: float, probe: str) -> tuple[float, float]:
    """(frequency in Hz, Q) of the strongest resonance within 5 % of a frequency."""
    modes = nf.resonances(simulation.run(threads=2), (0.95 * frequency, 1.05 * frequency), probe=probe)
    best = int(np.argmax(np.abs(modes.amplitude.values)))
    return float(modes.frequency[best]), float(modes.quality_factor[best])


def box(conductor: nf.Conductor, cell: float, **options) -> tuple[float, float]:
    """(frequency, Q) of TE101 of the box in a block of metal, its walls on grid lines."""
    cells, around = [round(side / cell) for side in BOX], 2
    low, high = [[n * cell for n in ends] for ends in ([-around] * 3, [n + around for n in cells])]
    frequency, middle = 0.5 * C * math.hypot(1 / BOX[0], 1 / BOX[2]), [0.5 * side for side in BOX]
    return ringing(
        nf.Simulation(
            grid=nf.Grid.uniform(cell, [n + 2 * around for n in cells], low),
            structures=[nf.Structure(nf.Box(low, high), conductor), nf.Structure(nf.Box((0, 0, 0), BOX), nf.Medium())],
            boundaries=nf.Boundaries(nf.PEC),
            sources=[nf.PointCurrent(middle, "y", nf.ModulatedGaussian(frequency, 0.2 * frequency))],
            monitors=[nf.Probe("inside", (0.4 * BOX[0], middle[1], 0.4 * BOX[2]), "Ey")],
            duration=60 / frequency,
            precision="double",
            **options,
        ),
        frequency,
        "inside",
    )


def sphere(conductor: nf.Conductor, cells: int, mode: str, **options) -> tuple[float, float]:
    """(frequency, Q) of a mode of a ball hollowed out of metal, conformal, `cells` in its radius."""
    cell, kind = RADIUS / cells, nf.PointCurrent if mode.startswith("TM") else nf.MagneticPointCurrent
    half, frequency, off = cells + 2, expected(mode), 0.25 * RADIUS
    edge, place = half * cell, (0, 0, off if mode.startswith("TM") else 0)
    return ringing(
        nf.Simulation(
            grid=nf.Grid.uniform(cell, [2 * half] * 3, [-edge] * 3),
            structures=[
                nf.Structure(nf.Box([-edge] * 3, [edge] * 3), conductor),
                nf.Structure(nf.Sphere([part * cell for part in CENTRE], RADIUS), nf.Medium()),
            ],
            boundaries=nf.Boundaries(nf.PEC),
            sources=[kind(place, "z", nf.ModulatedGaussian(frequency, 0.15 * frequency))],
            monitors=[nf.Probe("inside", (0, 0, -off if off else 0), "Ez" if mode.startswith("TM") else "Hz")],
            duration=80 / frequency,
            precision="double",
            metal="conformal",
            **{"courant": 0.7} | options,
        ),
        frequency,
        "inside",
    )


def main() -> None:
    case = Case(__file__, "Walls of finite conductivity")
    frequencies = np.linspace(8e9, 12e9, 41)
    alpha = {cells: guide(POOR, frequencies, cells) for cells in ((18, 8), (9, 4))}
    theory, at_10 = guide_loss(frequencies, POOR), 20
    case.compare("WR-90, 2e5 S/m: attenuation at 10 GHz", theory[at_10], alpha[18, 8][at_10], 0.01, unit="Np/m")
    case.at_most("WR-90, largest error, 8 to 12 GHz", 0.02, float(np.abs(alpha[18, 8] / theory - 1).max()))
    copper = guide(COPPER, np.array([10e9]))[0]
    exact = guide_loss(np.array([10e9]), COPPER)[0]
    case.compare("WR-90, copper: attenuation at 10 GHz", exact, copper, 0.02, unit="Np/m")
    sizes = (4e-3, 2e-3, 1e-3)
    boxes = {BOX[1] / cell: box(POOR, cell) for cell in sizes}
    errors = {n: {"box": q / box_quality(f, POOR) - 1} for n, (f, q) in boxes.items()}
    f, q = boxes[12.0]
    case.compare("box 30 x 12 x 24 mm, TE101, 1 mm cells: Q", box_quality(f, POOR), q, 0.01)
    case.at_least("box: order of convergence of Q", 0.9, order(errors, "box"))
    balls = {mode: {n: sphere(POOR, n, mode) for n in (5, 7, 10, 14)} for mode in QUALITY}
    for mode, found in balls.items():
        f, q = found[14]
        exact = QUALITY[mode] * RADIUS / POOR.skin_depth(f)
        case.compare(f"sphere, {mode}, 14 cells in the radius: Q", exact, q, 0.01)
    with picture(case, columns=2, facts="conductivity 2e5 S/m") as (left, right):
        for cells, values in alpha.items():
            left.plot(frequencies / 1e9, values, label=f"WR-90, {cells[0]} x {cells[1]} cells")
        left.plot(frequencies[::2] / 1e9, theory[::2], "o", markersize=3, color="#1F2933", label="theory")
        left.set(xlabel="frequency (GHz)", ylabel="attenuation (Np/m)")
        left.legend()
        off = [100 * abs(error["box"]) for error in errors.values()]
        right.loglog(list(errors), off, "o-", label="box, cells in its height")
        for mode, found in balls.items():
            off = [100 * abs(q * POOR.skin_depth(f) / RADIUS / QUALITY[mode] - 1) for f, q in found.values()]
            right.loglog(list(found), off, "s-", label=f"sphere, {mode}, cells in its radius")
        right.minorticks_off()
        right.set_xticks((3, 5, 7, 10, 14), ("3", "5", "7", "10", "14"))
        right.set_yticks((0.01, 0.1, 1), ("0.01", "0.1", "1"))
        right.set(xlabel="cells", ylabel="error of Q (%)")
        right.legend(fontsize=7)
    case.finish()


if __name__ == "__main__":
    main()
