"""The automatic grid: lines where the model has its edges, cells as large as its waves allow, gently graded.

Along each axis: (1) collect the places that want a line, (2) put lines a third of a cell inside edges of thin metal,
(3) fill the gaps with cells that grow geometrically from both ends, (4) shrink until all neighbours agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Cylinder, Extruded, Wire
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Point, triple
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.good_conductors import refuse_good_conductors
from nearfield.grid.grading import ADVICE, graded_cells
from nearfield.grid.grid import AutoGrid, refuse_cell_count
from nearfield.grid.images import images
from nearfield.grid.outlines import Edge, free_edges
from nearfield.grid.symmetry import Symmetry
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import is_metal

SLOW = 1e5  # sizes of the model; a longer wavelength is a slip of units
CELLS_ACROSS = 3  # at least, through a dielectric layer and over the width of a metal sheet
FINEST = 50  # lines closer than the finest wanted cell over this are one
BESIDE = 1e-3  # part of the finest cell beside an edge at which metal is looked for
THIN_METAL = 5  # metal thinner than the wanted cell over this gets one line, not two
NEAR = 0.5  # part of the wanted cell; nearer to another line, a place that acts without one of its own gets none
WALL, METAL, PORT, EDGE, SOFT, END = range(6)  # which of two lines too close to each other stays: the first of these


class Meshed(Protocol):
    """The part of a simulation that the automatic grid is fitted to."""

    @property
    def boundaries(self) -> Boundaries: ...
    @property
    def symmetry(self) -> Symmetry: ...
    @property
    def sources(self) -> Sequence[Any]: ...
    @property
    def ports(self) -> Sequence[Any]: ...
    @property
    def elements(self) -> Sequence[Any]: ...
    @property
    def monitors(self) -> Sequence[Any]: ...
    @property
    def background(self) -> Medium: ...
    @property
    def _bodies(self) -> tuple[FilledShape, ...]: ...


@dataclass
class Wishes:
    """Lines and cell sizes that the model asks for along one axis."""

    lines: list[tuple[int, float]] = field(default_factory=list)  # (rank, coordinate)
    thirds: list[Edge] = field(default_factory=list)  # free edges of thin metal
    sizes: list[tuple[float, float, float]] = field(default_factory=list)  # (from, to, largest cell)


def fitted_grid(auto: AutoGrid, simulation: Meshed | None) -> YeeGrid:
    """The Yee grid of an `AutoGrid`, CPML cells included. Errors: no extent, more than 1e10 cells."""
    boundaries = simulation.boundaries if simulation else Boundaries()
    background = simulation.background if simulation else Medium()
    bodies = simulation._bodies if simulation else ()
    refuse_good_conductors(bodies, auto.maximum_frequency)
    media = [background, *(body.medium for body in bodies if isinstance(body.medium, Medium))]
    finest = min([*(cell_in(auto, medium) for medium in media), *(min(box.cell) for box in auto.finer)])
    closest = auto.minimum_cell or finest / FINEST
    places = [drawn_places(simulation, axis) for axis in range(3)]
    extents = [extent(auto, places[axis], boundaries, background, axis) for axis in range(3)]
    refuse_slow_waves(auto, drawn_size(auto, places))
    bodies = with_copies(bodies, boundaries, extents)
    edges = thin_edges(auto, bodies, closest)
    lines = []
    for axis, (low, high) in enumerate(extents):
        wishes = Wishes([(WALL, low), (WALL, high)], sorted(edges[axis]), [(low, high, cell_in(auto, background))])
        for body in bodies:
            wish_structure(wishes, auto, body.shape, body.medium, axis, (low, high))
        for entry in entries(simulation):
            wish_entry(wishes, entry, axis)
        wish_fine_cells(wishes, auto, axis)
        if simulation and simulation.symmetry.kinds[axis]:
            wishes.lines.append((WALL, 0.5 * (low + high)))
        least = min(closest, high - low)  # both walls stay, however coarse the cells that were asked for
        lines.append(axis_lines(wishes, auto, (low, high), least, boundaries, axis))
    refuse_cell_count(tuple(len(line) - 1 for line in lines), ADVICE)
    return YeeGrid(triple(lines))


def with_copies(
    bodies: Sequence[FilledShape], boundaries: Boundaries, extents: Sequence[tuple[float, float]]
) -> tuple[FilledShape, ...]:
    """The bodies, and their copies that reach into the space (m) over its periodic faces."""
    space = YeeGrid(triple(np.array(ends) for ends in extents))
    space = replace(space, phases=boundaries.phases(space))
    return tuple(replace(body, shape=image) for body in bodies for image in images(body.shape, space))


def thin_edges(auto: AutoGrid, bodies: Sequence[FilledShape], closest: float) -> list[set[Edge]]:
    """The edges of thin metal across x, y and z that want lines by the thirds rule."""
    metal = [body.shape for body in bodies if is_metal(body.medium) and not isinstance(body.shape, Wire)]
    flat = ((shape, thin_axis(shape, cell_in(auto, Medium()) / THIN_METAL)) for shape in metal)
    sheets = [(shape, axis) for shape, axis in flat if axis is not None]
    return free_edges(sheets, metal, BESIDE * closest) if auto.thirds_rule else [set(), set(), set()]


def cell_in(auto: AutoGrid, medium: Medium) -> float:
    """Largest cell (m) in a medium."""
    return medium.wavelength(auto.maximum_frequency) / auto.cells_per_wavelength


def entries(simulation: Meshed | None) -> tuple:
    """Ports, elements and sources: their edges want lines."""
    return (*simulation.ports, *simulation.elements, *simulation.sources) if simulation else ()


def corners_of(entry: Any) -> list[Point]:
    """The corners (m) that say where an entry lies."""
    corners = (getattr(entry, name, None) for name in ("lower", "upper", "start", "end", "position"))
    return [corner for corner in corners if corner is not None]


def drawn_places(simulation: Meshed | None, axis: int) -> list[float]:
    """Where all that is drawn begins and ends along an axis (m)."""
    if simulation is None:
        return []
    places = [end[axis] for body in simulation._bodies for end in body.shape.bounds()]
    for entry in (*entries(simulation), *simulation.monitors):
        places += [corner[axis] for corner in corners_of(entry)]
    return places


def given_ends(auto: AutoGrid, axis: int) -> list[float | None]:
    """`lower` and `upper` along an axis (m)."""
    return [None if corner is None else corner[axis] for corner in (auto.lower, auto.upper)]


def drawn_size(auto: AutoGrid, places: Sequence[Sequence[float]]) -> float:
    """The largest size of the model (m), without the space that waits for waves around it."""
    sizes = []
    for axis, drawn in enumerate(places):
        low, high = given_ends(auto, axis)
        sizes.append((max(drawn) if high is None else high) - (min(drawn) if low is None else low))
    return max(sizes)


def refuse_slow_waves(auto: AutoGrid, size: float) -> None:
    """Error: ModelError for a highest frequency whose wavelength is out of all proportion to the model.

    Time steps are as short as cells: one period would take `SLOW` times the steps in which light crosses the model.
    """
    wavelength = VACUUM_SPEED / auto.maximum_frequency
    if 0.0 < size * SLOW < wavelength:
        raise ModelError(
            f"AutoGrid: maximum_frequency is {quantity(auto.maximum_frequency, 'Hz')}, a wavelength of "
            f"{quantity(wavelength, 'm')} for a model of {quantity(size, 'm')}; allowed: a wavelength up to "
            f"{SLOW:,.0f} times the model's size, as every period takes that many crossings of it. A plain number is "
            'hertz; write the unit, as "8 GHz"'
        )


def extent(
    auto: AutoGrid, places: Sequence[float], boundaries: Boundaries, background: Medium, axis: int
) -> tuple[float, float]:
    """The space inside the CPML along an axis (m), where all that is drawn has its ends at these places."""
    given = given_ends(auto, axis)
    pad = auto.padding[axis] if auto.padding else 0.5 * background.wavelength(auto.maximum_frequency)
    found = []
    for side, value in enumerate(given):
        if value is None and not places:
            raise ModelError(
                "the automatic grid has nothing to span: there is no structure, port, source or monitor; "
                "give AutoGrid `lower` and `upper`"
            )
        if value is None:
            outward = pad if boundaries.cpml_cells(axis)[side] else 0.0
            value = max(places) + outward if side else min(places) - outward
        found.append(value)
    if not found[0] < found[1]:
        raise ModelError(
            f"the automatic grid would span {AXES[axis]} {found[0]:.9g} to {found[1]:.9g} m, which is nothing; "
            "give AutoGrid `lower` and `upper`"
        )
    return found[0], found[1]


def wish_structure(wishes: Wishes, auto: AutoGrid, shape, medium, axis: int, space: tuple[float, float]) -> None:
    """Lines and sizes that a structure wants along an axis, as far as it lies in the space."""
    low, high = shape.bounds()[0][axis], shape.bounds()[1][axis]
    if high < space[0] or low > space[1]:
        return
    thin = thin_axis(shape, cell_in(auto, Medium()) / THIN_METAL) if is_metal(medium) else None
    if isinstance(medium, Medium):
        largest = min(cell_in(auto, medium), (high - low) / CELLS_ACROSS)
        wishes.sizes.append((low, high, largest))
        wishes.lines += [(EDGE if shape._constant_along(axis) else SOFT, place) for place in (low, high)]
        if isinstance(shape, Difference):
            wishes.lines += [(EDGE, place) for place in shape._levels(axis)]
    elif isinstance(shape, Wire):
        if shape._slants:
            wishes.lines += [(METAL if low == high else SOFT, place) for place in (low, high)]
            return
        ends = shape._ends_along(axis)
        wishes.lines += [(END if place in ends else METAL, place) for place in {point[axis] for point in shape.points}]
    elif isinstance(shape, Cylinder) and not shape._constant_along(axis):
        rank = METAL if any(shape._constant_along(a) for a in range(3)) else SOFT
        wishes.lines += [(rank, shape.start[axis]), (SOFT, low), (SOFT, high)]
    elif thin == axis:
        taken = [place for _, place in wishes.lines]
        wishes.lines.append((METAL, high if high in taken and low not in taken else low))
    elif thin is not None and auto.thirds_rule:
        wishes.sizes.append((low, high, (high - low) / CELLS_ACROSS))
    else:
        curved = not shape._constant_along(axis) and not isinstance(shape, Extruded)
        wishes.lines += [(SOFT if curved else METAL, place) for place in (low, high)]
        wishes.lines += [(METAL, place) for place in shape._levels(axis)]


def thin_axis(shape, limit: float) -> int | None:
    """The one flat axis along which a metal body is thinner than `limit` and narrower than along the others."""
    size = np.subtract(shape.bounds()[1], shape.bounds()[0])
    axis = int(np.argmin(size))
    thin = shape._constant_along(axis) and size[axis] <= limit and (np.delete(size, axis) > 2.0 * size[axis]).all()
    return axis if thin else None


def wish_entry(wishes: Wishes, entry, axis: int) -> None:
    """Lines on the edges of a port, an element or a source."""
    corners = corners_of(entry)
    own = "xyz".find(getattr(entry, "axis", "") or "?")
    # a point source along its own axis is best placed midway between lines
    if not (entry.kind == "point-current" and own == axis) and not (
        entry.kind == "magnetic-point-current" and own != axis
    ):
        wishes.lines += [(PORT, corner[axis]) for corner in corners]
    propagation = getattr(entry, "propagation", None)
    if propagation and propagation[-1] == "xyz"[axis]:
        wishes.lines.append((EDGE, entry.reference_plane))


def wish_fine_cells(wishes: Wishes, auto: AutoGrid, axis: int) -> None:
    """Sizes that the user asks for, and lines where they begin and end."""
    for box in auto.finer:
        low, high = box.lower[axis], box.upper[axis]
        if low < high:
            wishes.sizes.append((low, high, box.cell[axis]))
            wishes.lines += [(SOFT, low), (SOFT, high)]


def axis_lines(
    wishes: Wishes, auto: AutoGrid, space: tuple[float, float], closest: float, boundaries: Boundaries, axis: int
) -> np.ndarray:
    """The grid lines of one axis."""
    (low, high), cpml = space, boundaries.cpml_cells(axis)
    inside = [(rank, place) for rank, place in wishes.lines if low <= place <= high]
    places, limits = with_thirds(kept(inside, closest, wishes), wishes, space, closest)
    wanted = [max(size_between(wishes, a, b), closest) for a, b in pairwise(places)]
    cells = graded_cells(np.diff(places), np.minimum(wanted, limits), auto.maximum_ratio, boundaries.repeat(axis))
    parts = [np.array([places[0]])]
    for (start, end), sizes in zip(pairwise(places), cells):
        parts.append(np.append(start + np.cumsum(sizes)[:-1], end))
    line = np.concatenate(parts)
    before = line[0] - (line[1] - line[0]) * np.arange(cpml[0], 0, -1)
    after = line[-1] + (line[-1] - line[-2]) * np.arange(1, cpml[1] + 1)
    return np.concatenate((before, line, after))


def kept(lines: list[tuple[int, float]], closest: float, wishes: Wishes) -> list[tuple[float, int]]:
    """Places in order with their rank; of those too close to each other, the one of lower rank stays.

    Faces of media and ends of wires act where they are without a line, by means of media and covered parts of edges, so
    they give way within `NEAR` of a cell: no cell is flatter than that for their sake, and the time step no shorter.
    """
    middle = 0.5 * (min(place for _, place in lines) + max(place for _, place in lines))
    found: list[tuple[float, int]] = []
    for rank, place in sorted(lines, key=lambda line: (line[0], abs(line[1] - middle) * (line[0] >= EDGE), line[1])):
        apart = closest
        if rank >= EDGE:
            apart = max(closest, NEAR * min(size for low, high, size in wishes.sizes if low <= place <= high))
        if all(abs(place - other) >= apart * (1.0 - 1e-9) for other, _ in found):
            found.append((place, rank))
    return sorted(found)


def with_thirds(lines: list[tuple[float, int]], wishes: Wishes, space, closest: float):
    """(places, largest cell in each gap): lines a third of a cell inside and two thirds outside metal edges."""
    sides: dict[float, set[int]] = {}
    for edge, side in wishes.thirds:
        if space[0] < edge < space[1]:
            sides.setdefault(edge, set()).add(side)
    walls = [place for place, rank in lines if rank <= METAL]
    edges: dict[float, int] = {}
    for edge, found in sorted(sides.items()):
        crowded = any(abs(edge - other) < closest for other in (*walls, *edges))
        if len(found) == 1 and not crowded:
            edges[edge] = found.pop()
        elif not crowded:
            lines = [*lines, (edge, METAL)]
    others = [place for place, _ in lines if all(abs(place - edge) >= closest for edge in edges)]
    everything = sorted([*others, *edges])
    places, limits = set(others), []
    for edge, side in edges.items():
        at = everything.index(edge)
        inner, outer = everything[at + side], everything[at - side]
        size = min(size_between(wishes, *sorted((edge, inner))), size_between(wishes, *sorted((edge, outer))))
        size = min(size, 0.6 * abs(inner - edge), 0.43 * abs(outer - edge))
        if size < closest:
            places.add(edge)
            continue
        first, last = sorted((edge + side * size / 3.0, edge - side * 2.0 * size / 3.0))
        places |= {first, last}
        limits.append((first, last, size))
    ordered = sorted(places)
    spans = [
        min((s for a, b, s in limits if a <= left and right <= b), default=np.inf) for left, right in pairwise(ordered)
    ]
    return ordered, np.array(spans) * (1.0 + 1e-9)


def size_between(wishes: Wishes, start: float, end: float) -> float:
    """Largest cell allowed between two places."""
    margin = 1e-9 * (end - start)
    return min(size for low, high, size in wishes.sizes if low < end - margin and high > start + margin)
