"""`nearfield new patch|dipole|box`: a commented model file to start from."""

from __future__ import annotations

import errno
from importlib import resources
from pathlib import Path

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.whole_file import write_whole


def template_text(name: str) -> str:
    """The model file that `new` writes."""
    return resources.files("nearfield").joinpath("templates", f"{name}.toml").read_text(encoding="utf-8")


def write_template(name: str, output: Path | None, force: bool, as_json: bool) -> int:
    """Write a template to a file, never over one that is there unless forced."""
    path = output if output is not None else Path(f"{name}.toml")
    text = template_text(name)
    with console(as_json) as out:
        if path.exists() and not force:
            raise ModelError(f"{path} exists; give another file with --output, or --force to replace it")
        try:
            if path.exists() and not path.is_file():
                path.write_text(text, encoding="utf-8")  # a terminal, a pipe; of a folder the system's refusal
            else:
                write_whole(path.resolve(), text)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            raise (RunFailed if full else ModelError)(
                f"{path} cannot be written: {reason}; give another file with --output"
            ) from None
        answer = {"template": name, "path": str(path)}
        out.answer(answer, f"wrote {path}. Next:  nearfield check {path}  and  nearfield run {path}")
    return 0
