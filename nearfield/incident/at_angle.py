"""Setting up the wave at an angle: the uniform grid and medium about the box, the places that its samples read."""

from __future__ import annotations

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Point, triple
from nearfield.grid.yee import AXES, is_half
from nearfield.incident.box import Beam, Reads
from nearfield.incident.oblique import FINENESS, TAPS, GridWave, ObliqueWave, lagrange, make_combs
from nearfield.lowering.context import Context
from nearfield.plan.plan import unit_stride_axis
from nearfield.plan.terms import IncidentTerm

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


def uniform_medium(who: str, found: list[tuple[Reads, np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """(eps_r, mu_r) of the samples on the faces. Error: they differ, or lose."""
    constants = []
    for across, stay, drive in found:
        if np.abs(stay - 1.0).max() > LOSSLESS or np.ptp(drive) > 1e-9 * drive.max():
            name = "permeability" if across.component[0] >= 3 else "permittivity"
            raise ModelError(
                f"{who}: the medium at the faces of its box loses, or its {name} varies; a plane wave at an angle to "
                "the axes needs a uniform lossless one. Enlarge the box, or let the wave travel along an axis"
            )
        constants.append(1.0 / float(drive.mean()))
    return constants[0], constants[1]


def oblique_terms(
    context: Context, beam: Beam, found: list[tuple[Reads, np.ndarray, np.ndarray]]
) -> list[IncidentTerm]:
    """The terms of a wave at an angle, for E and for H: samples that lie along rows, and those that end them."""
    cells, travels, taps = even_cells(context, beam), beam.travels, TAPS[context.precision]
    permittivity, permeability = uniform_medium(beam.who, found)
    grid_wave = GridWave(cells, context.time_step, travels, beam.electric, permittivity, permeability)
    corner = [(a if u >= 0 else b) for a, b, u in zip(beam.first, beam.last, travels)]  # met first
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
        for across, _, drive in found:
            ends = 3 - across.component % 3 - across.read % 3 == unit  # the face's axis
            kept = present[across.read] & (ends != (along == unit))
            column, share = places(across, corner, travels, wave, along, taps)
            weight, (i, j, k) = (drive * across.factor)[kept], across.index[:, kept]
            terms.append(IncidentTerm(across.component[kept], i, j, k, weight, column[kept], share[kept], wave))
    return [term for term in terms if term.weight.size]


def places(
    across: Reads, corner: list[int], travels: np.ndarray, wave: ObliqueWave, along: int, taps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and shares of samples; those that follow each other along the axis `along` have the same shares."""
    cells, combs = wave.wave.cells, wave.combs
    # the part that samples along the axis share, and the part that grows by whole places
    elsewhere = np.zeros(across.read.size)
    counted = np.zeros(across.read.size, np.int64)
    for axis in range(3):
        half = np.array([0.5 * is_half(component, axis) for component in range(6)])[across.read]
        nodes = across.source[axis] - corner[axis]
        if axis == along and combs.counted:
            elsewhere += half * combs.teeth
            counted = combs.teeth * nodes
        else:
            elsewhere += (nodes + half) * (travels[axis] * cells[axis] / combs.step)
    elsewhere = np.round(elsewhere, 9)
    below = np.floor(elsewhere)
    share, which = lagrange_of(elsewhere - below, taps)
    place = (below.astype(np.int64) + counted + combs.offset)[:, None] + np.arange(taps) - taps // 2 + 1
    return combs.columns(place) + (wave.slots[across.read] * combs.places)[:, None], share[which]


def lagrange_of(fraction: np.ndarray, taps: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of each distinct fraction, and which one each sample has."""
    distinct, which = np.unique(fraction, return_inverse=True)
    return lagrange(distinct, taps), which
