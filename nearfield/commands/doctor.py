"""`nearfield doctor`: what this machine has, what is missing, and the line that installs it."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.facts import processor_name
from nearfield.machine_rate import free_memory, remember_triad
from nearfield.memory_rate import triad
from nearfield.topology import available_threads, topology
from nearfield.wording import memory as binary

PACKAGES = ("numpy", "h5py", "pydantic", "typer", "rich", "xarray", "matplotlib", "jinja2")


def examine_machine(as_json: bool) -> int:
    """Print what was found; 0 even if something is missing, since finding that out is the job."""
    found = facts()
    with console(as_json) as out:
        out.answer(found)
        if not as_json:
            out.say(readable(found))
    return 0


def facts() -> dict[str, Any]:
    """Everything that doctor looks at."""
    found: dict[str, Any] = {
        "nearfield": importlib.import_module("nearfield").__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": processor_name(),
        "isa": instruction_sets(),
        "cores": os.cpu_count(),
        "usable_cores": available_threads(),
        "caches": {"L1": topology().l1, "L2": topology().l2, "L3": topology().l3},
        "numa_nodes": numa_nodes(),
        "memory_bytes": free_memory(),
        "memory_gigabytes_per_second": memory_rate(),
        "mpi": mpi_flavour(),
        "gpu": gpu(),
        "hdf5": hdf5_version(),
    }
    return found | {"missing": missing(found)}


def instruction_sets() -> dict[str, Any]:
    """Instruction sets of the core on this processor, and the one in use; empty without the core."""
    try:
        core = importlib.import_module("nearfield._core")
    except ImportError:
        return {}
    wanted = os.environ.get("NEARFIELD_ISA", "")
    try:
        selected = str(core.isa_choose(wanted))
    except ValueError:
        selected = f"none: NEARFIELD_ISA={wanted} is not available here; unset it"
    return {"available": list(core.isa_available()), "selected": selected}


def numa_nodes() -> int:
    """Memory nodes; 1 where the system does not say."""
    folder = Path("/sys/devices/system/node")
    try:
        return sum(1 for entry in folder.iterdir() if re.fullmatch(r"node\d+", entry.name)) or 1
    except OSError:
        return 1


def memory_rate() -> float | None:
    """GB/s of a triad on all usable cores; kept for the choice of tiles."""
    rate = triad(available_threads())
    remember_triad(rate, available_threads())
    return None if rate is None else round(rate, 1)


def mpi_flavour() -> str | None:
    """The MPI whose launcher is first on the path."""
    launcher = shutil.which("mpiexec") or shutil.which("mpirun")
    if launcher is None:
        return None
    text = output_of([launcher, "--version"])
    if "Open MPI" in text or "OpenRTE" in text:
        flavour = "Open MPI"
    elif "Intel" in text:
        flavour = "Intel MPI"
    else:
        flavour = "MPICH" if "HYDRA" in text.upper() or "MPICH" in text.upper() else "unknown MPI"
    version = re.search(r"\d+\.\d+(\.\d+)?", text)
    return f"{flavour} {version.group(0) if version else ''} ({launcher})".replace("  ", " ")


def gpu() -> str | None:
    """The first graphics card with a driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    lines = output_of([program, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]).splitlines()
    return lines[0].strip() if lines and "," in lines[0] else None


def hdf5_version() -> str | None:
    """The HDF5 library in use."""
    try:
        return str(importlib.import_module("h5py").version.hdf5_version)
    except ImportError:
        return None


def missing(found: dict[str, Any]) -> list[dict[str, str]]:
    """What is not there, whether it is needed, and the line that installs it."""
    lacking = []
    pip = f"{sys.executable} -m pip install"
    for package in PACKAGES:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            lacking.append({"what": package, "needed": "always", "install": f"{pip} {package}"})
    if not found["isa"]:
        lacking.append({"what": "the compiled core", "needed": "to run models", "install": "make setup"})
        if not (shutil.which("g++") or shutil.which("clang++")):
            line = "apt-get install g++"
            lacking.append({"what": "a C++20 compiler", "needed": "to build the core", "install": line})
    return lacking


def output_of(command: list[str]) -> str:
    """What a program prints; empty when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def readable(found: dict[str, Any]) -> str:
    """The findings, one line each."""
    isa = found["isa"]
    sets = f"{isa['selected']} (of {', '.join(isa['available'])})" if isa else "unknown: the core is missing"
    cores = f"{found['usable_cores']} physical ones usable, of {found['cores']} processors"
    first, second, third = (binary(size) for size in found["caches"].values())
    memory = f"{found['memory_bytes'] / 2**30:.1f} GiB free" if found["memory_bytes"] else "unknown"
    rate = found["memory_gigabytes_per_second"]
    lines = {
        "nearfield": found["nearfield"], "python": found["python"], "system": found["system"],
        "processor": found["processor"], "instruction set": sets, "cores": cores,
        "caches": f"L1 {first}, L2 {second} a core; L3 {third} for all",
        "NUMA nodes": found["numa_nodes"], "memory": memory,
        "memory rate": f"{rate} GB/s (triad, all usable cores)" if rate else "unknown",
        "MPI": found["mpi"] or "none (not needed yet: runs use threads)",
        "GPU": found["gpu"] or "none (not needed yet: runs use the processor)",
        "HDF5": found["hdf5"] or "none",
    }
    text = "\n".join(f"{name:16} {value}" for name, value in lines.items())
    if not found["missing"]:
        return f"{text}\n\nNothing is missing."
    needs = "\n".join(f"  {item['what']}, needed {item['needed']}:  {item['install']}" for item in found["missing"])
    return f"{text}\n\nMissing:\n{needs}"
