"""Setting up the wave at an angle: the uniform grid and medium about the box, the places that its samples read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Point, triple
from nearfield.grid.yee import AXES, is_half
from nearfield.incident.box import Beam
from nearfield.incident.crossings import Crossing, Reads
from nearfield.incident.face import WaveFace
from nearfield.incident.oblique import FINENESS, TAPS, GridWave, ObliqueWave, lagrange, make_combs
from nearfield.lowering.context import Context
from nearfield.plan.incident_faces import IncidentFaces
from nearfield.plan.plan import unit_stride_axis

EVEN = 1e-9  # relative; cells that differ by less count as equal
LOSSLESS = 1e-12
NOTHING = 1e-15


def even_cells(context: Context, beam: Beam) -> Point:
    """The cell lengths about the box. Error: they vary along an axis on which the wave does."""
    found = []
    for axis in range(3):
        cells = context.grid.primary(axis)[max(0, beam.first[axis] - 1) : beam.last[axis] + 1]
        if beam.travels[axis] != 0.0 and np.ptp(cells) > EVEN * cells.max():
            raise ModelError(
                f"{beam.who}: cells about its box vary along {AXES[axis]}, {cells.min():.6g} to {cells.max():.6g} m; a "
                "plane wave at an angle to the axes needs even ones, because it is given by their dispersion. Use an "
                "even grid about the box, or let the wave travel along an axis"
            )
        found.append(float(cells.mean()))
    return triple(found)


def uniform_medium(context: Context, who: str, found: Sequence[Crossing]) -> float:
    """eps_r or mu_r of the samples on the faces, that of the first one. Error: they differ, or lose."""
    least, most, first = np.inf, 0.0, 0.0
    lossless = True
    for crossing in found:
        for slab in crossing.slabs():
            _, stay, drive = crossing.reads(slab).weighted(context)
            if drive.size:
                first = first or float(drive[0])
                least, most = min(least, float(drive.min())), max(most, float(drive.max()))
                lossless &= bool(np.abs(stay - 1.0).max() <= LOSSLESS)
    if not (lossless and first) or not most - least <= 1e-9 * most:
        name = "permeability" if found[0].component >= 3 else "permittivity"
        raise ModelError(
            f"{who}: the medium at the faces of its box loses, or its {name} varies; a plane wave at an angle to "
            "the axes needs a uniform lossless one. Enlarge the box, or let the wave travel along an axis"
        )
    return 1.0 / first


@dataclass(frozen=True)
class ObliqueFace(WaveFace):
    """Samples that read the table of a wave at an angle."""

    wave: ObliqueWave
    corner: tuple[int, ...]
    along: int
    taps: int

    def columns(self, across: Reads) -> tuple[np.ndarray, np.ndarray]:
        """As many as taps; samples that follow each other along the axis `along` have the same shares."""
        return places(across, self.corner, self.wave, self.along, self.taps)


def oblique_terms(context: Context, beam: Beam, found: Sequence[Sequence[Crossing]]) -> list[IncidentFaces]:
    """The terms of a wave at an angle, for E and for H: samples that lie along rows, and those that end them."""
    cells, travels, taps = even_cells(context, beam), beam.travels, TAPS[context.precision]
    permittivity, permeability = (uniform_medium(context, beam.who, half) for half in found)
    grid_wave = GridWave(cells, context.time_step, travels, beam.electric, permittivity, permeability)
    corner = tuple((a if u >= 0 else b) for a, b, u in zip(beam.first, beam.last, travels))  # met first
    unit = unit_stride_axis(triple(n - first for n, first in zip(context.active, context.grid.stepped_from)))
    reach = [u * d * (b - a + 1) for u, d, a, b in zip(travels, cells, beam.first, beam.last)]
    slack = sum(abs(u) * d for u, d in zip(travels, cells))
    length = sum(abs(value) for value in reach)
    duration = length * (permittivity * permeability) ** 0.5 / VACUUM_SPEED
    k = np.linspace(0.0, grid_wave.highest[0], 7)
    present = np.abs(grid_wave.components(k)).max(axis=1) > NOTHING  # components that are zero for long waves count too
    terms = []
    for along in (unit, (unit + 2) % 3):  # samples of neighbouring rows at their ends count on like those of a row
        combs = make_combs(cells, travels, along, (-slack, length + slack), taps, FINENESS[context.precision])
        reads = tuple(c for c in range(6) if present[c] and (along == unit or c % 3 != unit))
        wave = ObliqueWave(grid_wave, combs, reads, beam.signal, beam.excitation, beam.end + duration)
        for half in found:
            ends = [3 - each.component % 3 - each.read % 3 == unit for each in half]  # the face's axis
            kept = [each for each, last in zip(half, ends) if present[each.read] and last != (along == unit)]
            faces = tuple(ObliqueFace(context, each, wave, 1.0, corner, along, taps) for each in kept)
            if faces:
                terms.append(IncidentFaces(half[0].component, faces, taps, wave))
    return terms


def places(
    across: Reads, corner: tuple[int, ...], wave: ObliqueWave, along: int, taps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and shares of samples; those that follow each other along the axis `along` have the same shares."""
    cells, travels, combs, read = wave.wave.cells, wave.wave.travels, wave.combs, across.crossing.read
    # the part that samples along the axis share, and the part that grows by whole places
    elsewhere = np.zeros(across.source.shape[1])
    counted = np.zeros(across.source.shape[1], np.int64)
    for axis in range(3):
        half = 0.5 * is_half(read, axis)
        nodes = across.source[axis] - corner[axis]
        if axis == along and combs.counted:
            elsewhere += half * combs.teeth
            counted = combs.teeth * nodes
        else:
            elsewhere += (nodes + half) * (travels[axis] * cells[axis] / combs.step)
    elsewhere = np.round(elsewhere, 9)
    below = np.floor(elsewhere)
    fractions, which = np.unique(elsewhere - below, return_inverse=True)
    place = (below.astype(np.int64) + counted + combs.offset)[:, None] + np.arange(taps) - taps // 2 + 1
    return combs.columns(place) + wave.slots[read] * combs.places, lagrange(fractions, taps)[which]
