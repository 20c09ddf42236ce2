"""Every picture of a result and the page that holds them: what `nearfield show`, `run` and `demo` leave in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import NearfieldError, RunFailed
from nearfield.entry.whole_file import write_whole
from nearfield.report.checks import check_rows
from nearfield.report.page import Content, Picture, render
from nearfield.report.resonance_plots import Ringing, asked_for, resonance_figure, ringings, rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.results import Result

FILES = {"return-loss": "return_loss.png", "pattern": "pattern.png", "fields": "fields.png"}
PAGE = "report.html"
MOST_PATTERNS = 4


def show(
    result: Result,
    folder: str | Path,
    model: Model | None = None,
    checks: Any = (),
    rings: Sequence[Ringing] = (),
    attempts: Attempts | None = None,
) -> list[Path]:
    """Draw a result into a folder; returns the files written: those of FILES for which there are data, and the page.

    `model`: the simulation, read from the result's own text when left out. `checks`: comparisons to put into the page,
    see `nearfield.report.checks.check_rows`; those in `result.facts["checks"]` are taken in any case. `rings`:
    resonances at probes, shown before those of the probes whose entry in the model names a band.

    Errors: `RunFailed` when the folder cannot be written. A picture or table that cannot be made is named in the page,
    and a warning of `attempts`.
    """
    folder = Path(folder)
    attempts = attempts or Attempts()
    earlier, remarks = len(attempts.warnings), attempts.warnings
    simulation = model if model is not None else _model_of(result, remarks)
    asked = attempts.at("finding resonances", lambda: ringings(result, asked_for(simulation), remarks), [])
    found = [*rings, *asked]
    pictures, written = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture in _drawn(result, simulation, found, attempts):
            pictures.append(picture)
            if picture.name in FILES:
                written.append(folder / FILES[picture.name])
                write_whole(written[-1], picture.png)
        page = folder / PAGE
        tables = {
            numbered("resonances", number): attempts.at("a table of resonances", partial(rows, each.modes), [])
            for number, each in enumerate(found)
        }
        compared = check_rows(result, checks)
        write_whole(page, render(result, Content(pictures, compared, remarks[earlier:], tables), attempts))
    except OSError as error:
        raise RunFailed(
            f"the report could not be written to {folder}: {error}; free some space or choose another "
            "folder, then `nearfield show` draws it from the result"
        ) from error
    return [*written, page]


def _model_of(result: Result, remarks: list[str]) -> Model | None:
    """The simulation in the result; without it (samples in a file that is gone) the pictures lack its outlines."""
    from nearfield.model_file import loads

    try:
        return loads(result.model_text, name="the result's model")
    except NearfieldError as error:
        remarks.append(f"The model's text could not be read again, so its structures are not drawn: {error}")
        return None


def numbered(name: str, number: int) -> str:
    """The name of one of several pictures of a kind."""
    return name if number == 0 else f"{name}-{number + 1}"


def _drawn(result: Result, simulation: Model | None, rings: Sequence[Ringing], attempts: Attempts) -> Iterator[Picture]:
    """The pictures for which there are data; those that cannot be drawn are warnings."""
    for name, heading, draw, vector in _recipes(result, simulation, rings):
        picture = attempts.at(f"drawing {heading!r}", partial(_picture, name, heading, draw, vector), None)
        if picture is not None:
            yield picture


def _picture(name: str, heading: str, draw: Callable[[], Figure | None], vector: bool) -> Picture | None:
    """A picture, rendered: letters and lines may fail there too; None without data."""
    figure = draw()
    if figure is None:
        return None
    picture = Picture(name, heading, figure, vector)
    _ = picture.markup, (picture.png if name in FILES else None)
    return picture


def _recipes(
    result: Result, simulation: Model | None, rings: Sequence[Ringing]
) -> Iterator[tuple[str, str, Callable[[], Figure | None], bool]]:
    """Name, heading, how it is drawn, and whether it goes into the page as lines (else as an image)."""
    from nearfield.report.cross_section import cross_section_figure
    from nearfield.report.fields import field_figure
    from nearfield.report.pattern import far_field_figure
    from nearfield.report.plots import return_loss
    from nearfield.report.signals import energy_decay, flux_spectra, port_signals, recorded_signals
    from nearfield.report.structure import structure_figure
    from nearfield.report.timeline_plot import timeline_figure

    yield "structure", "Model and mesh", partial(structure_figure, result.grid, simulation, result.title), False
    single = len(result.ports) < 2
    yield "return-loss", "Return loss" if single else "S-parameters", partial(return_loss, result), True
    monitors = result.excitation().record.monitors.items() if result.excitations else ()
    names = [name for name, monitor in monitors if monitor.kind == "far-field"]
    for number, name in enumerate(names[:MOST_PATTERNS]):
        heading = "Radiation pattern" if len(names) == 1 else f"Radiation pattern, {name}"
        yield numbered("pattern", number), heading, partial(far_field_figure, result, name), False
        heading = heading.replace("Radiation pattern", "Radar cross-section")
        yield numbered("cross-section", number), heading, partial(cross_section_figure, result, name), True
    yield "fields", "Fields", partial(field_figure, result, simulation), False
    yield "port-signals", "Port signals", partial(port_signals, result), True
    yield "signals", "Recorded signals", partial(recorded_signals, result), True
    for number, each in enumerate(rings):
        heading = "Resonances" if len(rings) == 1 else f"Resonances, {each.probe}"
        yield numbered("resonances", number), heading, partial(resonance_figure, result, each), True
    yield "flux", "Power through surfaces", partial(flux_spectra, result), True
    yield "energy", "Energy decay", partial(energy_decay, result), True
    yield "timeline", "Ranks in a block of steps", partial(timeline_figure, result), True
