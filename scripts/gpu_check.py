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

ROOT = Path(__file__).parents[1]
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
OPTIONS = (f"-I{ROOT / 'core'}", f"-I{ROOT / 'core/cuda'}", "--std=c++20", "--fmad=false", "--ftz=true")
BUDGET = {"single": 64, "double": 128}  # registers: 4 and 2 blocks of 256 threads on a multiprocessor
FUSED = re.compile(r"\b[FD]FMA2?\b")  # not HFMA2, by which a register is set to a constant


@dataclass(frozen=True)
class Kernel:
    """What the compiler says of a kernel, in bytes and registers."""

    name: str
    registers: int
    stack: int
    spilled: int

    def faults(self) -> list[str]:
        budget = BUDGET[self.name.rsplit("_", 1)[1]]
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


def compiled(source: Path, architecture: str, given: tuple[str, ...] = OPTIONS) -> tuple[bytes, str]:
    """The cubin of a file of kernels, and the compiler's log. Error: SystemExit with the log."""
    from cuda.bindings import nvrtc

    options = [option.encode() for option in (f"--gpu-architecture={architecture}", *given, "--ptxas-options=-v")]
    _, program = nvrtc.nvrtcCreateProgram(source.read_bytes(), source.name.encode(), 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
    nvrtc.nvrtcGetProgramLog(program, log)
    if int(status):
        raise SystemExit(f"{source.name} does not compile for {architecture}:\n{log.decode()}")
    cubin = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(program)
    return cubin, log.decode()


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
    if util.find_spec("cuda") is None or util.find_spec("cuda.bindings") is None:
        return skip("NVRTC is not here; `make gpu-check` installs it (73 MB) where a package index can be reached")
    if tool is None:
        return skip("nvdisasm is not here; `make gpu-check` installs it where a package index can be reached")
    sources, faults = sorted((ROOT / "core/cuda").glob("*.cu")), []
    for source in sources:
        most: dict[str, int] = {}
        for architecture in architectures:
            cubin, log = compiled(source, architecture)
            kernels = kernels_of(log)
            if not kernels:
                faults.append(f"{source.name} for {architecture}: no kernel in it")
            for kernel in kernels:
                most[kernel.name] = max(most.get(kernel.name, 0), kernel.registers)
                faults += [f"{kernel.name} for {architecture}: {fault}" for fault in kernel.faults()]
            if fused := fused_in(cubin, tool):
                faults.append(f"{source.name} for {architecture}: {len(fused)} fused multiply-adds ({fused[0]})")
        print(
            source.name + ": " + ", ".join(f"{name} {count} registers" for name, count in sorted(most.items())),
            flush=True,
        )
    for fault in faults:
        print(f"error: {fault}")
    print(f"{len(sources)} files of kernels for {', '.join(architectures)}: {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ARCHITECTURES)))
