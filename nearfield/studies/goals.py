"""Goals in dB, as texts.

"S11 < -15 dB between 2.4 GHz and 2.5 GHz", "horn realized gain > 6 dBi at 5 GHz towards 0, 0 deg",
"tip field < 20 dBV/m at 5 GHz".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.levels import decibels
from nearfield.studies.pattern_slopes import POLARISATIONS, label
from nearfield.studies.words import PORTS, band, hertz

if TYPE_CHECKING:
    import xarray

MOST_DECIBELS = 1000.0  # of a limit, far beyond any field or gain
POINTS = 21  # frequencies at which a band is asked
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
WHERE = r"(?:between (?P<low>.+?) and (?P<high>.+)|at (?P<at>.+))"
WAVES = re.compile(rf"S{PORTS} ?(?P<way>[<>]) ?(?P<limit>{NUMBER}) ?dB {WHERE}", re.IGNORECASE)
GAIN = re.compile(
    rf"(?P<monitor>.+) realized gain ?(?P<way>[<>]) ?(?P<limit>{NUMBER}) ?dBi {WHERE} "
    rf"towards (?P<theta>{NUMBER}),? ?(?P<phi>{NUMBER}) ?deg",
    re.IGNORECASE,
)
FIELD = re.compile(rf"(?P<monitor>.+) field ?(?P<way>[<>]) ?(?P<limit>{NUMBER}) ?dB(?:V/m|A/m)? {WHERE}", re.IGNORECASE)
FORMS = (
    '"S11 < -15 dB between 2.4 GHz and 2.5 GHz" or "S21 > -1 dB at 5 GHz", ports counted from 1 (port 10 as S1,10), or '
    '"PATTERN realized gain > 6 dBi at 2.45 GHz towards 0, 0 deg", a far field\'s name and angles theta, phi, or '
    '"PROBE field < 20 dBV/m at 2.45 GHz", a probe\'s name and its level for a source of amplitude 1 (of a magnetic '
    "field dBA/m)"
)


@dataclass(frozen=True)
class Goal:
    """An amplitude below (way "<") or above a limit (dB) at frequencies (Hz)."""

    text: str
    way: str
    limit: float
    frequencies: np.ndarray

    def missed(self, found: xarray.Dataset, beyond: float = 0.0) -> np.ndarray:
        """By how much the amplitude misses the limit at each frequency; 0 where it is met.

        beyond: by how much (dB) the limit is to be met with some to spare.
        """
        return np.maximum(self._excess(found, beyond), 0.0)

    def slopes(self, found: xarray.Dataset, beyond: float = 0.0) -> np.ndarray:
        """d missed/dp, (frequency, parameter), from the derivatives in a dataset of `sensitivities`."""
        sign = 1.0 if self.way == "<" else -1.0
        slopes: np.ndarray = np.where(self._excess(found, beyond) > 0.0, sign * self.rise(found), 0.0).T
        return slopes

    def worst(self, found: xarray.Dataset) -> float:
        """The level (dB) at the frequency that is worst."""
        levels = decibels(self.amplitude(found))
        return float(levels.max() if self.way == "<" else levels.min())

    def _excess(self, found: xarray.Dataset, beyond: float) -> np.ndarray:
        sign = 1.0 if self.way == "<" else -1.0
        limit = 10.0 ** ((self.limit - sign * beyond) / 20.0)
        excess: np.ndarray = sign * (self.amplitude(found) - limit)
        return excess

    def amplitude(self, found: xarray.Dataset) -> np.ndarray:
        """What the limit is for, (frequency,)."""
        raise NotImplementedError

    def rise(self, found: xarray.Dataset) -> np.ndarray:
        """Its derivatives, (parameter, frequency)."""
        raise NotImplementedError


@dataclass(frozen=True)
class WaveGoal(Goal):
    """abs(S) to one port from another, counted from 0."""

    to: int
    source: int

    def amplitude(self, found: xarray.Dataset) -> np.ndarray:
        return np.abs(self._waves(found.sparameters))

    def rise(self, found: xarray.Dataset) -> np.ndarray:
        waves = self._waves(found.sparameters)
        rise: np.ndarray = np.real(np.conj(waves) * self._waves(found.derivative)) / _above_zero(np.abs(waves))
        return rise

    def _waves(self, values: xarray.DataArray) -> np.ndarray:
        chosen = values.isel(to=self.to, source=self.source).sel(frequency=self.frequencies)
        return np.asarray(chosen.values)


@dataclass(frozen=True)
class GainGoal(Goal):
    """The square root of a far field's realized gain in a direction (rad), of the first driven port."""

    monitor: str
    theta: float
    phi: float

    @property
    def far_fields(self) -> list[tuple[Any, ...]]:
        """What `sensitivities` has to follow."""
        return [(self.monitor, self.theta, self.phi, part) for part in POLARISATIONS]

    def amplitude(self, found: xarray.Dataset) -> np.ndarray:
        return np.sqrt(self._of(found.realized_gain).sum(axis=0))

    def rise(self, found: xarray.Dataset) -> np.ndarray:
        """sqrt(G) Re(F* dF)/abs(F)^2, both parts of the far field F together."""
        fields, slopes = self._of(found.far_field), self._of(found.far_field_derivative)
        rise = np.real(np.conj(fields) * slopes).sum(axis=1) / _above_zero((np.abs(fields) ** 2).sum(axis=0))
        found_rise: np.ndarray = self.amplitude(found) * rise
        return found_rise

    def _of(self, values: xarray.DataArray) -> np.ndarray:
        names = [label(*each) for each in self.far_fields]
        return np.asarray(values.isel(source=0).sel(toward=names, frequency=self.frequencies).values)


@dataclass(frozen=True)
class FieldGoal(Goal):
    """The field that a probe records, as of the first driven port's source of amplitude 1."""

    probe: str

    def amplitude(self, found: xarray.Dataset) -> np.ndarray:
        return np.abs(self._of(found.field))

    def rise(self, found: xarray.Dataset) -> np.ndarray:
        fields, slopes = self._of(found.field), self._of(found.field_derivative)
        rise: np.ndarray = np.real(np.conj(fields) * slopes) / _above_zero(np.abs(fields))
        return rise

    def _of(self, values: xarray.DataArray) -> np.ndarray:
        return np.asarray(values.isel(source=0).sel(probe=self.probe, frequency=self.frequencies).values)


def _above_zero(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, np.finfo(float).tiny)


def goals_of(texts: str | Sequence[str]) -> list[Goal]:
    """The goals that texts state. Error: `ModelError` that says the form."""
    given = [texts] if isinstance(texts, str) else list(texts)
    if not given:
        raise ModelError('there is no goal; give one such as "S11 < -15 dB between 2.4 GHz and 2.5 GHz"')
    return [_goal(text) for text in given]


def _goal(text: str) -> Goal:
    words = " ".join(str(text).split())
    match = WAVES.fullmatch(words)
    if match is not None and min(ports := (int(match["to"]), int(match["source"]))) > 0:
        return WaveGoal(*_common(text, match), *(port - 1 for port in ports))
    match = FIELD.fullmatch(words)
    if match is not None:
        return FieldGoal(*_common(text, match), match["monitor"])
    match = GAIN.fullmatch(words)
    if match is None:
        raise ModelError(f"goal {text!r}: give it as {FORMS}")
    angles = [float(np.radians(float(match[name]))) for name in ("theta", "phi")]
    return GainGoal(*_common(text, match), match["monitor"], *angles)


def _common(text: str, match: re.Match[str]) -> tuple[str, str, float, np.ndarray]:
    """Text, way, limit (dB) and frequencies (Hz) of a goal. Error: no band."""
    what = f"goal {text!r}"
    if match["at"]:
        places = np.array([hertz(what, match["at"])])
    else:
        places = np.linspace(*band(what, match["low"], match["high"]), POINTS)
    if not abs(float(match["limit"])) <= MOST_DECIBELS:
        raise ModelError(f"{what}: its limit lies beyond {MOST_DECIBELS:g} dB")
    return str(text), match["way"], float(match["limit"]), places
