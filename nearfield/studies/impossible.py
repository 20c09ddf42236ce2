"""Quantities that no run of a model could have: of ports and monitors that it lacks, at frequencies no pulse has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.analysis.sparameters import excited_enough
from nearfield.discretization.excitations import port_waveform
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted, quantity
from nearfield.sources.waveforms import ContinuousWave

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

LOOKED_AT = 200  # frequencies up to a pulse's highest at which the peak of its spectrum is sought


def refuse_ports(words: str, ports: Sequence[str], numbers: Iterable[int]) -> None:
    """Error: a port, counted from 1, is not there."""
    if not all(1 <= number <= len(ports) for number in numbers):
        there = f"there is {counted(len(ports), 'port')}{', ' if ports else ''}{', '.join(ports)}, counted from 1"
        raise ModelError(f"quantity {words!r}: {there}")


def refuse_waves(words: str, model: Simulation, to: int, source: int, at: float | None) -> None:
    """Error: a model has no such port, or the pulse of the one that is driven holds nothing at a frequency (Hz)."""
    channels = model._channels
    refuse_ports(words, [port.name for port in channels], (to, source))
    pulse = port_waveform(model, channels[source - 1])
    if at is None or isinstance(pulse, ContinuousWave):
        return
    highest = pulse.highest_frequency
    drive = np.abs(pulse.spectrum(np.append(np.linspace(0.0, highest, LOOKED_AT), min(at, highest))))
    if at > highest or not excited_enough(drive)[-1]:
        low, high = pulse.band
        raise ModelError(
            f"quantity {words!r}: the pulse of port {channels[source - 1].name!r} holds too little at "
            f"{quantity(at, 'Hz')}; its band is {quantity(low, 'Hz')} to {quantity(high, 'Hz')}. Ask there, or give "
            "it another pulse"
        )


def refuse_monitor(words: str, model: Simulation, name: str, kinds: Sequence[str]) -> None:
    """Error: a model has no monitor of this name and of one of these kinds."""
    there = [each.name for each in model.monitors if each.kind in kinds]
    if name not in there:
        raise ModelError(
            f"quantity {words!r}: the model has no monitor {name!r} of kind {' or '.join(kinds)}; there is: "
            f"{', '.join(there) or 'none'}"
        )
