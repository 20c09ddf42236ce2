"""The wires of flat strips along no axis, drawn on to what the strips touch at their ends, and to what ends on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Wire
from nearfield.entry.triples import Point, triple
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.circuit_ends import MOVED, column_ends
from nearfield.metal.contacts import nearest_on
from nearfield.metal.patches import margin_of
from nearfield.metal.wire_ends import Edges
from nearfield.metal.wire_path import path_of


@dataclass(frozen=True)
class Strip:
    """A strip among the bodies: its number, the axis across its plane, its midline (n, 3) (m), its width (m), the
    radius of its wire (m)."""

    number: int
    body: FilledShape
    normal: int
    line: np.ndarray
    width: float
    radius: float

    @property
    def wire(self) -> Wire:
        """What it acts as."""
        points: list[Point] = [triple(at) for at in self.line.tolist()]
        return Wire(points=tuple(points), radius=self.radius)

    @property
    def acting(self) -> FilledShape:
        """The body as its wire."""
        return replace(self.body, shape=self.wire)


def joined(found: Sequence[Strip], bodies: Sequence[FilledShape], grid: YeeGrid) -> list[Strip]:
    """Strips drawn on from their ends to the midlines of others, and to the metal, that they touch there."""
    margin, strips = margin_of(grid), list(found)
    bounds = np.array([body.shape.bounds() for body in bodies])
    for number, strip in enumerate(strips):
        line, (low, high) = strip.line, bounds[strip.number]
        near = np.flatnonzero(((bounds[:, 0] <= high + margin) & (bounds[:, 1] >= low - margin)).all(axis=1))
        others = {n: bodies[n] for n in near.tolist() if n != strip.number}
        known = {other.number: (other, n < number) for n, other in enumerate(strips) if n != number}
        for end in (0, -1):
            at = _reached(strip, end, others, known, margin)
            if at is not None:
                line = np.concatenate((at[None], line) if end == 0 else (line, at[None]))
        strips[number] = replace(strip, line=line)
    return strips


def _reached(
    strip: Strip,
    end: int,
    bodies: Mapping[int, FilledShape],
    strips: Mapping[int, tuple[Strip, bool]],
    margin: float,
) -> np.ndarray | None:
    """Where (3,) the wire of a strip must go from an end to meet what the strip touches there; None: nowhere.

    `bodies`, `strips`: others by number; of strips whether they are drawn on already.
    """
    place = strip.line[end]
    points = _end_points(strip, end)
    for number, body in bodies.items():
        if not is_metal(body.medium) or isinstance(body.shape, Wire):
            continue
        inside = body.shape._signed_distance(*points.T) <= margin
        if not inside.any():
            continue
        if number not in strips:
            return None if inside[0] else points[np.argmax(inside)]
        other, drawn_on = strips[number]
        at = nearest_on(other.line, place[None])[0]
        ends_there = min(np.linalg.norm(at - other.line[side]) for side in (0, -1)) <= margin
        if np.linalg.norm(at - place) > margin and not (ends_there and drawn_on):
            return at
    return None


def _end_points(strip: Strip, end: int) -> np.ndarray:
    """The middle of a strip's end, and points along it (n, 3)."""
    place, inner = strip.line[end], strip.line[1 if end == 0 else -2]
    across = np.cross(place - inner, np.eye(3)[strip.normal])
    across *= strip.width / np.linalg.norm(across)
    return np.asarray(place + np.array([0.0, -0.25, 0.25, -0.5, 0.5])[:, None] * across)


class Ends(NamedTuple):
    """Both ends of what may end on strips: nodes and places (n, 2, 3; m), within what distance (n,) (m) of a strip."""

    nodes: np.ndarray
    places: np.ndarray
    reach: np.ndarray


def ends_on_grid(circuits: Sequence[Edges], bodies: Sequence[FilledShape], grid: YeeGrid) -> Ends:
    """Of the columns of circuits, half a cell from metal at most; of wires, each end twice."""
    nodes, places, reach = [np.empty((0, 2, 3), dtype=np.int64)], [np.empty((0, 2, 3))], [np.empty(0)]
    for component, *index in circuits:
        own = np.stack([at for at, *_ in column_ends(component % 3, index)], axis=1)
        cells = [grid.primary(a)[np.minimum(own[:, 0, a], grid.cells[a] - 1)] for a in range(3)]
        nodes.append(own)
        places.append(np.stack([grid.lines[a][own[..., a]] for a in range(3)], axis=-1))
        reach.append(MOVED * np.max(cells, axis=0))
    for body in bodies:
        if isinstance(body.shape, Wire):
            ends = [body.shape.points[0], body.shape.points[-1]]
            node = [[grid.nearest_node(a, q) for a, q in enumerate(end)] for end in ends]
            for found, own in ((nodes, np.array(node)), (places, np.array(ends))):
                found.append(np.repeat(own[:, None], 2, axis=1))
            reach.append(np.full(2, margin_of(grid)))
    return Ends(*(np.concatenate(each) for each in (nodes, places, reach)))


def legs(strip: Strip, ends: Ends, grid: YeeGrid) -> Iterator[Wire]:
    """Wires from what ends on a strip to its chain, where that does not pass there."""
    passed = {tuple(node) for node in path_of(strip.wire, grid).nodes.tolist()}
    normal, height = strip.normal, float(strip.line[0, strip.normal])
    level = (ends.nodes[:, :, normal] == grid.nearest_node(normal, height)).all(axis=1)
    nodes, places, reach = (each[level] for each in ends)
    places[..., normal] = height
    apart = np.maximum(strip.body.shape._signed_distance(*places.reshape(-1, 3).T), 0.0).reshape(places.shape[:2])
    for both, at, away, most in zip(nodes.tolist(), places, apart, reach):
        near = int(np.argmin(away))
        if away[near] <= most and tuple(both[near]) not in passed:
            passed.add(tuple(both[near]))
            start = [float(height if a == normal else grid.lines[a][n]) for a, n in enumerate(both[near])]
            yield Wire(
                points=(triple(start), triple(nearest_on(strip.line, at[near : near + 1])[0].tolist())),
                radius=strip.radius,
            )
