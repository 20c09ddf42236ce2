"""One number of a result, named in words: "S11 dip", "S21 at 5 GHz", "pattern directivity at 10 GHz"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import dips
from nearfield.analysis.resonances import resonances
from nearfield.entry.errors import ModelError
from nearfield.entry.levels import decibels
from nearfield.entry.messages import shown
from nearfield.studies.impossible import (
    Band,
    other_frequency,
    recorded_at,
    refuse_monitor,
    refuse_ports,
    refuse_waves,
    refuse_without_impedance,
    refuse_without_port,
)
from nearfield.studies.words import PORTS, band, hertz

if TYPE_CHECKING:
    from nearfield.results import Result
    from nearfield.simulation import Simulation

FORMS = (
    '"S11 dip", "S11 dip between 5 GHz and 9 GHz", "S11 depth", "S21 at 5 GHz", "S21 dB at 5 GHz", "S1,10 at 5 GHz", '
    '"Z11 real at 5 GHz", "Z11 imag at 5 GHz", "PROBE resonance between 2 GHz and 3 GHz", '
    '"PATTERN directivity at 5 GHz" (dBi; "gain", "realized gain"), "PATTERN radiated power at 5 GHz", '
    '"FLUX power at 5 GHz"'
)
NUMBER = r"[-+\d.eE]+ ?[A-Za-z]*"
BAND = rf"(?: between (?P<low>{NUMBER}) and (?P<high>{NUMBER}))"
AT = rf"(?: at (?P<at>{NUMBER}))"
SIGNALS = ("probe", "voltage", "current")  # kinds of monitors that record signals over time
ZOOM = 401  # frequencies about a dip: its place is that of a parabola through three of them


@dataclass(frozen=True)
class Quantity:
    """A number of a result: its words, its unit ("" for a ratio), how it is read, what refuses models without, and what
    is said of a model that has nearly it."""

    text: str
    unit: str
    read: Callable[[Result], float]
    refuse: Callable[[Simulation], None] = lambda model: None
    note: Callable[[Simulation], str] = lambda model: ""


def quantity_of(given: str | Callable[[Result], float]) -> Quantity:
    """The quantity that a text names, or that a function reads. Error: `ModelError` that lists the forms there are."""
    if callable(given):
        return _of_function(given)
    words = " ".join(given.split()) if isinstance(given, str) else ""
    for pattern, maker in MAKERS:
        match = re.fullmatch(pattern, words)
        if match:
            return maker(words, match)
    raise ModelError(f"quantity {shown(given)} is not known; give one of {FORMS}, or in Python a function of a result")


def quantities_of(given: Sequence[str | Callable[[Result], float]]) -> list[Quantity]:
    """Quantities under names of their own: texts once each, functions of one name numbered from the second on."""
    found: dict[str, Quantity] = {}
    for each in given:
        quantity, number = quantity_of(each), 2
        name = quantity.text
        while callable(each) and name in found:
            name, number = f"{quantity.text} {number}", number + 1
        found[name] = replace(quantity, text=name)
    return list(found.values())


def _of_function(function: Callable[[Result], float]) -> Quantity:
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return Quantity(name, "", lambda result: _real(name, function(result)))


def _real(name: str, given: Any) -> float:
    """A function's answer as a number. Error: `ModelError` for what is not one real number."""
    values = np.asarray(given)
    if values.size != 1 or values.dtype.kind not in "biuf":
        raise ModelError(
            f"quantity {name!r}: the function gave {shown(given)}; give one real number, of a complex one its abs() or "
            "its real part"
        )
    return float(values.item())


def _pair(result: Result, match: re.Match) -> tuple[str, str]:
    """Names of the ports that S or Z with two numbers, counted from 1, goes to and comes from."""
    ports = [str(name) for name in result.sparameters.to.values]
    numbers = int(match["to"]), int(match["source"])
    refuse_ports(match.string, ports, numbers)
    return ports[numbers[0] - 1], ports[numbers[1] - 1]


def _band(match: re.Match) -> Band:
    """The lowest and highest frequency (Hz) of a band, None where none is given. Error: it ends below its beginning."""
    return (None, None) if match["low"] is None else band(f"quantity {match.string!r}", match["low"], match["high"])


def _at(match: re.Match) -> float:
    """The frequency (Hz) that is asked for."""
    return hertz(f"quantity {match.string!r}", match["at"])


def _of_ports(
    words: str, match: re.Match, at: float | None = None, band: Band = (None, None)
) -> Callable[[Simulation], None]:
    return lambda model: refuse_waves(words, model, [(int(match["to"]), int(match["source"]))], at, band)


def _all_ports(words: str, match: re.Match, at: float | None) -> Callable[[Simulation], None]:
    def refuse(model: Simulation) -> None:
        every = range(1, len(model._channels) + 1)
        asked = int(match["to"]), int(match["source"])
        refuse_waves(words, model, [asked, *((number, number) for number in every)], at, (None, None))
        refuse_without_impedance(words, [model._channels[number - 1] for number in asked])

    return refuse


def _waves(result: Result, match: re.Match, frequencies: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (Hz) and S between the two ports, where the pulse held enough."""
    to, source = _pair(result, match)
    parameters = result.sparameters if frequencies is None else result.sparameters_at(frequencies)
    waves = parameters.sel(to=to, source=source)
    known = np.isfinite(waves.values)
    if not known.any():
        raise ModelError(f"quantity {match.string!r}: that S-parameter is not known where it is asked for")
    return waves.frequency.values[known], waves.values[known]


def _dip(words: str, match: re.Match) -> Quantity:
    low, high = _band(match)

    def deepest(result: Result) -> tuple[float, float]:
        frequency, waves = _waves(result, match)
        inside = (frequency >= (low or 0.0)) & (frequency <= (high or np.inf))
        coarse = dips(frequency[inside], np.abs(waves[inside]))
        if not coarse:
            raise ModelError(f"quantity {words!r}: there is no dip in that band")
        place, step = min(coarse, key=lambda dip: dip[1])[0], float(np.diff(frequency).min())
        close = np.linspace(place - 2 * step, place + 2 * step, ZOOM)
        frequency, waves = _waves(result, match, close)
        return min(dips(frequency, np.abs(waves)), key=lambda dip: dip[1], default=(place, float(np.abs(waves).min())))

    refuse = _of_ports(words, match, band=(low, high))
    if match["what"] == "depth":
        return Quantity(words, "dB", lambda result: float(decibels(deepest(result)[1])), refuse)
    return Quantity(words, "Hz", lambda result: deepest(result)[0], refuse)


def _wave(words: str, match: re.Match) -> Quantity:
    at, in_decibels = _at(match), match["scale"] is not None

    def read(result: Result) -> float:
        level = np.abs(_waves(result, match, [at])[1][0])
        return float(decibels(level) if in_decibels else level)

    return Quantity(words, "dB" if in_decibels else "", read, _of_ports(words, match, at))


def _impedance(words: str, match: re.Match) -> Quantity:
    at = _at(match)

    def read(result: Result) -> float:
        to, source = _pair(result, match)
        matrix = result.sparameters_at([at])
        ports = [str(name) for name in matrix.to.values]
        waves, one = matrix.sel(to=ports, source=ports).values[0], np.eye(len(ports))
        if not np.isfinite(waves).all():
            raise ModelError(f"quantity {words!r}: impedances need S of all ports; drive every port")
        ratio = np.linalg.solve(one - waves, one + waves)[ports.index(to), ports.index(source)]
        value = ratio * np.sqrt(result.reference_impedances[to] * result.reference_impedances[source])
        return float(value.real if match["part"] == "real" else value.imag)

    return Quantity(words, "ohm", read, _all_ports(words, match, at))


def _resonance(words: str, match: re.Match) -> Quantity:
    within = _band(match)

    def read(result: Result) -> float:
        modes = resonances(result, within, probe=match["name"])
        if not modes.sizes["mode"]:
            raise ModelError(f"quantity {words!r}: no resonance exceeds the noise there")
        return float(modes.frequency.values[np.argmax(np.abs(modes.amplitude.values))])

    return Quantity(words, "Hz", read, lambda model: refuse_monitor(words, model, match["name"], SIGNALS))


FAR_FIELD = {
    "directivity": ("directivity_dbi", "dBi"),
    "gain": ("gain_dbi", "dBi"),
    "realized gain": ("realized_gain_dbi", "dBi"),
    "radiated power": ("radiated_power", "W"),
}


def _monitor(words: str, match: re.Match) -> Quantity:
    at, what = None if match["at"] is None else _at(match), match["what"]
    attribute, unit = FAR_FIELD.get(what, ("", "W"))

    def read(result: Result) -> float:
        run = result.per_source()
        values = run[match["name"]] if what == "power" else getattr(run[match["name"]], attribute)
        recorded = values.frequency.values
        number = 0 if at is None else recorded_at(recorded, at)
        if number is None:
            raise ModelError(f"quantity {words!r}: {match['name']!r} has {', '.join(f'{f:.6g}' for f in recorded)} Hz")
        return float(np.nanmax(values.isel(frequency=number).values))

    kinds = ("flux",) if what == "power" else ("far-field",)

    def refuse(model: Simulation) -> None:
        refuse_monitor(words, model, match["name"], kinds, at)
        if "gain" in what:
            refuse_without_port(words, model)

    return Quantity(words, unit, read, refuse, lambda model: other_frequency(words, model, match["name"], at))


MAKERS = (
    (rf"S{PORTS} (?P<what>dip|depth){BAND}?", _dip),
    (rf"S{PORTS}(?P<scale> dB)?{AT}", _wave),
    (rf"Z{PORTS} (?P<part>real|imag){AT}", _impedance),
    (rf"(?P<name>.+) resonance{BAND}", _resonance),
    (rf"(?P<name>.+?) (?P<what>directivity|(?:realized )?gain|radiated power|power){AT}?", _monitor),
)
