"""Entries of the library of media, read from the files of `data/`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.media.formulas import DATA, ELECTRONVOLT, FORMULAS, MICROMETRE
from nearfield.media.materials import Medium

FITTED = DATA / "fitted.toml"


@dataclass(frozen=True)
class Entry:
    """One medium of the library: where its constants come from, at which frequencies they hold, what was made of them.

    `published` is the source's own formula, complex relative permittivity over frequency (Hz), or its table, linear
    between the rows; where that is no sum of poles, `medium` is a fit to it that is off by at most `error`, relative to
    abs(permittivity), within the band.
    """

    name: str
    family: str
    title: str
    source: str  # authors, journal, year, table
    checked: str  # comparisons of the constants with other sources, and what is missing; empty: not compared
    valid_band: tuple[float, float]  # Hz
    published: Callable[[np.ndarray], np.ndarray] = field(repr=False)
    constants: dict[str, Any] | None  # of the medium, where it is exact; None: fitted
    rows: tuple[float, ...]  # frequencies (Hz) of the source's rows, where it is a table

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


def entries_of(family: str) -> Iterator[Entry]:
    """The media of `data/FAMILY.toml`; what stands above them holds for each that does not say otherwise."""
    tables = tomllib.loads((DATA / f"{family}.toml").read_text(encoding="utf-8"))
    media = {name: table for name, table in tables.items() if isinstance(table, dict)}
    shared = {key: value for key, value in tables.items() if key not in media}
    for name, own in media.items():
        given = shared | own
        title = given.pop("title", name.replace("-", " ").capitalize()) + given.pop("title_note", "")
        source = given.pop("source") + given.pop("source_note", "")
        checked, band = given.pop("checked", ""), band_of(given)
        formula = FORMULAS[given.pop("formula")](**given)
        band = band or (formula.rows[0], formula.rows[-1])
        yield Entry(name, family, title, source, checked, band, formula.permittivity, formula.constants, formula.rows)


def band_of(given: dict[str, Any]) -> tuple[float, float] | None:
    """Takes the band out of an entry: Hz, whatever its unit there; None where a table's rows are the band."""
    if "electronvolts" in given:
        low, high = given.pop("electronvolts")
        return low * ELECTRONVOLT, high * ELECTRONVOLT
    if "micrometres" in given:
        shortest, longest = given.pop("micrometres")
        return VACUUM_SPEED / (longest * MICROMETRE), VACUUM_SPEED / (shortest * MICROMETRE)
    return tuple(given.pop("frequencies", ())) or None


@lru_cache(maxsize=1)
def fitted() -> dict[str, dict[str, Any]]:
    """Medium and error of each entry that is a fit, as scripts/fit_library.py wrote them."""
    return tomllib.loads(FITTED.read_text(encoding="utf-8"))
