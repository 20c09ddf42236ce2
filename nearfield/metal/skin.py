"""Good conductors on the grid: the surface impedance of metal, as a magnetic medium in the H faces that touch it.

With the length l of a face's rim along the metal, its open area A, and Zs(s) a sum of R, s L and terms r s/(s + p),

    mu_r(s) = 1 + (l/A) Zs(s)/(s mu0) = 1 + (l/A)/mu0 (L + R/s + sum r/(s + p)),       all positive

About edges that stand out each face of the metal counts with what it has along the edge's dual length. Zs is fitted
over the band of the excitations (skin_fit.py). docs/method.md has the errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from nearfield.bodies.shapes import Cylinder, Solid, Sphere
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid, is_half
from nearfield.machine.schedule import kept_by_thread
from nearfield.media.poles import PoleResidue
from nearfield.media.surface_media import Conductor
from nearfield.metal.conductors import Conductors
from nearfield.metal.conformal import open_parts
from nearfield.metal.corner_loss import CornerLoss
from nearfield.metal.metal import Body, Owned
from nearfield.metal.open_parts import OpenParts
from nearfield.metal.patches import Patch, cell_near, next_axes, pair, shape_of, spread
from nearfield.metal.sheet_cover import SheetCover
from nearfield.metal.skin_fit import impedance_terms
from nearfield.metal.thickness import least_thickness

GOOD = 10  # least conduction current of a good conductor over its displacement current
THICK = 3.0  # skin depths, the least thickness of metal that fields do not go through
KEPT = 12  # planes of each kind of mask in memory
Parts = Sequence[OpenParts]  # by axis; none where nothing is cut


class SkinSurface:
    """The surface of one conductor, as a term of the coefficients: what it adds to H faces for each l/A = 1/m.

    `conductors`, `own`: the metal of this conductor alone, on whole cells and cut cells; `every`: all that cuts cells;
    `cover`: its sheets that end where they are drawn; `corners`: what samples beside corners count with.
    """

    magnetic = True

    def __init__(
        self,
        root: float,
        band: tuple[float, float],
        conductors: Conductors,
        own: Parts,
        every: Parts,
        cover: SheetCover,
        corners: CornerLoss | None = None,
    ) -> None:
        self.grid, self._conductors, self._own, self._openings = conductors.grid, conductors, own, every
        self._cover, self._corners = cover, corners
        low = 2.0 * np.pi * band[0]
        terms, unit = impedance_terms(round(band[1] / band[0], 6)), root * low**0.5 / VACUUM_PERMEABILITY
        self.loss = terms.resistance * unit * VACUUM_PERMEABILITY
        self.store = terms.inductance * unit / low
        self.poles = tuple(PoleResidue(pole=-p * low, residue=r * unit) for p, r in zip(terms.rates, terms.weights))
        # beside faces that its own round or slanting metal cuts, walls and metal on whole cells count by themselves
        self._flat = SkinSurface(root, band, conductors, (), every, cover) if own else None
        keep = kept_by_thread(KEPT)
        self._part, self._faces, self._edges = keep(self._draw_part), keep(self._draw_faces), keep(self._draw_edges)

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` with equal parts."""
        around = [self._conductors.signature(axis, plane + n) for n in (0, 1)]
        around += [parts.signature(plane) for parts in (*self._own[axis : axis + 1], *self._openings[axis : axis + 1])]
        length = self.grid.primary(axis)
        return (
            *around,
            self._cover.signature(axis, plane),
            self._corners and self._corners.signature(axis, plane),
            *length[np.arange(plane - 1, plane + 1) % length.size].tolist(),
        )

    def part(self, patch: Patch) -> np.ndarray | float:
        """l/A of the faces of a patch (1/m); 0 where the conductor does not come."""
        part = self.drawn_part(patch)
        return self._corners.corrected(part, patch) if self._corners else part

    def drawn_part(self, patch: Patch) -> np.ndarray | float:
        """`part` with the surface as it is drawn, also beside corners."""
        found = self._part(patch.component - 3, patch.axis, patch.plane)
        part = 0.0 if found is None else found[tuple(slice(*span) for span in patch.window)]
        cut = self._own[patch.axis].boundary(patch) if self._own else None
        if cut is None and found is None:
            return 0.0
        fraction = self._openings[patch.axis].fraction(patch) if self._openings else None
        opened = 1.0 if fraction is None else fraction
        if cut is None or self._flat is None:
            return part / opened
        return np.where(cut >= 0.0, cut / opened + self._flat.part(patch), part / opened)

    def _draw_part(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """l/A of all faces across `normal` in a plane, by the walls of metal that stand on their rims."""
        total: np.ndarray | float = 0.0
        for wall in next_axes(normal):
            layers = [self._stands(wall, normal, axis, plane + n) for n in range(1 + (wall == axis))]
            if all(layer is None for layer in layers):
                continue
            rims = [self._open_rims(3 - normal - wall, axis, plane + n) for n in range(1 + (wall == axis))]
            if wall != axis:
                place = next_axes(axis).index(wall)
                layers += [None if layer is None else _next(layer, place) for layer in layers]
                rims += [(_next(part, place), _next(own, place)) for part, own in rims]
            both = [
                layer * np.where(own == 0.0, other, part)
                for layer, (part, own), (other, _) in zip(layers, rims, rims[::-1])
                if layer is not None
            ]
            if both:
                total = total + sum(both) / self._lengths(wall, axis, plane)
        if isinstance(total, float):
            return None
        metal = self._faces(normal, axis, plane)
        return total if metal is None else np.where(metal == 1.0, 0.0, total)

    def _open_rims(self, along: int, axis: int, plane: int) -> tuple[np.ndarray, np.ndarray]:
        """Open fraction of the edges of a plane, by all metal that cuts cells and by this metal alone.

        A wall's rim is as long as no other metal covers it. In metal that cuts cells the edge itself is closed, and the
        one across the face tells.
        """
        patch = self._edges_of(along, axis, plane)
        found = (parts[axis].fraction(patch) if parts else None for parts in (self._openings, self._own))
        every, own = (np.ones(shape_of(patch.window)) if opened is None else opened for opened in found)
        return every, own

    def _edges_of(self, component: int, axis: int, plane: int) -> Patch:
        """The edges of a plane, all nodes of the axes across."""
        return Patch(component, axis, plane, pair((0, self.grid.cells[a] + 1) for a in next_axes(axis)))

    def _stands(self, wall: int, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """Part of the dual length along `normal` that metal faces across `wall` take about its nodes."""
        cells = self._cells(normal)
        if normal != axis:
            faces, place = self._faces(wall, axis, plane), next_axes(axis).index(normal)
            if faces is None:
                return None
            below = _before(faces, place, self.grid.closed(normal)), _before(cells, 0, self.grid.closed(normal))
            return _shared(below[0], spread(below[1], place), faces, spread(cells, place))
        ends: list = []
        for cell in (plane - 1, plane):
            inside = self.grid.closed(axis) or 0 <= cell < self.grid.cells[axis]
            layer = self._faces(wall, axis, cell) if inside else None
            ends += [False if layer is None else layer, cells[cell % self.grid.cells[axis]] if inside else 0.0]
        return None if ends[0] is False and ends[2] is False else _shared(*ends)

    def _draw_faces(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """The part of each face across `normal` in this metal, 1 of those with four edges in it; None if none has."""
        whole, covered = self._enclosed(normal, axis, plane), self._cover.faces(normal, axis, plane)
        if whole is None or covered is None:
            return covered if whole is None else whole.astype(float)
        return np.maximum(whole, covered)

    def _enclosed(self, normal: int, axis: int, plane: int) -> np.ndarray | None:
        """Which faces across `normal` have four edges in this metal; None if none has."""
        sides: list[np.ndarray] = []
        for along, moved in permutations(next_axes(normal)):
            masks = (self._edges(along, axis, plane + n) for n in range(1 + (moved == axis)))
            edges = [mask for mask in masks if mask is not None]
            if len(edges) < 1 + (moved == axis):
                return None
            sides += edges if moved == axis else [edges[0], _next(edges[0], next_axes(axis).index(moved))]
        found = np.logical_and.reduce(sides)
        return found if found.any() else None

    def _draw_edges(self, component: int, axis: int, plane: int) -> np.ndarray | None:
        """Which E edges of a plane are in this metal, all nodes of the axes across; None if none is."""
        closed, cells, across = [self.grid.closed(a) for a in range(3)], self.grid.cells, next_axes(axis)
        plane = plane % cells[axis] if closed[axis] else plane
        if not 0 <= plane < cells[axis] + (not is_half(component, axis)):
            return None
        patch = self._edges_of(component, axis, plane)
        taken = self._conductors.take(patch)
        opened = self._own[axis].fraction(patch) if self._own else None
        taken = taken if opened is None else taken | (opened == 0.0)
        for place, a in enumerate(across):
            ends = taken.swapaxes(0, place)
            ends[-1] = ends[0] if closed[a] else ends[-1] & (not is_half(component, a))
        return taken if taken.any() else None

    def _cells(self, axis: int) -> np.ndarray:
        """Cell lengths (m), one more than there are cells: of the first again on a closed axis, else nothing."""
        length = self.grid.primary(axis)
        return np.append(length, length[0] if self.grid.closed(axis) else 0.0)

    def _lengths(self, along: int, axis: int, plane: int) -> np.ndarray | float:
        """Cell lengths (m) along an axis, to broadcast over a plane."""
        length = self.grid.primary(along)
        if along == axis:
            return float(length[plane % length.size])
        return spread(np.append(length, length[0]), next_axes(axis).index(along))


def _next(values: np.ndarray, place: int) -> np.ndarray:
    """The values of the next samples along an array axis; nothing past the last."""
    shifted = np.zeros_like(values)
    shifted.swapaxes(0, place)[:-1] = values.swapaxes(0, place)[1:]
    return shifted


def _before(values: np.ndarray, place: int, closed: bool) -> np.ndarray:
    """The values of the samples before; before the first one those of the last cell where the axis closes."""
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
    stepped: Sequence[Owned],
    cutting: Sequence[Owned],
    openings: Parts,
    light: float,
    band: tuple[float, float],
    rimmed: Sequence[tuple[Solid, tuple[int, int]]] = (),
    corners: CornerLoss | None = None,
) -> list[SkinSurface]:
    """The surfaces of the conductors among bodies on whole cells, among those that cut cells, and of the walls.

    `openings`: of all that cuts cells; `light`: see `OpenParts`; `band` (Hz): see `fit_band`; `rimmed`: flat metal
    whose rims are followed, with its plane; `corners`: see `SkinSurface`.
    """
    walls = [(axis, side) for axis in range(3) for side in (0, 1) if boundaries.face(axis, side) == "pec"]
    owned = [(body, medium) for body, medium in (*stepped, *cutting) if isinstance(medium, Conductor)]
    coating = [boundaries.conductor] if boundaries.conductor and walls else []
    media = [medium for _, medium in owned] + coating
    for medium in media:
        refuse_poor(medium, band[1])
    for body, medium in owned:
        refuse_slight(body, medium, band[1], grid)
    surfaces = []
    for root in dict.fromkeys(medium.root for medium in media):
        own_walls = walls if any(medium.root == root for medium in coating) else []
        own, mine = openings, _owned(cutting, root)
        if any(body is not before for body, (before, _) in zip(mine, cutting)):
            own = open_parts(grid, boundaries, mine, light)
        conductors = Conductors(grid, boundaries, _owned(stepped, root), own_walls)
        flat = [each for body, medium in owned if medium.root == root for each in rimmed if each[0] is body.shape]
        surfaces.append(SkinSurface(root, band, conductors, own, openings, SheetCover(grid, flat), corners))
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
            f"{medium.label()}: up to {quantity(highest, 'Hz')} a conductor must have at least "
            f"{quantity(least, 'S/m')}, {GOOD} w eps0, for its surface to have an impedance of its own; give a Medium "
            "with this conductivity"
        )


def refuse_slight(body: Body, medium: Conductor, highest: float, grid: YeeGrid) -> None:
    """Refuse bodies that fields go through, and round ones that have no surface on the grid."""
    size = least_thickness(body.shape)
    depth = medium.skin_depth(highest)
    name = f"a {body.shape.kind} of {medium.label()}"
    if 0.0 < size < THICK * depth:
        raise ModelError(
            f"{name} is {quantity(size, 'm')} thick, but the skin depth at {quantity(highest, 'Hz')} is "
            f"{quantity(depth, 'm')}; a surface impedance is that of metal at least {THICK:g} times as thick. Give a "
            "ResistiveSheet (conductivity and thickness), or a Medium with this conductivity"
        )
    cell = max(cell_near(grid, a, body.lower[a], body.upper[a]) for a in range(3))
    if isinstance(body.shape, Cylinder | Sphere) and body.shape.radius < cell:
        raise ModelError(
            f"{name} has a radius of {quantity(body.shape.radius, 'm')} in cells of {quantity(cell, 'm')}, and so no "
            'surface on the grid; refine the grid there, or give "pec"'
        )
