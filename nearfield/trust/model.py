"""What can be judged before a run: cells against waves, skin depths and pulses, rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nearfield.discretization.enclosure import FOREIGN, foreign_share
from nearfield.discretization.excitations import all_waveforms
from nearfield.discretization.moves import acting_bodies, moves
from nearfield.discretization.negative_media import HALVES, rough_surfaces, worst_of
from nearfield.discretization.resolution import SKIN_CELLS, phase_across, resolved_media, rounded, skin_cells
from nearfield.entry.levels import decibels
from nearfield.entry.wording import counted
from nearfield.lowering.context import dft_stride
from nearfield.metal.crowded_current import missing_loss
from nearfield.metal.moves import whole_rims
from nearfield.metal.resistive_cautions import worst_rim
from nearfield.sources.waveforms import ContinuousWave
from nearfield.trust.entries import Trust, judged
from nearfield.trust.oblique_walls import oblique_wall_trust
from nearfield.trust.slanting_media import slanting_media
from nearfield.trust.walls import wall_trust

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

CELLS = 15.0, 10.0  # per wavelength: 2 and 4.5 degrees of phase in every wavelength
PHASE = 20.0, 90.0  # degrees across the grid: 0.3 dB of two waves that should add up; they cancel at 180
MOVED = 0.05, 0.5  # cells
WIDER = 1.0, 20.0  # % of a sheet's width
SHORTEST = 16.0, 0.0  # cells of an edge at the corner of a block: 0.5 % of a resonance about it
MISSING = 3.0, 30.0  # % of the loss of a strip, bar or resistive sheet in the open
NEGATIVE = 0.05, 1.0  # cells: flat faces at the right places are exact; no distance off them is known to spoil all
ALIAS = -60.0, -40.0  # dB of the pulse's peak that fold onto recorded frequencies
ROUNDING = -80.0, -60.0  # dB of the peak field
EPSILON = {"single": 2.0**-24, "double": 2.0**-53}


def model_trust(setup: Discretization) -> list[Trust]:
    """Entries that a model on its grid allows before anything ran."""
    return [
        *_resolution(setup),
        *_skin_depth(setup),
        *_places(setup),
        *_rims(setup),
        *_vertices(setup),
        *_crowded_loss(setup),
        *_resistive_rims(setup),
        *slanting_media(setup),
        *_negative_media(setup),
        *wall_trust(setup),
        *oblique_wall_trust(setup),
        *_far_field_media(setup),
        *_aliases(setup),
        *_rounding(setup),
    ]


def _resolution(setup: Discretization) -> Iterator[Trust]:
    if setup.band_edge <= 0:
        return
    media = resolved_media(setup)
    worst = min(media, key=lambda medium: medium.cells_per_wavelength)
    text = (
        f"in {worst.name} at the highest frequency, where waves lag by {rounded(worst.phase_error, 2)} degrees in "
        "every wavelength; 20 are usual, `nearfield converge` shows what they cost"
    )
    yield judged("cells per wavelength", worst.cells_per_wavelength, *CELLS, text, at_least=True)
    text = "of a wave at the highest frequency along the longest side of the grid, in the medium where it is worst"
    yield judged("numerical phase error", phase_across(setup.grid, media, setup.band_edge), *PHASE, text, "degrees")


def _skin_depth(setup: Discretization) -> Iterator[Trust]:
    """Media that conduct well at the highest frequency: the depth to which fields go, in cells."""
    cells = skin_cells(setup)
    if cells:
        name = min(cells, key=lambda each: cells[each])
        text = (
            f"of {name} at the highest frequency; fields inside need some three. Finer cells there, or a `Conductor` "
            "whose surface is known"
        )
        yield judged("cells per skin depth", cells[name], *SKIN_CELLS, text, at_least=True)


def _places(setup: Discretization) -> Iterator[Trust]:
    """How far metal, ports and the like act from where they are drawn."""
    found = moves(setup)
    worst = max(found, key=lambda each: each["cells"], default=None)
    text = "everything acts where it is drawn"
    if worst is not None:
        text = (
            f"of a cell: {worst['what']}, the most of {counted(len(found), 'place')} that the grid moves to its lines; "
            "`nearfield check` lists them with their effect"
        )
    yield judged("moved to grid lines", worst["cells"] if worst else 0.0, *MOVED, text)


def _rims(setup: Discretization) -> Iterator[Trust]:
    """How much wider sheets on whole edges act than they are drawn."""
    found = list(whole_rims(acting_bodies(setup), setup.grid, setup.coefficients.metal))
    if found:
        body, axis, part = max(found, key=lambda each: abs(each[2]))
        text = (
            f"by which {body.label} acts {'wider' if part > 0 else 'narrower'} along {axis} than it is drawn, the most "
            f"of {counted(len({id(each[0]) for each in found}), 'sheet')} on whole edges, which act a third of a cell "
            'past their last line; metal="auto" lets them end where they are drawn'
        )
        yield judged("rims of sheets", 100.0 * abs(part), *WIDER, text, "%")


def _vertices(setup: Discretization) -> Iterator[Trust]:
    """Blocks of metal whose corners, where three edges meet, have a field that the grid does not carry."""
    found = setup.coefficients.metal.vertices
    if found:
        text = (
            f"are the shortest edge at {counted(len(found), 'corner')} of solid metal where three edges meet, whose "
            "field is steeper than the grid has it: resonances of blocks of 2 to 10 cells come out 0.7 to 3 % low, a "
            "fourth of that at half the cell. `nearfield converge` shows by how much here"
        )
        yield judged("corners of solids", min(found), *SHORTEST, text, "cells", at_least=True)


def _crowded_loss(setup: Discretization) -> Iterator[Trust]:
    """How much of their loss conductors lack whose current crowds at rims and edges."""
    found = missing_loss(acting_bodies(setup), setup.grid, setup.metal == "conformal")
    if found:
        text = (
            f"of what it should lose is missing of {found[1]} whose current crowds at rims or edges nearer than the "
            "samples of H; `nearfield check` says what to do"
        )
        yield judged("loss at rims of conductors", found[0], *MISSING, text, "%")


def _resistive_rims(setup: Discretization) -> Iterator[Trust]:
    """How much resistive sheets err at their rims."""
    found = worst_rim(acting_bodies(setup), setup.grid, setup.band_edge)
    if found:
        text = f"{found[1]}: current crowds there nearer than the cells tell; smaller cells have less"
        yield judged("rims of resistive sheets", found[0], *MISSING, text, "%")


def _negative_media(setup: Discretization) -> Iterator[Trust]:
    """How far surfaces of media of negative permittivity, or permeability, lie off where they need no mean."""
    for magnetic, half in HALVES.items():
        found = rough_surfaces(setup, magnetic)
        if not found:
            continue
        worst = worst_of(found)
        right = "the middles of cells" if magnetic else "the grid's lines"
        text = f"off {right} at most: of {worst.body.label} {worst.where}; `nearfield check` says what that may cost"
        if worst.rings:
            text = (
                f"off {right}: of {worst.body.label} {worst.where}, it has less than 30 cells across half of it, and "
                "rings in the band with little loss; spheres so absorbed 1.7 to 3.5 times what they should"
            )
        entry = judged(f"surfaces of negative {half}", worst.off, *NEGATIVE, text, "cells")
        yield replace(entry, verdict="bad") if worst.rings else entry


def _far_field_media(setup: Discretization) -> Iterator[Trust]:
    """How much of far-field surfaces lies in other matter than the rest."""
    for monitor in setup.simulation.monitors:
        if monitor.kind == "far-field" and (share := foreign_share(setup, monitor)) > 0.0:
            text = (
                "of its surface lies in other matter than the rest, and a far field is that of one medium all around: "
                "what leaves within a half space or a thick board radiates otherwise, however large the surface is"
            )
            yield judged(f"matter through the far-field surface, {monitor.name}", share, *FOREIGN, text, "%")


def _aliases(setup: Discretization) -> Iterator[Trust]:
    """The part of the pulse above half the sampling rate of running sums, folded onto their frequencies."""
    each = [getattr(monitor, "frequencies", None) for monitor in setup.simulation.monitors]
    sums = [np.array(frequencies, dtype=float) for frequencies in each if frequencies]
    if not sums:
        return
    folded = np.concatenate([1 / (dft_stride(setup.context, f) * setup.time_step) - f for f in sums])
    levels = []
    for waveform in all_waveforms(setup.simulation):
        if isinstance(waveform, ContinuousWave):  # a carrier has no spectrum to speak of, once its ramp is over
            continue
        band = np.linspace(0.0, waveform.maximum_frequency, 201)
        peak = np.abs(waveform.spectrum(band)).max()
        levels.append(np.abs(waveform.spectrum(folded)).max() / peak if peak > 0 else 0.0)
    level = float(decibels(max([*levels, 1e-15])))
    text = "of the pulse's peak fold onto recorded frequencies, as running sums do not take every step"
    yield judged("aliasing of running sums", level, *ALIAS, text, "dB")


def _rounding(setup: Discretization) -> Iterator[Trust]:
    """Rounding errors of every step add up like a random walk: half a unit in the last place times sqrt(steps)."""
    precision = setup.simulation.precision
    level = float(decibels(EPSILON[precision] * math.sqrt(max(setup.expected_steps, 1))))
    text = f'of the peak field: what is smaller is rounding, in {precision} precision; precision="double" has less'
    yield judged("rounding", level, *ROUNDING, text, "dB")
