"""What of monitors the grid moves to its lines, where that changes what they give: extents of planes and paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nearfield.grid.moves import Moved, moved_place, moved_span
from nearfield.grid.yee import AXES
from nearfield.lowering.context import Context
from nearfield.sources.edges import flat_axes

ALIKE = 1e-3  # of an extent; planes that become longer or shorter by less are not listed


def moved_monitors(monitors: Iterable[tuple[str, Any]], context: Context) -> Iterator[Moved]:
    """Extents of flux planes, flux on faces of total-field boxes, planes of fields, ends and places of voltages.

    Monitors come as (label, entry). Boxes of flux, and the places of flux planes along their normals, change no power.
    """
    grid = context.grid
    for label, monitor in monitors:
        if monitor.kind == "flux":
            yield from _moved_flux(label, monitor, context)
        elif monitor.kind in ("snapshot", "field-dft"):
            for axis in flat_axes(monitor.lower, monitor.upper):
                what, place = f"{label}, its place along {AXES[axis]}", monitor.lower[axis]
                yield from moved_place(what, grid, axis, place, "its fields are those on the line")
        elif monitor.kind == "voltage":
            for axis in range(3):
                low, high = sorted((monitor.start[axis], monitor.end[axis]))
                yield from moved_span(label, grid, axis, low, high)


def _moved_flux(label: str, flux: Any, context: Context) -> Iterator[Moved]:
    """Extents of planes, and faces that would lie on those of a plane wave's box."""
    grid = context.grid
    if normal := flat_axes(flux.lower, flux.upper):
        for axis in (axis for axis in range(3) if axis not in normal):
            low, high = flux.lower[axis], flux.upper[axis]
            first, last = (float(grid.lines[axis][grid.nearest_node(axis, end)]) for end in (low, high))
            if abs(last - first - (high - low)) > ALIKE * (high - low):
                yield from moved_span(label, grid, axis, low, high)
    for name, drawn, nodes in zip(("lower", "upper"), flux._drawn_corners(grid), flux._corners(context)):
        moved = [axis for axis in range(3) if drawn[axis] != nodes[axis]]
        if moved:
            axis = moved[0]
            others = f" (and along {AXES[moved[1]]}{' and z' if moved[2:] else ''})" if moved[1:] else ""
            yield {
                "what": f"{label}, its {'place' if axis in normal else name + ' end'} along {AXES[axis]}{others}",
                "from": float(grid.lines[axis][drawn[axis]]),
                "to": float(grid.lines[axis][nodes[axis]]),
                "effect": "moved by a cell, off the face of a plane wave's box, on which half of H is scattered: the "
                "same power, but for what is lost in that cell",
                "cells": 0.0,  # the power acts where it is drawn
            }
            if axis in normal:
                return
