"""Which Yee edges a line, a sheet or a block lies on, and how a current in it is shared among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import StringConstraints

from nearfield.entry.errors import ModelError
from nearfield.entry.schema import Schema
from nearfield.entry.triples import Point, triple
from nearfield.grid.yee import AXES, YeeGrid, is_half
from nearfield.lowering.context import Site

Edges = tuple[int, np.ndarray, np.ndarray, np.ndarray]  # component, i, j, k

Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^/\x00-\x1f]+$")]
Heading = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


@dataclass(frozen=True)
class EdgeBlock:
    """The edges along one axis between two snapped corners: columns side by side, the edges of a column in series.

    All arrays have one entry an edge. `share` sums to one over the columns and `part` over the edges of a column.
    """

    component: int
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    length: np.ndarray  # m, of the edge
    area: np.ndarray  # m^2, of the dual face that the edge pierces
    width: np.ndarray  # the part of that face's transverse extent inside the block: m (sheet), m^2 (block), 1 (line)
    share: np.ndarray  # of the block's current that flows in this edge's column
    part: np.ndarray  # of the block's voltage that falls along this edge

    @property
    def total_length(self) -> float:
        """Length (m) of the block along its edges."""
        return float(self.length[0] / self.part[0])

    @property
    def index(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """i, j and k of the edges."""
        return self.i, self.j, self.k

    def over_seams(self, grid: YeeGrid) -> EdgeBlock:
        """The block, what lies on the last line of a closed axis on the first one, its own; each edge once."""
        index = np.stack(grid.in_cell(self.index))
        if (index == np.stack(self.index)).all():
            return self
        (i, j, k), first, number = np.unique(index, axis=1, return_index=True, return_inverse=True)
        width, share = (np.bincount(number.ravel(), weights=column) for column in (self.width, self.share))
        return EdgeBlock(self.component, i, j, k, self.length[first], self.area[first], width, share, self.part[first])


class Labelled(Schema):
    """An entry that has a name for messages, or none."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str | None: ...

    @property
    def _label(self) -> str:
        """Name for messages."""
        return f"{type(self).__name__} {self.name!r}" if self.name else type(self).__name__


class OnEdges(Labelled):
    """An entry on a block of edges."""

    @property
    def _span(self) -> tuple[Point, Point, int]:
        """Lower and upper corner (m) of its block, and the axis along which its edges lie."""
        raise NotImplementedError

    def _block(self, site: Site) -> EdgeBlock:
        """Its edges, looked for once in a model."""
        span = self._span
        return site.once(("edges", *span), lambda: edge_block(site.grid, *span, self._label))

    def _edges(self, site: Site) -> list[Edges]:
        """The samples that carry it."""
        block = self._block(site)
        return [(block.component, *block.index)]


def dual_area(grid: YeeGrid, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Area (m^2) of the face that a sample's own direction pierces: dual face for E, primary face for H."""
    area = np.ones(len(i))
    for axis, index in enumerate(grid.in_cell((i, j, k))):
        if axis != component % 3:
            length = grid.primary(axis) if is_half(component, axis) else grid.dual(axis)
            area = area * length[index]
    return area


def sample_length(grid: YeeGrid, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Length (m) that a sample stands for along its own direction: primary for E, dual for H."""
    axis = component % 3
    length = grid.primary(axis) if is_half(component, axis) else grid.dual(axis)
    return length[grid.in_cell((i, j, k))[axis]]


def sample_volume(grid: YeeGrid, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Volume (m^3) that a sample stands for."""
    return dual_area(grid, component, i, j, k) * sample_length(grid, component, i, j, k)


def widths_inside(grid: YeeGrid, axis: int, low: int, high: int) -> np.ndarray:
    """Lengths (m) that grid lines low..high own of the span between them: half a cell at its ends, dual inside."""
    primary = grid.primary(axis)[low:high]
    return 0.5 * (np.append(primary, 0.0) + np.append(0.0, primary))


def snapped(grid: YeeGrid, lower: Point, upper: Point, what: str) -> list[tuple[int, int]]:
    """Nearest grid lines of two corners, low and high along each axis; an extent that is given must not vanish."""
    for corner in (lower, upper):
        if not grid.contains(corner):
            raise ModelError(f"{what}: corner {corner} lies outside the grid, {grid.extent_text()}; move it inside")
    spans = []
    for axis in range(3):
        low, high = (grid.nearest_node(axis, corner[axis]) for corner in (lower, upper))
        if upper[axis] > lower[axis] and low == high:
            raise ModelError(
                f"{what}: its extent along {AXES[axis]}, {lower[axis]:.6g} to {upper[axis]:.6g} m, falls on one grid "
                f"line ({grid.lines[axis][low]:.6g} m), so it would vanish; refine the grid there or enlarge it"
            )
        spans.append((low, high))
    return spans


def edge_block(grid: YeeGrid, lower: Point, upper: Point, axis: int, what: str) -> EdgeBlock:
    """The edges along `axis` between two corners, snapped to grid lines; `what` names the owner in messages.

    Columns at the rim of a sheet stand for half a cell: a uniform current density then flows in exactly the width
    that was asked for.
    """
    spans = snapped(grid, lower, upper, what)
    lengths = grid.primary(axis)[slice(*spans[axis])]
    shape = [high - low + (other != axis) for other, (low, high) in enumerate(spans)]
    index, width = np.indices(shape), np.ones(shape)
    for other, (low, high) in enumerate(spans):
        index[other] += low
        if other != axis and high > low:
            width = width * np.expand_dims(widths_inside(grid, other, low, high), [a for a in range(3) if a != other])
    i, j, k = index.reshape(3, -1)
    length = lengths[index[axis] - spans[axis][0]].ravel()
    area = dual_area(grid, axis, i, j, k)
    share, part = width * lengths.size / width.sum(), length / lengths.sum()
    return EdgeBlock(axis, i, j, k, length, area, width.ravel(), share.ravel(), part)


def on_both_faces(edges: Edges, grid: YeeGrid) -> Edges:
    """The edges, those on the first line of a closed axis on its last one too, where images of bodies may lie."""
    component, *index = edges
    for axis, last in enumerate(grid.cells):
        if grid.closed(axis) and not is_half(component, axis) and (index[axis] == 0).any():
            again = [part[index[axis] == 0] for part in index]
            again[axis] = again[axis] + last
            index = [np.concatenate(both) for both in zip(index, again)]
    return component, *triple(index)


def axis_and_sign(heading: Heading) -> tuple[int, int]:
    """The axis along which it goes; +1 towards larger coordinates, else -1."""
    return AXES.index(heading[1]), 1 if heading[0] == "+" else -1


def flat_axes(lower: Point, upper: Point) -> list[int]:
    """The axes along which a box has no extent."""
    return [axis for axis in range(3) if lower[axis] == upper[axis]]


def ordered(lower: Point, upper: Point) -> None:
    """Refuse corners that are not lower <= upper along each axis."""
    for axis in range(3):
        if lower[axis] > upper[axis]:
            raise ValueError(
                f"lower {AXES[axis]}={lower[axis]:.6g} m exceeds upper {AXES[axis]}={upper[axis]:.6g} m; "
                "give the corner with the smaller coordinates first"
            )
