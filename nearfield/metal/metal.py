"""Perfect conductors on the grid: which cells, edges and faces they take (docs/method.md, Media).

Solid metal takes the cells whose centre is inside, with all their edges; flat faces move to the nearest grid line. Of
spheres and cylinders the centre must lie a part of a cell inside (`STAIRCASE`), since the steps act larger than the
surface: so coaxial lines and spherical cavities are within 0.5 % at 20 cells a radius (validation/coax). Metal thinner
than a cell takes edges. A later body of another medium gives back the cells whose centre it holds and the thin metal
strictly inside it. PMC takes the H samples strictly inside, and those on the wall that it reaches. In the CPML what
reaches its inner face goes straight on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nearfield.bodies.shapes import Cylinder, Solid, Sphere, Wire
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid, is_half
from nearfield.machine.schedule import kept_by_thread
from nearfield.media.surface_media import is_metal
from nearfield.metal.patches import (
    Window,
    cyclic_axes,
    extent,
    layer_of,
    margin_of,
    next_axes,
    overlap,
    pair,
    shape_of,
    spread,
)
from nearfield.metal.thin_metal import EdgeBox, Nodes, extend, over_seams, thin_edges
from nearfield.metal.wire_path import path_of, refuse_in_cpml

STAIRCASE = {2: 0.25, 3: 0.15}  # cells by which metal steps act larger than the surface, curved along two or three axes
CELL_KEPT = 0.87  # cells about the axis of a thin rod within which a centre is metal whatever the radius


@dataclass(frozen=True)
class Body:
    """A structure on the grid as metal needs it: its kind, its flat axes in grid lines, its thin edges."""

    shape: Solid
    kind: str  # "pec", "pmc" or "medium"
    nodes: Nodes  # lines its flat faces move to; None along axes where it curves
    edges: tuple[EdgeBox, ...]  # thin metal
    solid: bool  # takes cells
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    outside: bool = False  # of the grid

    @property
    def opens(self) -> bool:
        """Whether it takes away of metal that is followed through cells, between lines of the grid too."""
        volume = all(low < high for low, high in zip(self.lower, self.upper))
        return self.kind != "pec" and volume and not (self.outside or isinstance(self.shape, Wire))


def kind_of(medium: object) -> str:
    """The kind of a body of a medium."""
    return "pec" if is_metal(medium) else medium if isinstance(medium, str) else "medium"


def outline(shape: Solid, kind: str, grid: YeeGrid) -> Body:
    """The structure on the grid's lines, without the edges that it takes where it is thin."""
    lower, upper = shape.bounds()
    ends = magnetic_ends if kind == "pmc" else electric_ends
    nodes = [ends(grid, a, lower[a], upper[a]) if shape._constant_along(a) else None for a in range(3)]
    nodes = [
        (-1, grid.cells[a] + 1) if pair and covers(grid, a, lower[a], upper[a]) else pair
        for a, pair in enumerate(nodes)
    ]
    # a body wholly outside the grid must not collapse onto its wall
    outside = any(upper[a] < line[0] or lower[a] > line[-1] for a, line in enumerate(grid.lines))
    flat = any(ends is not None and ends[0] == ends[1] for ends in nodes)
    return Body(shape, kind, nodes, (), not (flat or outside or isinstance(shape, Wire)), lower, upper, outside)


def covers(grid: YeeGrid, axis: int, low: float, high: float) -> bool:
    """Whether a body fills all of a closed axis, over whose ends it goes on without an image."""
    line, slack = grid.lines[axis], SAMPLE_TOLERANCE * float(grid.primary(axis).min())
    return grid.closed(axis) and low <= line[0] + slack and high >= line[-1] - slack


def electric_ends(grid: YeeGrid, axis: int, low: float, high: float) -> tuple[int, int]:
    """The grid lines nearest to both faces of a body; past the ends of a closed axis they go on."""
    return grid.nearest_line(axis, low)[0], grid.nearest_line(axis, high)[0]


def magnetic_ends(grid: YeeGrid, axis: int, low: float, high: float) -> tuple[int, int]:
    """The grid lines between which H is zero: a magnetic wall acts at the outermost samples, in the middles of cells.

    Those are the middles nearest to both faces (m), inside where two are as near; one layer at least. Past the ends of
    a closed axis they go on, for one period.
    """
    centres, slack, before = grid.centres(axis), SAMPLE_TOLERANCE * float(grid.primary(axis).min()), 0
    if grid.closed(axis):
        period, before = grid.lines[axis][-1] - grid.lines[axis][0], grid.cells[axis]
        centres = np.concatenate([centres + turn * period for turn in (-1, 0, 1)])
    first = int(np.argmin(np.abs(centres - low) - slack * (centres > low)))
    last = int(np.argmin(np.abs(centres - high) - slack * (centres < high)))
    if first > last:
        first = last = int(np.argmin(np.abs(centres - 0.5 * (low + high))))
    return first - before, last - before + 1


def body_of(shape: Solid, kind: str, grid: YeeGrid, boundaries: Boundaries) -> Body:
    """The structure on the grid's lines and edges."""
    body = outline(shape, kind, grid)
    edges = _thin(shape, body.nodes, grid, boundaries) if kind == "pec" and not body.outside else []
    extended = (extend(box, grid, boundaries.interior(grid)) for box in edges)
    return replace(body, edges=tuple(part for box in extended if box for part in over_seams(box, grid)))


def _thin(shape: Solid, nodes: Nodes, grid: YeeGrid, boundaries: Boundaries) -> list[EdgeBox]:
    """The edges of metal too thin to hold cell centres."""
    if isinstance(shape, Wire) and shape._slants:
        path = path_of(shape, grid)
        refuse_in_cpml(shape, path, grid, boundaries)
        return path.boxes()
    return thin_edges(shape, nodes, grid)


Owned = tuple[Body, object]  # a body and its medium
Mask = tuple[tuple[slice, ...], np.ndarray]  # part of a window, and which of its samples


class Metal:
    """Masks of conductors on planes across one axis; windows are index ranges along the two cyclically next axes."""

    def __init__(self, grid: YeeGrid, interior, bodies: Sequence[Body], axis: int) -> None:
        self.grid, self.interior, self.axis = grid, interior, axis
        self.bodies = bodies = [_past_the_ends(body, grid, interior) for body in bodies]
        self.has_pec = any(body.kind == "pec" and body.solid for body in bodies)
        self.has_thin = any(body.edges for body in bodies)
        self.has_pmc = any(body.kind == "pmc" for body in bodies)
        self._margin = margin_of(grid)
        reach = [_planes(body, grid, axis) for body in bodies]
        self._reach = np.array(reach, dtype=np.int64).reshape(-1, 2, 2)
        self._solid_cells = kept_by_thread(2)(self._draw_cells)  # the layers below and above a plane

    def _near(self, plane: int) -> tuple[list[int], list[int]]:
        """Numbers of the bodies that may hold samples of a plane or of the cells above it; of those with thin edges."""
        node, half = self._indices(plane)
        plane = plane % self.grid.cells[self.axis] if self.grid.closed(self.axis) else plane
        solid, thin = self._reach[:, 0], self._reach[:, 1]
        near = (solid[:, 0] <= max(node, half)) & (solid[:, 1] >= min(node, half))
        return np.nonzero(near)[0].tolist(), np.nonzero((thin[:, 0] <= plane) & (plane < thin[:, 1]))[0].tolist()

    def _indices(self, plane: int) -> tuple[int, int]:
        """`_index` of a plane of nodes and of the layer of cells above it."""
        return pair(int(self._index(self.axis, np.array(plane), half)) for half in (False, True))

    def _index(self, axis: int, index: np.ndarray, half: bool) -> np.ndarray:
        """Indices with those in the CPML moved to its inner face, those past a seam to those that they repeat."""
        if self.grid.closed(axis):
            return np.mod(index, self.grid.cells[axis])
        low, high = self.interior[axis]
        return np.minimum(np.maximum(index, low), high - half)

    def _inside(self, body: Body, halves: Sequence[bool], plane: int, window: Window, strict: bool) -> Mask | None:
        """Samples inside a body, None if surely none.

        Along flat axes grid lines decide, along others the distance from the surface.
        """
        tests, part, indices = [], [], {}
        at: list[np.ndarray] = [np.empty(0)] * 3
        spans = (plane, plane + 1), *window
        for place, (a, span) in enumerate(zip(cyclic_axes(self.axis), spans)):
            index = self._index(a, np.arange(*span), halves[a])
            places = (self.grid.centres(a) if halves[a] else self.grid.lines[a])[index]
            nodes = body.nodes[a]
            if nodes is None:
                reach = self._margin if strict else 0.5 * float(self.grid.primary(a).max())  # see _allowance
                test = (body.lower[a] - reach <= places) & (places <= body.upper[a] + reach)
            else:
                test = (nodes[0] <= index if halves[a] else nodes[0] < index) & (index < nodes[1])
            cut = extent(test)
            if cut is None:
                return None
            tests.append(spread(test[cut], place, 3))
            at[a], indices[a] = spread(places[cut], place, 3), spread(index[cut], place, 3)
            part.append(cut)
        mask = (tests[0] & tests[1] & tests[2])[0]
        if any(nodes is None for nodes in body.nodes):
            distance = body.shape._lateral_distance(*at)
            mask = mask & (distance < -self._margin if strict else distance <= self._allowance(body, indices))[0]
        return tuple(part[1:]), mask

    def _allowance(self, body: Body, indices: dict[int, np.ndarray]) -> np.ndarray | float:
        """Distance (m) from a body's surface up to which the centres of cells with some indices count as inside."""
        if not isinstance(body.shape, Cylinder | Sphere):
            return self._margin
        curved = [a for a in indices if body.nodes[a] is None]
        cell = sum((self.grid.primary(a)[indices[a]] / len(curved) for a in curved), np.zeros(()))
        thin = np.maximum(body.shape.radius - CELL_KEPT * cell, 0.0)
        inset = np.minimum(STAIRCASE[len(curved)] * cell, thin)
        return self._margin + (inset if body.kind == "medium" else -inset)

    def cells(self, layer: int, window: Window) -> np.ndarray | None:
        """Which cells of a layer are solid metal; None if none is."""
        if self.grid.closed(self.axis):
            layer %= self.grid.cells[self.axis]
        if not self.has_pec or not 0 <= layer < self.grid.cells[self.axis]:
            return None
        return self._solid_cells(layer, window)

    def _draw_cells(self, layer: int, window: Window) -> np.ndarray | None:
        taken = None
        for body in (self.bodies[number] for number in self._near(layer)[0]):
            if taken is not None or body.kind == "pec":
                mask = self._inside(body, (True, True, True), layer, window, strict=False)
                taken = _painted(taken, mask, window, body.kind == "pec")
        return taken

    def samples(self, component: int, plane: int, window: Window) -> np.ndarray | None:
        """Which samples of a component are thin metal (E) or inside PMC (H); None if none is."""
        if not (self.has_thin if component < 3 else self.has_pmc):
            return None
        halves, taken = [is_half(component, a) for a in range(3)], None
        solid, thin = self._near(plane)
        for body in (self.bodies[number] for number in sorted({*solid, *thin})):
            for box in body.edges:
                if box.component == component:
                    taken = _painted(taken, self._drawn(box, plane, window), window, True)
            own = component >= 3 and body.kind == "pmc"
            if not body.solid or (taken is None and not own) or (component < 3 and body.kind == "pec"):
                continue
            taken = _painted(taken, self._inside(body, halves, plane, window, strict=True), window, own)
        return taken

    def _drawn(self, box: EdgeBox, plane: int, window: Window) -> Mask | None:
        """The edges of a box in a window."""
        mask = layer_of(box.drawn, box.lower, self.axis, plane)
        both = None if mask is None else overlap(window, [box.lower[a] for a in next_axes(self.axis)], mask.shape)
        return None if mask is None or both is None else (both[0], mask[both[1]])

    def signature(self, plane: int) -> tuple:
        """Equal for planes with the same conductors on their own samples and in their own layer of cells."""
        if not (self.has_pec or self.has_thin or self.has_pmc):
            return ()
        node, half = self._indices(plane)
        solid, thin = self._near(plane)
        boxes, present, varies = [], [], False
        for number in thin:
            for place, box in enumerate(self.bodies[number].edges):
                if box.lower[self.axis] <= plane < box.upper[self.axis]:
                    boxes.append((number, place))
                    varies |= box.mask is not None and box.mask.shape[self.axis] > 1
        for number in solid:
            flat = self.bodies[number].nodes[self.axis]
            present.append((number, flat and (flat[0] < node < flat[1], flat[0] <= half < flat[1])))
            varies |= flat is None
        return tuple(boxes), tuple(present), (node, half) if varies else None


def _past_the_ends(body: Body, grid: YeeGrid, interior) -> Body:
    """The body with ends past those of the grid where its samples on the outermost nodes are inside it: of PMC that
    reaches a wall or comes next to a CPML, and of media that go on beyond a magnetic wall."""
    if body.kind == "pec" or body.outside:
        return body
    nodes: list[tuple[int, int] | None] = list(body.nodes)
    for axis, ends in enumerate(body.nodes):
        if ends is None or grid.closed(axis):
            continue
        line, count, (low, high) = grid.lines[axis], grid.cells[axis], interior[axis]
        slack = SAMPLE_TOLERANCE * float(grid.primary(axis).min()) * (1.0 if body.kind == "pmc" else -1.0)
        reaches = body.lower[axis] <= line[0] + slack, body.upper[axis] >= line[-1] - slack
        beside = low > 0 and ends[0] <= low, high < count and ends[1] >= high
        on = [reached or (body.kind == "pmc" and near) for reached, near in zip(reaches, beside)]
        nodes[axis] = -1 if on[0] else ends[0], count + 1 if on[1] else ends[1]
    return replace(body, nodes=tuple(nodes))


def _planes(body: Body, grid: YeeGrid, axis: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last plane that a body's volume may touch, and the range [first, past the last) of its thin edges."""
    solid, thin = (1, 0), (0, 0)
    if body.solid:
        first, last = np.searchsorted(grid.lines[axis], (body.lower[axis], body.upper[axis]))
        solid = body.nodes[axis] or (int(first) - 2, int(last) + 1)
    if body.edges:
        thin = min(box.lower[axis] for box in body.edges), max(box.upper[axis] for box in body.edges)
    return solid, thin


def _painted(taken: np.ndarray | None, found: Mask | None, window: Window, value: bool) -> np.ndarray | None:
    """The mask with part of it set to a value; made when first needed."""
    if found is None:
        return taken
    if taken is None:
        taken = np.zeros(shape_of(window), dtype=bool)
    part, mask = found
    taken[part][np.broadcast_to(mask, taken[part].shape)] = value
    return taken
