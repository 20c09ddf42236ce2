"""Goals for S-parameters: "S11 < -15 dB between 2.4 GHz and 2.5 GHz", "S21 > -1 dB at 5 GHz"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.levels import decibels
from nearfield.entry.quantities import FREQUENCY, Quantity

if TYPE_CHECKING:
    import xarray

POINTS = 21  # frequencies at which a band is asked
NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
FORM = re.compile(
    rf"S(?P<to>\d)(?P<source>\d) ?(?P<way>[<>]) ?(?P<limit>{NUMBER}) ?dB "
    r"(?:between (?P<low>.+?) and (?P<high>.+)|at (?P<at>.+))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Goal:
    """abs(S) to one port from another, counted from 0, below (way "<") or above a limit (dB) at frequencies (Hz)."""

    text: str
    to: int
    source: int
    way: str
    limit: float
    frequencies: np.ndarray

    def missed(self, scattering: xarray.DataArray, beyond: float = 0.0) -> np.ndarray:
        """By how much abs(S) (frequency, to, source) misses the limit at each frequency; 0 where it is met.

        beyond: by how much (dB) the limit is to be met with some to spare.
        """
        return np.maximum(self._excess(scattering, beyond), 0.0)

    def slopes(self, scattering: xarray.DataArray, derivative: xarray.DataArray, beyond: float = 0.0) -> np.ndarray:
        """d missed/dp, (frequency, parameter), from dS/dp (parameter, frequency, to, source)."""
        waves = self._waves(scattering)
        rise = np.real(np.conj(waves) * self._waves(derivative)) / np.maximum(np.abs(waves), np.finfo(float).tiny)
        sign = 1.0 if self.way == "<" else -1.0
        slopes: np.ndarray = np.where(self._excess(scattering, beyond) > 0.0, sign * rise, 0.0).T
        return slopes

    def worst(self, scattering: xarray.DataArray) -> float:
        """The level (dB) at the frequency that is worst."""
        levels = decibels(self._waves(scattering))
        return float(levels.max() if self.way == "<" else levels.min())

    def _excess(self, scattering: xarray.DataArray, beyond: float) -> np.ndarray:
        sign = 1.0 if self.way == "<" else -1.0
        limit = 10.0 ** ((self.limit - sign * beyond) / 20.0)
        excess: np.ndarray = sign * (np.abs(self._waves(scattering)) - limit)
        return excess

    def _waves(self, values: xarray.DataArray) -> np.ndarray:
        chosen = values.isel(to=self.to, source=self.source).sel(frequency=self.frequencies)
        return np.asarray(chosen.values)


def goals_of(texts: str | Sequence[str]) -> list[Goal]:
    """The goals that texts state. Error: `ModelError` that says the form."""
    given = [texts] if isinstance(texts, str) else list(texts)
    if not given:
        raise ModelError('there is no goal; give one such as "S11 < -15 dB between 2.4 GHz and 2.5 GHz"')
    return [_goal(text) for text in given]


def _goal(text: str) -> Goal:
    match = FORM.fullmatch(" ".join(str(text).split()))
    if match is None or "0" in (match["to"], match["source"]):
        raise ModelError(
            f'goal {text!r}: give it as "S11 < -15 dB between 2.4 GHz and 2.5 GHz" or "S21 > -1 dB at 5 GHz", ports '
            "counted from 1"
        )
    try:
        ends = [
            Quantity(FREQUENCY, "positive").read(each) for each in (match["low"], match["high"], match["at"]) if each
        ]
    except ValueError as error:
        raise ModelError(f"goal {text!r}: {error}") from None
    if len(ends) == 2 and ends[0] >= ends[1]:
        raise ModelError(f"goal {text!r}: the band ends below its beginning; give the lower frequency first")
    places = np.array(ends) if len(ends) == 1 else np.linspace(ends[0], ends[1], POINTS)
    return Goal(str(text), int(match["to"]) - 1, int(match["source"]) - 1, match["way"], float(match["limit"]), places)
