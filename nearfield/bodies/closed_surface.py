"""Closed surfaces of triangles: are they closed, what do they hold, how far are they."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from nearfield import _core
from nearfield.entry.wording import counted
from nearfield.machine.topology import available_threads

ALONE = 20_000  # points above which several threads are used
CLOSE = 2.0**-20  # part of the extent; corners no further apart may be meant as one


class ClosedSurface:
    """Triangles (n, 3) of numbers of corners (m, 3; m). Inside is where the winding number is not zero.

    Coordinates are resolved to 1e-12 of the extent. `closed`: the axes along which no way leads out through a hole; a
    tube of walls is open at its ends; points between them are allowed.
    """

    def __init__(
        self, corners: np.ndarray, triangles: np.ndarray, closed: tuple[bool, bool, bool] = (True,) * 3
    ) -> None:
        self.corners = np.ascontiguousarray(corners, dtype=np.float64)
        self.triangles = np.ascontiguousarray(triangles, dtype=np.int32)
        self.closed = closed

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    @cached_property
    def _core(self) -> Any:
        return _core.Surface(self.corners, self.triangles, self.closed)

    @cached_property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Lower and upper corner (m)."""
        return tuple(self.corners.min(axis=0).tolist()), tuple(self.corners.max(axis=0).tolist())

    def inside(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Whether points lie inside; coordinates (m) broadcast.

        Points on the surface belong to one of its two sides: bodies that share a face share no point of it.
        """
        return self._answers(self._core.inside, x, y, z)

    def distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Bound of the distance (m) of points from the surface, negative inside, zero on it; coordinates broadcast.

        Near the surface it is the distance itself.
        """
        found = self._answers(self._core.distance, x, y, z)
        return np.negative(found, out=found, where=self.inside(x, y, z))

    def _answers(self, ask, x: Any, y: Any, z: Any) -> np.ndarray:
        """Answers of the core: on a lattice where the coordinates make one, else point by point."""
        given = [np.asarray(q, dtype=np.float64) for q in (x, y, z)]
        shape = np.broadcast_shapes(*(q.shape for q in given))
        threads = available_threads() if np.prod(shape, dtype=float) > ALONE else 1
        varies = [[n - q.ndim for n in range(q.ndim) if q.shape[n] != 1] for q in given]
        along = [found[0] for found in varies if found]
        if max(map(len, varies)) > 1 or len(set(along)) < len(along):
            flat = (np.ascontiguousarray(np.broadcast_to(q, shape)).ravel() for q in given)
            return ask(*flat, lattice=False, threads=threads).reshape(shape)
        answer = ask(*(np.ascontiguousarray(q).ravel() for q in given), lattice=True, threads=threads)
        order = sorted(range(3), key=lambda axis: varies[axis][0] if varies[axis] else -np.inf)
        return np.ascontiguousarray(answer.transpose(order)).reshape(shape)


def merged(corners: np.ndarray, triangles: np.ndarray, within: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Corners that are equal, or in one square of a lattice of pitch `within`, as one; without flat triangles."""
    keys = np.floor((corners - corners.min(axis=0)) / within + 0.5) if within else corners
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    triangles = number.reshape(-1)[triangles]
    a, b, c = triangles.T
    return corners[first], triangles[(a != b) & (b != c) & (c != a)]


def hole(corners: np.ndarray, triangles: np.ndarray, unit: str = "m") -> str | None:
    """The reason why a surface is not closed, and where, in its own unit; None for a closed one."""
    start, end = triangles[:, [0, 1, 2]].ravel(), triangles[:, [1, 2, 0]].ravel()
    key = np.minimum(start, end).astype(np.int64) * len(corners) + np.maximum(start, end)
    _, first, number, uses = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    balance = np.bincount(number.reshape(-1), np.where(start < end, 1, -1))
    wrong = np.nonzero(balance)[0]
    if not wrong.size:
        return None
    opened = wrong[uses[wrong] % 2 == 1]
    edge = first[(opened if opened.size else wrong)[0]]
    middle = ", ".join(f"{value:.6g}" for value in 0.5 * (corners[start[edge]] + corners[end[edge]]))
    if opened.size:
        edges = counted(opened.size, "edge")
        return f"is not closed: {edges} of one triangle alone, the first about ({middle}) {unit}"
    edges = counted(wrong.size, "edge")
    return f"has triangles that face the wrong side: neighbours disagree at {edges}, the first about ({middle}) {unit}"


def volume(corners: np.ndarray, triangles: np.ndarray) -> float:
    """Volume inside a closed surface (m3), by the divergence theorem; negative where triangles face inwards."""
    a, b, c = (corners[triangles[:, n]] - corners.mean(axis=0) for n in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
