"""`nearfield show`: of a result its plots and report, again; of a model the page that shows it before a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import console, output_folder
from nearfield.commands.run import trust_lines
from nearfield.commands.writing import make_folder
from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    from nearfield.report.show import Recipe
    from nearfield.results import Result

HDF5 = b"\x89HDF\r\n\x1a\n"  # opens every result


def show_either(
    path: Path,
    output: Path | None,
    ringing: tuple[str, str, str] | None,
    parameters: Mapping[str, Any],
    as_json: bool,
) -> int:
    """Show what lies at a path: HDF5 files and folders are results, other files are models."""
    if not is_model(path):
        if parameters:
            raise ModelError("--set: a result has the parameters of its run; leave --set out, or name a model file")
        return show_result(path, output, ringing, as_json)
    if ringing:
        raise ModelError("--resonances: a model has no recordings yet; run it and show its result")
    return show_model(path, output, parameters, as_json)


def is_model(path: Path) -> bool:
    """Whether a path is that of a model, by what the file holds; one that is not there, by its name."""
    try:
        if path.is_file():
            with open(path, "rb") as file:
                begins = file.read(len(HDF5))
            return begins != HDF5 and not (begins == b"" and path.suffix in (".h5", ".hdf5"))
        return path.suffix == ".toml" and not path.exists()
    except (OSError, ValueError):
        return False  # `opened` says what is wrong with it


def show_model(path: Path, output: Path | None, parameters: Mapping[str, Any], as_json: bool) -> int:
    """Write the page of a model, and open it where there is a screen and no file was named."""
    from nearfield.model_file import load
    from nearfield.viewer.page import open_page, write_page

    if output is not None and (output.is_dir() or output.suffix.lower() not in (".html", ".htm")):
        raise ModelError(f"--output {output}: of a model give the page's file name, such as {output / 'model.html'}")
    model = load(path, parameters)
    with console(as_json) as out:
        page = write_page(model, output if output is not None else output_folder(path, None) / "model.html")
        opens = output is None and not as_json and open_page(page)
        answer = {"model": str(path), "files": [str(page)], "bodies": len(model.structures), "opened": opens}
        out.answer(answer, f"{model.title or path}: {'opened' if opens else 'wrote'} {page}")
    return 0


def opened(path: Path) -> tuple[Path, Result]:
    """The result at a path, a file or the folder that holds it."""
    from nearfield.results import open_result

    try:
        file = path / "result.h5" if path.is_dir() else path
        there = file.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"{path} cannot be read: {reason}; give a result.h5 or the folder that holds it") from None
    if not there:
        raise ModelError(f"{file} does not exist; give a result.h5 or the folder that `nearfield run` wrote")
    return file, open_result(file)


def sections_beside(folder: Path, result: Result, remarks: list[str]) -> list[Recipe]:
    """The report's sections of files that other commands left beside a result."""
    from nearfield.report.element_section import element_recipes
    from nearfield.report.tolerance_section import tolerance_recipes

    elements, slopes = (sorted(folder.glob(names)) for names in ("elements*.h5", "sensitivities*.h5"))
    return [*element_recipes(result, elements, remarks), *tolerance_recipes(result, slopes, remarks)]


def show_result(path: Path, output: Path | None, ringing: tuple[str, str, str] | None, as_json: bool) -> int:
    """Draw everything that a result file holds, and the resonances at a probe between two frequencies."""
    from nearfield.report import resonance_plots
    from nearfield.report.show import show
    from nearfield.studies.words import ends_as_typed

    file, result = opened(path)
    rings = []
    if ringing:
        probe, low, high = ringing
        rings.append(resonance_plots.ringing(result, probe, ends_as_typed(low, high)))
    folder = output if output is not None else file.parent
    with console(as_json) as out:
        make_folder(folder)
        beside = partial(sections_beside, file.parent)
        files = show(result, folder, rings=rings, attempts=Attempts(out.warn), beside=beside)
        drawn = [str(path) for path in files]
        entries = result.trust
        trust = [entry.json_data() for entry in entries]
        answer = {"result": str(file), "status": result.status, "files": drawn, "trust": trust}
        heading = f"{result.title or file}: {result.status}; drew {', '.join(drawn)}"
        out.answer(answer, "\n".join([heading, *trust_lines(entries)]))
    return 0
