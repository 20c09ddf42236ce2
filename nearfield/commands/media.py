"""`nearfield fit-medium` and `nearfield media`: media from tables, and those that Nearfield knows."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from nearfield.commands.console import console, print_answer
from nearfield.commands.tables import rows
from nearfield.commands.writing import written_to
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
            from nearfield.pictures.media import save

            figure = fit.plot()
            with written_to(plot, "--plot"):
                save(figure, plot)
        out.answer(facts(fit, name or path.stem, plot), fit.to_toml(name or path.stem))
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
    """One line about the deviation of the fit from the table."""
    return (
        f"{counted(len(fit.medium.poles), 'pole')}, {100 * fit.rms_error:.3g} % off rms, {100 * fit.largest_error:.3g} "
        f"% at most, at {quantity(fit.largest_error_at, 'Hz')}; passive at every frequency"
    )


def show_media(name: str | None, as_json: bool) -> int:
    """Print all media of the library in short, or one of them in full."""
    from nearfield.media.library import library

    entries = [library.about(each.removeprefix(LIBRARY)) for each in (library if name is None else [name])]
    text = listing(entries) if name is None else in_full(entries[0])
    return print_answer(as_json, {"media": [plain_entry(entry) for entry in entries]}, text)


def plain_entry(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    words = {key: getattr(entry, key) for key in ("name", "family", "title", "source", "checked")}
    numbers = {"band_hertz": list(entry.valid_band), "error": entry.error, "medium": plain(entry.medium)}
    return words | numbers | {"model_file": in_a_model(entry)}


def in_a_model(entry: Entry) -> str:
    """The line of a model file that names a medium."""
    return f'medium = "{LIBRARY}{entry.name}"'


def listing(entries: list[Entry]) -> str:
    """A line a medium, by family."""
    lines = []
    for family, members in groupby(entries, key=lambda entry: entry.family):
        lines.append(f"{family}:")
        lines += [f"  {each.name:21} {band_of(each):24} {nearness(each):14} {each.title}" for each in members]
    return "\n".join([*lines, "", 'in a model file: medium = "library:NAME"; `nearfield media NAME` names the source'])


def in_full(entry: Entry) -> str:
    """Source, band, error, and the entry of a model file."""
    facts = {"source": entry.source} | ({"compared with": entry.checked} if entry.checked else {})
    facts |= {"valid": band_of(entry), "deviation": nearness(entry), "in a model file": in_a_model(entry)}
    return f"{entry.title}\n{rows(facts, 16)}\n" + table(f"[media.{key(entry.name)}]", plain(entry.medium))


def band_of(entry: Entry) -> str:
    """`30 MHz to 3 GHz`."""
    low, high = entry.valid_band
    return f"{quantity(low, 'Hz')} to {quantity(high, 'Hz')}" if low else f"up to {quantity(high, 'Hz')}"


def nearness(entry: Entry) -> str:
    """The deviation of the medium from its source."""
    return f"within {100 * entry.error:.2g} %" if entry.error else "as published"
