"""What leaks out of an empty total-field box.

.venv/bin/python -m validation.total_field_box.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from nearfield.engines import ENGINES
from validation.case import Case
from validation.picture import picture

CELL = 1e-3  # m
CELLS, EDGE = 50, 15  # of the grid; from its ends to the box
STEPS = 400
WAVES = {
    "along z": ("+z", "x"),
    "along -x, E tilted": ("-x", (0, 1, 2)),
    "60, 40 degrees": (("60 deg", "40 deg"), "30 deg"),
    "1, 1, 1": ((1, 1, 1), (1, -1, 0)),
    "nearly along y": ((1e-3, 0.5, 0.02), "x"),
}


def leak(direction, polarisation, waveform, precision: str) -> np.ndarray:
    """Largest scattered field so far over the largest total one, dB, every ten steps."""
    low, high = EDGE * CELL, (CELLS - EDGE) * CELL
    wave = nf.PlaneWave((low,) * 3, (high,) * 3, direction, polarisation, waveform)
    model = nf.Simulation(grid=nf.Grid.uniform(CELL, (CELLS,) * 3), sources=[wave], steps=STEPS, precision=precision)
    engine, inside, outside = ENGINES["cpu"](model._setup().plan), 0.0, []
    for _ in range(STEPS // 10):
        engine.advance(10)
        largest = 0.0
        for component in range(6):
            field = np.abs(np.array(engine.state(component)))
            half = [(component % 3 == axis) == (component < 3) for axis in range(3)]
            box = tuple(slice(EDGE, CELLS - EDGE + (not midway)) for midway in half)
            inside = max(inside, float(field[box].max()))
            field[box] = 0.0
            largest = max(largest, float(field.max()))
        outside.append(max([largest, *outside[-1:]]))
    return 20 * np.log10(np.maximum(outside, 1e-30) / inside)


def main() -> None:
    case = Case(__file__, "Total-field box, empty: scattered over total field")
    width = nf.Gaussian(10e9).width
    smooth = nf.Gaussian(10e9, delay=6.2 * width)  # it begins at 1e-17 of its peak
    steps = 10 * np.arange(1, STEPS // 10 + 1)
    with picture(case, columns=2, facts="30 cells a wavelength at -20 dB, 20^3 cells in the box") as axes:
        for precision, panel in zip(("double", "single"), axes):
            for name, (direction, polarisation) in WAVES.items():
                found = leak(direction, polarisation, smooth, precision)
                straight = isinstance(direction, str)
                limit = {"double": -250.0 if straight else -200.0, "single": -120.0 if straight else -115.0}[precision]
                case.at_most(f"{name}, {precision} precision", limit, float(found[-1]), unit="dB")
                panel.plot(steps, found, label=name)
            panel.set(xlabel="step", ylabel="dB", title=f"{precision} precision", ylim=(-340, -100))
            panel.legend(fontsize=8)
    default = leak(*WAVES["60, 40 degrees"], nf.Gaussian(10e9), "double")
    case.at_most("60, 40 degrees, a pulse that begins at 1e-8, double", -150.0, float(default[-1]), unit="dB")
    case.finish()


if __name__ == "__main__":
    main()
