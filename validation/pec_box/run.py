"""Resonances of a PEC box against those of the Yee grid itself, and against the continuum.

.venv/bin/python -m validation.pec_box.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.picture import picture

C = 299792458.0
SIZE = (50e-3, 20e-3, 60e-3)  # m
CELLS = (25, 10, 31)
MODES = {
    "TE101": (1, 0, 1),
    "TE102": (1, 0, 2),
    "TE201": (2, 0, 1),
    "TE202": (2, 0, 2),
    "TM110": (1, 1, 0),
    "TM111": (1, 1, 1),
}


def model(courant: float = 0.99) -> nf.Simulation:
    """The empty box."""
    spacing = [length / count for length, count in zip(SIZE, CELLS)]
    return nf.Simulation(
        nf.Grid.uniform(spacing, CELLS), boundaries=nf.Boundaries(nf.PEC), precision="double", courant=courant, steps=1
    )


def continuum(mode: tuple[int, int, int]) -> float:
    """Frequency (Hz) of the mode in the box itself."""
    return 0.5 * C * math.sqrt(sum((m / length) ** 2 for m, length in zip(mode, SIZE)))


def on_the_grid(mode: tuple[int, int, int], time_step: float) -> float:
    """Frequency (Hz) of the mode on the Yee grid: sin^2(w dt/2)/(c dt)^2 = sum of sin^2(k d/2)/d^2."""
    total = sum(
        (count / length * math.sin(math.pi * m / (2 * count))) ** 2 for m, length, count in zip(mode, SIZE, CELLS)
    )
    return math.asin(C * time_step * math.sqrt(total)) / (math.pi * time_step)


def mode_fields(mode: tuple[int, int, int]) -> dict[str, np.ndarray]:
    """E of the mode on the Yee positions, free of charge also on the grid."""
    wave = [2 * count / length * math.sin(math.pi * m / (2 * count)) for m, length, count in zip(mode, SIZE, CELLS)]
    if mode[1] == 0:
        amplitude = (0.0, 1.0, 0.0)
    else:
        amplitude = (-wave[0] * wave[2], -wave[1] * wave[2], wave[0] ** 2 + wave[1] ** 2)
    fields = {}
    for axis, name in enumerate(("Ex", "Ey", "Ez")):
        factors = []
        for other, (m, count) in enumerate(zip(mode, CELLS)):
            if other == axis:
                factors.append(np.cos(math.pi * m * (np.arange(count) + 0.5) / count))
            else:
                factors.append(np.sin(math.pi * m * np.arange(count + 1) / count))
        fields[name] = amplitude[axis] * np.einsum("i,j,k->ijk", *factors)
    return fields


def found(mode: tuple[int, int, int], steps: int = 60) -> tuple[float, float]:
    """(frequency in Hz, time step): the mode is set, and its part a(n) of the field obeys a(n+1) + a(n-1) =
    2 cos(w dt) a(n); the cosine is fitted to all steps."""
    solver = nf.Solver(model(), threads=1)
    fields = mode_fields(mode)
    for name, values in fields.items():
        solver.set_field(name, values)
    amplitude = []
    for _ in range(steps):
        amplitude.append(sum(float(np.vdot(values, solver.field(name))) for name, values in fields.items()))
        solver.advance()
    a = np.array(amplitude[1:])  # the first step starts from H = 0 half a step off
    cosine = np.dot(a[2:] + a[:-2], a[1:-1]) / (2 * np.dot(a[1:-1], a[1:-1]))
    return math.acos(cosine) / (2 * math.pi * solver.time_step), solver.time_step


def main() -> None:
    case = Case(__file__, "PEC box, 50 x 20 x 60 mm in 25 x 10 x 31 cells")
    errors = {}
    for name, mode in MODES.items():
        frequency, time_step = found(mode)
        exact = continuum(mode)
        case.compare(f"{name}, Yee grid", on_the_grid(mode, time_step) / 1e9, frequency / 1e9, 1e-6, unit="GHz")
        case.compare(f"{name}, continuum", exact / 1e9, frequency / 1e9, 0.0022, unit="GHz")
        errors[name] = (frequency / exact - 1, on_the_grid(mode, time_step) / exact - 1)
    with picture(case, facts="at 0.99 of the stability limit") as (axes,):
        axes.bar(range(len(errors)), [100 * e[0] for e in errors.values()], width=0.5, label="found")
        axes.plot(range(len(errors)), [100 * e[1] for e in errors.values()], "o", color="#1F2933", label="Yee grid")
        axes.set_xticks(range(len(errors)), list(errors))
        axes.set(ylabel="off the continuum (%)")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
