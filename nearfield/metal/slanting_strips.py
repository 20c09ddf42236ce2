"""Flat strips along no axis that are too narrow to hold together on edges, as wires (docs/method.md, Narrow strips).

The nodes in a strip of width w with the unit normal n are a chain along edges if w is at least the length of a cell's
sides across it, abs(n_u) d_u + abs(n_v) d_v. Narrower ones fall into islands with gaps between them. Such a strip acts
as the round wire with its field, of radius w/4 about its middle, along the chain of edges that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Polygon, Solid, Wire
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.moves import Moved
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.flat_pieces import Redrawn
from nearfield.metal.metal import electric_ends
from nearfield.metal.midlines import long_sides
from nearfield.metal.necks import ALONG, holding
from nearfield.metal.patches import cell_near, next_axes
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.sheet_rims import opening
from nearfield.metal.slanting_chains import LARGEST, side_by_side, slanting_wire
from nearfield.metal.strip_wires import Strip, ends_on_grid, joined, legs
from nearfield.metal.thickness import mean_width
from nearfield.metal.wire_ends import Edges
from nearfield.metal.wire_path import path_of

SLIMMEST = 2.0  # widths that a strip is long at least
ALIKE = 1.5  # widest over narrowest part of a strip


def slanting_strips(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, circuits: Sequence[Edges] = ()
) -> list[Redrawn]:
    """The strips among some bodies, and the wires that they act as; `circuits`: edges of ports and elements.

    Those that a later body of another medium may cut, that leave the open part of the grid, or that run one cell beside
    each other or another wire along no axis, stay as they are.
    """
    found = [
        strip
        for number, body in enumerate(bodies)
        if (strip := _strip(number, body, grid, boundaries))
        and not opening(body.shape, _later(bodies, number), strip.normal)
    ]
    if not found:
        return []
    found = joined(_apart(found, bodies, grid), bodies, grid)
    ends = ends_on_grid(circuits, bodies, grid)
    return [
        Redrawn((one.body,), (one.acting,), tuple(replace(one.body, shape=leg) for leg in legs(one, ends, grid)))
        for one in found
    ]


def put_in(bodies: Sequence[FilledShape], strips: Sequence[Redrawn]) -> list[FilledShape]:
    """Bodies with the wires that strips among them act as."""
    acting = {id(one.drawn[0]): one.acting + one.joints for one in strips}
    return [each for body in bodies for each in acting.get(id(body), (body,))]


def moved_strips(redrawn: Sequence[Redrawn]) -> Iterator[Moved]:
    """Strips that act as wires."""
    for drawn, wire in ((one.drawn[0], one.acting[0].shape) for one in redrawn):
        if isinstance(wire, Wire) and isinstance(drawn.shape, Polygon) and wire.radius:
            width = mean_width(np.asarray(drawn.shape.vertices))
            lossless = "" if drawn.medium == "pec" else "; it loses nothing"
            yield {
                "what": f"{drawn.label}, a strip along no axis",
                "from": width,
                "to": 4.0 * wire.radius,
                "effect": f"too narrow to hold together on the edges of these cells it acts as a round wire of "
                f"{quantity(wire.radius, 'm')} in its middle: resonances within 2.5 %{lossless}",
                "cells": 0.0,
            }


def _later(bodies: Sequence[FilledShape], number: int) -> Iterator[Solid]:
    return (other.shape for other in bodies[number + 1 :] if not is_metal(other.medium))


def _strip(number: int, body: FilledShape, grid: YeeGrid, boundaries: Boundaries) -> Strip | None:
    """A body as such a strip, whatever lies about it; None for all others."""
    shape = body.shape
    if not is_metal(body.medium) or not isinstance(shape, Polygon):
        return None
    normal, (u, v) = shape._normal, next_axes(shape._normal)
    node, last = electric_ends(grid, normal, shape.lower, shape.upper)
    sides = long_sides(np.asarray(shape.vertices)) if node == last else None
    if sides is None:
        return None
    middle = 0.5 * (sides[0] + sides[1])
    way = np.diff(middle, axis=0)
    size = np.hypot(*way.T)
    if not size.all():
        return None
    wide, (lower, upper) = _widths(*sides) / size, shape.bounds()
    cells = np.array([cell_near(grid, a, lower[a], upper[a]) for a in (u, v)])
    least = holding(way[:, ::-1] / size[:, None], cells)
    slants = np.abs(way).min(axis=1) > ALONG * size
    width = float(wide @ size / size.sum())
    if not ((wide < least) & slants).any() or wide.max() > ALIKE * wide.min() or size.sum() < SLIMMEST * width:
        return None
    line = np.empty((len(middle), 3))
    line[:, [u, v]], line[:, normal] = middle, 0.5 * (shape.lower + shape.upper)
    shortest = _open_cells(line, grid, boundaries, normal)
    return Strip(number, body, normal, line, width, min(0.25 * width, LARGEST * shortest)) if shortest else None


def _widths(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Areas (n,) between the parts of two sides (n + 1, 2)."""
    across, along = other - one, np.diff(one + other, axis=0)
    mean = 0.5 * (across[1:] + across[:-1])
    return np.asarray(0.5 * np.abs(along[:, 0] * mean[:, 1] - along[:, 1] * mean[:, 0]))


def _open_cells(line: np.ndarray, grid: YeeGrid, boundaries: Boundaries, normal: int) -> float:
    """The shortest cell (m) about a line; 0 where it leaves the open part of the grid or has no edge."""
    wire = Wire(points=tuple(triple(at) for at in line.tolist()), radius=1.0)
    try:
        path = path_of(wire, grid)
    except ModelError:  # it leaves the grid, or is shorter than a cell
        return 0.0
    for a, (low, high) in enumerate(boundaries.interior(grid)):
        own = path.nodes[:, a]
        if own.min() < low or own.max() > high or (a == normal and not grid.closed(a) and own[0] in (low, high)):
            return 0.0
    return path.shortest_cell(grid)


def _apart(found: Sequence[Strip], bodies: Sequence[FilledShape], grid: YeeGrid) -> list[Strip]:
    """Those that share no face with another one, or with a drawn wire along no axis."""
    wires: list[tuple[Wire, str | None]] = [(strip.wire, None) for strip in found]
    for body in bodies:
        if isinstance(body.shape, Wire) and body.shape._slants and all(map(grid.contains, body.shape.points)):
            wires.append((body.shape, body.name))
    chains = [slanting_wire(*each, grid) for each in wires]
    beside = {number for both in side_by_side(SampleNumbers(grid), chains) for number in both[:2]}
    return [strip for number, strip in enumerate(found) if number not in beside]
