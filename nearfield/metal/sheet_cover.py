"""How much of each cell face flat metal covers where it is drawn: what carries current about its rims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.shapes import Rectangular, Solid
from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import next_axes, pair

FINE = 8  # points a side of a face next to a rim
Plane = tuple[int, int]  # (normal, node)


class SheetCover:
    """Shares of the faces of the planes (normal, node) that the sheets in them cover."""

    def __init__(self, grid: YeeGrid, sheets: Sequence[tuple[Solid, Plane]]) -> None:
        self._grid, self._parts = grid, {}
        for normal, node in dict.fromkeys(plane for _, plane in sheets):
            inside = [shape for shape, plane in sheets if plane == (normal, node)]
            self._parts[normal, node] = _covered(grid, inside, normal)

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across an axis next to which sheets cover as much."""
        found: list[object] = []
        for normal, node in self._parts:
            if normal == axis:
                found.append(node - plane if abs(node - plane) < 2 else None)
            else:
                rows = (self._row((normal, node), axis, plane + n) for n in (-1, 0, 1))
                found += [None if row is None else row.tobytes() for row in rows]
        return tuple(found)

    def _row(self, sheet: Plane, axis: int, plane: int) -> np.ndarray | None:
        """Shares along a row of a sheet's faces, the one in a plane across an axis of the sheet; None past its ends."""
        first, part = self._parts[sheet]
        along = next_axes(sheet[0]).index(axis)
        row = plane - first[along]
        return part.take(row, axis=along) if 0 <= row < part.shape[along] else None

    def faces(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """Shares of the faces across `normal` in a plane across `axis`, one more than there are cells; or None."""
        across, found = next_axes(axis), None
        for (own, node), (first, part) in self._parts.items():
            value = part
            if own != normal or (own == axis and node != plane):
                continue
            if own != axis:
                row = self._row((own, node), axis, plane)
                if row is None:
                    continue
                value = row.reshape([1 if a == own else -1 for a in across])
            starts = dict(zip(next_axes(own), first)) | {own: node}
            span = tuple(slice(starts[a], starts[a] + size) for a, size in zip(across, value.shape))
            if found is None:
                found = np.zeros([self._grid.cells[a] + 1 for a in across])
            found[span] = np.maximum(found[span], value)
        return found


def _covered(grid: YeeGrid, shapes: Sequence[Solid], normal: int) -> tuple[tuple[int, int], np.ndarray]:
    """(first cells, shares of the faces from there on) of sheets of one plane, along both axes after `normal`."""
    across = next_axes(normal)
    low, high = (pick([shape.bounds()[end] for shape in shapes], axis=0) for end, pick in ((0, np.min), (1, np.max)))
    first = pair(max(0, int(np.searchsorted(grid.lines[a], low[a], side="right")) - 1) for a in across)
    last = pair(min(grid.cells[a], int(np.searchsorted(grid.lines[a], high[a]))) for a in across)
    lines = [grid.lines[a][start : end + 1] for a, start, end in zip(across, first, last)]
    part = np.max([_share(shape, normal, *lines) for shape in shapes], axis=0)
    return first, part


def _share(shape: Solid, normal: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Shares of the faces between lines that one sheet covers: of a rectangle exactly, else of points."""
    if isinstance(shape, Rectangular):
        low, high = shape.bounds()
        ends = [(low[a], high[a]) for a in next_axes(normal)]
        parts = [
            np.clip(np.minimum(line[1:], end) - np.maximum(line[:-1], start), 0.0, None) / np.diff(line)
            for line, (start, end) in zip((u, v), ends)
        ]
        return np.outer(*parts)
    x, y = (0.5 * (line[1:] + line[:-1]) for line in (u, v))
    part = _held(shape, normal, x[:, None], y[None]).astype(float)
    around = np.pad(part, 1, mode="edge")
    near = [around[1 + i : 1 + i + x.size, 1 + j : 1 + j + y.size] != part for i in (-1, 0, 1) for j in (-1, 0, 1)]
    rows, columns = np.nonzero(np.logical_or.reduce(near))
    fine = (np.arange(FINE) + 0.5) / FINE
    at_u = u[rows][:, None] + np.diff(u)[rows][:, None] * fine
    at_v = v[columns][:, None] + np.diff(v)[columns][:, None] * fine
    part[rows, columns] = _held(shape, normal, at_u[:, :, None], at_v[:, None]).mean(axis=(1, 2))
    return part


def _held(shape: Solid, normal: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether points of a plane lie in the outline of a sheet."""
    height = 0.5 * sum(end[normal] for end in shape.bounds())
    at = dict(zip((normal, *next_axes(normal)), (np.full((1,) * u.ndim, height), u, v)))
    found = np.asarray(shape._lateral_distance(*(at[a] for a in range(3)))) <= 0.0
    return np.broadcast_to(found, np.broadcast_shapes(u.shape, v.shape))
