"""Writes the table and the figures of the published sweep in docs/output-advice.md from its result.

`.venv/bin/nearfield bench output --full --rounds 1 --seconds 2700 --json > benchmarks/results/output-full.json`, then
`.venv/bin/python benchmarks/output_page.py`.
"""

from __future__ import annotations

import json
from typing import Any

import page_tables

from nearfield.commands.output import way
from nearfield.commands.tables import save
from nearfield.report.output_plots import pictures

RESULT = "output-full.json"
SIZE, DOMAINS = 60, (1, 2, 4, 8)  # points along an axis of a domain that each number of domains was measured at
SHOWN = ("fig3-ascii-binary-time", "fig5-ratios")


def sweep(found: dict[str, Any]) -> list[list[str]]:
    """One row a way of output: seconds of ten steps of 60^3 points a domain by domains, bytes of files over samples."""
    times: dict[tuple[str, str, str], dict[int, str]] = {}
    for case in (case for case in found["cases"] if case["size"] == SIZE):
        times.setdefault(way(case), {})[case["domains"]] = f"{case['output']['mean']:.2f}"
    shares = {way(fit): f"{fit['bytes']['per_byte']:.2g}" for fit in found["fits"]}
    return [
        [*page_tables.way_of_output(*each), *(seconds.get(count, "") for count in DOMAINS), shares[each]]
        for each, seconds in times.items()
    ]


def with_sweep(page: str, found: dict[str, Any]) -> str:
    """docs/output-advice.md with the table of a result in place of the one that it has."""
    heads = ["way", "files", *(f"{count} (s)" for count in DOMAINS), "bytes over samples"]
    return page_tables.replaced(page, {"| way | files |": page_tables.table(heads, sweep(found))})


def main() -> None:
    page_tables.rewrite("output-advice.md", RESULT, with_sweep)
    found = json.loads((page_tables.ROOT / "benchmarks" / "results" / RESULT).read_text(encoding="utf-8"))
    figures = {f"full-{name}": figure for name, figure in pictures(found).items() if name in SHOWN}
    save(page_tables.ROOT / "docs" / "images" / "output", figures)


if __name__ == "__main__":
    main()
