"""What a visit to a card shows: bits beside the CPU engine, products near the smallest normal number, rates of the
target table, each beside its prediction (gpu_predictions.json). `benchmarks/gpu.sh` runs it with all else of a visit.

    .venv/bin/python benchmarks/gpu.py --cells 512 --steps 400

Without a card it says why and exits with 2. On the stand-in or the make-believe device its rates mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from paired import RESULTS, write

from nearfield import FieldDFT, Snapshot
from nearfield.engines.cuda import engine
from nearfield.engines.cuda.device import Device, device
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.measure.bench import CELL, Timed, bench_box, box
from nearfield.measure.probe import Effort
from nearfield.measure.probe_gpu import probe_gpu

PASSES = 5
PASSES_OF = {"one pass": "1", "two steps a pass": "0.5"}  # by the end of a case's name; two passes a step otherwise
BITS = [(boundary, precision) for boundary in ("pec", "cpml") for precision in ("single", "double")]
SMALLEST = np.float32(2.0**-126)  # normal number


def main() -> int:
    given = arguments().parse_args()
    try:
        found = device()
    except ModelError as error:
        print(f"benchmarks/gpu.py: {error}", file=sys.stderr)
        return error.exit_code
    results: dict[str, Any] = {"device": found.name, **found.facts()}
    results["bits"] = [same_bits(*case, given.bit_cells) for case in BITS]
    results["tininess"] = tininess(found)
    predicted = predictions(Path(given.predictions))
    results["rates"] = []
    for name, simulation in cases(given.cells, given.steps):
        row = measured(name, simulation, given.steps) | {"predicted": predicted.get(name)}
        results["rates"].append(row)
        print(f"{name:34} {row['mcells_per_second']:10.0f} Mcells/s, predicted {row['predicted'] or 'not'}", flush=True)
    if not given.no_probe:
        results["probe"] = probe_gpu(Effort.of(quick=True))
    del given.predictions  # a path of this machine
    path = write("gpu", given, **results)
    print(f"bits: {'the same' if all(each['same'] for each in results['bits']) else 'DIFFERENT'}; wrote {path}")
    return 0 if all(each["same"] for each in results["bits"]) else 1


def arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--cells", type=int, default=512, help="cells along each side of the largest box")
    made.add_argument("--steps", type=int, default=400, help="steps of a run")
    made.add_argument("--bit-cells", type=int, default=96, help="cells along each side where bits are compared")
    made.add_argument("--predictions", default=str(RESULTS / "gpu_predictions.json"))
    made.add_argument("--no-probe", action="store_true", help="leave copies out")
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    return made


def predictions(path: Path) -> dict[str, float]:
    """Million cells a second by case; none where they were not written."""
    try:
        return {row["case"]: row["mcells_per_second"] for row in json.loads(path.read_text())["cases"]}
    except (OSError, ValueError, KeyError):
        return {}


def same_bits(boundary: str, precision: str, cells: int) -> dict[str, Any]:
    """Checksums of the box on both engines, on a card by every number of passes."""

    def checksum(name: str, passes: str = "") -> str:
        os.environ[engine.PASSES] = passes
        return str(bench_box(cells, 60, None, boundary, precision=precision, engine=name)["checksum"])

    expected = checksum("cpu")
    different = [passes for passes in ("2", *PASSES_OF.values()) if checksum("cuda", passes) != expected]
    found = {"boundary": boundary, "precision": precision, "cells": cells, "same": not different}
    return found | {"passes_that_differ": different}


def cases(cells: int, steps: int) -> list[tuple[str, Any]]:
    """The target table: boxes, small ones, a plane of Fourier sums, snapshots of a plane."""
    middle = cells // 2 * CELL
    lower, upper = (middle, 0.0, 0.0), (middle, cells * CELL, cells * CELL)
    frequencies = tuple(np.linspace(1e9, 15e9, 20))
    largest = f"{cells}^3"

    def made(side: int, boundary: str = "pec", precision: str = "single", **entries: Any) -> Any:
        return box(side, steps, boundary, precision, engine="cuda", **entries)

    return [
        (f"PEC {largest}", made(cells)),
        *((f"PEC {largest} {how}", made(cells)) for how in PASSES_OF),
        (f"CPML {largest}", made(cells, "cpml")),
        (f"CPML {largest} one pass", made(cells, "cpml")),
        (f"PEC {largest} double", made(cells, precision="double")),
        (f"PEC {largest} double two steps a pass", made(cells, precision="double")),
        *((f"PEC 256^3 {how}", made(256)) for how in PASSES_OF if 256 < cells),
        *((f"PEC {side}^3", made(side)) for side in (32, 64, 128, 256) if side < cells),
        (f"PEC {largest} DFT plane", made(cells, monitors=[FieldDFT("d", lower, upper, frequencies)])),
        (f"PEC {largest} snapshots", made(cells, monitors=[Snapshot("s", lower, upper, every=50)])),
    ]


def measured(name: str, simulation: Any, steps: int) -> dict[str, Any]:
    """The rate of one model: median of some passes, after one."""
    os.environ[engine.PASSES] = next((wish for how, wish in PASSES_OF.items() if name.endswith(how)), "2")
    timed = Timed(simulation)
    timed.seconds(steps)
    rates = [timed.rate(steps) for _ in range(PASSES)]
    facts = timed.engine.facts()
    return {
        "case": name,
        "mcells_per_second": statistics.median(rates),
        "lowest": min(rates),
        "highest": max(rates),
        "steps": steps,
        "bytes_on_device": facts["bytes"],
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
