"""What the library says of a medium."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.media.materials import Medium

FITTED = Path(__file__).with_name("fitted.toml")
GHZ, THZ = 1e9, 1e12


@dataclass(frozen=True)
class Entry:
    """One medium of the library: where its constants come from, at which frequencies they hold, what was made of them.

    `published` is the source's own formula, complex relative permittivity over frequency (Hz), or its table, linear
    between the rows; where that is no sum of poles, `medium` is a fit to it that is off by at most `error`, relative to
    abs(permittivity), within the band.
    """

    name: str
    title: str
    source: str  # authors, journal, year, table
    valid_band: tuple[float, float]  # Hz
    published: Callable[[np.ndarray], np.ndarray]
    constants: dict[str, Any] | None = None  # of the medium, where it is exact; None: fitted
    family: str = ""
    rows: tuple[float, ...] = ()  # frequencies (Hz) of the source's rows, where it is a table
    checked: str = ""  # what the constants were held against, and what could not be found; empty: against nothing

    @property
    def medium(self) -> Medium:
        """The medium, named, with its band."""
        constants = fitted()[self.name]["medium"] if self.constants is None else self.constants
        return Medium(**constants, name=self.title, valid_band=self.valid_band)

    def points(self, count: int) -> np.ndarray:
        """Frequencies (Hz) at which medium and source are compared: the table's rows, or `count` in the band."""
        low, high = self.valid_band
        return np.array(self.rows) if self.rows else np.geomspace(max(low, 1e-4 * high), high, count)

    @property
    def error(self) -> float:
        """Largest deviation from the source's formula, relative; 0 where the medium is the formula."""
        return fitted()[self.name]["error"] if self.constants is None else 0.0

    def of(self, family: str) -> Entry:
        """The same in a family of media."""
        return replace(self, family=family)

    def held_against(self, what: str) -> Entry:
        """The same with what its constants were held against."""
        return replace(self, checked=what)


@lru_cache(maxsize=1)
def fitted() -> dict[str, dict[str, Any]]:
    """What scripts/fit_library.py wrote: medium and error of each entry that is a fit."""
    return tomllib.loads(FITTED.read_text(encoding="utf-8"))
