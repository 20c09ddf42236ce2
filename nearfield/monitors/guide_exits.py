"""Guides that leave a far-field surface behind their ports: the surface reaches back as far as the CPML, closed there.

Currents on the outside of a guide radiate too. A surface that ends before the guide does leaves those behind it out,
and directivity goes up and down with the place of that cut, by 0.06 dB of an open guide at 12 cells a wavelength. So
all surfaces about a guide's mouth cut it at one place, the last that the grid has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from nearfield.grid.moves import Moved
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.lowering.context import Context, Guide
from nearfield.monitors.surfaces import FacePlace
from nearfield.records.records import Variables

GUIDE_EDGE = 1e-6  # relative width by which a guide counts as wider, against rounding


def behind(guide: Guide) -> tuple[int, str]:
    """The axis and the side to which a guide runs on behind its port."""
    return guide._along, "low" if guide._sign > 0 else "high"


def exits(
    context: Context, first: list[int], last: list[int], walls: set[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """The sides of a box of nodes through which guides leave it behind their ports, closed by metal.

    A guide that a wall cuts, as one of symmetry, ends with the box there: `walls` are the sides where nothing passes.
    """
    lines = context.grid.lines
    low = [-np.inf if (a, "low") in walls else float(lines[a][node]) for a, node in enumerate(first)]
    high = [np.inf if (a, "high") in walls else float(lines[a][node]) for a, node in enumerate(last)]
    for guide in context.guides:
        axis, side = behind(guide)
        if all(low[a] < guide.lower[a] and guide.upper[a] < high[a] for a in range(3)):
            yield axis, side


def reached_back(
    context: Context,
    first: list[int],
    last: list[int],
    ends: tuple[list[int], list[int]],
    walls: set[tuple[int, str]],
) -> tuple[list[int], list[int]]:
    """The box whose sides through which guides leave lie where the largest surface, between `ends`, has them."""
    low, high = list(first), list(last)
    for axis, side in exits(context, first, last, walls):
        if side == "low":
            low[axis] = ends[0][axis]
        else:
            high[axis] = ends[1][axis]
    return low, high


def moved_faces(
    label: str, grid: YeeGrid, given: tuple[list[int], list[int]], found: tuple[list[int], list[int]]
) -> Iterator[Moved]:
    """What `reached_back` moved of a surface, for `check`."""
    for side, before, after in zip(("lower", "upper"), given, found):
        for axis in (a for a in range(3) if before[a] != after[a]):
            cells = abs(before[axis] - after[axis])
            yield {
                "what": f"{label}, its {side} face along {AXES[axis]}",
                "from": float(grid.lines[axis][before[axis]]),
                "to": float(grid.lines[axis][after[axis]]),
                "effect": f"moved by {cells} cells along the guide that leaves there, whose outside radiates too; "
                "between places half a wavelength apart directivities differ by some 0.06 dB",
                "cells": 0.0,
            }


def close_guides(context: Context, places: list[FacePlace], surface: Variables) -> None:
    """Zero the fields inside guides that leave through the surface behind their ports: the metal closes it there."""
    for place, guide in product(places, context.guides):
        axis, is_round = guide._along, guide.shape in ("circular", "coaxial")
        if (place.axis, place.side) != behind(guide):
            continue
        if (context.grid.lines[axis][place.node] - guide.lower[axis]) * guide._sign >= 0.0:
            continue  # before its port
        for component in place.components:
            found, squares = surface[place.name(component)], []  # of distances from its middle, over half its width
            for number, dim in enumerate(found.dims[1:], 1):
                low, high = (corner[AXES.index(dim[0])] for corner in (guide.lower, guide.upper))
                square = ((2.0 * surface[dim].values - low - high) / (high - low)) ** 2
                squares.append(square.reshape([-1 if n == number else 1 for n in range(found.values.ndim)]))
            inside = (sum(squares) if is_round else np.maximum(*squares)) <= 1.0 + GUIDE_EDGE
            surface[place.name(component)] = replace(found, values=np.where(inside, 0.0, found.values))
