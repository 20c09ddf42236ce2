"""Quantities that no run of a model could have: of ports and monitors that it lacks, at frequencies no pulse has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.sparameters import excited_enough
from nearfield.discretization.excitations import excitation_names, port_waveform
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted, quantity
from nearfield.sources.sources import SOURCES
from nearfield.sources.waveforms import AnyWaveform, ContinuousWave

if TYPE_CHECKING:
    from nearfield.discretization.model import AnyPort
    from nearfield.simulation import Simulation

LOOKED_AT = 200  # frequencies up to a pulse's highest at which the peak of its spectrum is sought
SAME = 1e-6  # relative difference below which frequencies are one
CLOSE = 0.01  # relative difference within which a monitor's only frequency is taken for the one that is asked for
HERTZ = "Hz"
Band = tuple[float | None, float | None]  # lowest and highest frequency (Hz), as far as they are given


def refuse_ports(words: str, ports: Sequence[str], numbers: Iterable[int]) -> None:
    """Error: a port, counted from 1, is not there."""
    if not all(1 <= number <= len(ports) for number in numbers):
        there = f"there is {counted(len(ports), 'port')}{', ' if ports else ''}{', '.join(ports)}, counted from 1"
        raise ModelError(f"quantity {words!r}: {there}")


def refuse_undriven(words: str, model: Simulation, port: str) -> None:
    """Error: no run of a model drives a port."""
    runs = excitation_names(model)
    if port not in runs:
        raise ModelError(
            f"quantity {words!r}: no run drives port {port!r}; the model's excitations are: {', '.join(runs)}. Name "
            "the port in `excitations`"
        )


def refuse_waves(words: str, model: Simulation, pairs: Iterable[tuple[int, int]], at: float | None, band: Band) -> None:
    """Error: a model has no such ports (to, source), drives none of the sources, or by a pulse that holds nothing at a
    frequency (Hz), or in a band."""
    channels = model._channels
    for to, source in pairs:
        refuse_ports(words, [port.name for port in channels], (to, source))
        driven = channels[source - 1]
        refuse_undriven(words, model, driven.name)
        if at is not None:
            refuse_weak(f"quantity {words!r}", model, driven, at)
        pulse, low = port_waveform(model, driven), band[0] or 0.0
        if low > pulse.highest_frequency and not isinstance(pulse, ContinuousWave):
            above = too_little(driven.name, f"above {quantity(low, HERTZ)}", pulse)
            raise ModelError(f"quantity {words!r}: {above}")


def refuse_weak(what: str, model: Simulation, port: AnyPort, at: float) -> None:
    """Error: a port's pulse holds nothing at a frequency (Hz)."""
    pulse = port_waveform(model, port)
    if weak(pulse, np.array([at]))[0]:
        raise ModelError(f"{what}: {too_little(port.name, f'at {quantity(at, HERTZ)}', pulse)}")


def refuse_all_weak(what: str, model: Simulation, frequencies: np.ndarray) -> None:
    """Error: the pulse of a port holds nothing at any of the frequencies (Hz)."""
    for port in model._channels:
        pulse = port_waveform(model, port)
        if weak(pulse, frequencies).all():
            ends = " to ".join(dict.fromkeys(quantity(f, HERTZ) for f in (frequencies.min(), frequencies.max())))
            raise ModelError(f"{what}: {too_little(port.name, f'at {ends}', pulse)}")


def weak(pulse: AnyWaveform, frequencies: np.ndarray) -> np.ndarray:
    """At which frequencies (Hz) a pulse holds nothing, in comparison with the peak of its spectrum."""
    if isinstance(pulse, ContinuousWave):
        return np.zeros(frequencies.shape, bool)
    highest = pulse.highest_frequency
    asked = np.concatenate((np.linspace(0.0, highest, LOOKED_AT), np.minimum(frequencies, highest)))
    found: np.ndarray = (frequencies > highest) | ~excited_enough(np.abs(pulse.spectrum(asked)))[LOOKED_AT:]
    return found


def too_little(port: str, where: str, pulse: AnyWaveform) -> str:
    """The words for a pulse that holds too little somewhere."""
    low, high = (quantity(edge, HERTZ) for edge in pulse.band)
    found = f"the pulse of port {port!r} holds too little {where}; its band is {low} to {high}"
    return f"{found}. Ask there, or give it another pulse"


def recorded_at(recorded: Any, at: float) -> int | None:
    """Number of the recorded frequency (Hz) that is asked for, or of the only one within 1 % of it; None without."""
    away = abs(np.asarray(recorded, dtype=float) / at - 1.0)
    close = np.flatnonzero(away <= CLOSE)
    return int(np.argmin(away)) if close.size == 1 or (away <= SAME).any() else None


def other_frequency(words: str, model: Simulation, name: str, at: float | None) -> str:
    """A note that a monitor's frequency near the one asked for (Hz) stands for it; "" where it has that one."""
    recorded = next((getattr(each, "frequencies", ()) for each in model.monitors if each.name == name), ())
    number = None if at is None else recorded_at(recorded, at)
    if at is None or number is None or abs(recorded[number] - at) <= SAME * at:
        return ""
    return f"quantity {words!r}: taken at {quantity(recorded[number], HERTZ, 6)}, which {name!r} has, within 1 %"


def refuse_monitor(words: str, model: Simulation, name: str, kinds: Sequence[str], at: float | None = None) -> None:
    """Error: a model has no monitor of this name and of one of these kinds, or none that records a frequency (Hz)."""
    there = {each.name: each for each in model.monitors if each.kind in kinds}
    if name not in there:
        raise ModelError(
            f"quantity {words!r}: the model has no monitor {name!r} of kind {' or '.join(kinds)}; there is: "
            f"{', '.join(there) or 'none'}"
        )
    if at is not None:
        recorded = getattr(there[name], "frequencies", ())
        if recorded_at(recorded, at) is None:
            raise ModelError(f"quantity {words!r}: {name!r} has {', '.join(quantity(f, HERTZ) for f in recorded)}")


def refuse_without_impedance(words: str, ports: Iterable[AnyPort]) -> None:
    """Error: the waves of a port have no reference impedance, as those of a guide's mode."""
    for port in ports:
        if not np.isfinite(port.impedance):
            raise ModelError(
                f"quantity {words!r}: port {port.name!r} is that of a guide, whose waves have no impedance in ohm; ask "
                "for S, or give the port a `reference_impedance`"
            )


def refuse_without_port(words: str, model: Simulation) -> None:
    """Error: the first run of a model drives no port, whose power gain is referred to."""
    first = excitation_names(model)[0]
    if first == SOURCES:
        raise ModelError(
            f"quantity {words!r}: gain needs a driven port, and the model's first run drives {first}; ask for "
            "directivity, or name a port in `excitations`"
        )
