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
from typing import Any

from nearfield.commands.cards import card_text, cards_here
from nearfield.commands.console import print_answer
from nearfield.commands.tables import rows
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory as binary
from nearfield.machine.facts import measured_by, processor_name
from nearfield.machine.group_memory import free_memory
from nearfield.machine.hardware import this_machine
from nearfield.machine.machine_rate import remember_triad
from nearfield.machine.memory_rate import triad
from nearfield.machine.topology import available_threads, topology
from nearfield.parallel.launch import launcher

LAUNCHED = ("PMI", "OMPI_", "PMIX", "MPI_LOCAL", "HYDI")  # what launchers put into the environment of a rank
PACKAGES = ("numpy", "h5py", "pydantic", "typer", "rich", "xarray", "matplotlib", "jinja2")


def examine_machine(as_json: bool) -> int:
    """Print what was found; 0 even if something is missing, since finding that out is the job."""
    found = facts()
    return print_answer(as_json, found, readable(found))


def facts() -> dict[str, Any]:
    """Facts about this machine and this installation."""
    found: dict[str, Any] = {
        "nearfield": importlib.import_module("nearfield").__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": processor_name(),
        "isa": instruction_sets(),
        "cores": os.cpu_count(),
        "usable_cores": available_threads(),
        "caches": {"L1": topology().l1, "L2": topology().l2, "L3": topology().l3},
        "numa_nodes": len(this_machine().numa),
        "memory_bytes": free_memory(),
        "memory_gigabytes_per_second": memory_rate(),
        "mpi": mpi_flavour(),
        "mpi4py": version_of("mpi4py"),
        "mpi_library": mpi_library(),
        "mpi_and_cards": mpi_and_cards(),
        **cards_here(),
        "hdf5": hdf5_version(),
    }
    return found | {"missing": missing(found)} | measured_by()


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
    """The MPI that prints this text of itself."""
    if "Open MPI" in text or "OpenRTE" in text or "prte" in text.lower():
        return "Open MPI"
    if "Intel" in text:
        return "Intel MPI"
    return "MPICH" if "HYDRA" in text.upper() or "MPICH" in text.upper() else "unknown MPI"


def version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def mpi_library() -> str | None:
    """The MPI library that mpi4py loads, looked up in a process of its own, since loading it may end one."""
    asked = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    return " ".join(first.replace(",", " ").split()) if (first := said_elsewhere(asked)) else None


def mpi_and_cards() -> str | None:
    """What this MPI says of the memory of cards, by which halos of ranks with cards leave from there or not."""
    return said_elsewhere("from nearfield.machine.device_messages import answer_of_mpi; print(answer_of_mpi())")


def said_elsewhere(asked: str) -> str | None:
    """The first line that a Python process of its own prints, without what a launcher told this one."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHED)}
    lines = output_of([sys.executable, "-c", asked], own, errors=False).strip().splitlines()
    return lines[0] if lines else None


def hdf5_version() -> str | None:
    """The HDF5 library in use."""
    try:
        return str(importlib.import_module("h5py").version.hdf5_version)
    except ImportError:
        return None


def missing(found: dict[str, Any]) -> list[dict[str, str]]:
    """Missing parts, when each is needed, and the line that installs it."""
    pip = f"{sys.executable} -m pip install"
    lacking = [(package, "always", f"{pip} {package}") for package in PACKAGES if version_of(package) is None]
    if not found["isa"]:
        lacking.append(("the compiled core", "to run models", "make setup"))
        if not (shutil.which("g++") or shutil.which("clang++")):
            lacking.append(("a C++20 compiler", "to build the core", "apt-get install g++"))
    if mpi := missing_mpi(found):
        lacking.append((mpi[0], "for several ranks", f"{pip} {mpi[1]}"))
    return [dict(zip(("what", "needed", "install"), entry)) for entry in lacking]


def missing_mpi(found: dict[str, Any]) -> tuple[str, str] | None:
    """The part of MPI that several ranks lack, and the packages that bring it; nothing else needs it."""
    if not found["mpi"] and not found["mpi_library"]:
        return "MPI", "mpi4py mpich"
    if not found["mpi4py"]:
        return "mpi4py", "mpi4py"
    if not found["mpi_library"]:
        return "an MPI library that mpi4py can load", "mpich"
    if not found["mpi"] or not same_mpi(found):
        library = flavour(found["mpi_library"])
        return f"mpiexec of {library}, whose library mpi4py loads", "openmpi" if library == "Open MPI" else "mpich"
    return None


def same_mpi(found: dict[str, Any]) -> bool:
    """Whether launcher and library can belong to each other; Intel's and MPICH's start each other's ranks."""
    ours, theirs = flavour(found["mpi"]), flavour(found["mpi_library"])
    return (ours == "Open MPI") == (theirs == "Open MPI")


def output_of(command: list[str], environment: dict[str, str] | None = None, errors: bool = True) -> str:
    """Text that a program prints, with its errors or without; empty where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False, env=environment)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout + (done.stderr if errors else b"")).decode("utf-8", "replace")


def mpi_text(found: dict[str, Any]) -> str:
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
    isa, memory, rate = found["isa"], found["memory_bytes"], found["memory_gigabytes_per_second"]
    first, second, third = (binary(size) for size in found["caches"].values())
    sets = f"{isa['selected']} (of {', '.join(isa['available'])})" if isa else "unknown: the core is missing"
    lines = {
        **{name: found[name] for name in ("nearfield", "python", "system", "processor")},
        "instruction set": sets,
        "cores": f"{found['usable_cores']} physical ones usable, of {found['cores']} processors",
        "caches": f"L1 {first}, L2 {second} a core; L3 {third} for all",
        "NUMA nodes": found["numa_nodes"],
        "memory": f"{memory / 2**30:.1f} GiB free" if memory else "unknown",
        "memory rate": f"{rate} GB/s (triad, all usable cores)" if rate else "unknown",
        "MPI": mpi_text(found),
        "GPU": card_text(found),
        "MPI and cards": found["mpi_and_cards"] or "unknown",
        "HDF5": found["hdf5"] or "none",
    }
    text = rows(lines, 16)
    if not found["missing"]:
        return f"{text}\n\nNothing is missing."
    needs = "\n".join(f"  {item['what']}, needed {item['needed']}:  {item['install']}" for item in found["missing"])
    return f"{text}\n\nMissing:\n{needs}"
