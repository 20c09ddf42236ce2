"""`nearfield bench`: the rate at which this machine advances an empty cube, and what each feature costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.commands.tables import columns, rows
from nearfield.entry.errors import ModelError
from nearfield.machine.machine_rate import remember_rate
from nearfield.machine.topology import available_threads

THICKNESS = 10  # CPML cells on each side


def measure_box(as_json: bool, cells: int, boundary: str, **how: Any) -> int:
    """Run the box and print its rate; the rate is remembered for `nearfield check`."""
    from nearfield.measure.bench import bench_box

    refuse_thin_box(cells, boundary == "cpml")
    return report(as_json, lambda: bench_box(cells=cells, boundary=boundary, **how))


def refuse_thin_box(cells: int, cpml: bool) -> None:
    """Error: the CPMLs of both sides take all cells of the box."""
    if cpml and cells <= 2 * THICKNESS:
        raise ModelError(
            f"--cells {cells} leaves no cell between two CPMLs of {THICKNESS} cells; "
            f"give at least {2 * THICKNESS + 1}, or --boundary pec"
        )


def measure_model(as_json: bool, model: Path, *how: Any) -> int:
    """Advance a model and print its rate."""
    from nearfield.measure.bench import bench_model

    return report(as_json, lambda: bench_model(model, *how))


def report(as_json: bool, measure: Callable[[], dict]) -> int:
    """Print what was measured, warnings first; the CPU's rate of the box on one rank is kept for `nearfield check`."""
    with console(as_json) as out:
        found = measure()
        out.warn(*found["warnings"])
        if found["ranks"] == 1 and found["engine"] == "cpu" and "model" not in found:
            rate = (found[name] for name in ("mcells_per_second", "precision", "threads", "seconds", "cells"))
            remember_rate(*rate)
        out.answer(found, table(found))
    return 0


def table(found: dict) -> str:
    """One line a fact."""
    texts = {
        name.replace("_", " "): f" {value:.6g}" if isinstance(value, float) else f" {value}"
        for name, value in found.items()
    }
    return rows(texts, max(map(len, texts)))


def measure_features(
    cells: int, steps: int, threads: int | None, precision: str, as_json: bool, rounds: int, cases: list[str] | None
) -> int:
    """Time the features, or those named, in turn with the empty box and print the table."""
    from nearfield.measure.bench_features import CASES, bench_features

    for name in cases or ():
        if name not in CASES:
            raise ModelError(f"--case: there is no case {name!r}; there is: {', '.join(map(repr, CASES))}")
    threads, chosen = threads or available_threads(), cases or tuple(CASES)
    with console(as_json) as out:
        found = bench_features(
            cells, steps, threads, precision, rounds, lambda row: out.note(f"{row['name']} done"), chosen
        )
        out.answer(found, features_table(found))
    return 0


HEADS = ("case", "Mcells/s", "of vacuum", "lowest-highest", "B/cell", "moved B/cell", "depth x width", "x roofline")


def features_table(found: dict) -> str:
    """One line a case under the names of the columns, and what they are measured against."""
    lines = [(*HEADS, "DFT stride"), *map(feature_line, found["cases"])]
    rate, roofline = found["triad_gb_per_second"], found["roofline_mcells_per_second"]
    against = f"triad {rate:.1f} GB/s, roofline of a fused sweep {roofline:.0f} Mcells/s" if rate else "no triad"
    return (
        f"{columns(lines)}\n\n{found['cells']} cells, {found['steps']} steps, {found['threads']} threads, "
        f"{found['precision']}; median of {found['rounds']} rounds; {against}"
    )


def feature_line(case: dict) -> tuple[str, ...]:
    """The cells of a case's line."""
    multiple, tiled = case["roofline_multiple"], case["schedule"] == "tiled"
    return (
        case["name"],
        f"{case['mcells_per_second']:.0f}",
        f"{case['share_of_vacuum']:.2f}",
        f"{case['lowest_share']:.2f}-{case['highest_share']:.2f}",
        f"{case['bytes_per_cell']:.1f}",
        f"{case['traffic_bytes_per_cell']:.1f}",
        f"{case['tile_depth']} x {case['tile_width']}" if tiled else case["schedule"],
        f"{multiple:.2f}" if multiple else "unknown",
        str(case["dft_stride"] or ""),
    )
