"""A run of hours with a probe, and the live processes of a run by a mark in their environment; tests use it too."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

MARK = "NEARFIELD_MARKED_RUN"  # environment variable
STEPS = 100_000_000
MODEL = f"""
steps = {STEPS}
monitors = [{{ kind = "probe", name = "tip", position = ["5 mm", "5 mm", "5 mm"], component = "Ez" }}]
[boundaries]
all = "pec"
[[sources]]
kind = "point-current"
position = ["10 mm", "10 mm", "10 mm"]
axis = "z"
waveform = {{ kind = "gaussian-derivative", frequency = "10 GHz" }}
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [30, 30, 30]
"""
NUMBERS = (b"PMI_RANK", b"OMPI_COMM_WORLD_RANK")  # what launchers tell each rank


def processes(mark: str) -> dict[int, int | None]:
    """Live processes with a mark, and the number of the rank that each is; None: it is none."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            alive = bool(words) and " Z " not in (entry / "stat").read_text()
        except OSError:
            continue
        environment = dict(word.split(b"=", 1) for word in words if b"=" in word)
        if alive and environment.get(MARK.encode()) == mark.encode():
            numbers = [int(environment[name]) for name in NUMBERS if name in environment]
            found[int(entry.name)] = numbers[0] if numbers else None
    return found


def ranks(mark: str) -> dict[int, int]:
    """The process of each live rank with a mark, by its number."""
    return {number: pid for pid, number in processes(mark).items() if number is not None}


def waited(done: Callable[[], object], seconds: float) -> bool:
    """Whether something came true in time."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(done())
