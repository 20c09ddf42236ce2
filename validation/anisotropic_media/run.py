"""A box filled with a medium that differs along x, y and z, and a microstrip line on a uniaxial board.

.venv/bin/python -m validation.anisotropic_media.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.microstrip.run import expected as isotropic
from validation.microstrip.run import mode_constants, model
from validation.picture import picture

C = 299792458.0
SIZE = (50e-3, 20e-3, 60e-3)  # m
CELLS = (25, 10, 31)
CONSTANTS = ((3.4, 2.9, 5.0), (1.0, 1.5, 2.0))  # permittivity and permeability along x, y, z
MODES = {  # (m, n, p) and the component that stands alone along the axis without change: E or H
    "E along y, 101": ((1, 0, 1), 1, "E"),
    "E along y, 102": ((1, 0, 2), 1, "E"),
    "E along x, 011": ((0, 1, 1), 0, "E"),
    "E along z, 110": ((1, 1, 0), 2, "E"),
    "H along y, 101": ((1, 0, 1), 1, "H"),
    "H along y, 202": ((2, 0, 2), 1, "H"),
}
SAPPHIRE = (9.4, 9.4, 11.6)  # across and along the crystal's axis, which stands on the board
WIDTH, HEIGHT = 1.0e-3, 1.0e-3


def box(courant: float = 0.99) -> nf.Simulation:
    """The filled box."""
    spacing = [length / count for length, count in zip(SIZE, CELLS)]
    grid, filling = nf.Grid.uniform(spacing, CELLS), nf.Medium(*CONSTANTS)
    return nf.Simulation(grid, (), background=filling, precision="double", courant=courant, steps=1)


def constants(name: str) -> tuple[float, list[tuple[float, int]]]:
    """The constant of the field that stands alone, and (constant, axis) of each term k^2 of its equation.

    E_a: w^2 eps_a = k_b^2/mu_c + k_c^2/mu_b; H_a likewise with eps and mu exchanged (c = 1).
    """
    _, a, field = MODES[name]
    own, other = CONSTANTS if field == "E" else CONSTANTS[::-1]
    b, c = (a + 1) % 3, (a + 2) % 3
    return own[a], [(other[c], b), (other[b], c)]


def continuum(name: str) -> float:
    """Frequency (Hz) of the mode in the box itself."""
    numbers, (own, terms) = MODES[name][0], constants(name)
    return 0.5 * C * math.sqrt(sum((numbers[axis] / SIZE[axis]) ** 2 / constant for constant, axis in terms) / own)


def on_the_grid(name: str, time_step: float) -> float:
    """Frequency (Hz) of the mode on the Yee grid: sin^2(w dt/2)/(c dt)^2 in place of w^2, sin^2(k d/2)/d^2 of k^2."""
    numbers, (own, terms) = MODES[name][0], constants(name)
    total = sum(
        (CELLS[axis] / SIZE[axis] * math.sin(math.pi * numbers[axis] / (2 * CELLS[axis]))) ** 2 / constant
        for constant, axis in terms
    )
    return math.asin(C * time_step * math.sqrt(total / own)) / (math.pi * time_step)


def mode_fields(name: str) -> dict[str, np.ndarray]:
    """E of the mode on the Yee positions, D free of charge also on the grid."""
    numbers, a, field = MODES[name]
    wave = [2 * n / length * math.sin(math.pi * m / (2 * n)) for m, length, n in zip(numbers, SIZE, CELLS)]
    amplitude = [0.0, 0.0, 0.0]
    amplitude[a] = 1.0
    if field == "H":  # D = curl H
        b, c = (a + 1) % 3, (a + 2) % 3
        amplitude = [0.0, 0.0, 0.0]
        amplitude[b], amplitude[c] = wave[c] / CONSTANTS[0][b], -wave[b] / CONSTANTS[0][c]
    fields = {}
    for axis, component in enumerate(("Ex", "Ey", "Ez")):
        factors = []
        for other, (m, count) in enumerate(zip(numbers, CELLS)):
            if field == "H" and other == a:  # nothing changes between magnetic walls
                factors.append(np.ones(count + (other != axis)))
            elif other == axis:
                factors.append(np.cos(math.pi * m * (np.arange(count) + 0.5) / count))
            else:
                factors.append(np.sin(math.pi * m * np.arange(count + 1) / count))
        fields[component] = amplitude[axis] * np.einsum("i,j,k->ijk", *factors)
    return fields


def found(name: str, steps: int = 60) -> tuple[float, float]:
    """(frequency in Hz, time step): the mode is set, and its part a(n) of the field obeys a(n+1) + a(n-1) =
    2 cos(w dt) a(n); the cosine is fitted to all steps."""
    _, a, field = MODES[name]
    walls = {f"{'xyz'[a]}_{side}": nf.PMC for side in ("low", "high")} if field == "H" else {}
    solver = nf.Solver(box().model_copy(update={"boundaries": nf.Boundaries(nf.PEC, **walls)}), threads=1)
    fields = mode_fields(name)
    for component, values in fields.items():
        solver.set_field(component, values)
    amplitude = []
    for _ in range(steps):
        parts = (float(np.vdot(values, solver.field(component))) for component, values in fields.items())
        amplitude.append(sum(parts))
        solver.advance()
    each = np.array(amplitude[1:])  # the first step starts from H = 0 half a step off
    cosine = np.dot(each[2:] + each[:-2], each[1:-1]) / (2 * np.dot(each[1:-1], each[1:-1]))
    return math.acos(cosine) / (2 * math.pi * solver.time_step), solver.time_step


def uniaxial_line(across: float, along: float) -> tuple[float, float]:
    """(impedance in ohm, effective permittivity) at low frequency of a line on a board with a permittivity across and
    along its normal.

    With z' = z sqrt(across/along) in the board its potential obeys Laplace's equation in an isotropic board of
    permittivity sqrt(across along) and height h sqrt(across/along) (Owens, Aitken, Edwards, IEEE Transactions on
    Microwave Theory and Techniques 24 (1976) 499-505); the line's capacitance in air is that of the height itself.
    """
    thinner = HEIGHT * math.sqrt(across / along)
    impedance, effective = isotropic(WIDTH, thinner, math.sqrt(across * along))
    in_air = isotropic(WIDTH, HEIGHT, 1.0)[0]
    capacitance, capacitance_in_air = math.sqrt(effective) / (impedance * C), 1 / (in_air * C)
    return 1 / (C * math.sqrt(capacitance * capacitance_in_air)), capacitance / capacitance_in_air


def line_on(medium: nf.Medium, cells: int, layers: int) -> nf.Simulation:
    """The microstrip case's line on a board of a medium."""
    given = model(cells, layers, WIDTH, HEIGHT)
    board, strip = given.structures
    return given.model_copy(update={"structures": (nf.Structure(board.shape, medium), strip)})


def main() -> None:
    case = Case(__file__, "Media that differ along x, y and z")
    errors = {}
    for name in MODES:
        frequency, time_step = found(name)
        case.compare(f"{name}, Yee grid", on_the_grid(name, time_step) / 1e9, frequency / 1e9, 1e-6, unit="GHz")
        case.compare(f"{name}, continuum", continuum(name) / 1e9, frequency / 1e9, 0.004, unit="GHz")
        errors[name] = frequency / continuum(name) - 1
    ratios = []
    for across in (4.7, 9.4, 20.0):
        impedance, effective = uniaxial_line(across, SAPPHIRE[2])
        z, eps = mode_constants(line_on(nf.Medium((across, across, SAPPHIRE[2])), 8, 6), np.array([0.2e9]))
        case.compare(f"impedance on ({across:g}, {across:g}, 11.6)", impedance, float(z[0]), 0.01, unit="ohm")
        case.compare(f"effective permittivity on ({across:g}, {across:g}, 11.6)", effective, float(eps[0]), 0.01)
        ratios.append((across, effective, float(eps[0])))
    with picture(case, columns=2, facts="a filled box; a microstrip line, w = h = 1 mm, on a uniaxial board") as axes:
        axes[0].bar(range(len(errors)), [100 * error for error in errors.values()], width=0.5)
        axes[0].set_xticks(range(len(errors)), list(errors), rotation=30, ha="right", fontsize=7)
        axes[0].set(ylabel="resonance, off the continuum (%)")
        across, wanted, eps = zip(*ratios)
        axes[1].plot(across, wanted, color="#1F2933", label="Owens and others")
        axes[1].plot(across, eps, "o", label="mode on the grid")
        axes[1].set(xlabel="permittivity across the normal, 11.6 along it", ylabel="effective permittivity")
        axes[1].legend()
    case.finish()


if __name__ == "__main__":
    main()
