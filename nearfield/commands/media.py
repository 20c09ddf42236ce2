"""`nearfield fit-medium` and `nearfield media`: media from tables, and those that Nearfield knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError
from nearfield.entry.toml_text import key, plain, table
from nearfield.entry.wording import counted, quantity
from nearfield.media.entry import Entry
from nearfield.media.fit import KINDS, MediumFit, fit_medium
from nearfield.media.materials import LIBRARY
from nearfield.media.tabulated import read_table


def fit_table(
    path: Path, name: str | None, kinds: str | None, options: dict[str, Any], plot: Path | None, as_json: bool
) -> int:
    """Fit a medium to a table and print it as an entry of a model file."""
    if plot is not None and plot.suffix.lower() not in (".png", ".svg"):
        raise ModelError(f"--plot: given {plot}; allowed: a name that ends in .png or .svg")
    chosen = KINDS if kinds is None else tuple(part.strip() for part in kinds.split(","))
    with console(as_json) as out:
        fit = fit_medium(**read_table(path), kinds=chosen, name=name, **options)
        if plot is not None:
            fit.plot(plot)
        out.answer(facts(fit, name or path.stem, plot))
        if not as_json:
            out.say(fit.to_toml(name or path.stem))
        out.note(summary(fit))
        if options["error"] is not None and fit.rms_error > options["error"]:
            out.note(f"{100 * options['error']:.3g} % were not reached; allow more poles or kinds")
    return 0


def facts(fit: MediumFit, name: str, plot: Path | None) -> dict[str, Any]:
    """The fit as plain numbers."""
    return {
        "name": name,
        "medium": plain(fit.medium),
        "toml": fit.to_toml(name),
        "rows": fit.frequencies.size,
        "poles": len(fit.medium.poles),
        "rms_error": fit.rms_error,
        "largest_error": fit.largest_error,
        "largest_error_at_hertz": fit.largest_error_at,
        "band_hertz": [fit.frequencies[0], fit.frequencies[-1]],
        "passive": True,
        "plot": None if plot is None else str(plot),
    }


def summary(fit: MediumFit) -> str:
    """One line about how near it is."""
    return (
        f"{counted(len(fit.medium.poles), 'pole')}, {100 * fit.rms_error:.3g} % off rms, {100 * fit.largest_error:.3g} "
        f"% at most, at {quantity(fit.largest_error_at, 'Hz')}; passive at every frequency"
    )


def show_media(name: str | None, as_json: bool) -> int:
    """Print all media of the library in short, or one of them in full."""
    from nearfield.media.library import library

    entries = [library.about(each.removeprefix(LIBRARY)) for each in (library if name is None else [name])]
    with console(as_json) as out:
        out.answer({"media": [described(entry) for entry in entries]})
        if not as_json:
            out.say(listing(entries) if name is None else in_full(entries[0]))
    return 0


def described(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    return {
        "name": entry.name,
        "family": entry.family,
        "title": entry.title,
        "source": entry.source,
        "checked": entry.checked,
        "band_hertz": list(entry.valid_band),
        "error": entry.error,
        "medium": plain(entry.medium),
        "model_file": f'medium = "{LIBRARY}{entry.name}"',
    }


def listing(entries: list[Entry]) -> str:
    """A line a medium, by family."""
    lines = []
    for family in dict.fromkeys(entry.family for entry in entries):
        lines.append(f"{family}:")
        lines += [
            f"  {entry.name:21} {band_of(entry):24} {nearness(entry):14} {entry.title}"
            for entry in entries
            if entry.family == family
        ]
    return "\n".join([*lines, "", 'in a model file: medium = "library:NAME"; `nearfield media NAME` names the source'])


def in_full(entry: Entry) -> str:
    """Source, band, error, and the entry of a model file."""
    checked = {"held against": entry.checked} if entry.checked else {}
    rows = {
        "source": entry.source,
        **checked,
        "holds": band_of(entry),
        "deviation": nearness(entry),
        "in a model file": f'medium = "{LIBRARY}{entry.name}"',
    }
    head = [entry.title, *(f"{word:16} {value}" for word, value in rows.items()), ""]
    return "\n".join(head) + table(f"[media.{key(entry.name)}]", plain(entry.medium))


def band_of(entry: Entry) -> str:
    """`30 MHz to 3 GHz`."""
    low, high = entry.valid_band
    return f"{quantity(low, 'Hz')} to {quantity(high, 'Hz')}" if low else f"up to {quantity(high, 'Hz')}"


def nearness(entry: Entry) -> str:
    """How far the medium is from its source."""
    return f"within {100 * entry.error:.2g} %" if entry.error else "as published"
