"""What of metal and sheets the grid moves to its lines: planes of thin bodies, flat faces, wires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Rectangular, Wire
from nearfield.entry.triples import triple
from nearfield.entry.wording import counted, quantity
from nearfield.grid.moves import Moved, cell_beyond, moved_place, moved_span
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal.curved_gaps import GAP, curved_gaps, filled
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.metal import covers, electric_ends, magnetic_ends
from nearfield.metal.patches import cell_near, next_axes, pair
from nearfield.metal.sheet_rims import cuts_through
from nearfield.metal.slanted_walls import moved_necks, moved_slanting_rims, moved_walls
from nearfield.metal.slanting_chains import slack_of
from nearfield.metal.wire_ends import ends_of
from nearfield.metal.wire_lattice import edge_radius
from nearfield.metal.wire_path import path_of

STRIP = 4.0  # radii of the round wire that acts as a strip of that width
# Of coplanar lines with strips of 3 cells and gaps of 0.6 to 0.9 cells, of 0.3 cells; with both below one cell.
LOW_IMPEDANCE, BESIDE_STRIPS = ("up to 14 % too little", "5 to 30 % too little"), "11 % too little to 7 % too much"
BESIDE = 0.01  # cells past a face at which metal that goes on is looked for


def moved_metal(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """All of it, in the order of the structures."""
    for body in (each for each in bodies if each.number not in metal.idle):
        if isinstance(body.shape, Wire):
            yield from moved_wire(body, body.shape, grid, metal)
        elif body.medium == "pmc":
            yield from moved_magnetic(body, grid)
        elif rod := metal.rod_of(body.shape):
            yield from moved_ends(body, rod.wires[0], grid, metal)
        elif is_metal(body.medium) or isinstance(body.medium, ResistiveSheet):
            yield from moved_planes(body, grid, metal)
            if not isinstance(body.medium, ResistiveSheet) and not metal.follows(body.shape):
                yield from moved_faces(body, bodies, grid)
                yield from holes_on_edges(body, bodies, grid)
    yield from narrow_gaps(bodies, grid, metal)
    yield from curved_gaps(bodies, grid, metal)
    yield from gaps_at_walls(bodies, grid, metal)
    yield from moved_walls(bodies, grid, metal)
    yield from moved_slanting_rims(bodies, grid, metal)
    yield from moved_necks(bodies, metal)


def moved_planes(body: FilledShape, grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """The plane of a body without thickness, or of one whose faces fall on one line; not the width of strips that act
    where they are drawn."""
    (lower, upper), strip = body.shape.bounds(), metal.strip_of(body.shape)
    for axis in (a for a in range(3) if body.shape._constant_along(a) and not (strip and a == strip.charge.across)):
        low, high = lower[axis], upper[axis]
        node, last = electric_ends(grid, axis, low, high)
        if low == high:
            yield from moved_place(f"{body.label}, its plane across {AXES[axis]}", grid, axis, low)
        elif node == last:
            if any(a == b for a, b in zip(lower, upper)) and is_metal(body.medium):
                yield from narrow_strip(body, grid, axis)
                continue
            yield from without_thickness(body, grid, axis, node)


def without_thickness(body: FilledShape, grid: YeeGrid, axis: int, node: int) -> Iterator[Moved]:
    """A body whose two faces across an axis fall on one line: that of a sheet, wherever in the body it lies."""
    (lower, upper), line = body.shape.bounds(), grid.lines[axis]
    low, high = lower[axis], upper[axis]
    at, cell = grid.nearest_line(axis, low)[1], float(grid.primary(axis)[min(node, line.size - 2) % grid.cells[axis]])
    off = max(at - low, high - at)
    if line[0] <= 0.5 * (low + high) <= line[-1] and off > SAMPLE_TOLERANCE * cell:
        yield {
            "what": f"{body.label}, thinner than a cell",
            "from": 0.5 * (low + high),
            "to": at,
            "effect": f"it counts as a sheet without thickness at {AXES[axis]}={quantity(at, 'm')}, up to "
            f"{quantity(off, 'm')}, {off / cell:.2g} of a cell, from its faces",
            "cells": off / cell,
        }


def moved_magnetic(body: FilledShape, grid: YeeGrid) -> Iterator[Moved]:
    """Flat faces of magnetic bodies, which act in the middles of cells."""
    lower, upper = body.shape.bounds()
    flat = (a for a in range(3) if body.shape._constant_along(a))
    for axis in (a for a in flat if not covers(grid, a, lower[a], upper[a])):
        line, centres = grid.lines[axis], grid.centres(axis)
        first, last = magnetic_ends(grid, axis, lower[axis], upper[axis])
        for name, face, layer in (("lower", lower[axis], first), ("upper", upper[axis], last - 1)):
            turn, number = divmod(layer, grid.cells[axis])
            to, cell = float(centres[number] + turn * (line[-1] - line[0])), float(grid.primary(axis)[number])
            if (grid.closed(axis) or line[0] < face < line[-1]) and abs(to - face) > SAMPLE_TOLERANCE * cell:
                yield {
                    "what": f"{body.label}, its {name} face across {AXES[axis]}",
                    "from": float(face),
                    "to": to,
                    "effect": f"it acts in the middle of a cell, {quantity(abs(to - face), 'm')} from there",
                    "cells": abs(to - face) / cell,
                }


def narrow_strip(body: FilledShape, grid: YeeGrid, axis: int) -> Iterator[Moved]:
    """Flat metal whose two edges fall on one line: it takes the edges of that line, whatever its width."""
    lower, upper = body.shape.bounds()
    wide, middle = upper[axis] - lower[axis], 0.5 * (lower[axis] + upper[axis])
    node = grid.nearest_node(axis, middle)
    across = [a for a in range(3) if lower[a] == upper[a]] + [axis]
    along = 3 - sum(across[:2])
    place = pair(grid.nearest_node(a, 0.5 * (lower[a] + upper[a])) for a in next_axes(along))
    acts = STRIP * edge_radius(grid, along, place)
    cell = float(grid.primary(axis)[min(node, grid.cells[axis] - 1)])
    yield {
        "what": f"{body.label}, narrower along {AXES[axis]} than a cell",
        "from": wide,
        "to": acts,
        "effect": f"it acts as if {quantity(acts, 'm')} instead of {quantity(wide, 'm')} wide, at {AXES[axis]}="
        f"{quantity(float(grid.lines[axis][node]), 'm')}; take cells half as wide as it",
        "cells": max(abs(acts - wide), abs(float(grid.lines[axis][node]) - middle)) / cell,
    }


def narrow_gaps(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """Gaps between rectangles and boxes of metal, over periodic faces too, that are narrower than the cell in them; not
    those of flat metal in one plane whose rims share their field, which act where they are drawn."""
    drawn = [body for body in bodies if is_metal(body.medium) and isinstance(body.shape, Rectangular)]
    ends = np.array([body.shape.bounds() for body in drawn]).reshape(-1, 2, 3)
    slack = SAMPLE_TOLERANCE * np.array([float(grid.primary(a).min()) for a in range(3)])
    shifts = [(axis, period) for axis in range(3) for period in _periods(grid, axis)]
    for number, body in enumerate(drawn):
        low, high = ends[number]
        overlap = np.minimum(ends[:, 1], high) - np.maximum(ends[:, 0], low)
        flat = np.minimum(ends[:, 1] - ends[:, 0], high - low) <= slack
        beside = np.where(flat, overlap >= -slack, overlap > slack)
        for axis, period in shifts:
            apart = ends[:, 0, axis] + period - high[axis]
            others = [a for a in range(3) if a != axis]
            cell = GAP * float(grid.primary(axis).max())
            found = np.flatnonzero((apart > slack[axis]) & (apart < cell) & beside[:, others].all(axis=1))
            for other in found.tolist():
                plane, beyond = (metal.rimmed_plane(each.shape) for each in (body, drawn[other]))
                rim = 0.5 * (np.maximum(ends[other, 0], low) + np.minimum(ends[other, 1], high))
                rim[axis] = high[axis]
                sheets = metal.sheets if plane == beyond and plane and plane[0] != axis else None
                if not (sheets and plane and sheets.faces_across(plane, rim, axis)):
                    strips = any(metal.strip_of(each.shape) for each in (body, drawn[other]))
                    yield from _narrow_gap(body, drawn[other], bodies, grid, (axis, period), strips)


def _periods(grid: YeeGrid, axis: int) -> tuple[float, ...]:
    """Shifts (m) along an axis at which bodies act beside others: none, and the period of one that repeats."""
    line = grid.lines[axis]
    return (0.0, float(line[-1] - line[0])) if grid.closed(axis) else (0.0,)


def _narrow_gap(
    body: FilledShape,
    other: FilledShape,
    bodies: Sequence[FilledShape],
    grid: YeeGrid,
    shift: tuple[int, float],
    strips: bool,
) -> Iterator[Moved]:
    """The gap along an axis between a body and one above it, where neither is filled nor wide enough; `shift`: the
    axis, and how far (m) along it the other acts from where it is drawn; `strips`: the gap lies beside a narrow strip
    that acts where it is drawn."""
    axis, period = shift
    (low, high), (first, last) = body.shape.bounds(), other.shape.bounds()
    wide, line = first[axis] + period - high[axis], grid.lines[axis]
    at = [0.5 * (max(a, b) + min(c, d)) for a, b, c, d in zip(low, first, high, last)]
    at[axis] = high[axis] + 0.5 * wide
    if period and at[axis] >= line[-1]:
        at[axis] -= period
    if not line[0] <= at[axis] < line[-1]:
        return
    cell = float(grid.primary(axis)[int(np.searchsorted(line, at[axis], "right")) - 1])
    if wide < GAP * cell and not filled(at, bodies):
        between = f"{body.label} and {'its copy' if other is body else other.label}"
        yield _gap(axis, between + " over the periodic face" * (period > 0.0), wide, cell, strips)


def gaps_at_walls(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """The same between metal of any shape and the walls of the grid."""
    for body in bodies:
        if not is_metal(body.medium) or isinstance(body.shape, Wire):
            continue
        for axis, (low, high) in enumerate(zip(*body.shape.bounds())):
            line, cells = grid.lines[axis], grid.primary(axis)
            ends = ("low", low - line[0], line[0], cells[0]), ("high", line[-1] - high, line[-1], cells[-1])
            for side, wide, wall, cell in ends:
                if not SAMPLE_TOLERANCE * cell < wide < GAP * cell or not metal.wall_at(axis, side):
                    continue
                spans = zip(*body.shape.bounds(), grid.lines)
                at = [float(np.clip(0.5 * (a + b), own[0], own[-1])) for a, b, own in spans]
                at[axis] = 0.5 * (wall + (low if side == "low" else high))
                if not filled(at, bodies):
                    yield _gap(axis, f"{body.label} and the wall at {quantity(float(wall), 'm')}", wide, cell, False)


def _gap(axis: int, between: str, wide: float, cell: float, strips: bool) -> Moved:
    return {
        "what": f"gap along {AXES[axis]} between {between}",
        "from": float(wide),
        "to": float(cell),
        "effect": f"it is {wide / cell:.2g} of a cell wide, so its field is not resolved: lines beside it have "
        f"{BESIDE_STRIPS if strips else LOW_IMPEDANCE[int(wide < 0.5 * cell)]} impedance; take cells of at most "
        f"{quantity(wide / 1.5, 'm')} there",
        "cells": float(1.0 - wide / cell),
    }


def moved_faces(body: FilledShape, bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[Moved]:
    """Flat faces of metal on whole cells and edges."""
    lower, upper = body.shape.bounds()
    for axis in _spanned(body, grid):
        thin = len(_spanned(body, grid)) < 3
        rims = [thin and not goes_on(body, bodies, grid, axis, way) for way in (-1, 1)]
        yield from moved_span(body.label, grid, axis, lower[axis], upper[axis], *rims)


def holes_on_edges(body: FilledShape, bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[Moved]:
    """Holes off the lines in thin metal on whole edges: parts cut out of it, and later bodies of other media."""
    lower, upper = body.shape.bounds()
    nodes = [electric_ends(grid, a, *ends) for a, ends in enumerate(zip(lower, upper))]
    thin = [a for a, (low, high) in enumerate(nodes) if body.shape._constant_along(a) and low == high]
    if isinstance(body.shape, Wire) or len(thin) != 1:
        return
    later = [each.shape for each in bodies if each.number > body.number and not is_metal(each.medium)]
    holes = [*(body.shape.minus if isinstance(body.shape, Difference) else ()), *later]
    across = next_axes(thin[0])
    found = 0
    for hole in (each for each in holes if cuts_through(each, (lower, upper), thin[0])):
        spans = [list(moved_span(body.label, grid, a, low, high)) for a, low, high in zip(range(3), *hole.bounds())]
        found += any(spans[a] for a in across) or not all(hole._constant_along(a) for a in across)
    if found:
        cell = max(cell_near(grid, a, lower[a], upper[a]) for a in across)
        yield {
            "what": f"{body.label}, {counted(found, 'hole')} in it",
            "from": 0.0,
            "to": 0.5 * cell,
            "effect": f"they lie on whole edges, up to {quantity(0.5 * cell, 'm')} off, and pass up to half as much or "
            'twice as much; with metal="conformal" their rims are followed',
            "cells": 0.5,
        }


def whole_rims(
    bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal
) -> Iterator[tuple[FilledShape, str, float]]:
    """Sheets on whole edges: body, axis, by what part of its width it acts wider there than it is drawn.

    Whole edges act a third of a cell past the line on which they end; ends at other metal and out of the grid do not.
    """
    for body in bodies:
        spanned = _spanned(body, grid)
        if is_metal(body.medium) and len(spanned) == 2 and not metal.follows(body.shape):
            lower, upper = body.shape.bounds()
            for axis in spanned:
                wider = 0.0
                for end, way in ((lower[axis], -1), (upper[axis], 1)):
                    node = grid.nearest_node(axis, end)
                    if not goes_on(body, bodies, grid, axis, way):
                        acts = grid.lines[axis][node] + way * cell_beyond(grid, axis, node, way) / 3
                        wider += way * (float(acts) - end)
                yield body, AXES[axis], wider / (upper[axis] - lower[axis])


def _spanned(body: FilledShape, grid: YeeGrid) -> list[int]:
    """Axes across which a body has two flat faces on different lines."""
    if isinstance(body.shape, Wire):
        return []
    nodes = [electric_ends(grid, a, *ends) for a, ends in enumerate(zip(*body.shape.bounds()))]
    return [a for a, (low, high) in enumerate(nodes) if body.shape._constant_along(a) and low != high]


def goes_on(
    body: FilledShape, bodies: Sequence[FilledShape], grid: YeeGrid, axis: int, way: int, past: float = BESIDE
) -> bool:
    """Whether other metal, or the end of the grid, lies `past` cells past the middle of a flat face."""
    lower, upper = body.shape.bounds()
    place, line = (lower if way < 0 else upper)[axis], grid.lines[axis]
    at = [0.5 * (low + high) for low, high in zip(lower, upper)]
    at[axis] = place + way * past * cell_beyond(grid, axis, grid.nearest_node(axis, place), way)
    if not line[0] < at[axis] < line[-1]:
        return True
    margin = SAMPLE_TOLERANCE * float(grid.primary(axis).min())
    return any(
        bool(other.shape.contains(*triple(at), margin))
        for other in bodies
        if other is not body and is_metal(other.medium) and not isinstance(other.shape, Wire)
    )


def moved_path(body: FilledShape, wire: Wire, grid: YeeGrid) -> Iterator[Moved]:
    """How far the edges of a wire along no axis lie beside it, and what that asks of the time step."""
    path = path_of(wire, grid)
    places = np.stack([grid.lines[a][path.nodes[:, a]] for a in range(3)], axis=1)
    beside = np.linalg.norm(places - path.at, axis=1)
    cell = min(float(grid.primary(a).min()) for a in range(3))
    farthest = float(beside.max())
    shorter = 100.0 * (1.0 - slack_of([wire]) ** -0.5)
    yield {
        "what": f"{body.label}, a wire along no axis",
        "from": 0.0,
        "to": farthest,
        "effect": f"its edges lie up to {quantity(farthest, 'm')} beside it, {farthest / cell:.2g} of a cell; the time "
        f"step is {shorter:.0f} % shorter than without it",
        "cells": float(beside.mean()) / cell,
    }


def moved_wire(body: FilledShape, wire: Wire, grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """A wire's places across its parts, and its ends where something goes on from them; free ends act where drawn."""
    if wire._slants:
        yield from moved_path(body, wire, grid)
        return
    if rod := metal.rod_of(wire):
        yield from moved_ends(body, rod.wires[0], grid, metal)
        return
    for axis in range(3):
        places = {corner[axis] for corner in wire.points}
        for last, before in ((wire.points[0], wire.points[1]), (wire.points[-1], wire.points[-2])):
            if int(np.argmax(np.abs(np.subtract(last, before)))) == axis:
                places.discard(last[axis])
        for place in sorted(places):
            yield from moved_place(f"{body.label}, a part of it", grid, axis, place)
    yield from moved_ends(body, wire, grid, metal)


def moved_ends(body: FilledShape, wire: Wire, grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """The ends of a wire or of a rod where something goes on from them; free ends, and those at a face of metal that is
    followed, act where drawn."""
    free = {end for chain in metal.chains for end in chain.ends}
    for end in ends_of(wire, grid):
        axis = end.axis
        low, high = sorted((end.node[axis], end.node[axis] + end.way))
        length = float(grid.lines[axis][high] - grid.lines[axis][low])
        place = float(grid.lines[axis][end.node[axis]]) + end.way * end.part * length
        point = min((wire.points[0], wire.points[-1]), key=lambda at: abs(at[axis] - place))
        if end not in free and not metal.follows_at(point):
            yield from moved_place(f"{body.label}, an end of it", grid, axis, place, "it meets what lies there")
