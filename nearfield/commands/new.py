"""`nearfield new`: the list of templates; `nearfield new NAME`: a commented model file to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nearfield.commands import options
from nearfield.commands.console import console
from nearfield.commands.writing import refuse_existing, written_to
from nearfield.entry.whole_file import write_whole

TEMPLATES = tuple(options.Template)  # by the name that users type
PICTURES = "docs/templates.md"


def template_path(name: str) -> Path:
    """The file of a template."""
    return Path(str(resources.files("nearfield").joinpath("templates", f"{name}.toml")))


def template_text(name: str) -> str:
    """The model file that `new` writes."""
    return template_path(name).read_text(encoding="utf-8")


def about(name: str) -> str:
    """What a template is, from its first line."""
    return template_text(name).splitlines()[0].removeprefix("# ").rstrip(".")


def list_templates(as_json: bool) -> int:
    """Name every template, what it is, and where its picture is."""
    with console(as_json) as out:
        rows = [f"{name:18} {about(name)}" for name in TEMPLATES]
        answer = {
            "templates": [{"name": str(name), "about": about(name)} for name in TEMPLATES],
            "pictures": PICTURES,
        }
        last = f"`nearfield new NAME` writes one; a picture of each: {PICTURES}; the first hour: docs/first-hour.md"
        out.answer(answer, "\n".join([*rows, "", last]))
    return 0


def write_template(name: str, output: Path | None, force: bool, as_json: bool) -> int:
    """Write a template to a file, never over one that is there unless forced."""
    path = output if output is not None else Path(f"{name}.toml")
    text = template_text(name)
    with console(as_json) as out:
        refuse_existing(path, force)
        with written_to(path):
            if path.exists() and not path.is_file():
                path.write_text(text, encoding="utf-8")  # a terminal, a pipe; of a folder the system's refusal
            else:
                write_whole(path.resolve(), text)
        answer = {"template": name, "path": str(path)}
        out.answer(answer, f"wrote {path}. Next:  nearfield check {path}  and  nearfield run {path}")
    return 0
