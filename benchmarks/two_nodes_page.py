"""Writes the two tables of docs/stream.md from benchmarks/results/two_nodes.json.

`.venv/bin/python benchmarks/two_nodes_page.py`; `benchmarks/two_nodes.py` does so itself.
"""

from __future__ import annotations

from typing import Any

import page_tables

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


def with_tables(page: str, found: dict[str, Any]) -> str:
    """The page with the tables of a result in place of those that it has."""
    tables = ((RINGS, rings(found)), (POLICIES, policies(found)))
    return page_tables.replaced(
        page, {f"| {heads[0]} | {heads[1]} |": page_tables.table(heads, rows) for heads, rows in tables}
    )


def main() -> None:
    page_tables.rewrite("stream.md", "two_nodes.json", with_tables)


if __name__ == "__main__":
    main()
