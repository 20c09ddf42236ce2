"""What `check` says of metal whose opposite edges share cells, so that the fields at its ends and corners do too.

Each effect is the largest of half-wave resonators at places all over a cell, beside the same on cells of a third
(tests/test_close_edges.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Box, Rectangular
from nearfield.entry.triples import triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.moves import Moved
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.conformal import off_lines
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.moves import goes_on
from nearfield.metal.patches import cell_near

SLOT = 1.5  # cells; both corners at the end of a narrower slot share cells
STRIP = 1.0, 1.5  # widths in cells of strips whose two rims share cells, and are not one wire (narrow_strips.py)
PLATE = 2.0  # thickness in cells below which both corners of a solid's rim share links
OFF, OFF_SLOT = 0.4, 0.3  # cells by which ends and rims of such metal, and ends of slots, act off their places, at most
PAST = 0.1  # cells past the end of a strip at which metal that goes on is looked for


def close_edges(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, metal: GridMetal
) -> Iterator[Moved]:
    """Strips little wider than a cell with a free end; plates and bars off the lines, less than two cells thick."""
    drawn = [body for body in bodies if is_metal(body.medium) and isinstance(body.shape, Rectangular)]
    for body in drawn:
        if metal.rod_of(body.shape) or metal.strip_of(body.shape) or not metal.follows(body.shape):
            continue
        size = np.subtract(*body.shape.bounds()[::-1])
        cells = size / [cell_near(grid, a, low, high) for a, (low, high) in enumerate(zip(*body.shape.bounds()))]
        thin, wide, along = sorted(range(3), key=lambda a: cells[a])
        flat = cells[thin] < SAMPLE_TOLERANCE and STRIP[0] < cells[wide] < STRIP[1]
        if flat and all(_free(body, drawn, grid, axis) for axis in (wide, along)):
            yield _entry(body, wide, size, cells, "its free ends act up to 0.4 of a cell from where they are")
        elif isinstance(body.shape, Box) and 1.0 - SAMPLE_TOLERANCE < cells[thin] < PLATE < cells[along]:
            if off_lines(body, grid, boundaries) and all(_free(body, drawn, grid, axis) for axis in (wide, along)):
                effect = (
                    "the edges on both its sides share cells at its corners, and its rims act up to 0.4 of a cell off"
                )
                yield _entry(body, thin, size, cells, effect)
    yield from _slots(drawn, grid)


def _slots(drawn: Sequence[FilledShape], grid: YeeGrid) -> Iterator[Moved]:
    """The first slot narrower than 1.5 cells between flat metal of one plane that metal closes at an end."""
    ends = np.array([body.shape.bounds() for body in drawn]).reshape(-1, 2, 3)
    flat = ends[:, 1] - ends[:, 0] <= SAMPLE_TOLERANCE * min(float(grid.primary(a).min()) for a in range(3))
    for number in np.flatnonzero(flat.sum(axis=1) == 1).tolist():
        normal, (low, high) = int(np.argmax(flat[number])), ends[number]
        beside = flat[:, normal] & (ends[:, 0, normal] == low[normal])
        for axis, along in ((a, 3 - normal - a) for a in range(3) if a != normal):
            gap, cell = ends[:, 0, axis] - high[axis], cell_near(grid, axis, high[axis], high[axis])
            first, last = np.maximum(ends[:, 0, along], low[along]), np.minimum(ends[:, 1, along], high[along])
            for other in np.flatnonzero(beside & (gap > 0.0) & (gap < SLOT * cell) & (last - first > gap)).tolist():
                middle = 0.5 * (low + high)
                middle[axis] = high[axis] + 0.5 * gap[other]
                past = PAST * cell_near(grid, along, first[other], last[other])
                if _closed(drawn, ends, middle, along, (first[other], last[other]), past, gap[other]):
                    effect = "its ends act up to 0.3 of a cell from where they are"
                    cells, second = np.full(3, gap[other] / cell), f" and {drawn[other].label}"
                    yield _entry(drawn[number], axis, gap[other] * np.ones(3), cells, effect, second, OFF_SLOT)
                    return


def _closed(
    drawn: Sequence[FilledShape],
    ends: np.ndarray,
    middle: np.ndarray,
    along: int,
    span: tuple[float, float],
    past: float,
    least: float,
) -> bool:
    """Whether metal of the bodies with some corners `ends` closes an end of an opening of a `least` length (m) in a gap
    about a line along an axis."""
    low, high = middle.copy(), middle.copy()
    low[along], high[along] = span[0] - past, span[1] + past
    near = np.flatnonzero(((ends[:, 0] <= high) & (ends[:, 1] >= low)).all(axis=1))
    places = np.unique(np.append(ends[near, :, along].clip(*span), span))
    asked = np.concatenate(([low[along]], 0.5 * (places[1:] + places[:-1]), [high[along]]))
    at = [asked if a == along else np.full(asked.size, place) for a, place in enumerate(middle)]
    held = np.zeros(asked.size, dtype=bool)
    for number in near.tolist():
        held |= drawn[number].shape.contains(*triple(at))
    steps = np.flatnonzero(np.diff(np.concatenate(([True], held[1:-1], [True]))))
    runs = zip(steps[::2], steps[1::2])
    return any(places[b] - places[a] > least and bool(held[a] or held[b + 1]) for a, b in runs)


def _entry(
    body: FilledShape,
    axis: int,
    size: np.ndarray,
    cells: np.ndarray,
    effect: str,
    other: str = "",
    off: float = OFF,
) -> Moved:
    return {
        "what": f"{f'slot between {body.label}{other}' if other else body.label}, {cells[axis]:.2g} cells along "
        f"{AXES[axis]}",
        "from": 0.0,
        "to": off * float(size[axis] / cells[axis]),
        "effect": f"{effect}; take cells of half the size there",
        "cells": off,
    }


def _free(body: FilledShape, drawn: Sequence[FilledShape], grid: YeeGrid, along: int) -> bool:
    """Whether no metal, nor the end of the grid, lies past one of both ends of a body along an axis."""
    return not all(goes_on(body, drawn, grid, along, way, PAST) for way in (-1, 1))
