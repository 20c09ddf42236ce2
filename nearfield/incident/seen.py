"""A plane wave in monitors: total fields in its box, scattered fields outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.grid.yee import YeeGrid
from nearfield.incident.box import open_faces
from nearfield.lowering.context import Illumination
from nearfield.records.records import Variable, Variables

if TYPE_CHECKING:
    from nearfield.entry.triples import Triple
    from nearfield.plan.recorders import RecordingTerm


def parts_seen(illumination: Illumination, terms: Sequence[RecordingTerm]) -> str:
    """Which fields recorders see: "total", "scattered", or "total and scattered"."""
    found = set()
    for term in terms:
        inside, beside = illumination.sides(term.component, *term.corners)
        found |= {"total"} if (~beside).any() else set()
        found |= {"scattered"} if (~inside).any() else set()
    return " and ".join(sorted(found, reverse=True))


def marked(variables: Variables, fields: str) -> Variables:
    """The variables of a monitor, each recorded one with the attribute `fields`."""

    def noted(variable: Variable) -> Variable:
        return replace(variable, attributes=variable.attributes | {"fields": fields})

    return {name: variable if name in variable.dims else noted(variable) for name, variable in variables.items()}


def lies_within(first: Triple, last: Triple, lower: Triple, upper: Triple) -> bool:
    """Whether a surface, from its first to its last nodes, lies inside a box without touching it."""
    return all(a > c and b < d for a, b, c, d in zip(first, last, lower, upper))


def on_a_face(illumination: Illumination, grid: YeeGrid, first: Triple, last: Triple) -> bool:
    """Whether a plane of nodes lies on a face of a total-field box."""
    moved, _ = off_faces((illumination,), grid, first, last)
    return any(a == b != c for a, b, c in zip(first, last, moved))


def off_faces(
    illuminations: Sequence[Illumination], grid: YeeGrid, first: Triple, last: Triple
) -> tuple[Triple, Triple]:
    """The corners of a plane or box of nodes, moved by a node where they lie on a face of a total-field box.

    H half a cell outside a face is scattered, half a cell inside total, and their mean neither. Planes move into the
    total-field box, the faces of a box into that box.
    """
    corners = [list(first), list(last)]
    for light in illuminations:
        ends = (light.first, light.last)
        meets = [a <= d and b >= c for a, b, c, d in zip(first, last, *ends)]
        for axis, side in open_faces(grid, *ends):
            node = ends[side == "high"][axis]
            if not all(np.delete(meets, axis)):
                continue
            plane = first[axis] == last[axis]
            for end, corner in enumerate((first, last)):
                if corner[axis] == node:
                    inwards = (1 if side == "low" else -1) if plane else (1, -1)[end]
                    corners[end][axis] = node + inwards
    return triple(corners[0]), triple(corners[1])


def refuse_across(
    illuminations: tuple[Illumination, ...], who: str, first: Triple, last: Triple, cells: Triple
) -> None:
    """Refuse a closed surface that crosses or touches the faces of a total-field box, but at the ends of the grid."""
    for light in illuminations:
        ends = zip(first, last, light.first, light.last, cells)
        around = all((a < c or a == c == 0) and (b > d or b == d == end) for a, b, c, d, end in ends)
        if not (around or lies_within(first, last, light.first, light.last)):
            raise ModelError(
                f"{who}: its surface crosses or touches the total-field box of the plane wave, so that it would see "
                "total fields here and scattered ones there; let it enclose the box, a cell away (by default it lies 3 "
                "cells inside the CPML, so end the box 4 cells from it), or lie within"
            )
