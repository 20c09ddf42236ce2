"""Costs of cells: weights over the samples of a run, in units of a plain vacuum cell.

Weights are constant within the blocks of a coarse lattice, so that the work of any box comes from one table of
cumulative sums, however many cells there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.plan.plan import Plan

VACUUM_CELL = 0.85e-9  # s, on one core in single precision; benchmarks/weights.py
ROW = 24.0  # vacuum cells, the beginning of a row: 20 ns, nearfield/engines/cpu/tiling.py
EXCHANGE = 6.0  # vacuum cells, a sample that ranks exchange: 24 bytes each way at 10 GB/s, where no link was measured
SHARED = (0.5, 1.0, 1.5)  # vacuum cells, a sample between domains: an estimate, tiles wait for the neighbour's


@dataclass(frozen=True)
class HaloCost:
    """Costs of the faces of a domain, in vacuum cells of one core, a step.

    exchange: a sample of a face between ranks; message: each such face, whatever its size; near: both of them where the
    two ranks run on one host, which has `ranks_a_host` of them; shared: a sample of a face between domains of one
    process, across planes, rows, and samples of a row. `depth` layers are exchanged at once; the part `hidden` of that
    runs under the update, while it lasts.
    """

    depth: int = 1
    exchange: float = EXCHANGE
    message: float = 0.0
    shared: tuple[float, float, float] = SHARED
    near: tuple[float, float] | None = None  # left out: like all others
    ranks_a_host: int = 1
    hidden: float = 0.5

    @property
    def repeated(self) -> float:
        """Layers of ghosts that a rank computes again in a step, the mean over an exchange.

        They shrink by one layer a step; nothing is computed twice where one layer is exchanged in every step.
        """
        return 0.5 * self.depth if self.depth > 1 else 0.0


@dataclass(frozen=True, eq=False)
class Weights:
    """Weight of the samples of a run, one for each block of a lattice.

    edges: lattice lines along x, y, z, 0 ... shape; values: (blocks along x, y, z), mean weight of a block's samples.
    A row costs `row` more than its samples, wherever it begins.
    """

    shape: Triple
    storage_axes: Triple  # planes, rows, samples of a row
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]
    values: np.ndarray
    row: float = ROW
    unparted: tuple[bool, bool, bool] = (False, False, False)  # axes that ranks cannot share

    @classmethod
    def of(cls, plan: Plan) -> Weights:
        """The weights of a plan: media, CPML, and everything that happens in rows besides the update."""
        from nearfield.parallel.plan_weights import plan_weights

        return plan_weights(plan)

    @classmethod
    def uniform(cls, shape: Triple, storage_axes: Triple = (0, 1, 2)) -> Weights:
        """Every sample costs 1."""
        return cls(shape, storage_axes, triple(np.array([0.0, n]) for n in shape), np.ones((1, 1, 1)))

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Work below each node of the lattice, rows left out."""
        table = self.values
        for axis in range(3):
            table = np.cumsum(table * across(axis, np.diff(self.edges[axis])), axis=axis)
            table = np.concatenate((np.zeros_like(table.take([0], axis)), table), axis=axis)
        return table

    @property
    def total(self) -> float:
        """Work of all samples, rows left out."""
        return float(self.cumulative[-1, -1, -1])

    def within(self, table: np.ndarray, axis: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Differences of a table of sums between positions along an axis."""
        table = np.moveaxis(table, axis, 0)
        found = interpolated(table, self.edges[axis], upper) - interpolated(table, self.edges[axis], lower)
        return np.moveaxis(found, 0, axis)

    def work(self, lower: Sequence[np.ndarray], upper: Sequence[np.ndarray]) -> np.ndarray:
        """Work of one step in all boxes with these bounds along x, y, z: (nx, ny, nz)."""
        table, starts = self.cumulative, np.array(self.row)
        for axis in range(3):
            low, high = np.asarray(lower[axis], float), np.asarray(upper[axis], float)
            table = self.within(table, axis, low, high)
            lengths = np.ones(len(low)) if axis == self.storage_axes[2] else high - low
            starts = starts * across(axis, lengths)
        work: np.ndarray = table + starts
        return work


def across(axis: int, values: np.ndarray) -> np.ndarray:
    """Values along one of three axes, to be broadcast over the others."""
    return values.reshape([-1 if a == axis else 1 for a in range(3)])


def interpolated(table: np.ndarray, edges: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The table, whose first axis belongs to `edges`, at positions; exact for sums, which are linear within a block."""
    block = np.clip(np.searchsorted(edges, positions, "right") - 1, 0, len(edges) - 2)
    part = (positions - edges[block]) / (edges[block + 1] - edges[block])
    part = part.reshape(-1, *(1,) * (table.ndim - 1))
    between: np.ndarray = table[block] * (1 - part) + table[block + 1] * part
    return between
