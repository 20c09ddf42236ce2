"""Metal without thickness where it is drawn: factors of eps and 1/mu about the rims of sheets (docs/method.md).

Near a rim the field grows as one over a root of the distance, whatever else is there. The factors of rim_field.py make
that field exact on the grid wherever in a cell the rim lies, on edges that are partly metal too; rim_factors.py joins
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.combined import in_plane, less
from nearfield.bodies.shapes import Rectangular, Solid, Wire
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.metal.facing_rims import facing
from nearfield.metal.half_lattice import half_lattice
from nearfield.metal.necks import ALONG, Neck, chain, necks
from nearfield.metal.outlines import FlatMetal, Rims, sides_of
from nearfield.metal.patches import cell_near, next_axes, pair
from nearfield.metal.rim_factors import nearest
from nearfield.metal.rim_plane import RimPlane
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.thin_metal import EdgeBox

if TYPE_CHECKING:
    from nearfield.metal.metal import Body

NARROWEST = 1.0  # cells; narrower metal stays on whole edges


class SheetRims:
    """Factors of the `edges` and `faces` about the rims of all flat metal of a model, and the edges in `metal`.

    `by_cell`: those of edges and faces that the time step bounds cell by cell, with the energy of their field as
    `share`.
    `flats`: the flat metal of each plane, by (normal, node). `taken`: numbers of the bodies that are followed.
    `ends`: edges (component, i, j, k) of circuits, whose ends stay joined to metal that they touch. `cut`: which bodies
    cut cells, and have their rims from there.
    """

    def __init__(
        self, grid: YeeGrid, boundaries: Boundaries, bodies: Sequence[Body], ends: Iterable, cut: Sequence[bool] = ()
    ) -> None:
        self._grid, self._bodies = grid, (bodies := with_openings(bodies))
        self._samples = SampleNumbers(grid)
        self._lattices = [half_lattice(grid, boundaries.interior(grid)[a], a) for a in range(3)]
        planes, ends = planes_of(bodies, grid, cut), list(ends)
        fed = np.concatenate([np.empty((0, 3)), *(_middles(grid, *each) for each in ends)])
        self.taken = {number for inside in planes.values() for number in inside}
        self.flats = {place: FlatMetal(grid, bodies, inside, *place, fed) for place, inside in planes.items()}
        found = [self._plane(flat, planes[place][0], place[1]) for place, flat in self.flats.items()]
        drawn: np.ndarray = np.unique(_joined([plane.metal for plane in found]))
        self.edges, self.faces = pair([nearest(plane.parts[kind]) for plane in found] for kind in (0, 1))
        self.by_cell = pair([part for plane in found for part in plane.by_cell[kind]] for kind in (0, 1))
        drawn = np.union1d(drawn, self._closed(found, ends))
        self.necks = {place: necks(flat) for place, flat in self.flats.items()}
        drawn = np.union1d(drawn, _joined([self._chains(*place, parts) for place, parts in self.necks.items()]))
        self._live = np.setdiff1d(_joined([plane.open for plane in found]), np.append(drawn, -1))
        whole = _joined([self._samples.of_box(box) for number in self.taken for box in bodies[number].edges])
        self.metal: np.ndarray = np.union1d(drawn, np.setdiff1d(whole, np.append(self._live, -1)))

    def _plane(self, flat: FlatMetal, first: int, node: int) -> RimPlane:
        height = self._bodies[first].lower[flat.normal]
        return RimPlane(flat, self._samples, self._lattices, node, height)

    def rims(self, number: int) -> Rims:
        """Those of a body, along the axes after its normal."""
        return next(flat.rims(number) for flat in self.flats.values() if number in flat.inside)

    def faces_across(self, place: tuple[int, int], rim: Sequence[float], axis: int) -> bool:
        """Whether the rim at a point (m) of a plane has one field with the rim that faces it upwards along an axis."""
        flat = self.flats[place]
        foot = np.array([[rim[a]] for a in flat.across])
        normal = np.array([[float(a == axis)] for a in flat.across])
        return bool(facing(flat, foot, normal)[0] >= 0)

    def _closed(self, planes: Sequence[RimPlane], ends: Iterable) -> np.ndarray:
        """Cut edges that meet the ends of circuits, wires and narrow metal: those are joined to the metal."""
        none = np.empty(0, dtype=np.int64)
        numbers = [
            self._samples.number(c, np.stack(np.broadcast_arrays(i, j, k), -1).reshape(-1, 3)) for c, i, j, k in ends
        ]
        others = [
            self._samples.of_box(box)
            for number, body in enumerate(self._bodies)
            if number not in self.taken
            for box in body.edges
        ]
        own = _joined(numbers)
        touched = np.concatenate([none, own[own >= 0], *(n[n >= 0] for n in others)])
        cut = np.setdiff1d(_joined([plane.cut for plane in planes]), own)
        if not touched.size or not cut.size:
            return none
        nodes = np.unique(self._samples.ends_of(touched))
        return cut[np.isin(self._samples.ends_of(cut), nodes).any(axis=1)]

    def _chains(self, normal: int, node: int, parts: Sequence[Neck]) -> np.ndarray:
        """Numbers of the edges that join metal where it is too narrow to hold together."""
        across, grid, found = next_axes(normal), self._grid, [np.empty(0, dtype=np.int64)]
        lines = pair(grid.lines[a] for a in across)
        for points in (part.points for part in parts):
            nodes = np.stack([[grid.nearest_node(a, q) for q in points[:, n]] for n, a in enumerate(across)], axis=1)
            path = np.insert(chain(nodes, points, lines), 0, 0, axis=1)[:, np.argsort([normal, *across])]
            path[:, normal] = node
            component = np.abs(np.diff(path, axis=0)).argmax(axis=1)
            found.append(self._samples.number(component, np.minimum(path[1:], path[:-1])))
        return np.concatenate(found)

    def edges_of(self, box: EdgeBox) -> EdgeBox:
        """An edge box of flat metal with the edges that lie in metal, and not those that its rims divide."""
        number = self._samples.number(box.component, np.moveaxis(np.indices(box.drawn.shape), 0, -1) + box.lower)
        mask = (box.drawn | np.isin(number, self.metal)) & ~np.isin(number, self._live)
        return EdgeBox(box.component, box.lower, box.upper, mask)


def _middles(grid: YeeGrid, component: int, *index: np.ndarray) -> np.ndarray:
    """Places (n, 3) (m) of the middles of edges."""
    at = [part.ravel() for part in np.broadcast_arrays(*index)]
    return np.stack([(grid.centres(a) if a == component else grid.lines[a])[part] for a, part in enumerate(at)], axis=1)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def planes_of(bodies: Sequence[Body], grid: YeeGrid, cut: Sequence[bool] = ()) -> dict[tuple[int, int], list[int]]:
    """Numbers of the flat bodies, `with_openings`, whose rims are followed by (normal, node) of their planes; `cut`:
    see `SheetRims`."""
    planes: dict[tuple[int, int], list[int]] = {}
    for number, body in enumerate(bodies):
        place = None if cut and cut[number] else plane_of(body)
        if place and _wide(body, place[0], grid):
            planes.setdefault(place, []).append(number)
    return planes


def with_openings(bodies: Sequence[Body]) -> list[Body]:
    """Bodies, flat metal without what later bodies of other media take away of it."""
    found = list(bodies)
    for number, body in enumerate(bodies):
        flat = _flat_axes(body)
        later = (other.shape for other in bodies[number + 1 :] if other.kind != "pec" and other.solid)
        minus = opening(body.shape, later, flat[0]) if len(flat) == 1 else []
        if minus:
            found[number] = replace(body, shape=less(body.shape, minus))
    return found


def _flat_axes(body: Body) -> list[int]:
    """The axes across which metal is thin; none of other bodies."""
    if body.kind != "pec" or not body.edges or isinstance(body.shape, Wire):
        return []
    return [a for a, ends in enumerate(body.nodes) if ends and ends[0] == ends[1]]


def plane_of(body: Body) -> tuple[int, int] | None:
    """(normal, node) of the plane that flat metal lies in; None for what is not flat, or is a line."""
    flat = _flat_axes(body)
    if len(flat) != 1:
        return None
    ends, sides = body.nodes[flat[0]], sides_of(body.shape, flat[0])
    return (flat[0], ends[0]) if ends and sides is not None and len(sides[0]) else None


def _wide(body: Body, normal: int, grid: YeeGrid) -> bool:
    """Whether flat metal is wider than the largest cell across it, or has sides along no axis, so that chains of edges
    hold its narrow parts together (necks.py): other narrower metal might hold no line of the grid."""
    across = next_axes(normal)
    extents = [body.upper[a] - body.lower[a] for a in across]
    largest = [NARROWEST * cell_near(grid, a, body.lower[a], body.upper[a]) for a in across]
    if isinstance(body.shape, Rectangular):
        return all(extent > cell for extent, cell in zip(extents, largest))
    start, end = sides_of(body.shape, normal) or (np.empty((0, 2)), np.empty((0, 2)))
    if len(start) and np.abs(end - start).min(axis=1).max() > ALONG * np.ptp(start, axis=0).max():
        return min(extents) > 0.0
    area = 0.5 * abs(np.sum(start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]))
    return min(*extents, 2.0 * area / np.hypot(*(end - start).T).sum()) > max(largest)


def opening(own: Solid, later: Iterable[Solid], normal: int) -> list[Solid]:
    """What later bodies of other media may take away of flat metal."""
    ends = own.bounds()
    return [part for shape in later if cuts_through(shape, ends, normal) for part in in_plane(shape, ends, normal)]


def cuts_through(shape: Solid, ends: tuple[Sequence[float], Sequence[float]], normal: int) -> bool:
    """Whether the box about a shape reaches through flat metal between two corners, beyond it on both sides."""
    return all(
        low < high_own and high > low_own if a != normal else low < low_own and high > high_own
        for a, (low, high, low_own, high_own) in enumerate(zip(*shape.bounds(), *ends))
    )
