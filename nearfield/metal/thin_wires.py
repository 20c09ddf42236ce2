"""Thin wires of a stated radius: factors of eps of the edges and of mu of the faces about a chain of metal edges.

The edges that meet the wire count with m eps, the faces round it with mu/m, m of wire_lattice.py, so that Cb and Db
alone are scaled. The node of a free end stands for half a cell of wire: its edges, that beyond the end too, count with
half of that. No factor of 1/mu may exceed the factors of eps of the face's live edges (docs/method.md has the proof of
stability): so the edges at the outer rim of a thick wire's faces (m > 1) count with m too, and so do the faces crossed
along a thin one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import Patch, SamplesByPlane, next_axes
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.wire_edges import Chain, Conducts, Edges, WireEdges, conducting, wire_edges

END = 0.5  # cells of wire that the node of a free end stands for


class ThinWires:
    """The factors of all wires of a model, found by plane.

    `gaps`: edges (component, i, j, k) of circuits, through which the wires that they touch go on; `conducts` tells
    whether E samples (component, i, j, k) are metal. Errors: see `wire_edges`.
    """

    def __init__(self, grid: YeeGrid, chains: Sequence[Chain], gaps: Iterable[Edges], conducts: Conducts) -> None:
        samples = SampleNumbers(grid)
        number, self._factor = drive_factors(samples, wire_edges(samples, chains, gaps, conducts), conducts)
        component, index = samples.place(number)
        self._samples = SamplesByPlane(component, list(index.T))

    def signature(self, axis: int, plane: int) -> tuple | None:
        """Equal for planes across `axis` with the same factors at the same places."""
        rows = self._samples.rows(axis, plane)
        columns = self._samples.component, *(self._samples.index[a] for a in next_axes(axis)), self._factor
        return tuple(column[rows].tobytes() for column in columns) if rows.size else None

    def factor(self, patch: Patch) -> np.ndarray | None:
        """Factor of Cb or Db; None where it is 1."""
        rows, at = self._samples.inside(patch)
        if not rows.size:
            return None
        found = np.ones(patch.shape)
        found[at] = self._factor[rows]
        return found


class Table:
    """Values by number; of several on one number the mean, or what `join` (a ufunc) makes of them."""

    def __init__(self, number: np.ndarray, value: np.ndarray, join: np.ufunc | None = None) -> None:
        value, number = np.broadcast_to(value, number.shape)[number >= 0], number[number >= 0]
        self.number, at, count = np.unique(number, return_inverse=True, return_counts=True)
        self.value = np.zeros(self.number.size)
        if join is None:
            np.add.at(self.value, at, value)
            self.value /= count
        else:
            self.value[at] = value
            join.at(self.value, at, value)

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


def drive_factors(samples: SampleNumbers, wires: WireEdges, conducts: Conducts) -> tuple[np.ndarray, np.ndarray]:
    """(numbers, factors of Cb or Db) of all samples that wires change, by rising number."""
    metal, faces = wires.number[~wires.gap], samples.faces_about(wires.number)
    edges = Table(*_meeting(samples, wires, conducts)).without(wires.number)
    whole = Table(faces, wires.factors)
    strong = whole.number[whole.value > 1.0]
    outer = samples.edges_round(strong)
    outer = np.where(np.isin(outer, np.concatenate((metal, edges.number))), -1, outer)
    rim = Table(outer, whole.get(strong, 1.0)[:, None], np.maximum)
    edges = Table(np.concatenate((edges.number, rim.number)), np.concatenate((edges.value, rim.value)))
    about = samples.faces_about(edges.number[edges.value < 1.0])
    changed = np.unique(np.concatenate((whole.number, about[about >= 0])))
    round_it = samples.edges_round(changed)
    least = np.where(np.isin(round_it, metal), np.inf, edges.get(round_it, 1.0)).min(axis=1)
    factor = np.minimum(whole.get(changed, 1.0), least)
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
    values[row, end] *= END
    beyond = near[row, end, component[row], end]
    return np.append(numbers.ravel(), beyond), np.append(values.ravel(), END * wires.factors[row].mean(axis=(1, 2)))


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
