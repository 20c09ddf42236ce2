"""Writes the two tables of docs/cluster.md from benchmarks/results/overlap.json.

`.venv/bin/python benchmarks/overlap_page.py`; `benchmarks/overlap.py` does so itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import page_tables

METHODS = ("split", "host-buffer", "none", "blocking")
HIDING = METHODS[:2]
HEADS = {"fig5": "*R*, two nodes", "fig6": "nodes of 360 planes"}  # first cells of the tables, by their figure
KEYS = {"fig5": "r", "fig6": "nodes"}


def table(rows: Sequence[dict[str, Any]], figure: str) -> list[str]:
    """Lines of the table of one figure: measured / predicted rates, and shares of Eq. (9) where they are known."""
    heads = [HEADS[figure], "messages, ms", *METHODS, *(f"{method} over Eq. (9)" for method in HIDING)]
    lines = []
    for row in rows:
        rates = [f"{row[method]['mpoints_per_second']:.0f} / {row[method]['predicted']:.0f}" for method in METHODS]
        found = [row[method].get("of_equation_9") for method in HIDING]
        shares = ["-" if share is None else f"{share:.3f}" for share in found]
        lines.append([str(row[KEYS[figure]]), f"{1e3 * row['messages']:.1f}", *rates, *shares])
    return page_tables.table(heads, lines)


def with_tables(page: str, found: dict[str, Any]) -> str:
    """The page with the tables of a result in place of those that it has."""
    return page_tables.replaced(page, {f"| {head} |": table(found[each], each) for each, head in HEADS.items()})


def main() -> None:
    page_tables.rewrite("cluster.md", "overlap.json", with_tables)


if __name__ == "__main__":
    main()
