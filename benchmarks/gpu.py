"""What a visit to a card shows: bits beside the CPU engine, products near the smallest normal number, rates of the
target table, each as a share of what the card copies.
`benchmarks/gpu.sh` runs it with all else of a visit.

    .venv/bin/python benchmarks/gpu.py --cells 512 --steps 400

The file is written anew after each part and each case, so that a visit that is cut short keeps what it has; a case that
fails is kept with its error. Without a card it says why and exits with 2. On the stand-in or the make-believe device
its rates mean nothing.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gpu_cases import PASSES_OF, RECORDED, cases
from paired import RESULTS, write

from nearfield.engines.cuda import engine
from nearfield.engines.cuda.device import Device, UsableCard, device
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.measure.bench import Timed, bench_box
from nearfield.measure.probe import Effort
from nearfield.measure.probe_gpu import memory_rate, probe_gpu

PASSES = 5  # runs of a case, copies of a size
BITS_OF = ("boundary", "precision")
BITS = [(boundary, precision) for boundary in ("pec", "cpml") for precision in ("single", "double")]
SAME = "the same"
SMALLEST = np.float32(2.0**-126)  # normal number


def main() -> int:
    given = arguments().parse_args()
    try:
        found = device()
    except ModelError as error:
        print(f"benchmarks/gpu.py: {error}", file=sys.stderr)
        return error.exit_code
    results: dict[str, Any] = {"device": found.name, **found.facts(), "bits": [], "rates": []}

    def keep(**new: Any) -> Path:
        results.update(new)
        return write("gpu", given, **results)

    keep(copy_bytes_per_second=copied_per_second(found), tininess=attempted(tininess, found))
    for case in BITS:
        results["bits"].append(attempted(same_bits, *case, given.bit_cells) | dict(zip(BITS_OF, case)))
        print(f"bits, {' '.join(case)}: {said_of(results['bits'][-1])}", flush=True)
        keep()
    for name, simulation in cases(given.cells, given.steps):
        row = {"case": name} | attempted(measured, name, simulation, given.steps)
        row |= {"copy_share": share(row, results["copy_bytes_per_second"])}
        results["rates"].append(row)
        print(f"{name:34} {rate_text(row)}", flush=True)
        keep()
        gc.collect()  # what a case had on the card
    keep(slower=slower(results["rates"], given.cells))
    os.environ.pop(engine.PASSES, None)  # of the last case
    if not given.no_probe:
        keep(probe=attempted(probe_gpu, Effort.of(quick=True)))
    verdict = verdict_on(results["bits"])
    failed = [row["case"] for row in results["rates"] if "error" in row]
    print(f"bits: {verdict}; failed: {', '.join(failed) or 'none'}; wrote {keep()}")
    return 0 if verdict == SAME and not failed else 1


def attempted(part: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """What a part of the visit found, or its error: the others are worth having all the same."""
    try:
        return part(*given)
    except Exception as error:  # whatever it is, it is the finding
        return {"error": f"{type(error).__name__}: {error}"}


def verdict_on(bits: list[dict[str, Any]]) -> str:
    """Of all comparisons: one that failed says nothing of the bits."""
    if any(each.get("same") is False for each in bits):
        return "DIFFERENT"
    return SAME if all("same" in each for each in bits) else "not all compared"


def said_of(bits: dict[str, Any]) -> str:
    return bits.get("error") or (SAME if bits["same"] else f"DIFFERENT with passes {bits['passes_that_differ']}")


def rate_text(row: dict[str, Any]) -> str:
    if "error" in row:
        return row["error"]
    shared = f", {100 * row['copy_share']:.0f} % of the copy rate" if row["copy_share"] else ""
    return f"{row['mcells_per_second']:10.0f} Mcells/s{shared}"


def copied_per_second(found: Device) -> float | None:
    """Bytes read and written a second by long copies within the card; None where there is no card."""
    if not isinstance(found, UsableCard):
        return None
    try:
        return float(memory_rate(found, PASSES)["median"])
    except ModelError as error:
        print(error, file=sys.stderr)
        return None


def share(row: dict[str, Any], copies: float | None) -> float | None:
    """Of the copy rate, that the bytes make which the update of a case moves."""
    moved = row.get("bytes_per_cell")
    return row["mcells_per_second"] * 1e6 * moved / copies if moved and copies else None


def slower(rates: list[dict[str, Any]], cells: int) -> dict[str, float]:
    """By case with a recorded plane, how much longer its steps take than those of the same box without."""
    by_case = {row["case"]: row["mcells_per_second"] for row in rates if "error" not in row}
    bare = {how: by_case.get(f"PEC {cells}^3{how}") for how in ("", " two steps a pass")}
    names = [(f"PEC {cells}^3 {what}{how}", how) for what in RECORDED for how in bare]
    return {name: bare[how] / by_case[name] - 1 for name, how in names if name in by_case and bare[how]}


def arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--cells", type=int, default=512, help="cells along each side of the largest box")
    made.add_argument("--steps", type=int, default=400, help="steps of a run")
    made.add_argument("--bit-cells", type=int, default=96, help="cells along each side where bits are compared")
    made.add_argument("--no-probe", action="store_true", help="leave copies out")
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    return made


def same_bits(boundary: str, precision: str, cells: int) -> dict[str, Any]:
    """Checksums of the box on both engines, on a card by every number of passes."""

    def checksum(name: str, passes: str = "") -> str:
        os.environ[engine.PASSES] = passes
        return str(bench_box(cells, 60, None, boundary, precision=precision, engine=name)["checksum"])

    expected = checksum("cpu")
    different = [passes for passes in ("2", *PASSES_OF.values()) if checksum("cuda", passes) != expected]
    return {"cells": cells, "same": not different, "passes_that_differ": different}


def measured(name: str, simulation: Any, steps: int) -> dict[str, Any]:
    """The rate of one model: median of some passes, after one."""
    os.environ[engine.PASSES] = next((wish for how, wish in PASSES_OF.items() if name.endswith(how)), "2")
    timed = Timed(simulation)
    timed.seconds(steps)
    rates = [timed.rate(steps) for _ in range(PASSES)]
    facts = timed.engine.facts()
    return {
        "mcells_per_second": statistics.median(rates),
        "lowest": min(rates),
        "highest": max(rates),
        "steps": steps,
        "bytes_on_device": facts["bytes"],
        "bytes_per_cell": timed.facts()["traffic_bytes_per_cell"],
        "graphs": facts["graphs"],
        "passes": facts["passes"],
        "kernels": facts.get("kernels"),
    }


def tininess(found: Device, factors: int = 500) -> dict[str, int]:
    """Products next to the smallest normal number, on the device and on this processor: x86 flushes what is below it
    after rounding; whether a card decides before is nowhere written. Counts of products, and of those that differ."""
    numbers = np.random.default_rng(1)
    units = numbers.uniform(1, 2, factors).astype(np.float32) * np.float32(2.0**-63)
    middle = (SMALLEST.astype(np.float64) / units).astype(np.float32)
    samples = np.stack([np.nextafter(middle, np.float32(np.inf)) if n > 0 else middle for n in range(2)], axis=1)
    for _ in range(7):  # neighbours on both sides
        ends = np.nextafter(samples[:, :1], np.float32(0)), np.nextafter(samples[:, -1:], np.float32(np.inf))
        samples = np.concatenate([ends[0], samples, ends[1]], axis=1)
    here, there = (
        products(made, samples, units) for made in (core().devices.HostDevice("forwards", 1), found.opened(1))
    )
    return {"products": samples.size, "zero_here": int((here == 0).sum()), "different": int((here != there).sum())}


def products(made: Any, samples: np.ndarray, units: np.ndarray) -> np.ndarray:
    """`samples` (factors, 16) times `units`, as the kernel of snapshots makes them."""
    planes, length = samples.shape
    card = core().Card32((planes, 1, length), [[0, 0]] * 3, [[0.0, 1.0, 0.0, -1.0]] * 3, 1, 0, made)
    for axis, count in enumerate((planes, 1, length)):
        card.set_profile(axis, [np.ones(count, np.float32)] * 6)
    ones, zeros = np.ones((3, 1, length), np.float32), np.zeros((3, 1, length), np.float32)
    for magnetic in (False, True):
        card.set_planes(magnetic, 0, planes, ones, zeros)
    for number, unit in enumerate(units):
        card.add_snapshot(0, (number, 0, 0), (number + 1, 1, length), np.array([1]), True, float(unit))
    card.states()["E0"][1][:, 0, :length] = samples
    table = np.zeros((1, 1), np.float32)
    card.begin(1, table, table, [], [], False)
    card.run(None, 100.0)
    card.end()
    return np.concatenate([card.snapshot(number).reshape(1, length) for number in range(planes)])


if __name__ == "__main__":
    sys.exit(main())
