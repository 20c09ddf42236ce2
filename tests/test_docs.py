"""The documentation says what the code does: every Python block runs, every public name is described."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import nearfield
from nearfield.cli import app
from scripts.model_file_page import schemas_in

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks_of(page: Path, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name)
def test_every_python_block_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples that write files write them here
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    wrong: list[str] = []
    names: dict = {"nf": nearfield, **{name: getattr(nearfield, name) for name in nearfield.__all__}}
    for number, block in enumerate(blocks_of(page)):
        if ">>>" not in block:
            exec(compile(block, f"{page.name} block {number}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, dict(names), f"{page.name} block {number}", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=wrong.append)
    assert not wrong, "".join(wrong)


def test_the_model_file_of_the_page_passes_its_check(tmp_path):
    (text,) = blocks_of(DOCS / "model-file.md", "toml")
    (tmp_path / "model.toml").write_text(text, encoding="utf-8")
    assert nearfield.load(tmp_path / "model.toml").check().warnings == ()


def test_every_public_name_is_described_in_the_api_page():
    headings = set(re.findall(r"^### (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(nearfield.__all__) ^ headings == {"__version__"}


def test_every_entry_is_in_the_page_of_the_model_file():
    found: dict[type, None] = {nearfield.Simulation: None}
    for entry in (waiting := list(found)):
        below = [other for note in typing.get_type_hints(entry).values() for other in schemas_in(note)]
        waiting += [other for other in dict.fromkeys(below) if other not in found]
        found |= dict.fromkeys(below)
    named = re.findall(r"In Python `(\w+)`", (DOCS / "model-file.md").read_text(encoding="utf-8"))
    assert {entry.__name__ for entry in found} - set(named) == {"Simulation"} and len(found) > 50


def test_pages_made_from_the_code_agree_with_it():
    command = [sys.executable, "-m", "scripts.write_docs", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_signatures_name_types_by_the_words_of_the_source():
    assert str(inspect.signature(nearfield.Probe)) == (
        "(name: Name, position: Position, component: Component = 'Ez', stride: Whole = 1, "
        "resonances: tuple[Frequency, Frequency] | None = None)"
    )
    entries = [thing for name in nearfield.__all__ if hasattr(thing := getattr(nearfield, name), "model_fields")]
    assert len(entries) > 40
    for entry in entries:
        assert "Annotated" not in str(inspect.signature(entry)) and list(inspect.signature(entry).parameters) == [
            name for name in entry.model_fields if name != "kind"
        ]


def test_completion_shows_the_fields_and_methods_of_an_entry_alone():
    assert dir(nearfield.Box((0, 0, 0), (1, 1, 1))) == ["bounds", "contains", "kind", "lower", "moved", "upper"]
    assert {"run", "check", "grid", "structures"} <= set(
        dir(nearfield.Simulation(nearfield.Grid.uniform(1, (3, 3, 3))))
    )


def unnamed_options(command: Any, name: str, text: str) -> Iterator[str]:
    """The options of a command and of those below it of which no form stands in the text."""
    for word, below in getattr(command, "commands", {}).items():
        yield from unnamed_options(below, f"{name} {word}", text)
    for option in command.params:
        forms = [form for form in (*option.opts, *option.secondary_opts) if form.startswith("--")]
        if forms and not any(re.search(rf"{form}(?![\w-])", text) for form in forms):
            yield f"{name} {forms[0]}"


def test_every_option_is_named_on_some_page():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.name != "CHANGELOG.md")
    assert list(unnamed_options(typer.main.get_command(app), "nearfield", text)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []
