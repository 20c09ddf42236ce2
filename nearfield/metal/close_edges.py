"""What `check` says of metal whose opposite edges share cells, so that the fields at its ends and corners do too.

Each effect is the largest of half-wave resonators at places all over a cell, beside the same on cells of a third
(tests/test_close_edges.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Box, Rectangular
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.moves import Moved
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.conformal import off_lines
from nearfield.metal.facing_rims import gaps_of
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.moves import goes_on
from nearfield.metal.patches import cell_near

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
            effect = "its free ends act up to 0.4 of a cell from where they are"
            yield _entry(body.label, wide, float(size[wide]), float(cells[wide]), effect)
        elif isinstance(body.shape, Box) and 1.0 - SAMPLE_TOLERANCE < cells[thin] < PLATE < cells[along]:
            if off_lines(body, grid, boundaries) and all(_free(body, drawn, grid, axis) for axis in (wide, along)):
                effect = (
                    "the edges on both its sides share cells at its corners, and its rims act up to 0.4 of a cell off"
                )
                yield _entry(body.label, thin, float(size[thin]), float(cells[thin]), effect)
    yield from _slots(bodies, grid, metal)


def _slots(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """The first slot narrower than 1.5 cells in flat metal of one plane that metal closes at an end."""
    for flat in metal.sheets.flats.values() if metal.sheets else ():
        for slot in gaps_of(flat):
            across, along = flat.across[slot.axis], flat.across[1 - slot.axis]
            line = grid.lines[across]  # past its ends lie copies
            if slot.is_slot and any(slot.closed) and line[0] <= 0.5 * (slot.low + slot.high) <= line[-1]:
                middle = 0.5 * (slot.first + slot.last)
                rims = ({across: place, along: middle} for place in (slot.low, slot.high))
                labels = dict.fromkeys(_label(bodies, metal, rim, flat.margin) for rim in rims)
                wide = slot.high - slot.low
                effect = "its ends act up to 0.3 of a cell from where they are"
                cells = wide / cell_near(grid, across, slot.low, slot.high)
                what = f"slot between {' and '.join(labels)}" if len(labels) > 1 else f"slot in {next(iter(labels))}"
                yield _entry(what, across, wide, cells, effect, OFF_SLOT)
                return


def _label(bodies: Sequence[FilledShape], metal: GridMetal, rim: Mapping[int, float], margin: float) -> str:
    """Of the last followed sheet whose bounds hold a place (m by axis); over periodic faces it may be that of none."""
    found = [
        body.label
        for body in bodies
        if metal.rimmed_plane(body.shape)
        and all(
            low - margin <= rim.get(a, low) <= high + margin for a, (low, high) in enumerate(zip(*body.shape.bounds()))
        )
    ]
    return found[-1] if found else "its copy"


def _entry(what: str, axis: int, size: float, cells: float, effect: str, off: float = OFF) -> Moved:
    return {
        "what": f"{what}, {cells:.2g} cells along {AXES[axis]}",
        "from": 0.0,
        "to": off * size / cells,
        "effect": f"{effect}; take cells of half the size there",
        "cells": off,
    }


def _free(body: FilledShape, drawn: Sequence[FilledShape], grid: YeeGrid, along: int) -> bool:
    """Whether no metal, nor the end of the grid, lies past one of both ends of a body along an axis."""
    return not all(goes_on(body, drawn, grid, along, way, PAST) for way in (-1, 1))
