"""The wave of an infinite line current against the Hankel function, between PEC plates and in a periodic box.

.venv/bin/python -m validation.cylindrical_wave.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from examples.line_source import hankel, ratios
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

C = 299792458.0
ETA = 376.730313412  # ohm
FREQUENCY = 1e9  # Hz
CELL = C / FREQUENCY / 20  # m
HEIGHT = 2 * CELL  # one cell high: nothing varies along z, and low cells would only shorten the time step
PLACES = {
    "axis": [(n, 0) for n in range(4, 33, 4)],
    "diagonal": [(n, n) for n in range(4, 25, 4)],
    "between": [(2 * n, n) for n in range(4, 15, 2)],
}


def expected(distance: float) -> complex:
    """E (V/m) at a distance (m) from a current of 1 A: -k eta/4 H0(2)(k r)."""
    wave_number = 2 * math.pi * FREQUENCY / C
    return -wave_number * ETA / 4 * hankel(wave_number * distance)


def lattice_factor(direction: float, time_step: float) -> float:
    """Far amplitude on the Yee grid over that in space, towards an angle (rad): stationary phase, see README.md."""
    omega = 2 / time_step * math.sin(math.pi * FREQUENCY * time_step)
    turn = np.linspace(0, math.pi / 2, 2001)
    k = 2 / CELL * np.arcsin(0.5 * CELL * omega / C * np.array([np.cos(turn), np.sin(turn)])) * CELL
    slope, bend = 2 * np.sin(k) / CELL, 2 * np.cos(k)
    gradient = np.hypot(*slope)
    curvature = (bend[0] * slope[1] ** 2 + bend[1] * slope[0] ** 2) / gradient**3
    wave_number = 2 * math.pi * FREQUENCY / C
    factor = omega / (2 * math.pi * FREQUENCY) * 2 * wave_number / gradient / np.sqrt(wave_number * curvature)
    return float(np.interp(direction, np.arctan2(slope[1], slope[0]), factor))


def found() -> tuple[dict[str, list[complex]], float]:
    """(E at the places, per ampere; time step)"""
    half = 50
    points = {f"{name} {place}": place for name, places in PLACES.items() for place in places}
    waveform = nf.GaussianDerivative(FREQUENCY)
    simulation = nf.Simulation(
        grid=nf.Grid.uniform((CELL, CELL, HEIGHT), (2 * half, 2 * half, 1), (-half * CELL, -half * CELL, 0)),
        boundaries=nf.Boundaries(z_low=nf.PEC, z_high=nf.PEC),
        sources=[nf.LineCurrent((0, 0, 0), (0, 0, HEIGHT), waveform)],
        monitors=[nf.Probe(name, (x * CELL, y * CELL, 0.5 * HEIGHT), "Ez") for name, (x, y) in points.items()],
        decay=1e-9,
    )
    result = simulation.run(threads=1)
    source = waveform.spectrum([FREQUENCY])[0]

    def phasor(name: str) -> complex:
        field = result[name]
        return complex(fourier_integral(field.time.values, field.values, np.array([FREQUENCY]))[0] / source)

    fields = {name: [phasor(f"{name} {place}") for place in places] for name, places in PLACES.items()}
    return fields, float(result.facts["time_step"])


def compare_periodic(case: Case) -> None:
    """The sine line source of examples/line_source.py, before the first image of it arrives."""
    for name, places, tolerance in (
        ("axis", [(n, 0) for n in range(20, 81, 20)], 0.01),
        ("diagonal", [(n, n) for n in range(14, 57, 14)], 0.016),
    ):
        amplitude = np.abs(ratios(320, tuple(places)))
        worst = float(amplitude[np.argmax(np.abs(amplitude - 1))])
        case.compare(f"periodic box, sine, {name}: amplitude over that in space", 1.0, worst, tolerance)


def main() -> None:
    case = Case(__file__, "Cylindrical wave of a line current")
    fields, time_step = found()
    with picture(case, columns=2, facts="20 cells per wavelength; dots: Hankel function") as axes:
        for name, places in PLACES.items():
            distance = np.array([math.hypot(*place) for place in places]) * CELL
            theory = np.array([expected(r) for r in distance])
            ratio = np.array(fields[name]) / theory
            lattice = lattice_factor(math.atan2(*places[0][::-1]), time_step)
            far = float(np.abs(ratio[-1]))
            case.compare(f"{name}: far amplitude over that in space", 1.0, far, 0.016 if name != "axis" else 0.01)
            case.compare(f"{name}: far amplitude over that in space, on the lattice", lattice, far, 0.001)
            # the grid's wave lags by (k d)^2/24 of its path at most
            lag = (2 * math.pi / 20) ** 2 / 24 * 2 * math.pi * FREQUENCY / C * distance
            worst = float((np.abs(np.angle(ratio)) / lag).max())
            case.at_most(f"{name}: largest phase error over its bound", 1.0, worst)
            axes[0].plot(distance / CELL, np.abs(fields[name]), label=name)
            axes[0].plot(distance / CELL, np.abs(theory), "o", markersize=3, color="#1F2933")
            axes[1].plot(distance / CELL, np.degrees(np.angle(ratio)), label=name)
        compare_periodic(case)
        axes[0].set(xlabel="distance (cells)", ylabel="E (V/m) per ampere")
        axes[1].set(xlabel="distance (cells)", ylabel="phase error (degrees)")
        axes[0].legend()
    case.finish()


if __name__ == "__main__":
    main()
