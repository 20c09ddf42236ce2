"""Gaps narrower than a cell between bodies of metal of which one at least is round, turned or drawn by corners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Rectangular, Solid, Wire
from nearfield.entry.wording import counted, quantity
from nearfield.grid.moves import Moved
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.corner_lines import in_cell
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.patches import cell_near

GAP = 0.99  # cells; of wider ones lines have their impedance to 3 % (benchmarks/round_rods.py)
CONTACT = 0.02  # cells; bodies nearer than that touch
PLACES = 7  # along each axis of the box that is looked at
LIKE = 1e-6  # of a way towards the middle that counts like distance
ROUNDS = 10  # each looks at half the box about the nearest place
STEP = 0.01  # cells between points on the way from a place to a body
HALVED = 30  # times is such a step, where the body begins
LISTED = 20  # the narrowest of all gaps


class _Gap(NamedTuple):
    """Two bodies, their distance (m) and in cells along it, where it begins on the first (m), and its way (unit)."""

    bodies: tuple[FilledShape, FilledShape]
    copied: bool
    wide: float
    part: float
    foot: np.ndarray
    way: np.ndarray


def curved_gaps(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """The narrowest of them, over periodic faces too; none between bodies that touch somewhere, nor between rims of
    flat metal that share their field."""
    found = sorted(_all_gaps(bodies, grid), key=lambda gap: gap.part)
    ends = np.array([body.shape.bounds() for body in bodies]).reshape(-1, 2, 3)
    left = [gap for gap in found if not _shared(gap, metal) and not _closed(gap, bodies, ends, grid)]
    for number, (pair, copied, wide, part, *_) in enumerate(left[:LISTED]):
        one, other = (body.label for body in pair)
        more = len(left) - LISTED if number == LISTED - 1 else 0
        yield {
            "what": f"gap between {one} and {'its copy' if pair[0] is pair[1] else other}"
            + " over a periodic face" * copied,
            "from": wide,
            "to": wide / part,
            "effect": f"it is {part:.2g} of a cell wide, so its field is not resolved: lines beside it have up to 6 % "
            f"too little impedance; take cells of at most {quantity(wide / 1.5, 'm')} there"
            + (f" ({counted(more, 'wider one')} below a cell not listed)" if more > 0 else ""),
            "cells": 1.0 - part,
        }


def _all_gaps(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[_Gap]:
    metal = [body for body in bodies if is_metal(body.medium) and not isinstance(body.shape, Wire)]
    plain = np.array([isinstance(body.shape, Rectangular) for body in metal])
    ends = np.array([body.shape.bounds() for body in metal]).reshape(-1, 2, 3)
    longest = np.array([float(grid.primary(axis).max()) for axis in range(3)])
    periods = [float(line[-1] - line[0]) if grid.closed(axis) else 0.0 for axis, line in enumerate(grid.lines)]
    turns = [(-1, 0, 1) if period else (0,) for period in periods]
    for number, turn in product(range(len(metal)), product(*turns)):
        shift = np.multiply(turn, periods)
        low = np.maximum(ends[:, 0] + shift, ends[number, 0])
        high = np.minimum(ends[:, 1] + shift, ends[number, 1])
        near = (low - high < longest).all(axis=1) & ~(plain & plain[number])
        near[: number if turn > (0, 0, 0) else number + 1] = False  # each pair once
        for other in np.flatnonzero(near).tolist():
            copy = metal[other].shape.moved(shift.tolist()) if any(turn) else metal[other].shape
            lower, upper = np.minimum(low[other], high[other]), np.maximum(low[other], high[other])
            beyond = np.where(high[other] - low[other] > longest, 0.0, longest)
            at = between((metal[number].shape, copy), lower - beyond, upper + beyond)
            gap = _measured((metal[number].shape, copy), at, grid)
            if gap is not None:
                yield _Gap((metal[number], metal[other]), any(turn), *gap)


def between(pair: Sequence[Solid], lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The place in a box where the distances from two bodies add up to least: on the shortest way between them, and of
    many alike the one next to the middle."""
    low, high, middle = lower, upper, 0.5 * (lower + upper)
    for _ in range(ROUNDS):
        axes = [np.linspace(a, b, PLACES) for a, b in zip(low, high)]
        x, y, z = (place.ravel() for place in np.meshgrid(*axes, indexing="ij"))
        apart = np.sum([np.maximum(shape._signed_distance(x, y, z), 0.0) for shape in pair], axis=0)
        apart += LIKE * np.sqrt((x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2)
        best = int(np.argmin(apart))
        at, half = np.array([x[best], y[best], z[best]]), 0.25 * (high - low)
        low, high = np.maximum(at - half, lower), np.minimum(at + half, upper)
    return at


def _measured(
    pair: Sequence[Solid], at: np.ndarray, grid: YeeGrid
) -> tuple[float, float, np.ndarray, np.ndarray] | None:
    """Width (m), part of a cell, foot on the first body and way to the other, from a place between two bodies.

    Distances of combined bodies are bounds, so the bodies themselves are looked for along the ways on which these fall.
    """
    cells = np.array([cell_near(grid, axis, *[float(in_cell(grid, axis, at[axis]))] * 2) for axis in range(3)])
    feet = []
    for shape in pair:
        steps = at + 1e-3 * cells.min() * np.concatenate((np.eye(3), -np.eye(3)))
        apart = shape._signed_distance(*steps.T)
        way = apart[3:] - apart[:3]
        if not way.any():
            return None
        way /= np.linalg.norm(way)
        unit = 1.0 / float(np.linalg.norm(way / cells))
        far = np.arange(0.0, GAP, STEP) * unit
        inside = shape.contains(*(at + far[:, None] * way).T)
        if not inside.any():
            return None
        last = int(np.argmax(inside))
        feet.append(at + _surface(shape, at, way, (far[max(last - 1, 0)], far[last])) * way)
    wide = float(np.linalg.norm(feet[1] - feet[0]))
    part = float(np.linalg.norm((feet[1] - feet[0]) / cells))
    return (wide, part, feet[0], (feet[1] - feet[0]) / wide) if CONTACT < part < GAP else None


def _surface(shape: Solid, at: np.ndarray, way: np.ndarray, ends: tuple[float, float]) -> float:
    """How far (m) from a place along a way a body begins, between two ends of which it holds the second."""
    outside, inside = ends
    for _ in range(HALVED):
        middle = 0.5 * (outside + inside)
        outside, inside = (outside, middle) if bool(shape.contains(*(at + middle * way))) else (middle, inside)
    return inside


def _closed(gap: _Gap, bodies: Sequence[FilledShape], ends: np.ndarray, grid: YeeGrid) -> bool:
    """Whether a gap lies out of the grid, or metal fills it; `ends`: bounds (n, 2, 3) of the bodies (m)."""
    at = gap.foot + 0.5 * gap.wide * gap.way
    inner = np.array([in_cell(grid, axis, q) for axis, q in enumerate(at)])
    if not all(line[0] <= q <= line[-1] for line, q in zip(grid.lines, inner)):
        return True

    def held(place: np.ndarray) -> bool:
        near = np.flatnonzero(((ends[:, 0] <= place) & (place <= ends[:, 1])).all(axis=1))
        return filled(place.tolist(), [bodies[number] for number in near.tolist()])

    return held(inner) or held(at)


def filled(at: Sequence[float], bodies: Sequence[FilledShape]) -> bool:
    """Whether a point lies in metal: the last body that holds it decides."""
    holds = (
        is_metal(each.medium)
        for each in reversed(bodies)
        if not isinstance(each.shape, Wire) and bool(each.shape.contains(*at))
    )
    return next(holds, False)


def _shared(gap: _Gap, metal: GridMetal) -> bool:
    """Whether a gap lies between rims along an axis, in one plane, whose field is known."""
    axis = int(np.argmax(np.abs(gap.way)))
    plane, beyond = (metal.rimmed_plane(body.shape) for body in gap.bodies)
    if metal.sheets is None or plane is None or plane != beyond or plane[0] == axis or abs(gap.way[axis]) < 1.0 - 1e-6:
        return False
    foot = gap.foot if gap.way[axis] > 0.0 else gap.foot + gap.wide * gap.way
    return metal.sheets.faces_across(plane, foot.tolist(), axis)
