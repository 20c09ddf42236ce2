"""Everything a result must say of the run that made it: machine, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import nearfield


def processor_name() -> str:
    """The processor as the system names it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def source_commit() -> str:
    """The commit of a source checkout, with + where it was changed; "" for an installed package."""
    folder = Path(__file__).resolve().parent.parent
    if not (folder / ".git").exists():
        return ""
    try:
        run = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            capture_output=True, text=True, timeout=5,
        )  # fmt: skip
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
