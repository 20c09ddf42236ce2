"""A plane wave in monitors: total fields in its box, scattered fields outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.grid.yee import is_half
from nearfield.lowering.context import Illumination
from nearfield.records.records import Variable, Variables

if TYPE_CHECKING:
    from nearfield.entry.triples import Triple
    from nearfield.plan.recorders import RecordingTerm


def parts_seen(illumination: Illumination, terms: Sequence[RecordingTerm]) -> str:
    """Which fields recorders see: "total", "scattered", or "total and scattered"."""
    found = set()
    for term in terms:
        low, high = term.corners
        half = np.array([[is_half(c, axis) for c in np.atleast_1d(term.component)] for axis in range(3)])
        first = np.array(illumination.first)[:, None]
        last = np.array(illumination.last)[:, None] - half
        inside = ((low >= first) & (high <= last)).all(axis=0)
        beside = ((high < first) | (low > last)).any(axis=0)
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
