"""Figures of pages: written by the run that found them, and put into the page by `python -m scripts.write_pages`.

    figures.keep(__file__, {"directivity": [29.5, 29.9]})

writes `results/<script>.json` beside the script: the values, the command, the commit, the machine. A page holds
`<!--=directivity.0 .2f-->29.50<!--/-->`; the comments do not show. Where a page differs from its file a test fails.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nearfield.machine.facts import machine_facts

MARK = re.compile(r"<!--=(?P<key>\S+)(?: (?P<format>[^>]*?))?-->(?P<text>.*?)<!--/-->")
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


def results_of(page: Path) -> dict[str, Any]:
    """What the script of a page kept: `values`, and `commit`, `command` and the like beside them."""
    found = json.loads((page.parent / "results" / f"{page.stem}.json").read_text(encoding="utf-8"))
    return {**found, **found["values"]}


def written(page: Path) -> str:
    """The page's text with its figures as they were found last."""
    text = page.read_text(encoding="utf-8")
    if not MARK.search(text):
        return text
    found = results_of(page)

    def figure(match: re.Match) -> str:
        value: Any = found
        for part in match["key"].split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
        text = format(value, match["format"] or "")
        return f"<!--={match['key']}{' ' + match['format'] if match['format'] else ''}-->{text}<!--/-->"

    return MARK.sub(figure, text)
