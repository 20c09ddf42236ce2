"""How much the ranks of a decomposition exchange: samples of their faces, bytes, messages."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from nearfield.parallel.decomposition import Box, Decomposition
from nearfield.plan import Plan
from nearfield.prediction import BYTES_OF

TANGENTIAL, ALL = 2, 6  # components that cross a face: of one layer, E one way and H the other; of several layers
STATES = 4  # of the CPML, a cell and slab


@dataclass(frozen=True)
class HaloSize:
    """What one rank receives; it sends about as much.

    `messages` go to faces, edges and corners where layers are several, to faces alone for one layer.
    """

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
    """The exchange of every rank, `depth` layers at once; one layer passes in every step, and without states.

    Several layers are exchanged with edges and corners, and with the CPML's states in them.
    """
    whole = decomposition.arrangement.whole
    return [
        halo_size(plan, rank, box, whole, depth)
        for rank, box in enumerate(decomposition.grouping.boxes(decomposition.arrangement))
    ]


def halo_size(plan: Plan, rank: int, box: Box, whole: Box, depth: int) -> HaloSize:
    """The exchange of one rank."""
    ends = zip(box.lower, box.upper, whole.lower, whole.upper)
    sides = [(low > first) + (high < last) for low, high, first, last in ends]
    faces = sum(box.size // n * count for n, count in zip(box.shape, sides))
    if depth == 1:
        values, messages = TANGENTIAL * faces, sum(sides)
    else:
        grown = box.grown(depth, whole)
        values = sum(sign * (ALL * b.size + STATES * slab_samples(plan, b)) for sign, b in ((1, grown), (-1, box)))
        messages = math.prod(1 + count for count in sides) - 1
    size = values * BYTES_OF[plan.precision]
    return HaloSize(rank, box.size, faces, messages, size, size / depth)


def slab_samples(plan: Plan, box: Box) -> int:
    """Samples of a box in slabs of the CPML, once for each slab that they lie in."""
    total = 0
    for axis, (low, high) in enumerate(plan.cpml):
        begin, end, length = box.lower[axis], box.upper[axis], plan.active[axis]
        inside = max(0, min(end, low) - begin) + max(0, end - max(begin, length - high))
        total += box.size // (end - begin) * inside
    return total
