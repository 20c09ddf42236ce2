"""Warnings about waveguide ports: pulses below the cut-off, guides shut behind their port, ports in one guide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML
from nearfield.grid.yee import AXES
from nearfield.guides.placing import port_place
from nearfield.guides.section import ends_as_it_begins

if TYPE_CHECKING:
    from nearfield.guides.port import WaveguidePort
    from nearfield.lowering.context import Context


def guide_cautions(
    ports: Sequence[WaveguidePort], pulses: Sequence[tuple[WaveguidePort, Any]], context: Context
) -> Iterator[str]:
    """All warnings about waveguide ports; `pulses`: ports of one mode each, and the waveforms that excite them."""
    for port, waveform in pulses:
        yield from below_cutoff(port, waveform.band[0], context)
    for port in ports:
        yield from shut_behind(port, context)
    for one, other in combinations(ports, 2):
        yield from same_way(one, other)


def below_cutoff(port: WaveguidePort, low: float, context: Context) -> Iterator[str]:
    """A pulse into a guide that begins, at `low` (Hz), below the cut-off."""
    cutoff = port._line(context).cutoff_frequency
    if low < cutoff:
        yield (
            f"port {port.name!r}: its pulse begins at {quantity(low, 'Hz')} (20 dB down), below the cut-off of "
            f"{port.modes[0]}, {quantity(cutoff, 'Hz')}: there the guide rings long, and at 0 a TE mode leaves "
            "a magnetic field standing; give `steps`, or a pulse that begins above"
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
    place = port_place(context, port)
    low, high = context.boundaries.interior(context.grid)[port._along]
    if not ends_as_it_begins(context, port._label, place, port._opening, low if port._sign > 0 else high):
        yield (
            f"port {port.name!r}: the guide's metal behind it is not that at the port all the way into the CPML, so "
            "waves are reflected there; let the guide run on evenly to the end of the grid"
        )


def same_way(one: WaveguidePort, other: WaveguidePort) -> Iterator[str]:
    """Two ports in one guide that launch waves in the same direction."""
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
