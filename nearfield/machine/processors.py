"""Which processors this process and its threads may use, who decided that, and whether a wish can be had."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nearfield.machine.system_files import CPUS, SYSTEM, allowed_in, numbers_in, ranges, text, usable_processors

TASKS = Path("/proc/self/task")
# What launchers leave in the environment of every rank that they start, the more particular ones first.
LAUNCHERS = {
    "OMPI_COMM_WORLD_RANK": "mpiexec (Open MPI)",
    "PRTE_LAUNCHED": "prterun",
    "MPI_LOCALRANKID": "mpiexec (Hydra)",
    "PMI_RANK": "mpiexec",
    "PMIX_RANK": "the launcher",
    "SLURM_PROCID": "srun",
}
Result = TypeVar("Result")


@dataclass(frozen=True)
class Bound:
    """Processors by number: those that this process may use when it starts, could be bound to, and the machine has."""

    processors: tuple[int, ...]
    reachable: tuple[int, ...]  # the control group's (a container's, a batch job's)
    online: tuple[int, ...]
    launcher: str = ""  # the program that started it as one of several ranks

    @property
    def by(self) -> str:
        """The last cause of a restriction to fewer processors; "" where this process has the whole machine."""
        if self.processors != self.reachable:
            return self.launcher or "taskset, numactl or the like"
        return "a control group (container or batch job)" if self.reachable != self.online else ""

    @property
    def by_launcher(self) -> bool:
        """Whether a launcher gave each of its ranks processors."""
        return bool(self.launcher) and self.processors != self.reachable

    def words(self) -> str:
        """Such as `processors 0-3 of 0-15, bound by srun`."""
        if not self.by:
            return f"the whole machine, {processors_text(self.processors)}"
        return f"{processors_text(self.processors)} of {ranges(self.online)}, bound by {self.by}"


def bound(system: Path = SYSTEM, environment: Mapping[str, str] = os.environ) -> Bound:
    """The binding of this process as it is now; ask before any of its threads is bound."""
    mine = tuple(sorted(usable_processors()))
    online = numbers_in(text(system / CPUS / "online")) | set(mine)
    launcher = next((name for variable, name in LAUNCHERS.items() if variable in environment), "")

    def widened() -> frozenset[int]:
        os.sched_setaffinity(0, online)  # the kernel keeps to the control group's
        return usable_processors()

    reachable = online
    if hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            reachable = frozenset(mine)
            reachable = aside(widened)
    return Bound(mine, tuple(sorted(reachable)), tuple(sorted(online)), launcher)


def binding_refused(wanted: Iterable[tuple[int, ...]]) -> str:
    """The reason why threads cannot be bound to these sets of processors, tried in a thread; "" where they can."""
    from nearfield import _core

    def try_all() -> None:
        for processors in dict.fromkeys(wanted):
            _core.machine.bind_this_thread(list(processors))

    try:
        aside(try_all)
    except OSError as refused:
        return refused.strerror or str(refused)
    return ""


def allowed(thread_ids: Iterable[int], tasks: Path = TASKS) -> tuple[tuple[int, ...], ...]:
    """Processors that threads of this process may run on, as the kernel says; () for one that is no more."""
    return tuple(tuple(sorted(allowed_in(tasks / str(number) / "status", "Cpus"))) for number in thread_ids)


def aside(work: Callable[[], Result]) -> Result:
    """The work's result, done in a thread whose binding ends with it; its exception is raised here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def processors_text(numbers: Sequence[int]) -> str:
    """`processor 3`, `processors 0-3`, or `no processor`."""
    return f"processor{'s' * (len(numbers) > 1)} {ranges(numbers)}" if numbers else "no processor"
