"""Writes the two tables of docs/stream.md from benchmarks/results/two_nodes.json.

`.venv/bin/python benchmarks/two_nodes_page.py`; `benchmarks/two_nodes.py` does so itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "stream.md"
RESULT = ROOT / "benchmarks" / "results" / "two_nodes.json"
RINGS = ["test", "stream", "memory, writer, reader on node", "MB/s", "of STREAM", "fairness", "pages on node 0, 1"]
POLICIES = ["binding", "memory", "domains", "local pages", "bits"]


def rings(found: dict[str, Any]) -> list[list[str]]:
    """One row a stream."""
    lines = []
    for row in found["rings"]:
        nodes = ", ".join(str(row[name]) for name in ("memory", "writer", "reader"))
        rate, share = f"{row['mb_per_second']:.0f}", f"{row['stream_copy_share']:.2f}"
        placed = [*row["pages_per_node"], 0][:2]
        fairness = f"{row['fairness']:.2f}" if row["test"] != "Single Stream" else "-"
        lines.append([row["test"], row["stream"], nodes, rate, share, fairness, ", ".join(map(str, placed))])
    return lines


def policies(found: dict[str, Any]) -> list[list[str]]:
    """One row a binding and memory policy."""
    alike = "alike" if found["checksums_agree"] else "DIFFERENT"
    return [
        [row["bind"], row["memory"], str(row["domains"]), f"{100 * row['locality_share']:.0f} %", alike]
        for row in found["policies"]
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table."""
    head, *others = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return [head, "|---" * len(heads) + "|", *others]


def with_tables(page: str, found: dict[str, Any]) -> str:
    """The page with the tables of a result in place of those that it has."""
    lines = page.splitlines()
    for heads, rows in ((RINGS, rings(found)), (POLICIES, policies(found))):
        first = next(n for n, line in enumerate(lines) if line.startswith(f"| {heads[0]} | {heads[1]} |"))
        last = next(n for n in range(first, len(lines)) if not lines[n].startswith("|"))
        lines[first:last] = table(heads, rows)
    return "\n".join(lines) + "\n"


def main() -> None:
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
