"""Flat strips of metal narrower than a cell, as thin wires beside a line of edges (docs/method.md, Narrow strips).

A flat strip of width w has the field of a round wire of radius w/4 about its middle. It takes the line of edges nearest
to its middle; wire_lattice.py has the factors that place its charge and its current where it is drawn. Where other
metal or a circuit touches it beside that line, edges across join them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Polygon, Rectangular, Solid, Wire
from nearfield.entry.triples import triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.conductors import Conductors
from nearfield.metal.metal import Body, body_of, kind_of
from nearfield.metal.outlines import sides_of
from nearfield.metal.patches import Patch, at_samples, cell_near, margin_of, next_axes, pair, runs
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.sheet_rims import NARROWEST, opening
from nearfield.metal.thin_metal import EdgeBox
from nearfield.metal.wire_edges import LARGEST
from nearfield.metal.wire_ends import Edges, conducting
from nearfield.metal.wire_lattice import Charge, edge_factors, shortest_cell

THINNEST = 0.25  # thickness over width up to which a box is a flat strip
SLIMMEST = 2.0  # widths that a strip is long at least
BESIDE = 0.01  # cells past the sides of a strip at which other metal is looked for
FREE = 0.5  # part of a strip's length that no other metal may touch from the side, at least
MOST = 20.0  # largest factor of an edge beside a strip


@dataclass(frozen=True)
class NarrowStrip:
    """What stands for a strip: a wire, where its charge lies, its edges away from other metal, edges that join it to
    what touches it beside its line, and those by which flat metal in its plane may touch it."""

    shape: Solid
    wire: Wire
    charge: Charge
    free: tuple[EdgeBox, ...]
    joints: tuple[EdgeBox, ...]
    touched: tuple[EdgeBox, ...]


@dataclass(frozen=True)
class _Candidate:
    """A strip by its axes, with its wire on its line of edges."""

    body: FilledShape
    along: int
    across: int
    normal: int
    wire: Wire
    charge: Charge
    drawn: Body
    whole: Body  # on whole edges


def narrow_strips(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, gaps: Sequence[Edges] = ()
) -> dict[int, NarrowStrip]:
    """The strips among the bodies, by number; `gaps`: edges of circuits.

    Strips stay on whole edges where they are part of wider metal, lie less than two cells beside each other, or a later
    body cuts them.
    """
    found = {
        number: candidate
        for number, body in enumerate(bodies)
        if (candidate := _candidate(body, grid, boundaries)) is not None
    }
    if not found:
        return {}
    drawn = {
        number: found[number].drawn if number in found else body_of(body.shape, kind_of(body.medium), grid, boundaries)
        for number, body in enumerate(bodies)
        if not isinstance(body.medium, ResistiveSheet)
    }
    samples = SampleNumbers(grid)
    kept = _apart(samples, _whole(found, drawn), drawn)
    drawn |= {number: one.whole for number, one in found.items() if number not in kept}
    around, strips = _Around(drawn, grid), {}
    for number, one in kept.items():
        near = around.bodies(one, number)
        free = _free(grid, one, [body for n, body in near.items() if n not in kept])
        if free.sum() > FREE * free.size:
            boxes = tuple(_part(one, *ends) for ends in runs(free))
            others = [body for body in near.values() if _touches(grid, one, body)]
            joints = _joints(samples, boundaries, one, others, gaps)
            met = [(0, 1), (free.size - 1, free.size), *runs(~free)] if others else []
            touched = joints + tuple(_part(one, *ends) for ends in met)
            strips[number] = NarrowStrip(one.body.shape, one.wire, one.charge, boxes, joints, touched)
    return strips


def samples_about(samples: SampleNumbers, strips: Iterable[NarrowStrip]) -> np.ndarray:
    """Numbers of the edges and faces that have the field of some strips."""
    line = np.concatenate([samples.of_box(box) for strip in strips for box in strip.free])
    return np.concatenate(
        (samples.edges_at(np.unique(samples.ends_of(line))).ravel(), samples.faces_about(line).ravel())
    )


def _candidate(body: FilledShape, grid: YeeGrid, boundaries: Boundaries) -> _Candidate | None:
    """A strip narrower than a cell in the open part of the grid; None for all other bodies."""
    shape = body.shape
    if body.medium != "pec" or not isinstance(shape, Rectangular | Polygon):
        return None
    lower, upper = shape.bounds()
    size = [high - low for low, high in zip(lower, upper)]
    normal, across, along = sorted(range(3), key=lambda a: size[a])
    wide = size[across]
    if not 0.0 < wide <= NARROWEST * cell_near(grid, across, lower[across], upper[across]):
        return None
    if size[normal] > THINNEST * wide or size[along] < SLIMMEST * wide or not _is_rectangle(shape, normal):
        return None
    middle = [0.5 * (low + high) for low, high in zip(lower, upper)]
    ends = [triple(end[a] if a == along else middle[a] for a in range(3)) for end in (lower, upper)]
    wire = Wire(points=ends, radius=0.25 * wide)
    whole, drawn = (body_of(own, "pec", grid, boundaries) for own in (shape, wire))
    node = [grid.nearest_node(a, place) for a, place in enumerate(middle)]
    if whole.solid or not drawn.edges or not _inside(grid, boundaries, node, (across, normal)):
        return None
    mean = middle[across] - float(grid.lines[across][node[across]])
    mean = mean if abs(mean) > margin_of(grid) else 0.0
    charge = Charge(along, across, mean, mean**2 + 0.125 * wide**2)
    place = pair(node[a] for a in next_axes(along))
    if 0.25 * wide > LARGEST * shortest_cell(grid, along, place):
        return None
    factors = edge_factors(grid, along, place, 0.25 * wide, charge)
    if factors.min() <= 0.0 or factors.max() > MOST:
        return None
    return _Candidate(body, along, across, normal, wire, charge, drawn, whole)


def _is_rectangle(shape: Solid, normal: int) -> bool:
    """Whether flat metal fills the box about it."""
    sides = sides_of(shape, normal)
    if isinstance(shape, Rectangular) or sides is None:
        return sides is not None
    start, end = sides
    area = 0.5 * abs(float(np.sum(start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0])))
    return area > (1.0 - 1e-9) * float(np.prod(np.ptp(start, axis=0)))


def _inside(grid: YeeGrid, boundaries: Boundaries, node: Sequence[int], across: Sequence[int]) -> bool:
    """Whether a line of edges lies off the walls and the CPML."""
    interior = boundaries.interior(grid)
    return all(grid.closed(a) or interior[a][0] < node[a] < interior[a][1] for a in across)


def _whole(found: dict[int, _Candidate], drawn: dict[int, Body]) -> dict[int, _Candidate]:
    """The strips that no later body of another medium may cut."""

    def later(number: int) -> list[Solid]:
        return [other.shape for n, other in drawn.items() if n > number and other.kind != "pec" and other.solid]

    return {number: one for number, one in found.items() if not opening(drawn[number].shape, later(number), one.normal)}


class _Around:
    """The metal and media of a model, found by the box about a strip."""

    def __init__(self, drawn: dict[int, Body], grid: YeeGrid) -> None:
        self._grid, self._drawn, self._numbers = grid, drawn, np.array(list(drawn))
        self._lower, self._upper = (np.array([getattr(b, end) for b in drawn.values()]) for end in ("lower", "upper"))

    def bodies(self, one: _Candidate, number: int) -> dict[int, Body]:
        """Metal within a cell of a strip, by number."""
        low, high = (np.array(end) for end in one.body.shape.bounds())
        reach = np.array([cell_near(self._grid, a, low[a], high[a]) for a in range(3)])
        near = ((self._lower <= high + reach) & (self._upper >= low - reach)).all(axis=1)
        found = {n: self._drawn[n] for n in self._numbers[near].tolist() if n != number}
        return {n: body for n, body in found.items() if body.kind == "pec"}


def _apart(samples: SampleNumbers, found: dict[int, _Candidate], drawn: dict[int, Body]) -> dict[int, _Candidate]:
    """The strips that share no face with another one along them, or with a wire that has a radius."""
    rows = []
    for number, body in drawn.items():
        if number in found or (isinstance(body.shape, Wire) and body.shape.radius):
            for box in body.edges:
                faces = samples.faces_about(samples.of_box(box)).ravel()
                keys = np.unique(3 * faces[faces >= 0] + box.component)
                rows.append(np.stack([keys, np.full(keys.size, number)], axis=1))
    key, owner = np.unique(np.concatenate(rows), axis=0).T
    twice = np.flatnonzero(np.diff(key) == 0)
    near = set(np.append(owner[twice], owner[twice + 1]).tolist())
    return {number: one for number, one in found.items() if number not in near}


def _touches(grid: YeeGrid, one: _Candidate, other: Body) -> bool:
    """Whether the box about other metal, or a wire on its edges, meets a strip on the plane that it lies in."""
    low, high = one.body.shape.bounds()
    wire, margin = isinstance(other.shape, Wire), margin_of(grid)
    for axis in range(3):
        reach = cell_near(grid, axis, low[axis], high[axis]) if wire or axis == one.normal else margin
        if other.lower[axis] > high[axis] + reach or other.upper[axis] < low[axis] - reach:
            return False
    return True


def _free(grid: YeeGrid, one: _Candidate, others: Sequence[Body]) -> np.ndarray:
    """Which of a strip's edges no other metal in its plane holds or touches from the side."""
    (low, high), box = one.body.shape.bounds(), one.drawn.edges[0]
    along = grid.centres(one.along)[box.lower[one.along] : box.upper[one.along]]
    reach = cell_near(grid, one.across, low[one.across], high[one.across])
    past = BESIDE * reach
    middle, line = one.wire.points[0][one.across], grid.lines[one.across]
    margin, free = margin_of(grid), np.ones(along.size, dtype=bool)
    node = box.lower[one.normal]
    for body in others:
        ends = body.nodes[one.normal]
        if isinstance(body.shape, Wire) or (ends and not ends[0] <= node <= ends[1]):
            continue
        flat = body.shape._constant_along(one.normal)
        height = 0.5 * (body.lower[one.normal] + body.upper[one.normal]) if flat else low[one.normal]
        for place in (low[one.across] - past, middle, float(line[box.lower[one.across]]), high[one.across] + past):
            at = {one.along: along, one.across: np.full(along.size, place), one.normal: np.full(along.size, height)}
            free &= ~body.shape.contains(*triple(at[a] for a in range(3)), margin)
    return free


def _part(one: _Candidate, start: int, stop: int) -> EdgeBox:
    """Some of a strip's edges."""
    box = one.drawn.edges[0]
    return box.cut(one.along, box.lower[one.along] + start, box.lower[one.along] + stop)


def _joints(
    samples: SampleNumbers, boundaries: Boundaries, one: _Candidate, others: Sequence[Body], gaps: Sequence[Edges]
) -> tuple[EdgeBox, ...]:
    """Edges across a strip from its line to nodes that metal or a circuit touches beside it."""
    none = np.empty(0, dtype=np.int64)
    own = np.concatenate([none, *(samples.of_box(box) for box in one.whole.edges)])
    crossing = own[samples.place(own)[0] == one.across]
    if not crossing.size:
        return ()
    line = np.unique(np.concatenate([samples.ends_of(samples.of_box(box)).ravel() for box in one.drawn.edges]))
    ends = samples.ends_of(crossing)
    beside = np.unique(ends[~np.isin(ends, line)])
    solid = Conductors(samples.grid, boundaries, [body for body in others if body.solid], [])

    def conducts(component: int, *index: np.ndarray) -> np.ndarray:
        return at_samples(samples.grid, index, lambda *where: [solid.take(Patch(component, *where))])[0] > 0

    thin = [samples.of_box(box) for body in others for box in body.edges]
    thin += [samples.number(c, np.stack(np.broadcast_arrays(*at), -1)).ravel() for c, *at in gaps]
    meeting = samples.edges_at(beside).reshape(beside.size, 6)
    touched = np.isin(meeting, np.concatenate([none, *thin]))
    rest = (meeting >= 0) & ~touched & ~np.isin(meeting, own)
    touched[rest] = conducting(samples, meeting[rest], conducts)
    joined = crossing[np.isin(ends, beside[touched.any(axis=1)]).any(axis=1)]
    component, index = samples.place(joined)
    return tuple(EdgeBox(int(c), triple(at.tolist()), triple((at + 1).tolist())) for c, at in zip(component, index))
