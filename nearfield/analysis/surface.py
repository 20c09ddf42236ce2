"""The closed surface of a far field as a result holds it: its faces, and the grid's waves that pass through them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from nearfield.analysis.faces import Face, read_faces
from nearfield.analysis.grid_waves import AxisLine, axis_line
from nearfield.entry.errors import ModelError
from nearfield.grid.yee import AXES
from nearfield.records.records import Variable, Variables

LINES = "grid_"  # grid_x holds the nodes of the whole axis


@dataclass(frozen=True)
class Surface:
    """Faces of a box of nodes, the lines of the grid from the surface to its phase reference, the time step (s)."""

    faces: list[Face]
    lines: tuple[AxisLine, AxisLine, AxisLine]
    time_step: float


def line_variables(lines: tuple[np.ndarray, ...]) -> Variables:
    """The nodes of all three axes (m)."""
    return {name: Variable((name,), line, {"units": "m"}) for name, line in zip((LINES + a for a in AXES), lines)}


def grid_lines(nodes: Iterable[np.ndarray], walls: dict[int, float]) -> tuple[AxisLine, AxisLine, AxisLine]:
    """The lines of all axes; `walls` holds places (m) by axes."""
    x, y, z = (axis_line(line, walls.get(axis)) for axis, line in enumerate(nodes))
    return x, y, z


def read_surface(variables: Variables, walls: dict[int, float]) -> Surface:
    """The recorded surface; `walls` holds places (m) by axes. Error: an earlier version recorded it."""
    if LINES + AXES[0] not in variables:
        raise ModelError(
            "this far-field surface was recorded by an earlier Nearfield, without the lines of its grid, which its far "
            "field follows; run the model again"
        )
    faces = read_faces(variables)
    time_step = next(v.attributes["time_step"] for v in variables.values() if "time_step" in v.attributes)
    whole = grid_lines((variables[LINES + axis].array for axis in AXES), walls)
    x, y, z = (_within(line, *_span(faces, axis)) for axis, line in enumerate(whole))
    return Surface(faces, (x, y, z), float(time_step))


def _span(faces: list[Face], axis: int) -> tuple[float, float]:
    """The ends (m) of the surface along an axis."""
    nodes = np.concatenate([face.nodes[(axis - face.axis) % 3 - 1] for face in faces if face.axis != axis])
    return float(nodes.min()), float(nodes.max())


def _within(line: AxisLine, low: float, high: float) -> AxisLine:
    """The part of a line about its anchor, its reference and a surface from `low` to `high` (m), and a node beyond."""
    places = low, high, line.anchor, line.reference
    first, last = np.searchsorted(line.nodes, [min(places), max(places)])
    return replace(line, nodes=line.nodes[max(first - 2, 0) : last + 2])
