"""`nearfield bench box`: the rate at which this machine advances an empty cube."""

from __future__ import annotations

from nearfield.commands.console import console
from nearfield.engine import available_threads
from nearfield.errors import ModelError
from nearfield.machine_rate import remember_rate

THICKNESS = 10  # CPML cells on each side


def measure_box(
    cells: int, steps: int, threads: int | None, boundary: str, schedule: str, precision: str, as_json: bool
) -> int:
    """Run the box and print its rate; the rate is remembered for `nearfield check`."""
    from nearfield.bench import bench_box

    if boundary == "cpml" and cells <= 2 * THICKNESS:
        raise ModelError(
            f"--cells {cells} leaves no cell between two CPMLs of {THICKNESS} cells; "
            f"give at least {2 * THICKNESS + 1}, or --boundary pec"
        )
    cores = available_threads()
    threads = threads or cores
    with console(as_json) as out:
        if threads > cores:
            out.note(f"warning: {threads} threads on {cores} cores; more threads than cores hinder each other")
        found = bench_box(
            cells=cells, steps=steps, threads=threads, boundary=boundary, schedule=schedule, precision=precision
        )
        remember_rate(found["mcells_per_second"], precision, threads, found["seconds"], found["cells"])
        out.answer(found)
        if not as_json:
            out.say(table(found))
    return 0


def table(found: dict) -> str:
    """One line a fact."""
    width = max(map(len, found))
    return "\n".join(
        f"{name.replace('_', ' '):{width}}  {value:.6g}" if isinstance(value, float) else
        f"{name.replace('_', ' '):{width}}  {value}" for name, value in found.items()
    )
