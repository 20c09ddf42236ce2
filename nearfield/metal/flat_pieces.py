"""Flat metal as one, however it is cut into rectangles: what touches in a plane becomes its largest rectangles.

Whether metal is narrow is a question to all that touches, not to each rectangle: a sliver that continues a wide sheet
is part of it, and a narrow arm ends where it meets what is wide. The largest rectangles of an outline depend on the
outline alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.layout import Layout
from nearfield.bodies.shapes import Box, Polygon, Rectangular, Sheet, Solid, Wire
from nearfield.entry.triples import triple
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.metal import electric_ends
from nearfield.metal.outlines import sides_of
from nearfield.metal.patches import cell_near, margin_of, next_axes, runs, spread
from nearfield.metal.sheet_rims import NARROWEST

CLOSE = 1.5  # cells; rims of narrower metal share cells (close_edges.py)
ALIKE = 6  # decimals of widths in cells up to which none is wider
MOST = 300  # lines along an axis that the sides of touching rectangles make; what has more stays as it is drawn
Ends = tuple[int, int, int, int]  # first and past the last cell between such lines, along u and v


@dataclass(frozen=True)
class Redrawn:
    """Flat metal, and what acts in its place; `joints`: short wires that join this to what ends beside it."""

    drawn: tuple[FilledShape, ...]
    acting: tuple[FilledShape, ...]
    joints: tuple[FilledShape, ...] = ()


class _Flat(NamedTuple):
    """A body of flat metal: its number among all, its normal, its height (2,) (m), rectangles that it consists of
    (n, 2, 2) (m): corners along u and v."""

    number: int
    normal: int
    height: tuple[float, float]
    parts: np.ndarray


def redrawn(bodies: Sequence[FilledShape], grid: YeeGrid) -> tuple[list[FilledShape], list[Redrawn]]:
    """Bodies with the largest rectangles of flat metal that touches, where some of it is narrow; what these replace."""
    own: list[list[FilledShape]] = [[body] for body in bodies]
    found = []
    for group in _groups(bodies, grid):
        pieces = _pieces(group, grid)
        whole = {
            _key(each.parts[0]): each.number for each in group if isinstance(bodies[each.number].shape, Rectangular)
        }
        if {_key(piece) for piece in pieces} == set(whole) and len(whole) == len(group):
            continue
        for each in group:
            own[each.number] = []
        acting = []
        for piece in pieces:
            number = whole.get(_key(piece), -1)
            if number < 0:
                number = _owner(piece, group)
                acting.append(replace(bodies[number], shape=_drawn(piece, group[0])))
            else:
                acting.append(bodies[number])
            own[number].append(acting[-1])
        found.append(Redrawn(tuple(bodies[each.number] for each in group), tuple(acting)))
    return [body for each in own for body in each], found


def _key(piece: np.ndarray) -> tuple[float, ...]:
    return tuple(piece.ravel().tolist())


def _drawn(piece: np.ndarray, flat: _Flat) -> Sheet | Box:
    corners = np.empty((2, 3))
    corners[:, flat.normal], corners[:, list(next_axes(flat.normal))] = flat.height, piece
    low, high = (triple(corner) for corner in corners.tolist())
    return Sheet(low, high) if flat.height[0] == flat.height[1] else Box(low, high)


def _owner(piece: np.ndarray, group: Sequence[_Flat]) -> int:
    """The number of the body that has most of a piece."""
    shared = [_shared(piece[None], each.parts).clip(0.0).prod(axis=-1).max() for each in group]
    return group[int(np.argmax(shared))].number


def _shared(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Lengths (n, m, 2) that rectangles (n, 2, 2) and others (m, 2, 2) share along u and v; negative: the gap."""
    one = one[:, None]
    found: np.ndarray = np.minimum(one[:, :, 1], other[:, 1]) - np.maximum(one[:, :, 0], other[:, 0])
    return found


def _groups(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[list[_Flat]]:
    """Flat metal of one medium and plane that touches, some of it narrow: rectangles, two or more, and outlines of
    sides along the axes; no body of another medium is drawn through their plane between them."""
    planes: dict[tuple, list[_Flat]] = {}
    for number, body in enumerate(bodies):
        flat = _flat(number, body, grid)
        if flat is not None:
            planes.setdefault((body.medium, flat.normal, flat.height), []).append(flat)
    for (medium, normal, height), plane in planes.items():
        parted = [n for n, other in enumerate(bodies) if other.medium != medium and _parts(other, normal, height)]
        place = np.searchsorted(parted, [each.number for each in plane])
        for turn in np.unique(place):
            rest = [each for each, own in zip(plane, place) if own == turn]
            while rest and any(_narrow(grid, each) for each in rest):
                group, rest = _touching(rest, margin_of(grid))
                several = len(group) > 1 or not isinstance(bodies[group[0].number].shape, Rectangular)
                if several and any(_narrow(grid, each) for each in group):
                    yield group


def _flat(number: int, body: FilledShape, grid: YeeGrid) -> _Flat | None:
    """Metal without thickness, or whose two faces fall on one line, with sides along the axes alone."""
    if not is_metal(body.medium) or not isinstance(body.shape, Rectangular | Polygon | Layout | Difference):
        return None
    lower, upper = body.shape.bounds()
    normal = min(range(3), key=lambda a: upper[a] - lower[a])
    u, v = next_axes(normal)
    height = lower[normal], upper[normal]
    node, last = electric_ends(grid, normal, *height)
    if node != last or lower[u] == upper[u] or lower[v] == upper[v] or not body.shape._constant_along(normal):
        return None
    if isinstance(body.shape, Rectangular):
        parts = np.array([[[end[u], end[v]] for end in (lower, upper)]])
    else:
        parts = _outlined(body.shape, normal, margin_of(grid))
    return _Flat(number, normal, height, parts) if len(parts) else None


def _outlined(shape: Solid, normal: int, margin: float) -> np.ndarray:
    """The largest rectangles of an outline; none where it has sides along no axis."""
    start, end = sides_of(shape, normal) or (np.empty((0, 2)), np.empty((0, 2)))
    if not len(start) or (np.abs(end - start).min(axis=1) > margin).any():
        return np.empty((0, 2, 2))
    lines = [_lines(np.append(start[:, n], end[:, n]), margin) for n in range(2)]
    if max(line.size for line in lines) > MOST:
        return np.empty((0, 2, 2))
    at: list[np.ndarray] = [np.full((1, 1), 0.5 * sum(corner[normal] for corner in shape.bounds()))] * 3
    for n, a in enumerate(next_axes(normal)):
        at[a] = spread(0.5 * (lines[n][1:] + lines[n][:-1]), n)
    filled = np.broadcast_to(shape._lateral_distance(*at) <= 0.0, [line.size - 1 for line in lines])
    return np.array([_corners(ends, lines) for ends in _largest(filled)])


def _parts(other: FilledShape, normal: int, height: tuple[float, float]) -> bool:
    """Whether it counts if a body of another medium comes before or after flat metal in a plane."""
    if isinstance(other.shape, Wire):
        return False
    low, high = (end[normal] for end in other.shape.bounds())
    if is_metal(other.medium):
        return low <= height[1] and high >= height[0]
    return low < height[0] and high > height[1]


def _cells(grid: YeeGrid, normal: int, part: np.ndarray) -> np.ndarray:
    """Cells along both sides of a rectangle."""
    spans = zip(next_axes(normal), *part.tolist())
    return np.array([(high - low) / cell_near(grid, a, low, high) for a, low, high in spans])


def _narrow(grid: YeeGrid, flat: _Flat) -> bool:
    return any(_cells(grid, flat.normal, part).min() <= CLOSE for part in flat.parts)


def _touching(flats: Sequence[_Flat], margin: float) -> tuple[list[_Flat], list[_Flat]]:
    """The first of some bodies with all that touch it, by others too, along more than a point; and the rest."""
    parts = np.concatenate([each.parts for each in flats])
    number = np.repeat(np.arange(len(flats)), [len(each.parts) for each in flats])
    inside, fresh = np.zeros(len(flats), dtype=bool), np.array([0])
    while fresh.size:
        inside[fresh] = True
        touch = np.zeros(len(parts), dtype=bool)
        for part in parts[np.isin(number, fresh)]:
            shared = np.sort(_shared(part[None], parts)[0], axis=-1)
            touch |= (shared[:, 0] >= -margin) & (shared[:, 1] > margin)
        met = np.unique(number[touch])
        fresh = met[~inside[met]]
    group, rest = ([each for each, own in zip(flats, inside) if own == side] for side in (True, False))
    return group, rest


def _pieces(group: Sequence[_Flat], grid: YeeGrid) -> list[np.ndarray]:
    """The largest rectangles of the union, narrow ones without what is wider than they."""
    parts, margin = np.concatenate([each.parts for each in group]), margin_of(grid)
    lines = [_lines(parts[:, :, n].ravel(), margin) for n in range(2)]
    if max(line.size for line in lines) > MOST:
        return list(parts)
    filled = np.zeros([line.size - 1 for line in lines], dtype=bool)
    for part in parts:
        spans = [np.abs(line[:, None] - part[:, n]).argmin(axis=0) for n, line in enumerate(lines)]
        filled[tuple(slice(*span) for span in spans)] = True
    cells = {ends: _cells(grid, group[0].normal, _corners(ends, lines)) for ends in _largest(filled)}
    widths = {ends: round(float(size.min()), ALIKE) for ends, size in cells.items()}
    wider, found = np.zeros_like(filled), []
    for width in sorted(set(widths.values()), reverse=True):
        narrow = next((most for most in (NARROWEST, CLOSE) if width <= most), np.inf)
        own = (_beside(ends, cells[ends] > narrow, wider) for ends in cells if widths[ends] == width)
        beside = dict.fromkeys(part for parts_beside in own for part in parts_beside)
        found += [_corners(ends, lines) for ends in beside]
        for ends in beside:
            wider[ends[0] : ends[1], ends[2] : ends[3]] = True
    return found


def _corners(ends: Ends, lines: Sequence[np.ndarray]) -> np.ndarray:
    """The corners (2, 2) (m) of a rectangle along u and v."""
    return np.stack([lines[0][[ends[0], ends[1]]], lines[1][[ends[2], ends[3]]]], axis=1)


def _lines(places: np.ndarray, margin: float) -> np.ndarray:
    """Distinct places (m), those next to each other as one."""
    sorted_ = np.unique(places)
    return sorted_[np.append(True, np.diff(sorted_) > margin)]


def _largest(filled: np.ndarray) -> Iterator[Ends]:
    """The rectangles of what is filled that lie in no larger one."""
    empty = np.zeros(filled.shape[1], dtype=bool)
    for start, row in enumerate(filled):
        inside, before = row, filled[start - 1] if start else empty
        for stop in range(start + 1, len(filled) + 1):
            inside = inside & filled[stop - 1]
            if not inside.any():
                break
            after = filled[stop] if stop < len(filled) else empty
            for low, high in runs(inside):
                if not before[low:high].all() and not after[low:high].all():
                    yield start, stop, low, high


def _beside(ends: Ends, long: np.ndarray, wider: np.ndarray) -> Iterator[Ends]:
    """The parts of a rectangle that do not lie wholly in what is wider: of a narrow one along its one `long` side."""
    if long.sum() != 1:
        if not wider[ends[0] : ends[1], ends[2] : ends[3]].all():
            yield ends
        return
    along = int(np.argmax(long))
    covered = np.atleast_1d(wider[ends[0] : ends[1], ends[2] : ends[3]].all(axis=1 - along))
    for low, high in runs(~covered):
        part = list(ends)
        part[2 * along : 2 * along + 2] = ends[2 * along] + low, ends[2 * along] + high
        yield part[0], part[1], part[2], part[3]
