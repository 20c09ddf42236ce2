"""Bytes of device memory that each kernel of a visit moved, from the tables that `ncu --csv --print-units base` left
(benchmarks/gpu.sh), a cell of the box: beside 36 bytes of a half step in single precision, 48 of one pass.

    .venv/bin/python benchmarks/gpu_counters.py --cells 256 --tables out/ncu_2.csv out/ncu_1.csv

Exit code 0 when a table had a kernel in it, else 1.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from paired import RESULTS, write

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
METRICS = {  # in base units
    READ: "bytes_read",
    WRITTEN: "bytes_written",
    "lts__t_bytes.sum": "cache_bytes",
    "gpu__time_duration.sum": "nanoseconds",
    "launch__registers_per_thread": "registers",
}


def rows(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The table's rows: what stands before its head is the tool's own talk."""
    lines = iter(lines)
    for line in lines:
        if line.startswith('"ID"'):
            yield from csv.DictReader([line, *lines])


def counted(lines: Iterable[str], cells: int) -> list[dict[str, Any]]:
    """By kernel, medians over those of its launches that took longest: about sources it has small ones too."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows(lines):
        if row["Metric Name"] in METRICS:
            value = float(row["Metric Value"].replace(",", ""))
            found[row["Kernel Name"].partition("(")[0]][row["ID"]][METRICS[row["Metric Name"]]] = value
    all_of = []
    for kernel, launches in sorted(found.items()):
        largest = max(each.get("nanoseconds", 0.0) for each in launches.values())
        kept = [each for each in launches.values() if each.get("nanoseconds", 0.0) >= 0.5 * largest]
        medians = {name: statistics.median(each[name] for each in kept) for name in kept[0]}
        moved = medians.get("bytes_read", 0.0) + medians.get("bytes_written", 0.0)
        all_of.append({"kernel": kernel, "launches": len(kept), **medians, "bytes_per_cell": round(moved / cells, 2)})
    return all_of


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--cells", type=int, required=True, help="cells along each side of the box")
    made.add_argument("--tables", type=Path, nargs="+", required=True)
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    given = made.parse_args()
    tables, given.tables = given.tables, [path.stem for path in given.tables]
    sys.argv[1:] = ["--cells", str(given.cells), "--tables", *given.tables]  # as the file keeps it
    kernels = []
    for path in tables:
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        kernels += [{"table": path.stem} | row for row in counted(text.splitlines(), given.cells**3)]
    write("gpu_counters", given, kernels=kernels)
    for row in kernels:
        print(f"{row['kernel']:30} {row['bytes_per_cell']:8.2f} bytes a cell, {row.get('registers', 0):.0f} registers")
    return 0 if kernels else 1


if __name__ == "__main__":
    sys.exit(main())
