"""Warnings about total-field boxes of plane waves: bodies wholly outside, surfaces inside, monitors across them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.grid.yee import SAMPLE_TOLERANCE
from nearfield.incident.seen import lies_within, on_a_face, parts_seen
from nearfield.metal.cautions import and_others

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.lowering.context import Context
    from nearfield.media.materials import Medium

SUMS, PLANES = ("probe", "voltage", "current", "flux"), ("field-dft", "snapshot")  # kinds of monitors
Labelled = Sequence[tuple[str, Any]]  # entries with their names in messages


def unlit_bodies(waves: Labelled, bodies: Sequence[FilledShape], background: Medium, context: Context) -> Iterator[str]:
    """Bodies of another medium than the background that lie wholly outside the boxes of all plane waves."""
    grid = context.grid
    seen = [body for body in bodies if waves and body.medium != background and grid.reached_by(*body.shape.bounds())]
    dark = [body for body in seen if not any(lights(wave, body, context) for _, wave in waves)]
    if dark:
        yield (
            f"{waves[0][0]}{and_others(waves)}: its wave does not light {dark[0].label}{and_others(dark)}, wholly "
            "outside its total-field box, where fields are scattered ones alone; enlarge the box so that it holds all "
            "scatterers, with a cell to spare"
        )


def surfaces_in_boxes(waves: Labelled, monitors: Labelled, context: Context) -> Iterator[str]:
    """Far-field surfaces inside the total-field box of a plane wave, where the wave itself passes through them."""
    boxes = [(who, wave._corner_nodes(context.grid, context.boundaries)) for who, wave in waves]
    for who, monitor in monitors if boxes else ():
        surface = monitor._box(context) if monitor.kind == "far-field" else None
        around = [source for source, box in boxes if surface is not None and lies_within(*surface, *box)]
        if around:
            yield (
                f"{who}: its surface lies inside the total-field box of {around[0]}, where the wave itself passes "
                "through it too: the net power out of it is minus what is absorbed inside, and a scattering "
                "cross-section comes out near zero or negative; the surface must enclose the box, a cell away, to see "
                "the scattered field alone (where lower and upper are left out, it lies 3 cells inside the CPML)"
            )


def mixed_fields(waves: Labelled, monitors: Labelled, context: Context) -> Iterator[str]:
    """Monitors of one number that sum total and scattered fields, planes of fields on a face of a total-field box."""
    for who, wave in waves:
        light = wave._illumination(context.grid, context.boundaries, True)
        for label, monitor in monitors:
            if monitor.kind in SUMS:
                if parts_seen(light, monitor._terms(context)) == "total and scattered":
                    yield (
                        f"{label} reaches across the total-field box of {who}: it sums total fields inside and "
                        "scattered ones outside, which together are neither; H just outside a face is scattered "
                        "already. Keep it a cell inside, or a cell outside"
                    )
            elif monitor.kind in PLANES and on_a_face(light, context.grid, *monitor._corners(context)):
                yield (
                    f"{label} lies on a face of the total-field box of {who}: its E is total, its H is total on one "
                    "side and scattered on the other, and `collocated()` is the mean of both; move it a cell inwards"
                )


def lights(wave: Any, body: FilledShape, context: Context) -> bool:
    """Whether the box of a plane wave holds some of a body, or the wave passes it as a layer behind the box."""
    grid, (first, last), along = context.grid, wave._corner_nodes(context.grid, context.boundaries), wave._axis_number
    apart, spans = np.zeros(3, bool), np.zeros(3, bool)
    for axis, (low, high) in enumerate(zip(*body.shape.bounds())):
        line, spare = grid.lines[axis], SAMPLE_TOLERANCE * float(grid.primary(axis).min())
        begin, end = float(line[first[axis]]), float(line[last[axis]])
        whole = grid.closed(axis) and (first[axis], last[axis]) == (0, grid.cells[axis])
        apart[axis] = not whole and (high <= begin + spare or low >= end - spare)
        begin = float(line[grid.cells[axis] // 2]) if grid.mirrors[axis] else begin  # a half stands for its image too
        spans[axis] = low <= begin + spare and high >= end - spare
    layer = along is not None and np.delete(spans, along).all() and body.shape._constant_along(along)
    return bool(layer or not apart.any())
