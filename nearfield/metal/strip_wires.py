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
from nearfield.metal.circuit_ends import column_ends
from nearfield.metal.patches import margin_of
from nearfield.metal.wire_ends import Edges
from nearfield.metal.wire_path import path_of

HALF_A_CELL = 0.5 + 1e-6  # how far ends of circuits and wires move to lines


@dataclass(frozen=True)
class Strip:
    """A strip among the bodies: its number, its midline (n, 3) (m), its width (m), the radius of its wire (m)."""

    number: int
    body: FilledShape
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
        for end in (0, -1):
            at = _reached(strip, end, strips[:number], strips[number + 1 :], others, margin)
            if at is not None:
                line = np.concatenate((at[None], line) if end == 0 else (line, at[None]))
        strips[number] = replace(strip, line=line)
    return strips


def _reached(
    strip: Strip,
    end: int,
    before: Sequence[Strip],
    after: Sequence[Strip],
    bodies: Mapping[int, FilledShape],
    margin: float,
) -> np.ndarray | None:
    """Where (3,) the wire of a strip must go from an end to meet what the strip touches there; None: nowhere."""
    place = strip.line[end]
    points = _end_points(strip, end)
    others = {other.number: (other, number < len(before)) for number, other in enumerate((*before, *after))}
    for number, body in bodies.items():
        if not is_metal(body.medium) or isinstance(body.shape, Wire):
            continue
        inside = body.shape._signed_distance(*points.T) <= margin
        if not inside.any():
            continue
        if number not in others:
            return None if inside[0] else points[np.argmax(inside)]
        other, drawn_on = others[number]
        at = _nearest(place, other.line)
        ends_there = min(np.linalg.norm(at - other.line[side]) for side in (0, -1)) <= margin
        if np.linalg.norm(at - place) > margin and not (ends_there and drawn_on):
            return at
    return None


def _end_points(strip: Strip, end: int) -> np.ndarray:
    """The middle of a strip's end, and points along it (n, 3)."""
    place, inner = strip.line[end], strip.line[1 if end == 0 else -2]
    normal = strip.body.shape._normal  # type: ignore[union-attr]
    across = np.cross(place - inner, np.eye(3)[normal])
    across *= strip.width / np.linalg.norm(across)
    return np.asarray(place + np.array([0.0, -0.25, 0.25, -0.5, 0.5])[:, None] * across)


def _nearest(place: np.ndarray, line: np.ndarray) -> np.ndarray:
    """The point of a polyline (n, 3) nearest to a place."""
    start, along = line[:-1], np.diff(line, axis=0)
    part = np.clip(((place - start) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    at = start + part[:, None] * along
    return np.asarray(at[np.argmin(np.linalg.norm(at - place, axis=1))])


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
        reach.append(HALF_A_CELL * np.max(cells, axis=0))
    for body in bodies:
        if isinstance(body.shape, Wire):
            at = np.repeat(np.asarray(body.shape.points)[[0, -1], None], 2, axis=1)
            nodes.append(
                np.stack([[[grid.nearest_node(a, q) for a, q in enumerate(end)] for end in both] for both in at])
            )
            places.append(at)
            reach.append(np.full(2, margin_of(grid)))
    return Ends(*(np.concatenate(each) for each in (nodes, places, reach)))


def legs(strip: Strip, ends: Ends, grid: YeeGrid) -> Iterator[Wire]:
    """Wires from what ends on a strip to its chain, where that does not pass there."""
    passed = {tuple(node) for node in path_of(strip.wire, grid).nodes.tolist()}
    normal = strip.body.shape._normal  # type: ignore[union-attr]
    height = float(strip.line[0, normal])
    level = (ends.nodes[:, :, normal] == grid.nearest_node(normal, height)).all(axis=1)
    nodes, places, reach = (each[level] for each in ends)
    places[..., normal] = height
    apart = np.maximum(strip.body.shape._signed_distance(*places.reshape(-1, 3).T), 0.0).reshape(places.shape[:2])
    for both, at, away, most in zip(nodes.tolist(), places, apart, reach):
        near = int(np.argmin(away))
        if away[near] <= most and tuple(both[near]) not in passed:
            passed.add(tuple(both[near]))
            start = [float(height if a == normal else grid.lines[a][n]) for a, n in enumerate(both[near])]
            yield Wire(points=(triple(start), triple(_nearest(at[near], strip.line).tolist())), radius=strip.radius)
