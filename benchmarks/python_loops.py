"""What threads gain in the loops of Python: planes of update coefficients, and directions of far fields.

    .venv/bin/python benchmarks/python_loops.py --cells 160 --directions 6552 --pairs 5

The model is a cube within a CPML with a lossy dielectric sphere and, in it, a sphere of metal that cuts cells. The
surface of the far fields is a cube of so many cells less the CPML, with random fields at three frequencies. Taken in
turn: all threads, one thread; rates in million cells and thousand directions (of one frequency) a second.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from paired import in_turn, parser, spread, write

import nearfield as nf
from nearfield.analysis.faces import Face, time_factor
from nearfield.analysis.farfield import Exterior, far_fields
from nearfield.analysis.surface import Surface, grid_lines
from nearfield.machine import topology
from nearfield.machine.linear_algebra import single_threaded

CELL = 1e-3  # m
LAYERS = 10  # of the CPML
FREQUENCIES = np.array([5e9, 8e9, 12e9])
SEED = 3


def spheres(cells: int) -> nf.Simulation:
    """The model, with nodes at no symmetric place."""
    size = cells * CELL
    middle = 0.5 * size + 0.3 * CELL
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (cells, cells, cells)),
        boundaries=nf.Boundaries(all=nf.CPML(LAYERS)),
        structures=[
            nf.Structure(nf.Sphere((middle, middle, middle), 0.3 * size), nf.Medium(4.0, 1.0, 0.01)),
            nf.Structure(nf.Sphere((middle, middle, 0.6 * size), 0.1 * size), nf.PEC),
        ],
        sources=[nf.PointCurrent((size - (LAYERS + 2) * CELL, middle, middle), "z", nf.Gaussian(20e9))],
        metal="conformal",
        steps=1,
    )


def surface(cells: int) -> Surface:
    """A closed surface with random fields, on the grid of the model."""
    rng, line, step = np.random.default_rng(SEED), CELL * np.arange(cells + 1.0), 1e-12
    inner = line[LAYERS:-LAYERS]
    count = inner.size - 1

    def field(*shape: int) -> np.ndarray:
        return rng.standard_normal((FREQUENCIES.size, *shape, 2)).view(complex)[..., 0]

    def tangential() -> tuple[np.ndarray, np.ndarray]:
        return field(count, count + 1), field(count + 1, count)

    ends = (-1, float(inner[0])), (1, float(inner[-1]))
    lag = time_factor(FREQUENCIES, step)
    faces = [
        Face(axis, side, place, (CELL, CELL), (inner, inner), tangential(), tangential()[::-1], lag)
        for axis in range(3)
        for side, place in ends
    ]
    return Surface(faces, grid_lines((line, line, line), {}), step)


def seconds(threads: int, work: Callable[[], object]) -> float:
    """Of a loop by so many threads."""
    with patch.object(topology, "topology", lambda: topology.Topology(threads, threads)), single_threaded():
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun


def main() -> int:
    made = parser(__doc__, cells=160, steps=None)
    made.add_argument("--directions", type=int, default=6552, help="directions of the far fields")
    given = made.parse_args()
    plan, faces = spheres(given.cells)._setup().plan, surface(given.cells)
    theta = np.linspace(0.0, np.pi, given.directions)
    phi = 40.0 * theta
    asked: dict[str, tuple[Callable[[], object], float]] = {
        "coefficients": (lambda: deque(plan.coefficients.planes(plan.storage_axes[0]), maxlen=0), given.cells**3 / 1e6),
        "far fields": (
            lambda: far_fields(faces, Exterior(), FREQUENCIES, theta, phi),
            FREQUENCIES.size * given.directions / 1e3,
        ),
    }
    rows = []
    for name, (work, count) in asked.items():
        work()

        def rate(threads: int, work=work, count=count) -> float:
            return count / seconds(threads, work)

        pair = in_turn(given.pairs, lambda rate=rate: rate(given.threads), lambda rate=rate: rate(1))
        taken = [round(count / float(np.median(pair[which])), 3) for which in ("first", "second")]
        rows.append({"name": name, "seconds": taken, **pair})
        print(f"{name:13} {taken[0]:7.3f} s, {spread(pair)} times one thread ({taken[1]:.3f} s)", flush=True)
    write("python_loops", given, rates=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
