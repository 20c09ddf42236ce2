"""The table of benchmarks/README.md from the file of results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PAGE, RESULT = ROOT / "benchmarks" / "README.md", ROOT / "benchmarks" / "results" / "peers-tutorials.json"
MARKED = re.compile(r"(<!-- tutorials -->\n).*?(<!-- /tutorials -->)", re.DOTALL)
HEAD = "| case | quantity | theory | Nearfield | openEMS |\n|---|---|---|---|---|\n"


def table(found: dict[str, Any]) -> str:
    """Rows of all cases: each quantity on one grid, then cells, steps and seconds."""
    return HEAD + "".join(row for case in found["cases"].values() for row in rows(case))


def rows(case: dict[str, Any]) -> list[str]:
    ours, theirs, coarser = own_grid(case)
    made = []
    for name in ours["quantities"]:
        values = [ours["quantities"][name], theirs["quantities"][name]]
        made.append(f"| {case['title']} | {name} | {known(case, name)} | {figure(values[0])} | {figure(values[1])} |\n")
    for other in coarser:
        values = ", ".join(f"{name} {figure(value)}" for name, value in other["quantities"].items())
        made.append(f'| {case["title"]} | with `metal="{other["metal"]}"` | | {values} | |\n')
    own = "" if ours["finer"] == 1.0 else f", cells {1 / ours['finer']:.3g} times the tutorial's"
    last = f'cells, steps, time; `metal="{ours["metal"]}"`{own}'
    made.append(f"| {case['title']} | {last} | | {cost(ours)} | {cost(theirs)} |\n")
    return made


def own_grid(case: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """Nearfield's run, openEMS's, and further ones of Nearfield: on the tutorial's own grid, or the nearest coarser."""
    own = max(row["finer"] for row in case["runs"] if row["finer"] <= 1.0)
    at = [row for row in case["runs"] if row["finer"] == own]
    ours = [row for row in at if row["code"] == "Nearfield"]
    return ours[0], next(row for row in at if row["code"] == "openEMS"), ours[1:]


def known(case: dict[str, Any], name: str) -> str:
    """Theory's value; of a value at cells of no size with those of both codes."""
    if name in case["limits"]:
        limit = case["limits"][name]
        each = [
            f"{code} {limit[code]['value']:.4g} +- {limit[code]['uncertainty']:.1g}"
            for code in ("Nearfield", "openEMS")
            if code in limit
        ]
        return f"{limit['theory']:.4g} ({', '.join(each)})"
    return figure(case["theory"][name]) if name in case["theory"] else ""


def figure(value: float) -> str:
    return f"{value:.4g}"


def cost(row: dict[str, Any]) -> str:
    return f"{row['cells']:,}, {row['steps']:,}, {row['seconds']:.3g} s"


def written(page: str, found: dict[str, Any]) -> str:
    """The page with its table as the file has it."""
    return MARKED.sub(lambda match: match[1] + table(found) + match[2], page)
