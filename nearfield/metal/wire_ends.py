"""Free ends of wires between grid lines, which act where they are drawn.

The wire's metal ends at the node before its end; of the edge past it the wire covers a part p. What the wire's samples
count with goes with p from that of an end at the one node to that of an end at the other, and the covered edge counts
with

    eps <- eps (1 + r p)/(1 - p)

from itself to metal: its capacity k C leads to the next node, which sees r C behind it, so that (k - 1)/(k + r) of what
that node adds is added; this k makes it p. So resonances are linear in the drawn length, within 0.03 cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.metal.patches import next_axes
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.thin_metal import EdgeBox

# Capacity of a node over that of its five other edges, as the edge that leads to it sees it; from resonances of dipoles
# in cubic cells against their length (tests/test_thin_wires.py): radii of 0.001 to 0.4 cells, and none.
SEEN, SEEN_SLOPE, SEEN_BARE = (
    0.04,
    0.76,
    0.64,
)  # the slope: with what the end's node counts with; bare: without a radius
Edges = tuple[int, np.ndarray, np.ndarray, np.ndarray]
Conducts = Callable[[int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class WireEnd(NamedTuple):
    """An end of a wire between nodes: the last whole node, the axis and the way out (1 or -1), and the part of the edge
    past the node that it covers; whether that edge is drawn as metal, since the next node is nearer."""

    node: Triple
    axis: int
    way: int
    part: float
    drawn: bool

    @property
    def edge(self) -> Triple:
        """The edge that the wire covers in part."""
        return triple(n - (a == self.axis and self.way < 0) for a, n in enumerate(self.node))

    @property
    def nearest(self) -> Triple:
        """The node that metal edges would end at."""
        return triple(n + self.way * (a == self.axis and self.drawn) for a, n in enumerate(self.node))


def ends_of(wire: Wire, grid: YeeGrid) -> Iterator[WireEnd]:
    """The ends of a wire that lie between nodes of the grid."""
    for last, before in ((wire.points[0], wire.points[1]), (wire.points[-1], wire.points[-2])):
        axis = int(np.argmax(np.abs(np.subtract(last, before))))
        way = 1 if last[axis] > before[axis] else -1
        node, line = [grid.nearest_node(a, at) for a, at in enumerate(last)], grid.lines[axis]
        past = way * (last[axis] - float(line[node[axis]]))
        if not all(one[0] <= at <= one[-1] for one, at in zip(grid.lines, last)):
            continue
        if abs(past) <= SAMPLE_TOLERANCE * float(grid.primary(axis).min()):
            continue
        node[axis] -= way * (past < 0.0)
        if way * (node[axis] - grid.nearest_line(axis, before[axis])[0]) > 0:
            length = abs(float(line[node[axis] + way] - line[node[axis]]))
            yield WireEnd(triple(node), axis, way, past / length + (past < 0.0), past < 0.0)


def free_ends(
    samples: SampleNumbers, ends: Iterable[WireEnd], gaps: Sequence[Edges], conducts: Conducts
) -> list[WireEnd]:
    """Those from which nothing goes on: no metal, circuit, wall or image."""
    circuits = [np.zeros(0, dtype=np.int64)]
    circuits += [samples.number(axis, np.stack(np.broadcast_arrays(*at), axis=-1)).ravel() for axis, *at in gaps]
    grid, found, taken = samples.grid, [], np.concatenate(circuits)
    for end in ends:
        walls = () if grid.closed(end.axis) else (0, grid.cells[end.axis], grid.stepped_from[end.axis] or 0)
        meeting = samples.edges_at(samples.node(np.array(end.nearest)[None]))[0]
        last = meeting[end.axis, int(end.way < 0)]
        others = meeting[(meeting >= 0) & (meeting != last)]
        alone = not conducting(samples, others, conducts).any() and not np.isin(others, taken).any()
        if alone and end.nearest[end.axis] not in walls and last >= 0:
            found.append(end)
    return found


def conducting(samples: SampleNumbers, edges: np.ndarray, conducts: Conducts) -> np.ndarray:
    """Which of some edges are metal."""
    found, (component, index) = np.zeros(edges.size, dtype=bool), samples.place(edges)
    for own in np.unique(component).tolist():
        rows = component == own
        found[rows] = conducts(own, *index[rows].T)
    return found


def without_ends(boxes: Iterable[EdgeBox], ends: Iterable[WireEnd]) -> tuple[EdgeBox, ...]:
    """The edges of a wire without those that its ends cover in part."""
    found = list(boxes)
    for end in (end for end in ends if end.drawn):
        kept = []
        for box in found:
            at, inside = end.edge[end.axis], [low <= n < high for low, n, high in zip(box.lower, end.edge, box.upper)]
            if box.component == end.axis and all(inside):
                parts = (box.lower[end.axis], at), (at + 1, box.upper[end.axis])
                kept += [box.cut(end.axis, *part) for part in parts if part[0] < part[1]]
            else:
                kept.append(box)
        found = kept
    return tuple(found)


def factors_at(samples: SampleNumbers, end: WireEnd, m: np.ndarray, kept: float) -> tuple[np.ndarray, np.ndarray]:
    """(edges, by what their factors of eps are multiplied) at an end of a wire of factors `m`, (2 axes across in cyclic
    order, below and above along them), a node at the end of which counts with `kept`."""
    out, part = end.way * UNIT[end.axis], end.part
    across, ahead = list(next_axes(end.axis)), int(end.way > 0)
    here, there = (samples.edges_at(samples.node((np.array(end.node) + by)[None]))[0] for by in (0 * out, out))
    covered, beyond = here[end.axis, ahead], there[end.axis, ahead]
    numbers = np.concatenate((here[across].ravel(), there[across].ravel(), [beyond, covered]))
    grown = np.full(4, 1.0 + part * (1.0 / kept - 1.0))
    begun = 1.0 / (1.0 + part * (1.0 / (kept * np.append(m.ravel(), m.mean())) - 1.0))
    others = np.concatenate((there[across].ravel(), [beyond]))
    capacity = capacities(samples, others[others >= 0]).sum()
    ratio = (
        (SEEN_BARE if kept == 1.0 else SEEN + SEEN_SLOPE * kept)
        * capacity
        / capacities(samples, np.array([covered]))[0]
    )
    return numbers, np.concatenate((grown, begun, [(1.0 + ratio * part) / (1.0 - part)]))


def capacities(samples: SampleNumbers, edges: np.ndarray) -> np.ndarray:
    """Area of the dual face over the length of edges (m)."""
    grid, (component, index) = samples.grid, samples.place(edges)
    found = np.ones(edges.size)
    for axis in range(3):
        dual = grid.dual(axis)[index[:, axis]]
        length = grid.primary(axis)[np.minimum(index[:, axis], grid.cells[axis] - 1)]
        found *= np.where(component == axis, 1.0 / length, dual)
    return found
