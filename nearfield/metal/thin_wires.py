"""Thin wires of a stated radius: factors of eps of the edges and of mu of the faces about a chain of metal edges.

The edges that meet the wire count with m eps, the faces round it with mu/m, m of wire_lattice.py, so that Cb and Db
alone are scaled. The node of a free end stands for half a cell of wire and for the charge on its end: its edges, that
beyond the end too, count with some 0.6 of m (`end_share`). No factor of 1/mu may exceed the factors of eps of the
face's live edges (docs/method.md has the proof of stability): so the edges at the outer rim of a thick wire's faces
(m > 1) count with m too, and so do the faces crossed along a thin one. Where wires run along no axis
(slanting_wires.py) it may exceed them `slack` times, and the time step is shorter by the root of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import DriveFactors, pair
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.slanting_chains import Factors, SlantingWire, all_factors, touched_nodes
from nearfield.metal.wire_edges import Chain, WireEdges, wire_edges
from nearfield.metal.wire_ends import Conducts, Edges, conducting, factors_at

# (p + q m)/(1 + r m) cells of wire, with the charge on its end face, are what the node of a free end stands for: 0.45
# to 0.73 for radii of 0.003 to 0.4 cells, found within 0.006 from the reactance of half-wave dipoles beside NEC2's at
# 40 to 120 cells a wavelength (validation/wire_antennas).
END = (0.28, 1.20, 1.30)


class ThinWires(DriveFactors):
    """The factors of all wires of a model, found by plane.

    `slanting`: wires along no axis; `gaps`: edges (component, i, j, k) of circuits, through which the wires that they
    touch go on; `conducts` tells whether E samples (component, i, j, k) are metal. Errors: see `wire_edges`.
    """

    def __init__(
        self,
        grid: YeeGrid,
        chains: Sequence[Chain],
        slanting: Sequence[SlantingWire],
        gaps: Sequence[Edges],
        conducts: Conducts,
    ) -> None:
        samples = SampleNumbers(grid)
        wires = wire_edges(samples, chains, gaps, conducts, touched_nodes(samples, slanting))
        others = all_factors(samples, slanting, gaps, conducts)
        number, factor = drive_factors(samples, wires, others, covered_parts(samples, chains, wires), conducts)
        component, index = samples.place(number)
        super().__init__(component, list(index.T), factor)


class Table:
    """Values by number; of several on one number the mean, or what `join` (a ufunc) makes of them."""

    def __init__(self, number: np.ndarray, value: np.ndarray, join: np.ufunc | None = None) -> None:
        value, number = np.broadcast_to(value, number.shape)[number >= 0], number[number >= 0]
        order = np.argsort(number, kind="stable")
        self.number, first, count = np.unique(number[order], return_index=True, return_counts=True)
        self.value = (join or np.add).reduceat(value[order], first) if first.size else np.zeros(0)
        if join is None:
            self.value = self.value / count

    def get(self, number: np.ndarray, default: float) -> np.ndarray:
        """Values of numbers, of those that are missing the default."""
        if not self.number.size:
            return np.full(number.shape, default)
        at = np.minimum(np.searchsorted(self.number, number), self.number.size - 1)
        return np.where(self.number[at] == number, self.value[at], default)

    def without(self, number: np.ndarray) -> Table:
        """The table without some numbers."""
        kept = ~np.isin(self.number, number)
        return Table(self.number[kept], self.value[kept])


def end_share(factors: np.ndarray) -> np.ndarray:
    """Cells of wire that the node of a free end stands for, from the factors m of its edges (last two axes)."""
    m, (p, q, r) = factors.mean(axis=(-2, -1)), END
    return np.asarray((p + q * m) / (1.0 + r * m))


class Covered(NamedTuple):
    """What free ends between nodes change: factors of edges (numbers, factors), and of faces about edges."""

    edges: tuple[np.ndarray, np.ndarray]
    faces: tuple[np.ndarray, np.ndarray]


def covered_parts(samples: SampleNumbers, chains: Sequence[Chain], wires: WireEdges) -> Covered:
    """Of the ends of all wires; edges without a radius count with 1, at ends too."""
    edges, faces = [(np.zeros(0, dtype=np.int64), np.zeros(0))], [(np.zeros(0, dtype=np.int64), np.zeros(0))]
    for chain, end in [(own, end) for own in chains for end in own.ends]:
        last = samples.number(end.axis, np.array(end.edge) - end.way * UNIT[end.axis])
        row = np.flatnonzero(wires.number == last)
        m, kept = np.ones((2, 2)), 1.0
        if chain.radius and row.size:
            m = wires.factors[row[0]]
            kept = float(end_share(m) - wires.lost[row[0]])
        edges.append(factors_at(samples, end, m, kept))
        about = samples.faces_about(samples.number(end.axis, np.array(end.edge))[None])
        faces.append((about.ravel(), 1.0 + end.part * (m.ravel() - 1.0)))
    return Covered(*(pair(np.concatenate(parts) for parts in zip(*found)) for found in (edges, faces)))


def drive_factors(
    samples: SampleNumbers, wires: WireEdges, others: Factors, covered: Covered, conducts: Conducts
) -> tuple[np.ndarray, np.ndarray]:
    """(numbers, factors of Cb or Db) of all samples that wires change, by rising number."""
    metal, faces = np.append(wires.number[~wires.gap], others.metal), samples.faces_about(wires.number)
    meeting = pair(np.concatenate(each) for each in zip(_meeting(samples, wires, conducts), others.edges))
    edges, parts = Table(*meeting), Table(*covered.edges, join=np.multiply)
    number = np.unique(np.concatenate((edges.number, parts.number)))
    edges = Table(number, edges.get(number, 1.0) * parts.get(number, 1.0))
    edges = edges.without(np.append(wires.number, others.metal))
    (beside, part), (about, value) = covered.faces, others.faces
    whole = Table(np.concatenate((faces.ravel(), beside, about)), np.concatenate((wires.factors.ravel(), part, value)))
    strong = whole.number[whole.value > others.slack]
    outer = samples.edges_round(strong)
    outer = np.where(np.isin(outer, np.concatenate((metal, edges.number))), -1, outer)
    rim = Table(outer, whole.get(strong, 1.0)[:, None] / others.slack, np.maximum)
    edges = Table(np.concatenate((edges.number, rim.number)), np.concatenate((edges.value, rim.value)))
    about = samples.faces_about(edges.number[edges.value < 1.0])
    changed = np.unique(np.concatenate((whole.number, about[about >= 0])))
    round_it = samples.edges_round(changed)
    least = np.where(np.isin(round_it, metal), np.inf, edges.get(round_it, 1.0)).min(axis=1)
    factor = np.minimum(whole.get(changed, 1.0), others.slack * least)
    number, factor = np.concatenate((edges.number, changed)), np.concatenate((1.0 / edges.value, factor))
    order = np.argsort(number)
    order = order[factor[order] != 1.0]
    return number[order], factor[order]


def _meeting(samples: SampleNumbers, wires: WireEdges, conducts: Conducts) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and m of the edges that meet wires, once for each wire edge that they meet."""
    ends, (component, _) = samples.ends_of(wires.number), samples.place(wires.number)
    near = samples.edges_at(ends.ravel()).reshape(-1, 2, 3, 2)
    rows = np.arange(wires.number.size)
    numbers = np.stack([near[rows, :, (component + n) % 3] for n in (1, 2)], axis=2)  # edge, end, axis, side
    values = np.repeat(wires.factors[:, None], 2, axis=1)
    row, end = np.nonzero(_free(samples, wires, ends, near, conducts))
    share = end_share(wires.factors[row]) - wires.lost[row]
    values[row, end] *= share[:, None, None]
    beyond = near[row, end, component[row], end]
    return np.append(numbers.ravel(), beyond), np.append(values.ravel(), share * wires.factors[row].mean(axis=(1, 2)))


def _free(
    samples: SampleNumbers, wires: WireEdges, ends: np.ndarray, near: np.ndarray, conducts: Conducts
) -> np.ndarray:
    """Which ends of wire edges (edges, 2) are those of wires that nothing goes on from: no metal, circuit or image."""
    _, at, count = np.unique(ends.ravel(), return_inverse=True, return_counts=True)
    free = (count[at] == 1).reshape(ends.shape)
    component, _ = samples.place(wires.number)
    _, index = samples.place(ends.ravel())
    for axis, n in enumerate(samples.grid.cells):
        middle = samples.grid.stepped_from[axis]
        walls = () if samples.grid.closed(axis) else (0, n, *((middle,) if middle else ()))
        free &= ~(np.isin(index[:, axis], walls).reshape(ends.shape) & (component == axis)[:, None])
    row, end = np.nonzero(free)
    others = near[row, end].reshape(-1, 6)
    others = np.where(others == wires.number[row][:, None], -1, others)
    touched = np.zeros(others.shape, dtype=bool)
    touched[others >= 0] = conducting(samples, others[others >= 0], conducts)
    free[row, end] = ~touched.any(axis=1)
    return free
