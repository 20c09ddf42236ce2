"""Antennas of thin wires beside NEC2: a dipole, a Yagi, a loop and a log-periodic antenna, on automatic grids.

.venv/bin/python -m validation.wire_antennas.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.picture import picture
from validation.wire_antennas.nec import (
    ANSWERS,
    BOOM,
    DIPOLE,
    FEED,
    RADIUS,
    SIDE,
    YAGI,
    C,
    Element,
    log_periodic_wires,
)

FREQUENCY = C * 1e6  # Hz: a wavelength of 1 m
CELLS = 60  # per wavelength
GAP = 1.0 / CELLS  # of the feeding ports (m)


def fed(wires: list[nf.Wire], lower: tuple, upper: tuple, axis: str, mirror: bool = True) -> nf.Simulation:
    """The wires in free space with a port of 50 ohm; symmetric about y = 0."""
    return nf.Simulation(
        grid=nf.AutoGrid(cells_per_wavelength=CELLS, maximum_frequency=FREQUENCY, padding=0.25),
        structures=[nf.Structure(wire, nf.PEC) for wire in wires],
        boundaries=nf.Boundaries(nf.CPML(10)),
        symmetry=nf.Symmetry(y="magnetic") if mirror else nf.Symmetry(),
        ports=[nf.LumpedPort("feed", lower, upper, axis, resistance=50.0)],
        monitors=[nf.FarField("pattern", (FREQUENCY,))],
        waveform=nf.ModulatedGaussian(FREQUENCY, 0.5 * FREQUENCY),
    )


def of_elements(elements: tuple[Element, ...], driven: int) -> nf.Simulation:
    """Parallel wires along z, one of them in two arms with the port between them."""
    wires = []
    for number, (x, length) in enumerate(elements):
        ends = [(-0.5, 0.5)] if number != driven else [(-0.5, -0.5 * GAP / length), (0.5 * GAP / length, 0.5)]
        wires += [nf.Wire([(x, 0, low * length), (x, 0, high * length)], radius=RADIUS) for low, high in ends]
    x = elements[driven][0]
    return fed(wires, (x, 0, -0.5 * GAP), (x, 0, 0.5 * GAP), "z")


def square_loop() -> nf.Simulation:
    """A square about the x axis, its port in the middle of the lower side."""
    h, gap = 0.5 * SIDE, 0.5 * GAP
    corners = [(gap, -h), (h, -h), (h, h), (-h, h), (-h, -h), (-gap, -h)]
    return fed([nf.Wire([(0, *corner) for corner in corners], RADIUS)], (0, -gap, -h), (0, gap, -h), "y", mirror=False)


def log_periodic() -> nf.Simulation:
    """Arms along z on two wires along x, with the port between the ends of these."""
    wires = [nf.Wire([a, b], RADIUS) for a, b, _ in log_periodic_wires()]
    return fed(wires, (FEED, -0.5 * BOOM, 0), (FEED, 0.5 * BOOM, 0), "y", mirror=False)


def answer(result: nf.Result) -> tuple[complex, float, float]:
    """(impedance, gain ahead, gain behind), as `nec.answer` has them."""
    s = result.sparameters.sel(to="feed", source="feed")
    own = np.interp(FREQUENCY, s.frequency.values, s.values)
    cut = level(result)
    return 50.0 * complex((1 + own) / (1 - own)), float(cut[0]), float(cut[cut.size // 2])


def level(result: nf.Result) -> np.ndarray:
    """Directivity (dBi) round the z axis from +x on."""
    far = result["pattern"].directivity_dbi.isel(frequency=0).sel(theta=0.5 * math.pi, method="nearest")
    return far.values


def main() -> None:
    case = Case(__file__, "Antennas of thin wires beside NEC2")
    models = {
        "dipole": of_elements(DIPOLE, 0),
        "Yagi": of_elements(YAGI, 1),
        "loop": square_loop(),
        "log-periodic": log_periodic(),
    }
    tolerances = {
        "dipole": (1.5, 1.5, 0.05),
        "Yagi": (2.5, 5.0, 0.2),
        "loop": (2.5, 5.0, 0.05),
        "log-periodic": (10, 25, 0.6),
    }
    with picture(case, facts="dots: NEC2, ahead and behind") as axes:
        for name, simulation in models.items():
            result = simulation.run(threads=2)
            impedance, ahead, behind = answer(result)
            (expected, gain, back), (resistance, reactance, level_off) = ANSWERS[name], tolerances[name]
            case.compare(f"{name}: resistance", expected.real, impedance.real, resistance, absolute=True, unit="ohm")
            case.compare(f"{name}: reactance", expected.imag, impedance.imag, reactance, absolute=True, unit="ohm")
            case.compare(f"{name}: gain ahead", gain, ahead, level_off, absolute=True, unit="dBi")
            behind_off = 2.5 if name == "log-periodic" else level_off  # 0.05 of the field ahead
            case.compare(f"{name}: gain behind", back, behind, behind_off, absolute=True, unit="dBi")
            cut = level(result)
            axes[0].plot(np.linspace(0.0, 360.0, cut.size, endpoint=False), cut, label=name)
            axes[0].plot((0.0, 180.0), (gain, back), "o", markersize=4, color="#1F2933")
        axes[0].set(xlabel="direction in the plane across the elements (degrees)", ylabel="gain (dBi)")
        axes[0].legend()
    case.finish()


if __name__ == "__main__":
    main()
