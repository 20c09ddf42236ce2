"""`nearfield check MODEL`: what a model costs and what looks wrong, without running it."""

from __future__ import annotations

from pathlib import Path

from nearfield.commands.console import console
from nearfield.model_file import load


def check_model(model: Path, as_json: bool) -> int:
    """Print the check of a model; 0 unless the model is refused."""
    with console(as_json) as out:
        found = load(model).check()
        out.answer({"model": str(model), **found.as_dict()}, str(found))
    return 0
