"""Figures of pages: written by the run that found them, and put into the page by `python -m scripts.write_pages`.

    figures.keep(__file__, {"directivity": [29.5, 29.9]})

writes `results/<script>.json` beside the script: the values, the command, the commit, the machine. A page holds
`<!--=directivity.0 .2f-->29.50<!--/-->`, and `<!--=other/dip .2f-->` what `results/other.json` has; the comments do not
show. Where a page differs from its files a test fails.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nearfield.machine.facts import machine_facts

RESULTS = Path(__file__).resolve().parent / "results"
MARK = re.compile(r"<!--=(?P<key>[^\s<>]+?)(?: (?P<format>[^>]*?))?-->(?P<text>.*?)<!--/-->")
NAMED = ("commit", "processor", "cores", "started")


def keep(script: str, values: Mapping[str, Any]) -> Path:
    """Write the figures of a script beside it; returns the file."""
    path = Path(script).resolve()
    file = path.parent / "results" / f"{path.stem}.json"
    file.parent.mkdir(exist_ok=True)
    facts = machine_facts()
    command = f"python -m {path.parent.name}.{path.stem} {' '.join(sys.argv[1:])}".strip()
    found = {"command": command, **{name: facts[name] for name in NAMED}, "values": values}
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return file


def results_of(page: Path, script: str | None = None) -> dict[str, Any]:
    """What the script of a page, or one with another name, kept: `values`, and `commit`, `command` and the like."""
    found = json.loads((RESULTS / f"{script or page.stem}.json").read_text(encoding="utf-8"))
    return {**found, **found["values"]}


def scripts_of(page: Path) -> set[str]:
    """Names of the scripts whose figures a page holds."""
    keys = [match["key"] for match in MARK.finditer(page.read_text(encoding="utf-8"))]
    return {key.rpartition("/")[0] or page.stem for key in keys}


def written(page: Path) -> str:
    """The page's text with its figures as they were found last."""
    found = {script: results_of(page, script) for script in scripts_of(page)}

    def figure(match: re.Match) -> str:
        script, _, key = match["key"].rpartition("/")
        value: Any = found[script or page.stem]
        for part in key.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
        text = format(value, match["format"] or "")
        return f"<!--={match['key']}{' ' + match['format'] if match['format'] else ''}-->{text}<!--/-->"

    return MARK.sub(figure, page.read_text(encoding="utf-8"))
