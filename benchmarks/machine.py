"""What a measurement was taken on and of: processor, cores, memory, system, commit."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.machine.topology import topology

ROOT = Path(__file__).resolve().parents[1]


def on_hosts(hosts: int, rate: str) -> list[str]:
    """The head of a command that runs on so many emulated hosts behind links of a rate such as "1gbit"; as root."""
    return [str(ROOT / "scripts" / "make_believe_cluster"), str(hosts), rate]


def said_on_hosts(hosts: int, rate: str, command: Sequence[str]) -> str:
    """What a command on fresh emulated hosts printed. Error: `ModelError`, it failed."""
    done = subprocess.run([*on_hosts(hosts, rate), *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelError(f"`{' '.join(command)}` on {hosts} emulated hosts failed: {done.stderr.strip()}")
    return done.stdout


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
