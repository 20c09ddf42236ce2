"""`nearfield bench`: the rate at which this machine advances an empty cube, and what each feature costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError
from nearfield.machine.machine_rate import remember_rate
from nearfield.machine.topology import available_threads
from nearfield.parallel.start import Parallel

THICKNESS = 10  # CPML cells on each side


def measure_box(
    cells: int,
    steps: int,
    threads: int | None,
    boundary: str,
    schedule: str,
    tiles: str,
    precision: str,
    as_json: bool,
    parallel: Parallel,
) -> int:
    """Run the box and print its rate; the rate is remembered for `nearfield check`."""
    from nearfield.measure.bench import bench_box

    if boundary == "cpml" and cells <= 2 * THICKNESS:
        raise ModelError(
            f"--cells {cells} leaves no cell between two CPMLs of {THICKNESS} cells; "
            f"give at least {2 * THICKNESS + 1}, or --boundary pec"
        )
    return report(
        as_json,
        lambda: bench_box(
            cells=cells,
            steps=steps,
            threads=threads,
            boundary=boundary,
            schedule=schedule,
            precision=precision,
            tiling=tiles,
            parallel=parallel,
        ),
    )


def measure_model(model: Path, steps: int, threads: int | None, tiles: str, as_json: bool, parallel: Parallel) -> int:
    """Advance a model and print its rate."""
    from nearfield.measure.bench import bench_model

    return report(as_json, lambda: bench_model(model, steps, threads, tiles, parallel))


def report(as_json: bool, measure: Callable[[], dict]) -> int:
    """Print what was measured, warnings first; the box's rate on one rank is kept for `nearfield check`."""
    with console(as_json) as out:
        found = measure()
        for warning in found["warnings"]:
            out.note(f"warning: {warning}")
        if found["ranks"] == 1 and "model" not in found:
            remember_rate(
                found["mcells_per_second"], found["precision"], found["threads"], found["seconds"], found["cells"]
            )
        out.answer(found)
        if not as_json:
            out.say(table(found))
    return 0


def table(found: dict) -> str:
    """One line a fact."""
    width = max(map(len, found))
    return "\n".join(
        f"{name.replace('_', ' '):{width}}  {value:.6g}"
        if isinstance(value, float)
        else f"{name.replace('_', ' '):{width}}  {value}"
        for name, value in found.items()
    )


COLUMNS = {
    "case": "{name:22}",
    "Mcells/s": "{mcells_per_second:8.0f}",
    "of vacuum": "{share_of_vacuum:9.2f}",
    "lowest-highest": "{lowest_share:8.2f}-{highest_share:.2f}",
    "B/cell": "{bytes_per_cell:6.1f}",
    "moved B/cell": "{traffic_bytes_per_cell:12.1f}",
    "depth x width": "{tiles:>13}",
    "x roofline": "{multiple:>10}",
    "DFT stride": "{stride:>10}",
}


def measure_features(
    cells: int, steps: int, threads: int | None, precision: str, as_json: bool, rounds: int, cases: list[str] | None
) -> int:
    """Time the features, or those named, in turn with the empty box and print the table."""
    from nearfield.measure.bench_features import CASES, bench_features

    with console(as_json) as out:
        for name in cases or ():
            if name not in CASES:
                raise ModelError(f"--case: there is no case {name!r}; there is: {', '.join(map(repr, CASES))}")
        found = bench_features(
            cells,
            steps,
            threads or available_threads(),
            precision,
            rounds,
            lambda row: out.note(f"{row['name']} done"),
            cases or tuple(CASES),
        )
        out.answer(found)
        if not as_json:
            out.say(features_table(found))
    return 0


def features_table(found: dict) -> str:
    """One line a case under the names of the columns, and what they are measured against."""
    lines = []
    for case in found["cases"]:
        tiled = case["schedule"] == "tiled"
        multiple = case["roofline_multiple"]
        shown = {
            "tiles": f"{case['tile_depth']} x {case['tile_width']}" if tiled else case["schedule"],
            "multiple": f"{multiple:.2f}" if multiple else "unknown",
            "stride": case["dft_stride"] or "",
        }
        lines.append([column.format(**case, **shown) for column in COLUMNS.values()])
    heads = [
        f"{name:{len(text)}}" if name == "case" else f"{name:>{len(text)}}" for name, text in zip(COLUMNS, lines[0])
    ]
    text = "\n".join("  ".join(line) for line in [heads, *lines])
    rate, roofline = found["triad_gb_per_second"], found["roofline_mcells_per_second"]
    against = f"triad {rate:.1f} GB/s, roofline of a fused sweep {roofline:.0f} Mcells/s" if rate else "no triad"
    return (
        f"{text}\n\n{found['cells']} cells, {found['steps']} steps, {found['threads']} threads, "
        f"{found['precision']}; median of {found['rounds']} rounds; {against}"
    )
