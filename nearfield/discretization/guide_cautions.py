"""What is odd about waveguide ports though it runs: one warning each, with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from nearfield.discretization.discretization import port_waveform
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML
from nearfield.grid.yee import AXES
from nearfield.guides.placing import port_place
from nearfield.guides.section import ends_as_it_begins

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization


def guide_cautions(setup: Discretization) -> Iterator[str]:
    """All warnings about waveguide ports."""
    ports = [port for port in setup.simulation.ports if port.kind == "waveguide"]
    yield from slow_guides(setup)
    for port in ports:
        yield from shut_behind(setup, port)
    for one, other in combinations(ports, 2):
        yield from same_way(one, other)


def slow_guides(setup: Discretization) -> Iterator[str]:
    """Pulses into guides that begin below the cut-off."""
    for port in setup.simulation._channels:
        if port.kind == "waveguide" and port.name in setup.waveforms:
            low = port_waveform(setup.simulation, port).band[0]
            cutoff = port._line(setup.context).cutoff_frequency
            if low < cutoff:
                yield (
                    f"port {port.name!r}: its pulse begins at {quantity(low, 'Hz')} (20 dB down), below the cut-off of "
                    f"{port.modes[0]}, {quantity(cutoff, 'Hz')}: there the guide rings long, and at 0 a TE mode leaves "
                    "a magnetic field standing; give `steps`, or a pulse that begins above"
                )


def shut_behind(setup: Discretization, port) -> Iterator[str]:
    """A guide that does not run on into a CPML behind its port."""
    side = "low" if port._sign > 0 else "high"
    name, face = f"{AXES[port._along]}_{side}", setup.simulation.boundaries.face(port._along, side)
    if not isinstance(face, CPML):
        yield (
            f"port {port.name!r}: the guide ends behind it at {name} without a CPML, so what comes back through the "
            f"port is thrown into the structure again and rings on; give {name} = CPML"
        )
        return
    place = port_place(setup.context, port)
    low, high = setup.simulation.boundaries.interior(setup.grid)[port._along]
    if not ends_as_it_begins(setup.context, port._label, place, port._opening, low if port._sign > 0 else high):
        yield (
            f"port {port.name!r}: the guide's metal behind it is not that at the port all the way into the CPML, so "
            "waves are reflected there; let the guide run on evenly to the end of the grid"
        )


def same_way(one, other) -> Iterator[str]:
    """Two ports of which one looks into the back of the other."""
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
