"""The runs of a model: which excitations, with which waveforms, for how many steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.grid.grid import AutoGrid
from nearfield.sources.sources import SOURCES
from nearfield.sources.waveforms import AnyWaveform, Gaussian

if TYPE_CHECKING:
    from nearfield.discretization.model import AnyPort, Model
    from nearfield.grid.yee import YeeGrid

DEFAULT_DECAY = 1e-6
GUIDED_DECAY = 1e-8  # fields in a guide next to its cut-off leave slowly
TRANSITS = 150  # crossings of the box after which a run is cut off that does not decay
USUAL_TRANSITS = 12  # crossings of the box before the energy of an antenna has fallen by 60 dB; a rough guide


def port_waveform(model: Model, port: AnyPort) -> AnyWaveform:
    """The voltage waveform of a port: its own, the model's, or a Gaussian up to the automatic grid's limit."""
    waveform = port.waveform or model.waveform
    if waveform is not None:
        return waveform
    if port.kind == "waveguide" and port.shape != "open":
        raise ModelError(
            f'port "{port.name}" has no waveform, and neither has the simulation; a guide carries waves above its '
            "cut-off alone, so give one a pulse there, for example ModulatedGaussian(10e9, 6e9)"
        )
    if not isinstance(model.grid, AutoGrid):
        raise ModelError(
            f'port "{port.name}" has no waveform, the simulation has none, and the grid states no maximum '
            "frequency to derive one from; give the simulation `waveform`, for example Gaussian(20e9)"
        )
    return Gaussian(maximum_frequency=model.grid.maximum_frequency)


def excitation_names(model: Model) -> tuple[str, ...]:
    """The runs to make: as given, else the sources if there are any, else every port, else one silent run."""
    ports = tuple(channel.name for channel in model._channels)
    if model.excitations is None:
        return (SOURCES,) if model.sources or not ports else ports
    allowed = (*([SOURCES] if model.sources or not ports else []), *ports)
    modes = {port.name: tuple(channel.name for channel in port._channels) for port in model.ports}
    names = [each for name in model.excitations for each in modes.get(name, (name,))]
    for name in names:
        if name not in allowed:
            raise ModelError(f'excitations: {name!r} is neither a port nor "sources"; there is: {", ".join(allowed)}')
    if not names:
        raise ModelError(f"excitations is empty; name at least one of {', '.join(allowed)} or leave it out")
    return tuple(dict.fromkeys(names))


def refuse_silence(model: Model, names: Iterable[str]) -> None:
    """Refuse runs whose sources, or whose port, have no strength at all; some of several may."""
    ports = {port.name: port for port in model._channels}
    for name in names:
        if name in ports and not getattr(port_waveform(model, ports[name]), "amplitude", 1.0):
            raise ModelError(
                f'excitation "{name}": the waveform of this port has amplitude 0, so that S would be 0/0; give it an '
                "amplitude (S does not depend on it), or leave the port out of `excitations`"
            )
        if name == SOURCES and model.sources and all(map(is_off, model.sources)):
            raise ModelError(
                f'excitation "{SOURCES}": the strength of every source is 0, and all fields would be; give one of them '
                "a strength (`moment`, `current`, `density` or `amplitude`), or leave the sources out"
            )


def is_off(source: Any) -> bool:
    """Whether a source has no strength, of its own or of its waveform."""
    own = (getattr(source, name, 1.0) for name in ("moment", "current", "density", "amplitude"))
    return not all((*own, getattr(source.waveform, "amplitude", 1.0)))


def all_waveforms(model: Model) -> list[AnyWaveform]:
    """Every waveform that some excitation of the model uses."""
    names = excitation_names(model)
    sources = [source.waveform for source in model.sources] if SOURCES in names else []
    return sources + [port_waveform(model, port) for port in model._channels if port.name in names]


def band_of(model: Model) -> tuple[float, float]:
    """Lowest and highest frequency (Hz) that the excitations fill; 0, 0 without any."""
    bands = [waveform.band for waveform in all_waveforms(model)]
    return min((low for low, _ in bands), default=0.0), max((high for _, high in bands), default=0.0)


def lowest_frequency(waveform: AnyWaveform) -> float:
    """Below it (Hz) a pulse has as little as above its highest frequency, as far beyond its band's other edge."""
    low, high = waveform.band
    return max(0.0, low - (waveform.highest_frequency - high))


def diagonal(grid: YeeGrid) -> float:
    """Distance (m) between opposite corners of the box."""
    return math.sqrt(sum((line[-1] - line[0]) ** 2 for line in grid.lines))


def choose_steps(model: Model, grid: YeeGrid, time_step: float) -> tuple[int, float | None]:
    """(most steps, decay or None): as given, or enough for a decaying run."""
    if model.steps is not None:
        return model.steps, model.decay
    if model.duration is not None:
        return max(1, math.ceil(model.duration / time_step - 1e-9)), model.decay
    ends = [waveform.end for waveform in all_waveforms(model)]
    if not ends:
        raise ModelError("nothing ends this run: it has no source and no `steps` or `duration`; give one of these two")
    if not math.isfinite(max(ends)):
        raise ModelError("a source never ends, so the energy cannot decay; give `steps` or `duration`")
    guided = any(port.kind == "waveguide" and port.shape != "open" for port in model.ports)
    steps = math.ceil((max(ends) + TRANSITS * diagonal(grid) / VACUUM_SPEED) / time_step)
    return steps, model.decay or (GUIDED_DECAY if guided else DEFAULT_DECAY)


def expected_steps(model: Model, grid: YeeGrid, time_step: float, steps: int, decay: float | None) -> int:
    """Steps that a run usually takes: a decaying one until its waves have crossed the grid some times."""
    if decay is None:
        return steps
    end = max((w.end for w in all_waveforms(model) if math.isfinite(w.end)), default=0.0)
    return min(steps, math.ceil((end + USUAL_TRANSITS * diagonal(grid) / VACUUM_SPEED) / time_step))
