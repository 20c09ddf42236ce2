"""Slots so narrow that their rims face each other, where metal closes them between nodes.

Waves along a slot see a short there. In the plane of the metal the cell of the slot that it lies in has the part of the
slot's flux that is open, as cut faces of solid metal have: 1/mu of its faces counts by one over that part. The middle
of the cell may lie in the metal already: its faces are those of the cell before. The flux that goes round the end adds
to it, where the last node lies further from it than half a cell: nearer ones see it (docs/method.md, Narrow gaps).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import numpy as np

from nearfield.metal.facing_rims import gaps_of
from nearfield.metal.half_lattice import HalfLattice
from nearfield.metal.outlines import FlatMetal
from nearfield.metal.rim_points import RimPoints

LEAST = 0.5  # open part of a cell; where it is less, the cell before counts with what this one has too much, or so far
ROUND_IT = 0.64  # length over the slot's width that the flux round an end a cell from the last node counts for, twice


def with_ends(points: RimPoints, flat: FlatMetal, lattices: Sequence[HalfLattice]) -> RimPoints:
    """The points, those of cells in which slots end with the part that is open there."""
    opened, kept, more = points.opened.copy(), np.ones(points.s.size, dtype=bool), []
    for along, number, cell, before, part in _ends(flat, lattices):
        own, here = points.facing == number, points.at[along] == cell
        copied = np.flatnonzero(own & (points.at[along] == before))
        if copied.size:
            kept &= ~(here & np.isin(points.at[1 - along], points.at[1 - along, copied]))
            more.append((along, cell, copied, max(part, LEAST)))
            opened[copied] = np.maximum(opened[copied] - max(LEAST - part, 0.0), LEAST)
        else:
            opened[here & own] *= part
    found = replace(points, opened=opened)
    parts = [_some(found, kept)]
    for along, cell, copied, part in more:
        own = _some(found, copied)
        at = own.at.copy()
        at[along] = cell
        parts.append(replace(own, at=at, opened=np.full(copied.size, part)))
    columns = ([getattr(each, column.name) for each in parts] for column in fields(RimPoints))
    return RimPoints(*(np.concatenate(column, axis=-1) for column in columns))


def _some(points: RimPoints, which: np.ndarray) -> RimPoints:
    return RimPoints(*(getattr(points, column.name)[..., which] for column in fields(RimPoints)))


def _ends(flat: FlatMetal, lattices: Sequence[HalfLattice]) -> Iterator[tuple[int, int, int, int, float]]:
    """(axis along it, number of the slot, places of the cell that it ends in and of the one before, open part)."""
    for number, slot in enumerate(gaps_of(flat)):
        along = 1 - slot.axis
        lattice = lattices[along]
        for end, shut, way in zip((slot.first, slot.last), slot.closed, (-1, 1)):
            if not shut or not slot.is_slot:
                continue
            odd = np.flatnonzero(lattice.number % 2)
            inner = end - way * flat.margin  # an end on a node is that of the cell before
            cell = int(odd[np.argmin(np.abs(lattice.place[odd] - inner) / lattice.length[odd])])
            length = float(lattice.length[cell])
            part = 0.5 + way * (end - float(lattice.place[cell])) / length
            if slot.share:
                part += ROUND_IT * max(part - 0.5, 0.0) * (slot.high - slot.low) / length
            if 2 <= cell < lattice.number.size - 2:
                yield along, number, int(lattice.same[cell]), int(lattice.same[cell - 2 * way]), part
