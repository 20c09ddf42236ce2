"""Everything a result must say of the run that made it: machine, versions, commit."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import nearfield

CPUINFO = Path("/proc/cpuinfo")


def processor_name() -> str:
    """The processor as the system names it; of an Arm that has no name there, who made it and its part number."""
    found = {}
    with contextlib.suppress(OSError):
        for line in CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())  # of the first core
    if found.get("model name"):
        return found["model name"]
    if "CPU part" in found:
        return f"{platform.machine()}, implementer {found.get('CPU implementer', '?')}, part {found['CPU part']}"
    return platform.processor() or platform.machine()


def source_commit() -> str:
    """The commit of a source checkout, with + where it was changed; "" for an installed package."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return ""
    try:
        run = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout.strip()


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
