"""The library of real media, by name: `nf.library.gold`, `nf.library["skin-dry"]`, `medium = "library:gold"`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cached_property

from nearfield.entry.errors import ModelError
from nearfield.media.entry import Entry, entries_of
from nearfield.media.materials import Medium

FAMILIES = ("liquids", "soils", "tissues", "laminates", "walls", "metals", "glasses")  # files of data/


class Library:
    """Media of the real world, each with its source and the frequencies at which it holds.

    `library.gold` or `library["gold"]` is a `Medium`; `library.about("gold")` tells authors, year, table, band (Hz) and
    how far the medium is from the source; iterating gives the names. In a model file: `medium = "library:gold"`.

    >>> import nearfield as nf
    >>> print(nf.library.water.relative_permittivity(10e9).round(1))
    (62.8-29.9j)
    >>> nf.library.about("gold").source[:12]
    'A. D. Rakic,'
    """

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {entry.name: entry for family in FAMILIES for entry in entries_of(family)}

    def about(self, name: str) -> Entry:
        """Source, band and error of a medium. Error: ModelError for a name that is not in the library."""
        key = str(name).replace("_", "-").lower()
        if key not in self._entries:
            near = difflib.get_close_matches(key, self._entries, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ModelError(f"the library has no medium {str(name)[:60]!r}{hint} `nearfield media` lists all it has")
        return self._entries[key]

    def __getitem__(self, name: str) -> Medium:
        return self.about(name).medium

    def __getattr__(self, name: str) -> Medium:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except ModelError as error:
            raise AttributeError(str(error)) from None

    def __repr__(self) -> str:
        return f"<nearfield.library of {len(self)} media: {', '.join(list(self)[:4])} ...>"

    def _repr_html_(self) -> str:
        from nearfield.pictures.notebook import picture_and_table

        return picture_and_table("Media of the library", {name: self.about(name).title for name in self})

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __dir__(self) -> list[str]:
        return ["about", *(name.replace("-", "_") for name in self._entries)]


library = Library()
