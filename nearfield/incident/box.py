"""The total-field box of a plane wave: its corners on the grid, and which of its faces lie open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import CPML, FACES, Boundaries
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.sources.edges import snapped


@dataclass(frozen=True)
class Beam:
    """A plane wave and its box: corners as nodes, unit vectors, E (V/m) as a `signal(t)` where it enters the box.

    `who`: its label in messages; `along`: the axis that it travels along, None at an angle; the signal is over at `end`
    (s), in the excitation of that name.
    """

    who: str
    first: Triple
    last: Triple
    travels: np.ndarray
    electric: np.ndarray
    along: int | None
    signal: Callable[[np.ndarray], np.ndarray]
    end: float
    excitation: str


def box_nodes(grid: YeeGrid, boundaries: Boundaries, lower, upper, who: str) -> tuple[Triple, Triple]:
    """The box's corners as nodes, below planes of symmetry as above.

    Errors: it has no volume, comes too near to a CPML, or does not reach a plane of symmetry.
    """
    spans = [mirrored(grid, axis, span, who) for axis, span in enumerate(snapped(grid, lower, upper, who))]
    for axis, (low, high) in enumerate(spans):
        first, stop = boundaries.interior(grid)[axis]
        least = first + isinstance(boundaries.face(axis, "low"), CPML)
        most = stop - isinstance(boundaries.face(axis, "high"), CPML)
        line = grid.lines[axis]
        if low == high or low < least or high > most:
            raise ModelError(
                f"{who}: its box spans {AXES[axis]} {line[low]:.6g} to {line[high]:.6g} m; it needs at least one cell, "
                f"and one cell of scattered field before each CPML: {line[least]:.6g} to {line[most]:.6g} m at most. "
                "Move its corners"
            )
    return triple(low for low, _ in spans), triple(high for _, high in spans)


def mirrored(grid: YeeGrid, axis: int, span: tuple[int, int], who: str) -> tuple[int, int]:
    """The nodes along an axis, mirrored where a plane of symmetry lies across it."""
    low, high = span
    if not grid.mirrors[axis]:
        return span
    if not low <= grid.cells[axis] // 2 < high:
        line = grid.lines[axis]
        raise ModelError(
            f"{who}: its box spans {AXES[axis]} {line[low]:.6g} to {line[high]:.6g} m and nothing above the plane of "
            f"symmetry at {line[grid.cells[axis] // 2]:.6g} m, or does not touch it; a box and its mirror image are "
            "one total-field box. Let it reach across the plane, or leave the plane out"
        )
    return grid.cells[axis] - high, high


def to_the_end(grid: YeeGrid, first: Triple, last: Triple, along: int, forward: bool) -> tuple[Triple, Triple]:
    """The corners of a box, with its far side at the end of the grid where no side of it along the wave lies open."""
    if any(axis != along for axis, _ in open_faces(grid, first, last)) or grid.closed(along):
        return first, last
    ends = [0 if axis == along and not forward else n for axis, n in enumerate(first)]
    far = [grid.cells[axis] if axis == along and forward else n for axis, n in enumerate(last)]
    return triple(ends), triple(far)


def open_faces(grid: YeeGrid, first: Triple, last: Triple) -> list[tuple[int, str]]:
    """(axis, side) of the faces that do not lie on a wall of the domain, past which there is nothing."""
    ends = {"low": (first, (0, 0, 0)), "high": (last, grid.cells)}
    return [(axis, side) for axis, side in FACES if ends[side][0][axis] != ends[side][1][axis]]
