"""Rods and wires that are thin beside the cells, as lines of edges with factors (docs/method.md, Rods).

A round or straight-sided bar along an axis takes the lines of edges that rod_lattice.py finds, and edges across that
join them: it acts with its radius or sides and where it is drawn. So does a straight wire between lines, on the nearest
one. What runs beside other metal, or ends in the open on more lines than one, stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Box, Cylinder, Polygon, Solid, Wire
from nearfield.entry.triples import triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.cross_sections import Section, section_of
from nearfield.metal.patches import cell_near, margin_of, next_axes, pair
from nearfield.metal.rod_lattice import RodNodes, line_factors, rod_nodes
from nearfield.metal.thin_metal import EdgeBox
from nearfield.metal.wire_edges import LARGEST
from nearfield.metal.wire_lattice import Charge, shortest_cell

ROUND, STRAIGHT = 4.0, 2.0  # cells across which round rods and bars of straight sides are thin
FLAT = 0.25  # shorter over longer side down to which a bar is no strip
SLIM = 2.0  # sides that a rod with a free end is long at least
ROOM = 3  # nodes past a rod's surface that are looked at
CLEAR = 1.0  # cells about a rod, past the nodes beside it, where no other metal may run along it
CLEAR_OF_WIRE = 1.5  # the same about a wire, so that no node is beside two lines


@dataclass(frozen=True)
class Rod:
    """What stands for a rod: a wire on each line of edges, and where the charge of each lies; nodes across it."""

    shape: Solid
    axis: int
    wires: tuple[Wire, ...]
    charges: tuple[Charge, ...]
    nodes: tuple[tuple[int, int], ...]

    def joints(self, edges: Sequence[EdgeBox]) -> tuple[EdgeBox, ...]:
        """The edges across that join its lines wherever these have `edges`."""
        if len(self.nodes) == 1 or not edges:
            return ()
        axis, inside = self.axis, set(self.nodes)
        low = min(box.lower[axis] for box in edges if box.component == axis)
        high = max(box.upper[axis] for box in edges if box.component == axis)
        found = []
        for node in self.nodes:
            for across, step in zip(next_axes(axis), ((1, 0), (0, 1))):
                if (node[0] + step[0], node[1] + step[1]) in inside:
                    first = {axis: low} | dict(zip(next_axes(axis), node))
                    past = {a: high + 1 if a == axis else n + 1 for a, n in first.items()}
                    lower, upper = (triple(ends[a] for a in range(3)) for ends in (first, past))
                    found.append(EdgeBox(across, lower, upper))
        return tuple(found)


@dataclass(frozen=True)
class _Candidate:
    """A rod by its axis, with the box about the samples that have its field (m)."""

    shape: Solid
    axis: int
    radius: float  # of the round wire with its potential (m)
    middle: tuple[float, float]  # of its charge (m)
    nodes: RodNodes
    lower: np.ndarray
    upper: np.ndarray


def rods(bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries) -> dict[int, Rod]:
    """The rods among the bodies, by number.

    None are rods that lie less than two cells beside each other, beside other metal that runs along them, or at walls,
    and those that a later body of another medium may cut.
    """
    found = {
        number: one
        for number, body in enumerate(bodies)
        if body.medium == "pec" and (one := _candidate(body.shape, grid, boundaries)) is not None
    }
    ends = np.array([body.shape.bounds() for body in bodies] if found else []).reshape(-1, 2, 3)
    kept = {number: one for number, one in found.items() if _alone(number, one, bodies, ends, grid)}
    return {number: _rod(one, grid) for number, one in kept.items()}


def _candidate(shape: Solid, grid: YeeGrid, boundaries: Boundaries) -> _Candidate | None:
    """A rod in the open part of the grid, or a wire between its lines; None for all other shapes."""
    if isinstance(shape, Wire):
        return _between_lines(shape, grid, boundaries)
    if not isinstance(shape, Cylinder | Box | Polygon):
        return None
    lower, upper = (np.array(end) for end in shape.bounds())
    size = upper - lower
    axes = [a for a in range(3) if shape._constant_along(a)]
    axis = max(axes, key=lambda a: size[a], default=-1)
    if axis < 0 or size[axis] <= 0.0:
        return None
    across = next_axes(axis)
    cells = [cell_near(grid, a, lower[a], upper[a]) for a in across]
    wide = [float(size[a]) for a in across]
    most = ROUND if isinstance(shape, Cylinder) else STRAIGHT
    if min(wide) < FLAT * max(wide) or any(length > most * cell for length, cell in zip(wide, cells)):
        return None
    section = section_of(shape, axis)
    if section is None:
        return None
    first = pair(int(np.searchsorted(grid.lines[a], lower[a])) - ROOM for a in across)
    last = pair(int(np.searchsorted(grid.lines[a], upper[a], side="right")) + ROOM for a in across)
    if any(low < 0 or high > grid.cells[a] + 1 for a, low, high in zip(across, first, last)):
        return None
    line = [grid.lines[a][low:high] for a, low, high in zip(across, first, last)]
    nodes = rod_nodes(grid, axis, section, _distance(shape, axis, *line), first)
    if nodes is None or not _inside(nodes, axis, grid, boundaries):
        return None
    return _placed(shape, axis, section, nodes, grid, CLEAR)


def _between_lines(wire: Wire, grid: YeeGrid, boundaries: Boundaries) -> _Candidate | None:
    """A straight wire along an axis that lies between lines, on the nearest one."""
    if wire.radius is None or len(wire.points) > 2 or wire._slants or not all(map(grid.contains, wire.points)):
        return None
    axis = int(np.argmax(np.abs(np.subtract(wire.points[0], wire.points[1]))))
    middle = pair(wire.points[0][a] for a in next_axes(axis))
    node = pair(grid.nearest_node(a, at) for a, at in zip(next_axes(axis), middle))
    off = [at - float(grid.lines[a][n]) for a, n, at in zip(next_axes(axis), node, middle)]
    if max(map(abs, off)) <= margin_of(grid) or wire.radius > LARGEST * shortest_cell(grid, axis, node):
        return None
    section = Section(wire.radius, middle)
    factors = line_factors(grid, axis, section, node)
    if factors is None or not _inside(RodNodes((node,), ()), axis, grid, boundaries):
        return None
    return _placed(wire, axis, section, RodNodes((node,), (factors,)), grid, CLEAR_OF_WIRE)


def _placed(shape: Solid, axis: int, section: Section, nodes: RodNodes, grid: YeeGrid, clear: float) -> _Candidate:
    """A candidate with the box about its field."""
    low, high = (np.array(end) for end in shape.bounds())
    for a, taken in zip(next_axes(axis), zip(*nodes.nodes)):
        past = clear * cell_near(grid, a, low[a], high[a])
        low[a] = min(low[a], grid.lines[a][min(taken) - 1]) - past
        high[a] = max(high[a], grid.lines[a][max(taken) + 1]) + past
    return _Candidate(shape, axis, section.radius, section.middle, nodes, low, high)


def _distance(shape: Solid, axis: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Signed distance (m) of nodes from a rod's sides."""
    if isinstance(shape, Box):
        (low_u, low_v), (high_u, high_v) = (pair(end[a] for a in next_axes(axis)) for end in shape.bounds())
        x, y = np.maximum(low_u - u, u - high_u)[:, None], np.maximum(low_v - v, v - high_v)[None]
        outside: np.ndarray = np.hypot(np.maximum(x, 0.0), np.maximum(y, 0.0)) + np.minimum(np.maximum(x, y), 0.0)
        return outside
    at = dict(zip((axis, *next_axes(axis)), (np.zeros((1, 1)), u[:, None], v[None])))
    return shape._lateral_distance(*(at[a] for a in range(3)))


def _inside(nodes: RodNodes, axis: int, grid: YeeGrid, boundaries: Boundaries) -> bool:
    """Whether a rod's nodes, and those beside them, lie off the walls and the CPML."""
    interior = boundaries.interior(grid)
    return all(
        grid.closed(a) or (interior[a][0] < min(taken) - 1 and max(taken) + 1 < interior[a][1])
        for a, taken in zip(next_axes(axis), zip(*nodes.nodes))
    )


def _alone(
    number: int,
    one: _Candidate,
    bodies: Sequence[FilledShape],
    ends: np.ndarray,
    grid: YeeGrid,
) -> bool:
    """Whether nothing runs along a rod beside it, cuts it, or makes it too short."""
    margin, axis, across = margin_of(grid), one.axis, list(next_axes(one.axis))
    lower, upper = (np.array(end) for end in one.shape.bounds())
    middle = 0.5 * (lower + upper)[across]
    met = [lower[axis] <= grid.lines[axis][0] + margin, upper[axis] >= grid.lines[axis][-1] - margin]
    alongs = np.minimum(ends[:, 1, axis], upper[axis]) - np.maximum(ends[:, 0, axis], lower[axis])
    near = (alongs >= -margin) & (np.arange(len(bodies)) != number)
    near &= ((ends[:, 0] <= one.upper) & (ends[:, 1] >= one.lower))[:, across].all(axis=1)
    for other in np.flatnonzero(near).tolist():
        body, (low, high), along = bodies[other], ends[other], alongs[other]
        if not is_metal(body.medium):  # it takes what is drawn before it
            if other > number and along > margin and (low < upper - margin).all() and (high > lower + margin).all():
                return False
            continue
        holds = (low[across] <= middle + margin).all() and (high[across] >= middle - margin).all()
        holds &= bool((high - low)[across].min() > 0.0)  # a rod that lies in it up to its middle, or deeper
        if along > margin and not holds:
            return False
        met[0] |= bool(low[axis] <= lower[axis] + margin)
        met[1] |= bool(high[axis] >= upper[axis] - margin)
    slim = upper[axis] - lower[axis] >= SLIM * (upper - lower)[across].max()
    return all(met) or bool(slim and len(one.nodes.nodes) == 1)  # more lines than one end as they did


def _rod(one: _Candidate, grid: YeeGrid) -> Rod:
    """The wires of a rod."""
    lower, upper = one.shape.bounds()
    wires, charges = [], []
    for node, factors in zip(one.nodes.nodes, one.nodes.factors):
        place = dict(zip(next_axes(one.axis), (float(grid.lines[a][n]) for a, n in zip(next_axes(one.axis), node))))
        ends = [triple(end[a] if a == one.axis else place[a] for a in range(3)) for end in (lower, upper)]
        wires.append(Wire(points=ends, radius=one.radius))
        alone = len(one.nodes.nodes) == 1
        off = pair(at - place[a] for a, at in zip(next_axes(one.axis), one.middle))
        charges.append(Charge(one.axis, factors=factors, alone=alone, off=off if alone else (0.0, 0.0)))
    return Rod(one.shape, one.axis, tuple(wires), tuple(charges), one.nodes.nodes)
