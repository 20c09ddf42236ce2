"""The rate of the FDTD update itself: the empty box on one core and on all cores of a NUMA node."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from nearfield.entry.wording import counted
from nearfield.machine.hardware import Hardware
from nearfield.machine.processors import processors_text
from nearfield.measure.bench import Timed, box
from nearfield.measure.probe import Effort, spread, unsteady

CELLS, STEPS, PASSES = 200, 60, 5
QUICK_CELLS, QUICK_STEPS, QUICK_PASSES = 96, 20, 3
Measured = dict[str, Any]


def probe_fdtd(hardware: Hardware, effort: Effort) -> dict[str, Any]:
    """Mcells/s in single precision with PEC walls and with CPML on six sides, on the first NUMA node with cores."""
    node = next(node for node in hardware.numa if node.cores)
    cells, steps, passes = (QUICK_CELLS, QUICK_STEPS, QUICK_PASSES) if effort.quick else (CELLS, STEPS, PASSES)
    boundaries: dict[str, Any] = {}
    warnings = []
    for boundary in ("pec", "cpml"):
        found = {}
        for name, cores in (("core", node.cores[:1]), ("numa", node.cores)):
            found[name] = measurement(hardware, cores, boundary, cells, steps, passes)
            warnings += unsteady(f"update, {boundary}, {found[name]['placement']}", found[name]["mcells_per_second"])
        rates = {name: found[name]["mcells_per_second"]["median"] for name in found}
        boundaries[boundary] = found | {"rates": rates | {"cores": len(node.cores), "cells": cells}}
    size = {"cells": cells, "steps": steps, "passes": passes, "precision": "single"}
    return {**size, "node": node.index, "boundaries": boundaries, "warnings": warnings}


def measurement(
    hardware: Hardware, cores: Sequence[int], boundary: str, cells: int, steps: int, passes: int
) -> Measured:
    """The box on these cores, a thread each, kept to their processors while it is built and run."""
    processors = [hardware.cores[core].processors[0] for core in cores]
    with kept_to(processors):
        timed = Timed(box(cells, steps, boundary), threads=len(cores))
        rates = [timed.rate(steps) for _ in range(passes)]
    ran = {name: timed.facts()[name] for name in ("threads", "isa")}
    placement = f"{counted(ran['threads'], 'thread')} on {processors_text(processors)}"
    return {"mcells_per_second": spread(rates), **ran, "placement": placement}


@contextlib.contextmanager
def kept_to(processors: Sequence[int]) -> Iterator[None]:
    """This thread, and those that it starts, on these processors."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
