"""Every picture of a result, the page that holds them, and the Touchstone file: what commands leave in a folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import NearfieldError, RunFailed
from nearfield.entry.whole_file import write_whole
from nearfield.entry.wording import memory
from nearfield.machine.group_memory import free_memory
from nearfield.machine.transport import world
from nearfield.report.checks import check_rows
from nearfield.report.page import Content, Picture, render
from nearfield.report.resonance_plots import Ringing, asked_for, resonance_figure, ringings, rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.results import Result

FILES = {
    "return-loss": "return_loss.png",  # of one port
    "s-parameters": "s_parameters.png",
    "pattern": "pattern.png",
    "fields": "fields.png",
}
PAGE = "report.html"
Recipe = tuple[str, str, Callable[[], "Figure | None"], bool]
MOST_PATTERNS = 4
DRAWING_BYTES = 200 * 2**20  # of memory: matplotlib and its pictures, in a process that has run a model


def show(
    result: Result,
    folder: str | Path,
    model: Model | None = None,
    checks: Any = (),
    rings: Sequence[Ringing] = (),
    attempts: Attempts | None = None,
    beside: Callable[[Result, list[str]], Iterable[Recipe]] | None = None,
) -> list[Path]:
    """Draw a result into a folder; returns the files written: those of FILES for which there are data, and the page.

    `model`: the simulation, read from the result's own text when left out. `checks`: comparisons to put into the page,
    see `nearfield.report.checks.check_rows`; those in `result.facts["checks"]` are taken in any case. `rings`:
    resonances at probes, shown before those of the probes whose entry in the model names a band. `beside`: gives
    further sections, such as those of files beside the result, and adds what it leaves out to the remarks.

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
        recipes = [*_recipes(result, simulation, found), *(beside(result, remarks) if beside else ())]
        for picture in _drawn(recipes, attempts):
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
        turned = attempts.at("the view in three dimensions", partial(in_three_dimensions, result, simulation), "")
        content = Content(pictures, compared, remarks[earlier:], tables, turned)
        write_whole(page, render(result, content, attempts))
    except OSError as error:
        raise RunFailed(
            f"the report could not be written to {folder}: {error}; free some space or choose another "
            "folder, then `nearfield show` draws it from the result"
        ) from error
    return [*written, page]


def in_three_dimensions(result: Result, simulation: Model | None) -> str:
    """The viewer's page with the results on the model; nothing without a model, or where a result has none to show."""
    from nearfield.report.on_model import results_of
    from nearfield.viewer.page import page_of

    found = results_of(result, simulation) if simulation else None
    return page_of(simulation, found) if simulation and found and found["items"] else ""


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


def _drawn(recipes: Iterable[Recipe], attempts: Attempts) -> Iterator[Picture]:
    """The pictures for which there are data; those that cannot be drawn are warnings."""
    for name, heading, draw, vector in recipes:
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


def _recipes(result: Result, simulation: Model | None, rings: Sequence[Ringing]) -> Iterator[Recipe]:
    """Name, heading, how it is drawn, and whether it goes into the page as lines (else as an image)."""
    from nearfield.report.element_section import statistics_figure
    from nearfield.report.fields import field_figure
    from nearfield.report.plots import cross_section_figure, far_field_figure, return_loss
    from nearfield.report.signals import energy_decay, flux_spectra, port_signals, recorded_signals, signal_spectra
    from nearfield.report.structure import structure_figure
    from nearfield.report.timeline_plot import timeline_figure

    yield "structure", "Model and mesh", partial(structure_figure, result.grid, simulation, result.title), False
    single = len(result.ports) < 2
    name, heading = ("return-loss", "Return loss") if single else ("s-parameters", "S-parameters")
    yield name, heading, partial(return_loss, result), True
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
    yield "spectra", "Spectra of signals", partial(signal_spectra, result), True
    for number, each in enumerate(rings):
        heading = "Resonances" if len(rings) == 1 else f"Resonances, {each.probe}"
        yield numbered("resonances", number), heading, partial(resonance_figure, result, each), True
    yield "element-statistics", "Dissipation elements over time", partial(statistics_figure, result), True
    yield "flux", "Power through surfaces", partial(flux_spectra, result), True
    yield "energy", "Energy decay", partial(energy_decay, result), True
    yield "timeline", "Ranks in a block of steps", partial(timeline_figure, result), True


def touchstone(result: Result, folder: Path, stem: str) -> Path:
    """The S-parameters of the excited ports as a file."""
    from nearfield.analysis.sparameters import excited_ports

    count = len(excited_ports(result.sparameters.transpose("frequency", "to", "source").values))
    return result.write_touchstone(folder / f"{stem}.s{count or len(result.ports)}p")


def write_files(
    result: Result,
    model: Model,
    file: Path,
    stem: str,
    report: bool = True,
    checks: Any = (),
    attempts: Attempts | None = None,
) -> list[Path]:
    """Touchstone, plots and report of a run that ended as it should; returns all files of the folder.

    The result lies there already: a file that cannot be made is a warning of `attempts`. Of a run that ended otherwise
    it tells the command that draws what was kept.
    """
    files, folder, attempts = [file], file.parent, attempts or Attempts()
    if world().rank > 0:
        return files
    if result.status != "done":
        if report:
            why = f"the run is {result.status}, so it leaves no report"
            attempts.tell(f"{why}; `nearfield show {file}` draws what it kept")
        return files
    if result.record.sparameters:
        written = attempts.at("the Touchstone file", partial(touchstone, result, folder, stem), None)
        files += [written] if written else []
    if report:
        keep_in_facts(result, attempts.warnings)  # for the page

        def drawn() -> list[Path]:
            refuse_crowded()
            return show(result, folder, model, checks, attempts=attempts)

        files += attempts.at("the report", drawn, [])
    return files


def refuse_crowded() -> None:
    """Error: less memory is free than pictures and a report take, and what exceeds a control group's is killed."""
    free = free_memory()
    if free is not None and free < DRAWING_BYTES:
        raise RunFailed(
            f"pictures and report need {memory(DRAWING_BYTES)} of memory, {memory(free)} are free; `nearfield show` "
            "makes them from the result where there is more"
        )


def keep_in_facts(result: Result, warnings: list[str]) -> None:
    """Add to the run's warnings those that are not there."""
    known = result.facts.setdefault("warnings", [])
    known += [text for text in warnings if text not in known]


def leave_report(result: Result, model: Model, file: Path) -> list[Path]:
    """Touchstone, plots and report beside a result file that a run has written; what fails is a Python warning."""
    attempts = Attempts(lambda text: warnings.warn(text, stacklevel=4))
    files = write_files(result, model, file, file.stem, attempts=attempts)
    if attempts.failed and world().rank == 0:
        keep_in_facts(result, attempts.warnings)
        attempts.at("adding warnings to the result", lambda: result.save(file), None)
    return files
