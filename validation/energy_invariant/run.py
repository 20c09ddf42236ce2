"""The leap-frog energy of a lossless box over 20 000 steps from a random start.

.venv/bin/python -m validation.energy_invariant.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.picture import picture

STEPS, SAMPLES = 20_000, 50
CELLS = (14, 11, 9)
ETA = 376.730313412  # ohm


def energies(precision: str, steps: int = STEPS, samples: int = SAMPLES) -> np.ndarray:
    """U = 1/2 sum(E^n . E^n + eta^2 H^(n-1/2) . H^(n+1/2)) in units of eps0 times the cell, at some steps n."""
    box = nf.Simulation(
        nf.Grid.uniform(1e-3, CELLS), boundaries=nf.Boundaries(nf.PEC), precision=precision, steps=steps
    )
    solver = nf.Solver(box, threads=1)
    random = np.random.default_rng(1990)
    for component, name in enumerate(("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")):
        values = random.standard_normal(solver.grid.component_shape(component))
        solver.set_field(name, values / (ETA if component >= 3 else 1.0))
    found = []
    for _ in range(samples):
        before = magnetic(solver)
        solver.advance(1)
        electric = [solver.field(name).astype(float) for name in ("Ex", "Ey", "Ez")]
        after = magnetic(solver)
        found.append(
            0.5 * sum(np.vdot(e, e) for e in electric)
            + 0.5 * ETA**2 * sum(np.vdot(b, a) for b, a in zip(before, after))
        )
        solver.advance(steps // samples - 1)
    return np.array(found)


def magnetic(solver: nf.Solver) -> list[np.ndarray]:
    """H now; that normal to a wall stands still there and is left out."""
    fields = []
    for axis, name in enumerate(("Hx", "Hy", "Hz")):
        inside = [slice(None)] * 3
        inside[axis] = slice(1, -1)
        fields.append(solver.field(name).astype(float)[tuple(inside)])
    return fields


def main() -> None:
    case = Case(__file__, "Leap-frog energy of a lossless box, 20 000 steps")
    drift = {}
    for precision, limit in (("double", 1e-12), ("single", 1e-5)):
        energy = energies(precision)
        drift[precision] = energy / energy[0] - 1
        case.at_most(f"{precision} precision, largest drift", limit, float(np.abs(drift[precision]).max()))
    with picture(case, columns=2, facts="random start, 0.99 of the stability limit") as axes:
        for panel, (precision, values) in zip(axes, drift.items()):
            panel.plot(np.arange(SAMPLES) * STEPS / SAMPLES / 1000, values)
            panel.set(xlabel="thousand steps", ylabel=f"drift, {precision}")
    case.finish()


if __name__ == "__main__":
    main()
