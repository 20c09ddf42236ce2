"""Sizes of the exchange between the ranks of a decomposition: samples of their faces, bytes, messages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, product

from nearfield.engines.cpu.pole_sizes import kept_numbers
from nearfield.engines.protocol import FIELDS
from nearfield.parallel.decomposition import Decomposition
from nearfield.parallel.part import held_box, parted_rings
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF

TANGENTIAL, HALF, ALL = 2, 3, 6  # components: H of one layer at a face, at an edge; of several layers (halo.py)
STATES = 4  # values of the CPML, a cell and slab


@dataclass(frozen=True)
class HaloSize:
    """The halo that one rank receives; it sends about as much. `messages` go to faces, edges and corners."""

    rank: int
    cells: int
    face_cells: int  # of all its faces towards other ranks
    messages: int  # of an exchange
    bytes_per_exchange: int
    bytes_per_step: float

    @property
    def surface_ratio(self) -> float:
        """R, cells over face cells; infinite for a rank without neighbours."""
        return self.cells / self.face_cells if self.face_cells else math.inf

    def as_dict(self) -> dict[str, float]:
        """Plain numbers, R included."""
        return asdict(self) | {"surface_ratio": self.surface_ratio}


def halo_sizes(plan: Plan, decomposition: Decomposition, depth: int) -> list[HaloSize]:
    """The exchange of every rank, `depth` layers at once, with edges, corners and the CPML's states in them."""
    whole = decomposition.arrangement.whole
    boxes = decomposition.grouping.boxes(decomposition.arrangement)
    return [halo_size(plan, rank, box, whole, depth) for rank, box in enumerate(boxes)]


def halo_size(plan: Plan, rank: int, box: Box, whole: Box, depth: int) -> HaloSize:
    ends = zip(box.lower, box.upper, whole.lower, whole.upper, parted_rings(box, plan))
    sides = [2 if ring else (low > first) + (high < last) for low, high, first, last, ring in ends]
    faces = sum(box.size // n * count for n, count in zip(box.shape, sides))
    held = held_box(box, depth, plan)
    values = sum(received(plan, layer, off, depth) for layer, off in around(box, held))
    messages = math.prod(1 + count for count in sides) - 1
    size = values * BYTES_OF[plan.precision]
    return HaloSize(rank, box.size, faces, messages, size, size * plan.reach / depth)


def components(depth: int) -> int:
    """Components that cross a face in an exchange of so many layers."""
    return TANGENTIAL if depth == 1 else ALL


def around(box: Box, held: Box) -> Iterator[tuple[Box, int]]:
    """The parts of the halo, each with the number of axes along which it lies off the box: faces 1, edges 2."""
    spans = [list(pairwise(ends)) for ends in zip(held.lower, box.lower, box.upper, held.upper)]
    for way in product(range(3), repeat=3):
        part = Box.between(spans[axis][n] for axis, n in enumerate(way))
        if way != (1, 1, 1) and min(part.shape) > 0:
            yield part, 3 - way.count(1)


def received(plan: Plan, layer: Box, off: int, depth: int) -> int:
    """Values that a part of the halo receives."""
    parts = 1 + plan.complex_fields
    if depth == 1:
        return parts * (TANGENTIAL if off == 1 else HALF) * layer.size
    kept = float(kept_numbers(plan, layer.lower, layer.upper).mean()) if plan.pole_media else 0.0
    return parts * (ALL * layer.size + STATES * slab_samples(plan, layer) + round(kept * layer.size))


def slab_samples(plan: Plan, box: Box) -> int:
    """Samples of a box in slabs of the CPML, once for each slab that they lie in."""
    total = 0
    for axis, (low, high) in enumerate(plan.cpml):
        if not low and not high:
            continue
        begin, end, length = box.lower[axis], box.upper[axis], plan.active[axis]
        inside = max(0, min(end, low) - begin) + max(0, end - max(begin, length - high))
        total += box.size // (end - begin) * inside
    return total


def needed(depth: int, sides: Sequence[int]) -> frozenset[str] | None:
    """Fields of a part of a halo that its holder cannot make, for `depth` steps; None: all states.

    sides: of the part along x, y, z: -1 below the holder's own box, 0 beside it, 1 above.
    """
    if depth > 1:
        return None
    off = [axis for axis in range(3) if sides[axis]]
    return frozenset(name for name in FIELDS if name[-2] == "H" and off != ["xyz".index(name[-1])])
