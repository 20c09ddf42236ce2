"""Facts that every result states of the run that made it: machine, versions, commit."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nearfield
from nearfield.machine.system_files import processor_name


def source_commit() -> str:
    """The commit of a source checkout, with + where it was changed; "" for an installed package."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return ""
    try:
        command = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def command_line() -> str:
    """The command as it was given, its program from the source checkout's root or by its name alone."""
    program, root = Path(sys.argv[0]).absolute(), Path(__file__).resolve().parents[2]
    name = str(program.relative_to(root)) if program.is_relative_to(root) else program.name
    words = sys.argv[1:]
    if program.name == "__main__.py":
        name = f"python -m {program.parent.name}"
    return shlex.join([*shlex.split(name), *words])


def measured_by(command: str | None = None, machine: dict[str, Any] | None = None) -> dict[str, Any]:
    """What every measurement states of itself: `command` (of this process), `commit`, `machine` (facts of this one).

    All JSON results of measuring commands and of the scripts in `benchmarks/` begin with it.
    """
    return {
        "command": command_line() if command is None else command,
        "commit": source_commit() or "unknown",
        "machine": machine_facts() if machine is None else machine,
    }


def machine_facts() -> dict:
    """Processor, cores, system, versions, commit, time of day (UTC)."""
    import h5py
    import numpy

    return {
        "nearfield": nearfield.__version__,
        "commit": source_commit(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "h5py": h5py.__version__,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
