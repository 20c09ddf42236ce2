"""What a measurement was taken on and of: processor, cores, memory, system, commit."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nearfield.machine.topology import topology

ROOT = Path(__file__).resolve().parents[1]


def processor() -> str:
    """The model name the system gives, e.g. `Intel(R) Xeon(R) Processor`."""
    information = Path("/proc/cpuinfo")
    for line in information.read_text().splitlines() if information.exists() else []:
        if line.startswith(("model name", "Model")):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "topology": asdict(topology()),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


@contextlib.contextmanager
def favoured(priority: int = -15) -> Iterator[None]:
    """Let this process and what it starts go before whatever else the machine does, where the system lets it.

    Emulated hosts stand for machines of their own. Where sessions share processors as groups (sched_autogroup(7)),
    priorities count within a session alone, and the session has one too.
    """
    group, before = Path("/proc/self/autogroup"), os.getpriority(os.PRIO_PROCESS, 0)

    def prefer(own: int, session: int) -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, own)
            group.write_text(str(session))

    session = int(group.read_text().split()[-1]) if group.exists() else 0
    prefer(priority, priority)
    try:
        yield
    finally:
        prefer(before, session)


def commit() -> str:
    """The commit, with `+` when tracked files were changed since; `unknown` outside a clone, or without git."""

    def git(*words: str) -> str:
        try:
            return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        except OSError:
            return ""

    name = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "nearfield", "core")
    return (name + "+" if changed else name) or "unknown"
