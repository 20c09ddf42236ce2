"""Compiles every kernel of core/cuda for every architecture of cards, without a card, and looks at what came out.

Refused: a spill, local memory, more registers than the budget, a fused multiply-add (other bits). Needs the group
`cuda` of pyproject.toml, which `make gpu-check` installs; without it, it says so, loudly, and checks nothing.
`scripts/gpu_check.py [sm_90 ...]`. Exit codes: 0 all good, or nothing could be checked; 1 a kernel is not.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from nearfield.engines.cuda.compiler import find_compiler
from nearfield.engines.cuda.cubins import kernel_texts
from nearfield.entry.errors import ModelError

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
# Registers: three blocks of 256 threads on a multiprocessor, three; in double one, two where they are up to 128 (9.0).
BUDGET = {"single": 80, "sixteen": 80, "double": 136}
# Sweeps keep what they read: one such block, or two where the kernel asks for them and nothing spills (block.h).
LARGER = {
    *(f"sweep_{steps}_{precision}" for steps in ("one", "two") for precision in ("single", "double")),
    *("sweep_slab_one_single", "sweep_slab_two_single"),
}
FUSED = re.compile(r"\b[FD]FMA2?\b")  # not HFMA2, by which a register is set to a constant


@dataclass(frozen=True)
class Kernel:
    """What the compiler says of a kernel, in bytes and registers."""

    name: str
    registers: int
    stack: int
    spilled: int

    def faults(self) -> list[str]:
        budget = 255 if self.name in LARGER else BUDGET[self.name.rsplit("_", 1)[1]]
        found = {
            f"{self.registers} registers, budget {budget}": self.registers > budget,
            f"{self.stack} bytes of local memory": self.stack > 0,
            f"{self.spilled} bytes spilled": self.spilled > 0,
        }
        return [text for text, true in found.items() if true]


def skip(reason: str) -> int:
    print(f"GPU KERNELS WERE NOT COMPILED: {reason}")
    return 0


def disassembler() -> Path | None:
    """nvdisasm of its wheel."""
    found = util.find_spec("nvidia")
    places = found.submodule_search_locations if found else None
    for folder in places or ():
        for path in sorted(Path(folder).glob("*/bin/nvdisasm")):
            return path
    return None


def kernels_of(log: str) -> list[Kernel]:
    names = re.findall(r"Compiling entry function '(\w+)'", log)
    registers = map(int, re.findall(r"Used (\d+) registers", log))
    memory = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", log)
    return [Kernel(name, r, int(stack), int(spilled)) for name, r, (stack, spilled) in zip(names, registers, memory)]


def fused_in(cubin: bytes, tool: Path) -> list[str]:
    """The fused multiply-adds of a cubin."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([tool, "-c", file.name], check=True, capture_output=True, text=True).stdout
    if "EXIT" not in text:
        raise SystemExit(f"{tool} gave no instructions: is it of an older CUDA than the compiler?")
    return FUSED.findall(text)


def main(architectures: list[str]) -> int:
    tool = disassembler()
    try:
        compiler = find_compiler()
    except ModelError:
        return skip("NVRTC is not here; `make gpu-check` installs it (58 MB) where a package index can be reached")
    if tool is None:
        return skip("nvdisasm is not here; `make gpu-check` installs it where a package index can be reached")
    texts, faults = kernel_texts(), []
    sources = sorted(name for name in texts if name.endswith(".cu"))
    for source in sources:
        most: dict[str, int] = {}
        for architecture in architectures:
            cubin, log = compiler.compiled(source, texts, architecture)
            kernels = kernels_of(log)
            if not kernels:
                faults.append(f"{source} for {architecture}: no kernel in it")
            for kernel in kernels:
                most[kernel.name] = max(most.get(kernel.name, 0), kernel.registers)
                faults += [f"{kernel.name} for {architecture}: {fault}" for fault in kernel.faults()]
            if fused := fused_in(cubin, tool):
                faults.append(f"{source} for {architecture}: {len(fused)} fused multiply-adds ({fused[0]})")
        print(
            source + ": " + ", ".join(f"{name} {count} registers" for name, count in sorted(most.items())),
            flush=True,
        )
    for fault in faults:
        print(f"error: {fault}")
    print(f"{len(sources)} files of kernels for {', '.join(architectures)}: {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ARCHITECTURES)))
