"""Good conductors on the grid: the surface impedance of metal, as a magnetic medium in the H faces that touch it.

In Faraday's law of a face the part of its rim along the metal, of length l, carries the voltage Zs H l. With Zs(s) a
sum of R, s L and terms r s/(s + p), all positive, that makes the face's permeability

    mu_r(s) = 1 + (l/A) Zs(s)/(s mu0) = 1 + (l/A)/mu0 (L + R/s + sum r/(s + p)),       A: the face's open area

a passive medium, whatever lies beside it: nothing in stability.py changes. Tangential H half a cell off a
flat wall is that on the wall to second order. About edges that stand out each face of the metal counts with what it has
along the edge's dual length. Zs is fitted over the band of the excitations (skin_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nearfield.bodies.shapes import Cylinder, Sphere
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.entry.errors import ModelError
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid, is_half
from nearfield.media.poles import PoleResidue
from nearfield.media.surface_media import Conductor
from nearfield.metal.conductors import Conductors
from nearfield.metal.conformal import Openings, cell_near
from nearfield.metal.metal import Body, Owned, Window
from nearfield.metal.skin_fit import impedance_terms

GOOD = 10  # times the displacement current
THICK = 3.0  # skin depths
KEPT = 24  # planes of masks


class SkinSurface:
    """The surface of one conductor, as a term of the coefficients: what it adds to H faces for each l/A = 1/m.

    `conductors`, `own_openings`: the metal of this conductor alone; `openings`: all conformal metal.
    """

    magnetic = True

    def __init__(
        self,
        root: float,
        band: tuple[float, float],
        grid: YeeGrid,
        conductors: Conductors,
        own_openings: Openings | None,
        openings: Openings | None,
    ) -> None:
        self.grid, self._conductors, self._own, self._openings = grid, conductors, own_openings, openings
        low = 2.0 * np.pi * band[0]
        terms, unit = impedance_terms(round(band[1] / band[0], 6)), root * low**0.5 / VACUUM_PERMEABILITY
        self.loss = terms.resistance * unit * VACUUM_PERMEABILITY
        self.store = terms.inductance * unit / low
        self.poles = tuple(PoleResidue(-p * low, r * unit) for p, r in zip(terms.rates, terms.weights))
        self._kept: dict = {}

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` with equal parts."""
        around = [self._conductors.signature(axis, plane + n) for n in (0, 1)]
        around += [own.signature(axis, plane) for own in (self._own,) if own is not None]
        length = self.grid.primary(axis)
        return *around, *length[np.arange(plane - 1, plane + 1) % length.size].tolist()

    def part(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | float:
        """l/A of the faces of a window (1/m); 0 where the conductor does not come."""
        found = self._known(self._part, component - 3, axis, plane)
        if found is None:
            return 0.0
        part = found[tuple(slice(*span) for span in window)]
        cut = self._own and self._own.boundary(component, axis, plane, window)
        if cut is not None:
            part = np.where(cut >= 0.0, cut, part)
        opened = self._openings and self._openings.fraction(component, axis, plane, window)
        return part if opened is None else part / opened

    def _known(self, draw, number: int, axis: int, plane: int):
        """What `draw` makes of a plane, kept for its neighbours."""
        key = draw.__name__, number, axis, plane
        if key not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = draw(number, axis, plane)
        return self._kept[key]

    def _part(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """l/A of all faces across `normal` in a plane, by the walls of metal that stand on their rims."""
        total = 0.0
        for wall in ((normal + 1) % 3, (normal + 2) % 3):
            layers = [self._stands(wall, normal, axis, plane + n) for n in range(1 + (wall == axis))]
            if all(layer is None for layer in layers):
                continue
            low, high = layers if wall == axis else (layers[0], _next(layers[0], self._place(wall, axis)))
            both = sum(layer for layer in (low, high) if layer is not None)
            total = total + both / self._lengths(wall, axis, plane)
        if np.ndim(total) == 0:
            return None
        metal = self._known(self._faces, normal, axis, plane)
        return total if metal is None else np.where(metal, 0.0, total)

    def _stands(self, wall: int, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """What part of the dual length along `normal` the metal's faces across `wall` take about each of its nodes."""
        if normal != axis:
            faces = self._known(self._faces, wall, axis, plane)
            if faces is None:
                return None
            place = self._place(normal, axis)
            length = self._cells(normal)
            shape = [-1 if place == n else 1 for n in range(2)]
            below = _before(faces, place, self.grid.closed(normal)), _before(length, 0, self.grid.closed(normal))
            return _shared(below[0], below[1].reshape(shape), faces, length.reshape(shape))
        layers, length = [], []
        for cell in (plane - 1, plane):
            inside = self.grid.closed(axis) or 0 <= cell < self.grid.cells[axis]
            layers.append(self._known(self._faces, wall, axis, cell) if inside else None)
            length.append(self._cells(axis)[cell % self.grid.cells[axis]] if inside else 0.0)
        if all(layer is None for layer in layers):
            return None
        low, high = (False if layer is None else layer for layer in layers)
        return _shared(low, length[0], high, length[1])

    def _faces(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """Which faces across `normal` have four edges in this metal; None if none has."""
        found = None
        for along, moved in (((normal + 1) % 3, (normal + 2) % 3), ((normal + 2) % 3, (normal + 1) % 3)):
            planes = (plane, plane + 1) if moved == axis else (plane,)
            edges = [self._known(self._edges, along, axis, at) for at in planes]
            if any(mask is None for mask in edges):
                return None
            pair = edges if moved == axis else [edges[0], _next(edges[0], self._place(moved, axis))]
            found = pair[0] & pair[1] if found is None else found & pair[0] & pair[1]
        return found if found.any() else None

    def _edges(self, component: int, axis: int, plane: int) -> np.ndarray | None:
        """Which E edges of a plane are in this metal, all nodes of the axes across; None if none is."""
        closed, cells = [self.grid.closed(a) for a in range(3)], self.grid.cells
        plane = plane % cells[axis] if closed[axis] else plane
        if not 0 <= plane < cells[axis] + (not is_half(component, axis)):
            return None
        window = tuple((0, cells[(axis + n) % 3] + 1) for n in (1, 2))
        taken = self._conductors.take(component, axis, plane, window)
        opened = self._own and self._own.fraction(component, axis, plane, window)
        taken = taken if opened is None else taken | (opened == 0.0)
        for place in range(2):
            a, ends = (axis + 1 + place) % 3, taken.swapaxes(0, place)
            ends[-1] = ends[0] if closed[a] else ends[-1] & (not is_half(component, a))
        return taken if taken.any() else None

    def _place(self, along: int, axis: int) -> int:
        return (along - axis) % 3 - 1

    def _cells(self, axis: int) -> np.ndarray:
        """Cell lengths (m), one more than there are cells: of the first again on a closed axis, else nothing."""
        length = self.grid.primary(axis)
        return np.append(length, length[0] if self.grid.closed(axis) else 0.0)

    def _lengths(self, along: int, axis: int, plane: int) -> np.ndarray | float:
        """Cell lengths (m) along an axis, to broadcast over a plane."""
        if along == axis:
            return float(self.grid.primary(axis)[plane % self.grid.cells[axis]])
        length = self.grid.primary(along)
        place = self._place(along, axis)
        return np.append(length, length[0]).reshape([-1 if place == n else 1 for n in range(2)])


def _next(values: np.ndarray, place: int) -> np.ndarray:
    """The values of the next samples along an array axis; nothing past the last."""
    shifted = np.zeros_like(values)
    shifted.swapaxes(0, place)[:-1] = values.swapaxes(0, place)[1:]
    return shifted


def _before(values: np.ndarray, place: int, closed: bool) -> np.ndarray:
    """Those of the samples before; before the first one those of the last cell where the axis closes."""
    shifted, turned = np.zeros_like(values), values.swapaxes(0, place)
    shifted.swapaxes(0, place)[1:] = turned[:-1]
    if closed:
        shifted.swapaxes(0, place)[0] = turned[-2]
    return shifted


def _shared(below, length_below, above, length_above) -> np.ndarray:
    """Part of two lengths that two masks take."""
    return (below * length_below + above * length_above) / (length_below + length_above)


def skin_surfaces(
    grid: YeeGrid,
    boundaries: Boundaries,
    interior,
    stepped: Sequence[Owned],
    cutting: Sequence[Owned],
    openings: Openings | None,
    light: float,
    band: tuple[float, float],
) -> list[SkinSurface]:
    """The surfaces of the conductors among bodies on whole cells, among those that cut cells, and of the walls.

    `openings`: of all that cuts cells; `light`: see `OpenParts`; `band` (Hz): see `fit_band`.
    """
    walls = [(axis, side) for axis in range(3) for side in (0, 1) if boundaries.face(axis, side) == "pec"]
    media = [medium for _, medium in (*stepped, *cutting)] + [boundaries.conductor]
    for medium in media:
        if isinstance(medium, Conductor):
            refuse_poor(medium, band[1])
    for body, medium in (*stepped, *cutting):
        if isinstance(medium, Conductor):
            refuse_slight(body, medium, band[1], grid)
    roots = [medium.root for medium in media if isinstance(medium, Conductor)]
    surfaces = []
    for root in dict.fromkeys(roots):
        own_walls = walls if boundaries.conductor is not None and boundaries.conductor.root == root else []
        conductors = Conductors(grid, boundaries, interior, _owned(stepped, root), own_walls)
        own, mine = openings, _owned(cutting, root)
        if any(body is not before for body, (before, _) in zip(mine, cutting)):
            own = Openings(grid, interior, mine, light) if any(body.kind == "pec" for body in mine) else None
        surfaces.append(SkinSurface(root, band, grid, conductors, own, openings))
    return surfaces


def _owned(bodies: Sequence[Owned], root: float) -> list[Body]:
    """The bodies with other metal as something that takes this metal away."""
    mine = [body.kind != "pec" or (isinstance(medium, Conductor) and medium.root == root) for body, medium in bodies]
    return [body if own else replace(body, kind="medium", edges=()) for (body, _), own in zip(bodies, mine)]


def refuse_poor(medium: Conductor, highest: float) -> None:
    """Refuse what is no good conductor up to a frequency (Hz)."""
    least = GOOD * 2.0 * np.pi * highest * VACUUM_PERMITTIVITY
    if medium.conductivity < least:
        raise ModelError(
            f"{medium.label()}: up to {highest / 1e9:.4g} GHz a conductor must have at least {least:.3g} S/m, {GOOD} w "
            "eps0, for its surface to have an impedance of its own; give a Medium with this conductivity"
        )


def refuse_slight(body: Body, medium: Conductor, highest: float, grid: YeeGrid) -> None:
    """Refuse bodies that fields go through, and round ones that have no surface on the grid."""
    size, depth = min(b - a for a, b in zip(body.lower, body.upper)), medium.skin_depth(highest)
    if 0.0 < size < THICK * depth:
        raise ModelError(
            f"a {body.shape.kind} of {medium.label()} is {size * 1e6:.4g} um thick, but the skin depth at "
            f"{highest / 1e9:.4g} GHz is {depth * 1e6:.4g} um; a surface impedance is that of metal at least {THICK:g} "
            "times as thick. Give a ResistiveSheet (conductivity and thickness), or a Medium with this conductivity"
        )
    if isinstance(body.shape, Cylinder | Sphere):
        cell = max(cell_near(grid, a, body.lower[a], body.upper[a]) for a in range(3))
        if body.shape.radius < cell:
            raise ModelError(
                f"a {body.shape.kind} of {medium.label()} has a radius of {body.shape.radius * 1e3:.4g} mm in cells of "
                f'{cell * 1e3:.4g} mm, and so no surface on the grid; refine the grid there, or give "pec"'
            )
