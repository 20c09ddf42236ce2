"""Tables of pages that are written from result files: what the scripts for single pages share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILES = {"server": "one", "file-per-domain": "one a domain"}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table."""
    head, *others = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return [head, "|---" * len(heads) + "|", *others]


def way_of_output(kind: str, codec: str, mode: str) -> list[str]:
    """Cells of a format with its codec, and of how many files it writes."""
    return [kind if codec == "none" else f"{kind} {codec}", FILES.get(mode, mode)]


def replaced(page: str, tables: dict[str, list[str]]) -> str:
    """The page with tables in place of those that it has, which begin with these words."""
    lines = page.splitlines()
    for begins, new in tables.items():
        first = next(n for n, line in enumerate(lines) if line.startswith(begins))
        last = next(n for n in range(first, len(lines)) if not lines[n].startswith("|"))
        lines[first:last] = new
    return "\n".join(lines) + "\n"


def rewrite(page: str, result: str, with_tables: Callable[[str, dict[str, Any]], str]) -> None:
    """Write a page of docs/ anew from a result of benchmarks/results."""
    place = ROOT / "docs" / page
    found = json.loads((ROOT / "benchmarks" / "results" / result).read_text(encoding="utf-8"))
    place.write_text(with_tables(place.read_text(encoding="utf-8"), found), encoding="utf-8")
