"""What a card would give before one is measured: from bytes, registers and issue slots of the kernels as NVIDIA's
compiler makes them (no card or driver is needed; NVRTC and nvdisasm are). benchmarks/gpu.py holds a visit against it.

    .venv/bin/python benchmarks/gpu_predictions.py --target sm_90

A step takes the longest of: bytes over the measured copy rate of the card, times a usual share of it; instructions over
issue slots; plus its launches as nodes of a graph. Small boxes, which stay in the second-level cache, may beat it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from paired import RESULTS, ROOT, write

from nearfield.engines.cuda.compiler import find_compiler
from nearfield.engines.cuda.cubins import kernel_texts
from nearfield.entry.errors import ModelError
from nearfield.plan.sizes import BYTES_OF

sys.path.insert(0, str(ROOT))
from scripts.gpu_check import disassembler, kernels_of

CARD = {  # an H200; the copy rate was measured on one, from its data sheet come the rest
    "name": "NVIDIA H200",
    "copy_bytes_per_second": 4.3e12,
    "multiprocessors": 132,
    "clock": 1.98e9,
    "lanes": 128,  # of a multiprocessor, instructions a clock
    "registers": 65536,  # of a multiprocessor
    "node_seconds": 2e-6,  # of a graph: from the end of one kernel to the start of the next; assumed
}
SHARE = 0.875  # of a copy's rate that such kernels reach: 85 to 90 % is usual
CELLS_OF_THREAD = 4
THREADS_OF_BLOCK = 256
CPML_CELLS, CPML_NUMBERS = 10, 8  # on each side; numbers moved a cell and step in each slab of the CPML
NUMBERS_OF_ONE_PASS = 12 * (1 + 1 / 64)  # all six read and written; columns of 32 planes read half of one plane more
NUMBERS = 18  # moved a cell and step: each half step reads three of the other field, reads and writes its own three


def main() -> int:
    given = arguments().parse_args()
    tool = disassembler()
    try:
        compiler = find_compiler()
    except ModelError as error:
        print(f"benchmarks/gpu_predictions.py: {error}", file=sys.stderr)
        return error.exit_code
    if tool is None:
        print("benchmarks/gpu_predictions.py: nvdisasm is not here; `make gpu-check` installs it", file=sys.stderr)
        return ModelError.exit_code
    kernels = {}
    for source in ("half_step.cu", "sweep.cu"):
        cubin, log = compiler.compiled(source, kernel_texts(), given.target)
        counts = instructions(cubin, tool)
        kernels |= {
            kernel.name: {"registers": kernel.registers, "instructions": counts[kernel.name]}
            for kernel in kernels_of(log)
        }
    cases = [predicted(f"PEC {given.cells}^3", given.cells, "pec", "single", kernels)]
    cases.append(predicted(f"PEC {given.cells}^3 one pass", given.cells, "pec", "single", kernels, one_pass=True))
    cases.append(predicted(f"CPML {given.cells}^3", given.cells, "cpml", "single", kernels))
    cases.append(predicted(f"PEC {given.cells}^3 double", given.cells, "pec", "double", kernels))
    cases += [predicted(f"PEC {side}^3", side, "pec", "single", kernels) for side in (32, 64, 128, 256)]
    write("gpu_predictions", given, card=CARD, share=SHARE, kernels=kernels, cases=cases)
    for case in cases:
        print(f"{case['case']:20} {case['mcells_per_second']:8.0f} Mcells/s, bound by {case['bound']}")
    return 0


def arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--target", default="sm_90", help="architecture")
    made.add_argument("--cells", type=int, default=512, help="cells along each side of the largest box")
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    return made


def instructions(cubin: bytes, tool: Path) -> dict[str, int]:
    """Instructions of each kernel, branches not taken included: an upper bound of what a thread issues."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([tool, "-c", file.name], check=True, capture_output=True, text=True).stdout
    counts: dict[str, int] = {}
    for section in re.split(r"\.section\s+\.text\.", text)[1:]:
        name = re.match(r"\w+", section)
        lines = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?!NOP)", section, re.MULTILINE)
        if name:
            counts[name.group(0)] = len(lines)
    return counts


def predicted(
    name: str, side: int, boundary: str, precision: str, kernels: dict[str, Any], one_pass: bool = False
) -> dict[str, Any]:
    """Million cells a second of one box, and what bounds it."""
    cells, size = side**3, BYTES_OF[precision]
    slabs = 3 * 2 * CPML_CELLS / side if boundary == "cpml" else 0.0
    moved = size * (NUMBERS_OF_ONE_PASS if one_pass else NUMBERS + CPML_NUMBERS * slabs)
    memory = cells * moved / (SHARE * CARD["copy_bytes_per_second"])
    names = [f"half_step_{half}_{precision}" for half in ("electric", "magnetic")]
    halves = [kernels[each] for each in ([f"sweep_{precision}"] if one_pass else names)]
    slots = sum(half["instructions"] for half in halves) / CELLS_OF_THREAD
    issue = cells * slots / (CARD["multiprocessors"] * CARD["lanes"] * CARD["clock"])
    launches = 3 * CARD["node_seconds"]  # tick, E, H
    blocks = min(8, CARD["registers"] // (THREADS_OF_BLOCK * max(half["registers"] for half in halves)))
    times = {"memory": memory, "issue": issue, "launches": launches}
    return {
        "case": name,
        "bytes_per_cell": moved,
        "issue_slots_per_cell": slots,
        "blocks_on_a_multiprocessor": blocks,
        "bound": max(times, key=lambda each: times[each]),
        "seconds_per_step": max(memory, issue) + launches,
        "mcells_per_second": cells / (max(memory, issue) + launches) / 1e6,
    }


if __name__ == "__main__":
    sys.exit(main())
