"""Writes the tables of docs/parallel.md and docs/output-advice.md from benchmarks/results/emulated_hosts.json.

`.venv/bin/python benchmarks/emulated_hosts_page.py`; `benchmarks/emulated_hosts.py` does so itself.
"""

from __future__ import annotations

from typing import Any

import page_tables

SCALING = ["hosts", "binding", "memory", "Mcells/s", "minutes", "predicted", "bits"]
OUTPUT = ["format", "files", "points", "domains", "fields (MB)", "compute (s)", "output (s)"]


def scaling(found: dict[str, Any]) -> list[list[str]]:
    """One row a number of hosts, binding and memory policy: median, and the range of the rounds."""
    alike = "alike" if found["checksums_agree"] else "DIFFERENT"
    rows = []
    for row in found["scaling"]:
        rate = f"{row['mcells_per_second']:.0f} ({row['lowest']:.0f} to {row['highest']:.0f})"
        predicted = f"{row['predicted_mcells_per_second']:.0f}"
        rows.append([str(row["hosts"]), row["bind"], row["memory"], rate, f"{row['minutes']:.3f}", predicted, alike])
    return rows


def output(found: dict[str, Any]) -> list[list[str]]:
    """One row a way of output that took domains on both hosts, at the most bytes that were measured of it."""
    largest: dict[tuple[str, str, str], dict[str, Any]] = {}
    for case in (case for case in found["output"] if case["domains"] > 1):
        way = case["format"], case["codec"], case["mode"]
        if way not in largest or case["raw_bytes"] > largest[way]["raw_bytes"]:
            largest[way] = case
    return [
        [
            *page_tables.way_of_output(*way),
            f"{case['size']}^3",
            str(case["domains"]),
            f"{case['raw_bytes'] / 1e6:.0f}",
            f"{case['compute']['mean']:.2f}",
            f"{case['output']['mean']:.2f}",
        ]
        for way, case in largest.items()
    ]


def with_scaling(page: str, found: dict[str, Any]) -> str:
    """docs/parallel.md with the table of a result in place of the one that it has."""
    return page_tables.replaced(page, {"| hosts | binding |": page_tables.table(SCALING, scaling(found))})


def with_output(page: str, found: dict[str, Any]) -> str:
    """docs/output-advice.md with the table of a result in place of the one that it has."""
    return page_tables.replaced(page, {"| format | files |": page_tables.table(OUTPUT, output(found))})


def main() -> None:
    page_tables.rewrite("parallel.md", "emulated_hosts.json", with_scaling)
    page_tables.rewrite("output-advice.md", "emulated_hosts.json", with_output)


if __name__ == "__main__":
    main()
