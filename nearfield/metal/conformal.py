"""Conformal metal: which bodies are followed through cells, and what that asks of the time step.

On an edge that metal cuts the array holds E times the open fraction f of the edge, which is the mean of E over the
whole edge; a face of open fraction a carries its flux through that part alone (Dey and Mittra 1997):

    f E <- Ca f E + f Cb (curl H),        H <- Da H - (Db/a) (curl f E)

so both are coefficients, line integrals of what is stored are those of the field, and what reads E at a point divides.
No cell borrows from its neighbours. How f and a are found, and how small a may be: open_parts.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.shapes import Cylinder, Solid, Sphere, Wire
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.open_parts import OpenParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearfield.bodies.geometry import FilledShape
    from nearfield.metal.metal import Body, Window

STEP_FACTOR = 0.5**0.5  # of Courant's limit


class Openings:
    """Open fractions on planes across any axis; `bodies`, `light`: see `OpenParts`."""

    def __init__(self, grid: YeeGrid, interior, bodies: list[Body], light: float) -> None:
        self._parts = [OpenParts(grid, interior, bodies, a, light) for a in range(3)]

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes with the same openings."""
        return self._parts[axis].signature(plane)

    def fraction(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | None:
        """What of E edges, or of the faces of H, is open; None where all is."""
        parts = self._parts[axis]
        return (parts.edges if component < 3 else parts.faces)(component, plane, window)

    def boundary(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | None:
        """Length of the metal's boundary over the whole area in cut faces (1/m), -1 in others; None without any."""
        return self._parts[axis].boundary(component, plane, window)

    def factor(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | None:
        """What Cb or Db is multiplied by; None where it is 1."""
        opened = self.fraction(component, axis, plane, window)
        return opened if opened is None or component < 3 else 1.0 / opened


def followed(bodies: Sequence[Body], grid: YeeGrid) -> list[bool]:
    """Which bodies are followed: metal that is thick enough, and with it the thin metal that it touches.

    Rods and balls thinner than two of the cells across them stay what they are on whole cells.
    """
    margin = SAMPLE_TOLERANCE * min(float(grid.primary(a).min()) for a in range(3))
    lower = np.array([body.lower for body in bodies]).reshape(-1, 3) - margin
    upper = np.array([body.upper for body in bodies]).reshape(-1, 3) + margin
    able = [_has_surface(body, grid) for body in bodies]
    found = [one and _holds_lines(body, grid, margin) for one, body in zip(able, bodies)]
    fresh = np.nonzero(found)[0].tolist()
    while fresh:
        number = fresh.pop()
        near = ((lower <= upper[number]) & (upper >= lower[number])).all(axis=1)
        touched = [other for other in np.nonzero(near)[0] if able[other] and not found[other]]
        fresh += touched
        for other in touched:
            found[other] = True
    return found


def _has_surface(body: Body, grid: YeeGrid) -> bool:
    """Whether metal in the grid has a volume, and round metal a radius of a cell or more."""
    inside = all(high >= line[0] and low <= line[-1] for low, high, line in zip(body.lower, body.upper, grid.lines))
    if body.kind != "pec" or isinstance(body.shape, Wire) or not inside:
        return False
    if any(low == high for low, high in zip(body.lower, body.upper)):
        return False
    return not too_slight(body.shape, grid)


def _holds_lines(body: Body, grid: YeeGrid, margin: float) -> bool:
    """Whether a body holds a grid line along each axis on which it is flat."""
    return body.solid and all(
        ((body.lower[a] - margin <= grid.lines[a]) & (grid.lines[a] <= body.upper[a] + margin)).any()
        for a in range(3)
        if body.nodes[a]
    )


def too_slight(shape: Solid, grid: YeeGrid) -> bool:
    """Whether a round shape has a radius below the cells across it."""
    lower, upper = shape.bounds()
    cells = [cell_near(grid, a, lower[a], upper[a]) for a in range(3) if not shape._constant_along(a)]
    return isinstance(shape, Cylinder | Sphere) and shape.radius < max(cells)


def cell_near(grid: YeeGrid, axis: int, low: float, high: float) -> float:
    """The largest cell (m) between two coordinates."""
    line = grid.lines[axis]
    first, last = np.clip(np.searchsorted(line, (low, high)), 1, line.size - 1)
    return float(grid.primary(axis)[first - 1 : last].max())


def cuts(bodies: Sequence[FilledShape], grid: YeeGrid) -> bool:
    """Whether solid metal can cut cells: it, or what is later drawn into it, leaves the grid lines."""
    metal = []
    for body in bodies:
        shape, own = body.shape, is_metal(body.medium)
        lower, upper = shape.bounds()
        if shape.kind in ("wire", "sheet") or any(a == b for a, b in zip(lower, upper)):
            continue
        touches = own or any(
            all(lower[a] < other.bounds()[1][a] and upper[a] > other.bounds()[0][a] for a in range(3))
            for other in metal
        )
        if touches and not _on_lines(shape, grid):
            return True
        metal += [shape] if own else []
    return False


def _on_lines(shape: Solid, grid: YeeGrid) -> bool:
    """Whether all faces of a body are flat and lie on grid lines, or outside the grid."""
    for axis, line in enumerate(grid.lines):
        for face in (corner[axis] for corner in shape.bounds()):
            nearest = line[grid.nearest_node(axis, face)]
            inside = line[0] < face < line[-1]
            if inside and abs(nearest - face) > SAMPLE_TOLERANCE * grid.primary(axis).min():
                return False
    return all(shape._constant_along(axis) for axis in range(3))


def maximum_time_step(grid: YeeGrid, minimum_index: float) -> float:
    """Longest time step (s) that is stable where metal cuts cells: `STEP_FACTOR` of that of the smallest cell."""
    total = sum(1.0 / float(grid.primary(a).min()) ** 2 for a in range(3))
    return STEP_FACTOR * minimum_index / (VACUUM_SPEED * total**0.5)
