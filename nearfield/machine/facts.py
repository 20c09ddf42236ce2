"""Facts that every result states of the run that made it: machine, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

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
