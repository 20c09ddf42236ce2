"""What CPML and media cost beside the empty box, in turn with it, and what the weights of a plan say of the same model.

    .venv/bin/python benchmarks/weights.py --cells 192 --steps 24 --pairs 12

One thread. `weight` is what a cell costs, where a plain one without its part of a row's beginning costs 1: a cell of
the slabs where slabs of 16 cells lie at both ends of one axis, else the mean cell. `predicted` is what
nearfield/parallel/plan_weights.py says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from paired import in_turn, parser, spread, write

from nearfield.bodies.geometry import Structure
from nearfield.bodies.shapes import Box, Sphere
from nearfield.grid.boundaries import CPML, Boundaries
from nearfield.measure.bench import CELL, Timed
from nearfield.measure.bench_features import lossy_palette, vacuum
from nearfield.media.materials import Medium
from nearfield.parallel.weights import ROW, Weights
from nearfield.simulation import Simulation

SLAB = 16  # cells, a whole block of a row


def slabs(cells: int, axes: str) -> Simulation:
    """CPML at both ends of these axes."""
    faces = {f"{axis}_{end}": CPML(SLAB) for axis in axes for end in ("low", "high")}
    return vacuum(cells, 1, "single", boundaries=Boundaries(all="pec", **faces))


def layers(cells: int, axis: int, loss: float) -> Simulation:
    """Four media, one after the other along an axis."""
    side, found = cells * CELL, []
    for number in range(4):
        lower, upper = [0.0] * 3, [side] * 3
        lower[axis], upper[axis] = number * side / 4, (number + 1) * side / 4
        found.append(Structure(Box(lower, upper), Medium(1.2 + 0.2 * number, conductivity=loss * (number + 1))))
    return vacuum(cells, 1, "single", structures=found)


def ball(cells: int, loss: float) -> Simulation:
    """A ball in three shells."""
    side = cells * CELL
    found = []
    for number in range(3):
        medium = Medium(2.0 + 0.5 * number, conductivity=loss * (number + 1))
        found.append(Structure(Sphere((side / 2,) * 3, (0.4 - 0.1 * number) * side), medium))
    return vacuum(cells, 1, "single", structures=found)


def cases(cells: int) -> Iterator[tuple[str, Simulation, float]]:
    """Name, model, and the part of the cells whose weight is looked for."""
    share = 2 * SLAB / cells
    yield from ((f"CPML across {axis}", slabs(cells, axis), share) for axis in "xyz")
    yield "CPML on six sides", slabs(cells, "xyz"), 1.0
    yield "one lossless medium", vacuum(cells, 1, "single", background=Medium(2.0)), 1.0
    yield "one lossy medium", vacuum(cells, 1, "single", background=Medium(2.0, conductivity=0.02)), 1.0
    yield "lossless layers along the rows", layers(cells, 2, 0.0), 1.0
    yield "lossy layers along the rows", layers(cells, 2, 0.01), 1.0
    yield "lossless ball", ball(cells, 0.0), 1.0
    yield "lossy ball", ball(cells, 0.02), 1.0
    yield "many media", lossy_palette(cells, 1, "single"), 1.0


def main() -> int:
    given = parser(__doc__, cells=192, steps=24, pairs=12, threads=1).parse_args()
    empty = Timed(vacuum(given.cells, given.steps, "single"), given.threads)
    found = []
    for name, model, share in cases(given.cells):
        timed = Timed(model, given.threads)
        weights = Weights.of(timed.setup.plan)
        pair = in_turn(given.pairs, lambda: empty.rate(given.steps), lambda timed=timed: timed.rate(given.steps))
        mean = weights.total / float(np.prod(weights.shape))
        extra = (pair["ratio"] - 1) * (1 + ROW / given.cells) / share
        facts = {fact: timed.facts()[fact] for fact in ("schedule", "tile_depth", "tile_width", "palette_blocks")}
        found.append(
            {
                "name": name,
                **pair,
                "weight": round(1 + extra, 3),
                "predicted": round(1 + (mean - 1) / share, 3),
                **facts,
            }
        )
        print(
            f"{name:32} {spread(pair)} times the empty box; weight {found[-1]['weight']:.2f}, "
            f"predicted {found[-1]['predicted']:.2f}",
            flush=True,
        )
    write("weights", given, comparisons=found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
