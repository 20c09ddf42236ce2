"""Warnings about waveguide ports: pulses below the cut-off, guides shut behind their port, ports in one guide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.open_line import OpenLine
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML
from nearfield.grid.yee import AXES
from nearfield.guides.placing import loss_tangent, port_place
from nearfield.guides.section import ends_as_it_begins

if TYPE_CHECKING:
    from nearfield.guides.port import WaveguidePort
    from nearfield.lowering.context import Context

BEYOND = 0.01  # part of a mode's power beyond the rectangle from which on it is said


def guide_cautions(
    ports: Sequence[WaveguidePort], pulses: Sequence[tuple[WaveguidePort, Any]], context: Context
) -> Iterator[str]:
    """All warnings about waveguide ports; `pulses`: ports of one mode each, and the waveforms that excite them."""
    for port, waveform in pulses:
        yield from below_cutoff(port, waveform.band[0], context)
    for mode in (mode for port in ports for mode in port._channels):
        yield from lossy_filling(mode, context)
        yield from cut_by_rectangle(mode, context)
    for port in ports:
        yield from shut_behind(port, context)
    for one, other in combinations(ports, 2):
        yield from same_way(one, other)


def below_cutoff(port: WaveguidePort, low: float, context: Context) -> Iterator[str]:
    """A pulse into a guide that begins, at `low` (Hz), below the cut-off."""
    cutoff = port._placed(context).line.cutoff_frequency
    if low < cutoff:
        yield (
            f"port {port.name!r}: its pulse begins at {quantity(low, 'Hz')} (20 dB down), below the cut-off of "
            f"{port.modes[0]}, {quantity(cutoff, 'Hz')}: there the guide rings long, and at 0 a TE mode leaves "
            "a magnetic field standing; give `steps`, or a pulse that begins above"
        )


def lossy_filling(port: WaveguidePort, context: Context) -> Iterator[str]:
    """A port among media that lose a little: its modes are those without the loss."""
    tangent = loss_tangent(context, port._placed(context).mode.section)
    if tangent > 0.0:
        yield (
            f"port {port.name!r}: what fills the guide at it has a loss tangent of {tangent:.2g} in the middle of the "
            f"pulse's band; its modes are those without the loss, so an endless line seems to reflect "
            f"{20 * np.log10(tangent / 4):.0f} dB, as 1/frequency, so a pulse had better not begin at 0; what is lost "
            "on the way to `reference_plane` counts as lost in the structure"
        )


def cut_by_rectangle(port: WaveguidePort, context: Context) -> Iterator[str]:
    """A mode of an open line with much of its power beyond the rectangle."""
    line = port._placed(context).line
    beyond = 1.0 - float(line.within.min()) if isinstance(line, OpenLine) else 0.0
    if beyond > BEYOND:
        yield (
            f"port {port.name!r}: {100 * beyond:.2g} % of the power of mode {port.modes[0]} pass beyond its rectangle "
            f"(at most, over the pulse's band), so that its S-parameters are wrong by some {20 * beyond:.1g} % and as "
            "much of the power is radiated where the mode is launched; enlarge the rectangle, and the grid if need be"
        )


def shut_behind(port: WaveguidePort, context: Context) -> Iterator[str]:
    """A guide that does not run on into a CPML behind its port."""
    side = "low" if port._sign > 0 else "high"
    name, face = f"{AXES[port._along]}_{side}", context.boundaries.face(port._along, side)
    if not isinstance(face, CPML):
        yield (
            f"port {port.name!r}: the guide ends behind it at {name} without a CPML, so what comes back through the "
            f"port is thrown into the structure again and rings on; give {name} = CPML"
        )
        return
    place, what = port_place(context, port), "line" if port.shape == "open" else "guide"
    low, high = context.boundaries.interior(context.grid)[port._along]
    if not ends_as_it_begins(context, port._label, place, port._opening, low if port._sign > 0 else high):
        yield (
            f"port {port.name!r}: the {what}'s metal behind it is not that at the port all the way into the CPML, so "
            f"waves are reflected there; let the {what} run on evenly to the end of the grid"
        )


def same_way(one: WaveguidePort, other: WaveguidePort) -> Iterator[str]:
    """Two ports in one guide that launch waves in the same direction, or away from each other."""
    across = [a for a in range(3) if a != one._along]
    openings = [tuple((port.lower[a], port.upper[a]) for a in across) for port in (one, other)]
    first, last = sorted((one, other), key=lambda port: port._sign * port.lower[one._along])
    apart = first.lower[one._along] != last.lower[one._along]
    if one.direction == other.direction and openings[0] == openings[1] and apart:
        turned = f"{'-' if last._sign > 0 else '+'}{AXES[last._along]}"
        yield (
            f"ports {first.name!r} and {last.name!r} lie in one guide and both launch towards {one.direction}, so the "
            f"waves of {first.name!r} come to {last.name!r} from behind, as if they entered there; `direction` is into "
            f"the structure, so give {last.name!r} {turned!r} if it is the output"
        )
    low, high = sorted((one, other), key=lambda port: port.lower[one._along])
    if one._along == other._along and openings[0] == openings[1] and low._sign < 0 < high._sign:
        yield (
            f"ports {low.name!r} and {high.name!r} lie in one guide and launch away from each other, {low.direction} "
            f"and {high.direction}, so nothing between them sees their waves; `direction` is into the structure, so "
            "exchange the two if it lies between the ports"
        )
