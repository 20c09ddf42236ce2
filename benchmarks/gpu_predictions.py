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

from gpu_cases import EVERY, RECORDED, visited
from paired import RESULTS, ROOT, write

from nearfield.discretization.discretization import Discretization
from nearfield.engines.cuda.compiler import find_compiler
from nearfield.engines.cuda.cubins import kernel_texts
from nearfield.entry.errors import ModelError
from nearfield.machine.transport import world
from nearfield.plan.recorders import DFTBox
from nearfield.plan.sizes import BYTES_OF as BYTES_OF_PRECISION

sys.path.insert(0, str(ROOT))
from scripts.gpu_check import disassembler, kernels_of

CARD = {  # an H200; the copy rate was measured on one, from its data sheet come the rest
    "name": "NVIDIA H200",
    "copy_bytes_per_second": 4.3e12,
    "multiprocessors": 132,
    "clock": 1.98e9,
    "lanes": 128,  # of a multiprocessor, instructions a clock
    "registers": 65536,  # of a multiprocessor
    "block_memory": 228 * 1024,  # of a multiprocessor, bytes that its blocks share
    "node_seconds": 2e-6,  # of a graph: from the end of one kernel to the start of the next; assumed
}
SHARE = 0.875  # of a copy's rate that such kernels reach: 85 to 90 % is usual
CELLS_OF_THREAD = 4
THREADS_OF_BLOCK = 256
BLOCK, TILE, COLUMN = 16, 8, 32  # cells of a block; rows or blocks of a tile; planes of a column, as in core/cuda
PRISM = (0, 16, 64)  # rows and cells along axes 1 and 2 that a block of two steps a pass makes, as in core/cuda/plan.h
PRISM_PLANES, ENOUGH_PRISMS = (128, 64, 32), 384  # as in core/cuda/cut_two.hpp
MARGINS = (2, 2, 4)  # of it, read and not stored at each side that is not the domain's
CPML_CELLS, CPML_NUMBERS = 10, 8  # on each side; numbers moved a cell and step in each slab of the CPML
NUMBERS = 18  # moved a cell and step: each half step reads three of the other field, reads and writes its own three
BYTES_OF = BYTES_OF_PRECISION | {"sixteen": 2}  # of a number of a field; states of the CPML keep their precision
NODES_OF_TWO_STEPS = 10  # launches for one source: ticks, copies, its four halves, its points, prisms
SMALL = 64  # cells along each side of the box whose recorders are looked at
RESIDENT = 1024  # bytes of a block's memory that the system takes
NUMBERS_OF_ONE_PASS, PAST_THE_END = 12, 6  # all six read and written; read of the plane past the end of a column


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
    for source in ("half_step.cu", "sweep.cu", "sweep_two.cu"):
        cubin, log = compiler.compiled(source, kernel_texts(), given.target)
        counts = instructions(cubin, tool)
        kernels |= {
            kernel.name: {"registers": kernel.registers, "instructions": counts[kernel.name]}
            for kernel in kernels_of(log)
        }
    cases = [predicted(f"PEC {given.cells}^3", given.cells, "pec", "single", kernels)]
    cases.append(predicted(f"PEC {given.cells}^3 one pass", given.cells, "pec", "single", kernels, one_pass=True))
    cases.append(two_steps(f"PEC {given.cells}^3 two steps a pass", given.cells, "single", kernels))
    cases.append(two_steps(f"PEC {given.cells}^3 double two steps a pass", given.cells, "double", kernels))
    cases.append(two_steps("PEC 256^3 two steps a pass", 256, "single", kernels))
    cases.append(predicted(f"CPML {given.cells}^3", given.cells, "cpml", "single", kernels))
    cases.append(predicted(f"CPML {given.cells}^3 one pass", given.cells, "cpml", "single", kernels, one_pass=True))
    cases.append(predicted(f"PEC {given.cells}^3 double", given.cells, "pec", "double", kernels))
    cases.append(predicted(f"PEC {given.cells}^3 16-bit", given.cells, "pec", "sixteen", kernels))
    cases.append(predicted(f"CPML {given.cells}^3 16-bit", given.cells, "cpml", "sixteen", kernels))
    cases += [predicted(f"PEC {side}^3", side, "pec", "single", kernels) for side in (32, 64, 128, 256)]
    cases += [with_plane(what, how, given.cells, cases) for what in RECORDED for how in ("", " two steps a pass")]
    write("gpu_predictions", given, card=CARD, share=SHARE, kernels=kernels, cases=cases)
    for case in cases:
        print(f"{case['case']:36} {case['mcells_per_second']:8.0f} Mcells/s, bound by {case['bound']}")
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


def parts_of(side: int, slab: int) -> list[int]:
    """Planes, rows or blocks of an axis: in the lower slab, between, in the upper slab."""
    return [slab, side - 2 * slab, slab] if slab else [side]


def spread(parts: list[int]) -> float:
    """Rows or blocks that threads are started for, over those that there are: tiles do not reach across slabs."""
    return sum(-(-part // TILE) * TILE for part in parts) / sum(parts)


def predicted(
    name: str, side: int, boundary: str, precision: str, kernels: dict[str, Any], one_pass: bool = False
) -> dict[str, Any]:
    """Million cells a second of one box, and what bounds it."""
    cells, size, cpml = side**3, BYTES_OF[precision], CPML_CELLS * (boundary == "cpml")
    planes, blocks = parts_of(side, cpml), parts_of(-(-side // BLOCK), -(-cpml // BLOCK))
    slabs = 4 * cpml / side + (sum(blocks) - max(blocks)) / sum(blocks)  # along rows, whole blocks
    numbers, of_states = NUMBERS, BYTES_OF["single" if precision == "sixteen" else precision] * CPML_NUMBERS * slabs
    names = {f"half_step_{half}_{precision}": 1.0 for half in ("electric", "magnetic")}
    if one_pass:
        ends = PAST_THE_END * sum(-(-part // COLUMN) for part in planes) / side
        numbers += NUMBERS_OF_ONE_PASS - NUMBERS + ends
        plain = max(planes) ** 2 * max(blocks) / (side**2 * sum(blocks)) * spread([max(planes)]) * spread([max(blocks)])
        in_slabs = spread(planes) * spread(blocks) - plain
        names = {f"sweep_{precision}": plain, f"sweep_slabs_{precision}": in_slabs}
        started = 1.0
    else:
        started = spread(planes) * spread(blocks)
    moved = size * numbers + of_states
    memory = cells * moved / (SHARE * CARD["copy_bytes_per_second"])
    used = {each: kernels[each] for each, share in names.items() if share > 1e-9}
    slots = started * sum(names[each] * kernels[each]["instructions"] for each in used) / CELLS_OF_THREAD
    issue = cells * slots / (CARD["multiprocessors"] * CARD["lanes"] * CARD["clock"])
    launches = (1 + len(used) if one_pass else 3) * CARD["node_seconds"]  # tick, then these
    most = CARD["registers"] // THREADS_OF_BLOCK
    on_a_multiprocessor = min(8, most // max(kernel["registers"] for kernel in used.values()))
    times = {"memory": memory, "issue": issue, "launches": launches}
    return {
        "case": name,
        "bytes_per_cell": round(moved, 2),
        "issue_slots_per_cell": round(slots, 1),
        "blocks_on_a_multiprocessor": on_a_multiprocessor,
        "bound": max(times, key=lambda each: times[each]),
        "seconds_per_step": max(memory, issue) + launches,
        "mcells_per_second": cells / (max(memory, issue) + launches) / 1e6,
    }


def with_plane(what: str, how: str, side: int, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """A box in which one plane is recorded: its bytes and launches on the steps that are due, and, where steps go in
    pairs, that a due step ends a pair: an odd stride leaves one step in each of its periods alone, in one pass."""
    name = f"PEC {side}^3"
    by_name = {case["case"]: case["seconds_per_step"] for case in cases}
    box, alone = by_name[name + how], by_name[f"{name} one pass"]
    plan, small = Discretization(visited(SMALL, 1, what), world()).plan, SMALL
    steps, numbers, launches = EVERY, 0.0, 0
    for term in plan.recorders:
        samples = term.samples * (side / small) ** 2
        if isinstance(term, DFTBox):
            steps, numbers = term.stride, numbers + samples * (1 + 4 * len(term.frequencies))
        else:
            numbers += 2 * samples
        launches += 1
    of_plane = numbers * BYTES_OF["single"] / (SHARE * CARD["copy_bytes_per_second"]) + launches * CARD["node_seconds"]
    singles = steps % 2 / steps if how else 0.0
    seconds = (1 - singles) * box + singles * alone + of_plane / steps
    return {
        "case": f"{name} {what}{how}",
        "steps_between": steps,
        "bound": "memory",
        "slower": round(seconds / box - 1, 4),
        "seconds_per_step": seconds,
        "mcells_per_second": side**3 / seconds / 1e6,
    }


def prisms_along(samples: int, axis: int) -> int:
    """How many prisms an axis takes: those at its ends have one margin less."""
    most, margin = PRISM[axis], MARGINS[axis]
    return 1 if samples <= most else 2 + max(0, -(-(samples - 2 * (most - margin)) // (most - 2 * margin)))


def two_steps(name: str, side: int, precision: str, kernels: dict[str, Any]) -> dict[str, Any]:
    """The same of two steps a pass: sides of prisms, which neighbours read too, come from the second-level cache; the
    planes past a prism's ends come from memory twice, and are made twice, as sides are."""
    size, kernel = BYTES_OF[precision], kernels[f"sweep_two_{precision}"]
    count = [0, prisms_along(side, 1), prisms_along(side, 2)]
    for longest in PRISM_PLANES:
        count[0] = -(-side // longest)
        if count[0] * count[1] * count[2] >= ENOUGH_PRISMS:
            break
    made = count[1] * PRISM[1] * count[2] * PRISM[2] / side**2  # columns, of those that are stored
    read_past = 2 * MARGINS[0] * (count[0] - 1) / side  # planes: two at each end that is not the domain's
    moved = size * (12 + 6 * read_past) / 2
    positions = 1 + ((count[0] - 1) * 5 + 3) / side  # n - 2 to n + 2 about a prism's planes
    slots = made * positions * kernel["instructions"] / CELLS_OF_THREAD / 2
    memory = moved / (SHARE * CARD["copy_bytes_per_second"])
    issue = slots / (CARD["multiprocessors"] * CARD["lanes"] * CARD["clock"])
    shared = 2 * 2 * 2 * 3 * PRISM[1] * PRISM[2] * size  # E and H, by step and parity
    resident = min(
        CARD["registers"] // THREADS_OF_BLOCK // kernel["registers"], CARD["block_memory"] // (shared + RESIDENT)
    )
    blocks, at_once = count[0] * count[1] * count[2], resident * CARD["multiprocessors"]
    filled = blocks / (-(-blocks // at_once) * at_once)  # of the places of blocks, until the last has ended
    cells, launches = side**3, NODES_OF_TWO_STEPS / 2 * CARD["node_seconds"]
    seconds = cells * max(memory, issue / filled) + launches
    times = {"memory": cells * memory, "issue": cells * issue / filled, "launches": launches}
    return {
        "case": name,
        "bytes_per_cell": round(moved, 2),
        "cache_bytes_per_cell": round(size * (6 * made * (1 + read_past) + 6) / 2, 2),
        "issue_slots_per_cell": round(slots, 1),
        "blocks_on_a_multiprocessor": resident,
        "block_memory": shared,
        "blocks": blocks,
        "filled": round(filled, 3),
        "bound": max(times, key=lambda each: times[each]),
        "seconds_per_step": seconds,
        "mcells_per_second": cells / seconds / 1e6,
    }


if __name__ == "__main__":
    sys.exit(main())
