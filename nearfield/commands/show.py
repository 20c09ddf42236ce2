"""`nearfield show RESULT`: the plots and the report of a result, again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.commands.console import console
from nearfield.commands.run import make_folder, trust_lines
from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    from nearfield.results import Result


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


def frequency(given: str) -> str | float:
    """A frequency as typed: a number in Hz, or with a unit."""
    try:
        return float(given)
    except ValueError:
        return given


def show_result(path: Path, output: Path | None, ringing: tuple[str, str, str] | None, as_json: bool) -> int:
    """Draw everything that a result file holds, and the resonances at a probe between two frequencies."""
    from nearfield.report import resonance_plots
    from nearfield.report.show import show

    file, result = opened(path)
    rings = []
    if ringing:
        probe, low, high = ringing
        rings.append(resonance_plots.ringing(result, probe, (frequency(low), frequency(high))))
    folder = output if output is not None else file.parent
    with console(as_json) as out:
        make_folder(folder)
        files = show(result, folder, rings=rings, attempts=Attempts(out.warn))
        drawn = [str(path) for path in files]
        entries = result.trust
        trust = [entry.json_data() for entry in entries]
        answer = {"result": str(file), "status": result.status, "files": drawn, "trust": trust}
        heading = f"{result.title or file}: {result.status}; drew {', '.join(drawn)}"
        out.answer(answer, "\n".join([heading, *trust_lines(entries)]))
    return 0
