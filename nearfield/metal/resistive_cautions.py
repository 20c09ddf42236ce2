"""Errors that are left at the rims of resistive sheets (resistive_rims.py), for `check` and the trust report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Extruded
from nearfield.entry.constants import VACUUM_PERMEABILITY
from nearfield.entry.wording import counted, quantity
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.cautions import and_others
from nearfield.metal.patches import cell_near

FEWEST = 3.0  # cells across a sheet from which on its rims act where they are drawn
WIDER = 71.0  # % of a cell by which sheets on whole edges act wider, both rims together
REACHES = (0.0, 0.07, 0.13, 0.27, 1.0), (35.0, 28.0, 23.0, 12.0, 2.0)  # cells that current along rims takes to crowd,
# and % that strips of 8, 8, 16, 32 and 8 cells with E along them absorb too much (40 % of a grating, 19 GHz)
SAID = 10.0  # % from which on `check` speaks


class RimError(NamedTuple):
    """A sheet and by how much it errs (%); `crowded`: in what it absorbs of E along its rims, else in its width."""

    body: FilledShape
    percent: float
    crowded: bool
    amount: str


def rim_errors(bodies: Sequence[FilledShape], grid: YeeGrid, highest: float) -> list[RimError]:
    """Resistive sheets that err at their rims, the worst first; `highest` frequency of the excitations (Hz)."""
    found = []
    for body in bodies:
        if not isinstance(body.medium, ResistiveSheet):
            continue
        lower, upper = body.shape.bounds()
        rimmed = [
            a for a in range(3) if lower[a] < upper[a] and (lower[a] > grid.lines[a][0] or upper[a] < grid.lines[a][-1])
        ]
        if not rimmed:
            continue
        cell = {a: cell_near(grid, a, lower[a], upper[a]) for a in rimmed}
        wide = min((upper[a] - lower[a]) / cell[a] for a in rimmed)
        if wide < FEWEST or isinstance(body.shape, Extruded):
            kind = "rims along no axis" if wide >= FEWEST else "less than three cells across"
            found.append(RimError(body, WIDER / wide, False, f"{kind}, {wide:.2g} cells wide at its narrowest"))
        if highest > 0.0:
            reach = body.medium.ohms_per_square / (2.0 * np.pi * highest * VACUUM_PERMEABILITY)
            part = reach / min(cell.values())
            amount = f"{quantity(reach, 'm')}, {part:.2g} of a cell"
            found.append(RimError(body, float(np.interp(part, *REACHES, right=0.0)), True, amount))
    return sorted((each for each in found if each.percent > 0.0), key=lambda each: -each.percent)


def coarse_resistive_rims(bodies: Sequence[FilledShape], grid: YeeGrid, highest: float) -> Iterator[str]:
    """Warnings about the worst sheet of each kind."""
    found = [each for each in rim_errors(bodies, grid, highest) if each.percent >= SAID]
    for crowded in (False, True):
        own = [each for each in found if each.crowded == crowded]
        if not own:
            continue
        worst = own[0]
        who = worst.body.label + and_others(own)
        if crowded:
            yield (
                f"{who}: a resistive sheet in which current along its rims crowds within {worst.amount}, at the "
                f"highest frequency: waves with E along it lose up to {worst.percent:.0f} % too much in it; take "
                "smaller cells"
            )
        else:
            yield (
                f"{who}: a resistive sheet with {worst.amount}, acts up to a third of a cell too wide a side for E "
                f"across its rims, {worst.percent:.0f} % of its width; take smaller cells"
            )


def worst_rim(bodies: Sequence[FilledShape], grid: YeeGrid, highest: float) -> tuple[float, str] | None:
    """The largest error (%), and of which sheet, in words; None where there is none."""
    found = rim_errors(bodies, grid, highest)
    if not found:
        return None
    worst = found[0]
    what = "in what it absorbs of E along its rims" if worst.crowded else "of its width"
    return worst.percent, f"{what}, of {worst.body.label}, the most of {counted(len(found), 'rim')}"
