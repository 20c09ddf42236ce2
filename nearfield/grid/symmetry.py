"""Planes of symmetry in the middle of the grid: what a user gives, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.schema import Schema
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES, SIDES, YeeGrid

if TYPE_CHECKING:
    from nearfield.grid.boundaries import Boundaries

Kind = Literal["electric", "magnetic"]
ALIKE = 1e-6  # cells by which lines on both sides of a plane may differ


class Symmetry(Schema):
    """Planes in the middle of the grid, across x, y or z, about which fields are symmetric: "electric" or "magnetic".

    Give the whole model; the half above each plane is stepped, at half the cost, and monitors, their files, ports and
    far field report the whole. A plane must be a grid line, with the same lines and the same boundary on both sides.
    Bodies, sources and ports below the plane are taken to mirror those above; a plane wave must be its own image. On an
    electric plane tangential E is zero: it may cut a dipole across its axis; a magnetic one may cut it lengthwise.

    >>> import nearfield as nf
    >>> nf.Symmetry(x="electric", y="magnetic").kinds
    ('electric', 'magnetic', None)
    """

    x: Kind | None = None
    """The plane across x."""
    y: Kind | None = None
    """The plane across y."""
    z: Kind | None = None
    """The plane across z."""

    @property
    def kinds(self) -> tuple[Kind | None, Kind | None, Kind | None]:
        """Kinds of the planes across x, y, z."""
        return self.x, self.y, self.z

    def __bool__(self) -> bool:
        return any(self.kinds)


def symmetric_grid(
    grid: YeeGrid, kinds: Sequence[Kind | None], boundaries: Boundaries, fitted: bool = False
) -> YeeGrid:
    """The grid with its planes; one `fitted` to the model is made alike on both sides.

    Errors: a plane that is no grid line, or whose sides are not alike.
    """
    if not any(kinds):
        return grid
    lines = list(grid.lines)
    for axis in (axis for axis in range(3) if kinds[axis]):
        refuse_faces(boundaries, axis)
        if fitted:  # its lines need not be alike, nor its CPMLs as thick
            layers = boundaries.cpml_cells(axis)
            middle = 0.5 * (lines[axis][layers[0]] + lines[axis][-1 - layers[1]])
            upper = lines[axis][lines[axis] > middle + ALIKE * grid.primary(axis).min()]
            lines[axis] = np.concatenate((2 * middle - upper[::-1], [middle], upper))
        refuse_lines(lines[axis], axis)
    return replace(grid, lines=triple(lines), mirrors=triple(kinds))


def refuse_faces(boundaries: Boundaries, axis: int) -> None:
    """Refuse different boundaries on the two sides of a plane, or ones that repeat."""
    (low, high), name = (boundaries.face(axis, side) for side in SIDES), AXES[axis]
    if boundaries.repeat(axis):
        raise ModelError(
            f'symmetry: {name} has a plane and fields that repeat; give the half cell with "pec" or "pmc" on both of '
            f"its {name} faces instead, which a periodic cell's planes of symmetry are"
        )
    if low != high:
        raise ModelError(
            f"symmetry: {name}_low and {name}_high differ, so the model is not symmetric about the middle of {name}; "
            f"give the same boundary to both, or leave the {name} plane out"
        )


def refuse_lines(line: np.ndarray, axis: int) -> None:
    """Refuse lines that a plane in their middle does not mirror onto each other."""
    mirrored = line[0] + line[-1] - line[::-1]
    if line.size % 2 == 0 or np.abs(mirrored - line).max() > ALIKE * np.diff(line).min():
        raise ModelError(
            f"symmetry: the {line.size} grid lines along {AXES[axis]} are not symmetric about a line at their middle, "
            f"{0.5 * (line[0] + line[-1]):.9g} m; give an even number of cells, the same on both sides of the plane"
        )
