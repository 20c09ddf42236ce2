"""The weights of a plan's samples: costs of media, CPML and recorders beside the update of a plain vacuum cell.

In units of a plain cell without its part of a row's beginning. Measured on one core of a Xeon (Sapphire Rapids,
AVX-512) in single precision, each against the empty box in turn.
benchmarks/weights.py: cubes of 192 cells. benchmarks/results/features.json, dft_plane.json: cubes of 200.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.engines.cpu.pole_sizes import kept_numbers_at, pole_cost
from nearfield.entry.triples import Triple, triple
from nearfield.parallel.weights import Weights
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES
from nearfield.plan.term import Prices

CPML = (0.7, 0.8, 1.2)  # vacuum cells, a cell in a slab across planes, rows, samples of a row: benchmarks/weights.py
LOSSY = 0.09  # vacuum cells, a lossy cell in a block of equal ones: benchmarks/weights.py
MIXED = 0.9  # vacuum cells, a cell in a block of 16 with several media, as at a curved surface: benchmarks/weights.py
MIXED_LOSSY = 1.45  # vacuum cells, a cell in such a block with loss: benchmarks/weights.py
PRICES = Prices(
    frequency=0.55,  # features.json, "DFT box"
    visit=20.0,  # dft_plane.json, across the rows
    copy=2.0,  # features.json, "snapshots": below the noise
    edge=20.0,  # an estimate: features.json, "ports", shows none
)
MOST_LINES = 96  # lines of the lattice along an axis
PROBED = 12  # rows along either axis, and blocks of a row, whose media are probed
Part = tuple[Triple, Triple, float]  # lower and upper corner, weight a sample


def plan_weights(plan: Plan) -> Weights:
    """The weights of a plan, with no array of the size of the grid."""
    boxes = [*slabs(plan), *acting(plan)]
    media_lines, media = media_weights(plan)
    lines = triple(lattice_lines(plan, axis, boxes, media_lines[axis]) for axis in range(3))
    values = 1.0 + spread(media, lines, media_lines)
    for lower, upper, weight in boxes:
        values += spread(np.full((1, 1, 1), weight), lines, np.array([lower, upper], float).T)
    return Weights(plan.active, plan.storage_axes, lines, values, unparted=unparted(plan))


def unparted(plan: Plan) -> tuple[bool, bool, bool]:
    """Axes that ranks cannot share: closed rows of part blocks of 16, and closed axes of what is coupled."""
    rows, closed = plan.unit_axis, [phase is not None for phase in plan.phases]
    return triple(closed[n] and (plan.reach > 1 or (n == rows and plan.active[n] % LANES > 0)) for n in range(3))


def slabs(plan: Plan) -> Iterator[Part]:
    """The CPML, in whole blocks along the rows."""
    for place, axis in enumerate(plan.storage_axes):
        length = plan.active[axis]
        for high_end, planes in enumerate(plan.cpml[axis]):
            begin, end = (length - planes, length) if high_end else (0, planes)
            if place == 2:
                begin, end = begin // LANES * LANES, min(length, -(-end // LANES) * LANES)
            if planes:
                ends = [(begin, end) if a == axis else (0, n) for a, n in enumerate(plan.active)]
                slab = Box.between(ends)
                yield slab.lower, slab.upper, CPML[place]


def acting(plan: Plan) -> Iterator[Part]:
    """Boxes about everything that acts in rows, with their cost spread evenly over the samples."""
    for term in plan.terms:
        if box := term.loaded_box(plan.active):
            yield box.lower, box.upper, term.cost(PRICES, box, plan.unit_axis)


def media_weights(plan: Plan) -> tuple[list[np.ndarray], np.ndarray]:
    """Lattice lines along x, y, z, and the cost of the media in each block of that lattice.

    Rows are probed in the middle of the lattice's blocks, each at four samples of 16. Metal costs nothing: its samples
    stay zero.
    """
    a, b, unit = plan.storage_axes
    blocks = [min(PROBED, n) for n in plan.active]
    blocks[unit] = min(PROBED, -(-plan.active[unit] // LANES))
    lines = [np.linspace(0, n, parts + 1) for n, parts in zip(plan.active, blocks)]
    middles = [((low[:-1] + low[1:]) / 2).astype(int) for low in lines]
    samples = (middles[unit] // LANES * LANES)[:, None] + np.linspace(0, LANES - 1, 4).astype(int)
    samples = np.minimum(samples, plan.cells[unit] - 1)
    found = np.zeros((blocks[a], blocks[b], blocks[unit]))
    for number_a, i in enumerate(middles[a]):
        for number_b, j in enumerate(middles[b]):
            for component in (unit, 3 + unit):
                at = {a: np.full(samples.size, i), b: np.full(samples.size, j), unit: samples.ravel()}
                columns = plan.coefficients.at(component, at[0], at[1], at[2])
                found[number_a, number_b] += media_cost(*(column.reshape(samples.shape) for column in columns))
    found = np.moveaxis(found, (0, 1, 2), (a, b, unit))
    return lines, found + pole_cost(kept_numbers_at(plan, middles))


def media_cost(stay: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """Cost of a cell in blocks whose coefficients are given in some samples, (blocks, samples)."""
    live = (stay != 0) | (drive != 0)
    lossy = (live & (stay != 1)).any(axis=1)
    first = np.take_along_axis(drive, live.argmax(axis=1)[:, None], axis=1)
    mixed = (live & (drive != first)).any(axis=1)
    return np.where(mixed, np.where(lossy, MIXED_LOSSY, MIXED), np.where(lossy, LOSSY, 0.0))


def lattice_lines(plan: Plan, axis: int, boxes: Sequence[Part], media: np.ndarray) -> np.ndarray:
    """Lines along an axis: the ends of all boxes; where there are too many, those of the CPML and an even choice."""
    length = plan.active[axis]
    ends = np.unique([0, length, *(end for lower, upper, _ in boxes for end in (lower[axis], upper[axis])), *media])
    if len(ends) <= MOST_LINES:
        return ends.astype(float)
    kept = [end for lower, upper, _ in slabs(plan) for end in (lower[axis], upper[axis])]
    chosen = np.linspace(0, len(ends) - 1, MOST_LINES - 2 * len(plan.cpml)).round().astype(int)
    return np.unique([0, length, *kept, *ends[chosen]]).astype(float)


def spread(values: np.ndarray, lines: Sequence[np.ndarray], edges: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Values of a lattice with these edges as means over the blocks between lines."""
    x, y, z = map(shares, lines, edges)
    means: np.ndarray = np.einsum("abc,xa,yb,zc->xyz", values, x, y, z, optimize=True)
    return means


def shares(lines: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Part of each block between two lines that lies between two edges, (blocks, intervals between edges)."""
    lower, upper = np.maximum(lines[:-1, None], edges[:-1]), np.minimum(lines[1:, None], edges[1:])
    parts: np.ndarray = np.maximum(upper - lower, 0.0) / np.diff(lines)[:, None]
    return parts
