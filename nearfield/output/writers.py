"""The writers of a run: one process on each host, which writes the snapshots of the ranks there."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.layout import Boxes
from nearfield.machine.spare import left_free
from nearfield.machine.system_files import cgroup_limit
from nearfield.output.writer_process import WriterProcess
from nearfield.parallel.start import Started

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.machine.transport import Alone

Piece = dict[str, Any]  # from `images.piece_of`


class Writers:
    """Processes that write fields; the first rank of each host talks to its process, rank 0's joins the files of all.

    All ranks call all methods but `close` in one order, and all receive the first error of any of them.
    """

    def __init__(self, started: Started, process: WriterProcess | None = None) -> None:
        """`process`: that of this host, where it was started ahead."""
        self._ranks = started.ranks
        hosts = self._ranks.hosts
        self.several = len(set(hosts)) > 1
        self.here = [rank for rank, host in enumerate(hosts) if host == hosts[self._ranks.rank]]
        self._leads = self.here[0] == self._ranks.rank
        threads = started.binding.processors
        usable = {*started.binding.bound.processors, *(number for mine in threads for number in mine)}
        every = self._ranks.everywhere(([mine or (*usable,) for mine in threads], usable))
        self._usable = set[int]().union(*(every[rank][1] for rank in self.here))
        self.spare = left_free([mine for rank in self.here for mine in every[rank][0]], self._usable, cgroup_limit())
        self._process = process
        self._not_started: str | None = None

    @property
    def shared_processors(self) -> int:
        """Processors of this host where ranks use all of them and the writer takes its time from theirs; else 0."""
        return 0 if self.spare.count else len(self._usable)

    def start(self) -> None:
        """Start the process of this host, and do not wait for it."""
        if self._leads and self._process is None:
            try:
                self._process = WriterProcess()
            except OSError as error:
                self._not_started = f"the process that writes the fields could not be started: {error}"

    def watch(self, signalled: Callable[[], bool]) -> None:
        """Wait for a process of this rank without end only while this says that no signal ends the run."""
        if self._process:
            self._process.signalled = signalled

    @property
    def heard(self) -> float:
        """When this rank's process last gave a sign of life; long ago where it has none."""
        return self._process.heard if self._process else -math.inf

    def open(self, tasks: list[dict[str, Any]], joined: list[dict[str, Any]]) -> None:
        """Open the files of this host's tasks, then those that join the files of all. Error: `ModelError`."""
        spare = self.spare
        refused = self._first(self._not_started) or self._ask(
            {"do": "open", "tasks": tasks, "processors": spare.processors, "threads": spare.count or len(self._usable)}
        )
        refused = refused or (self._ask_root({"do": "join", "files": joined}) if joined else None)
        if refused:
            raise ModelError(refused)

    def failure(self) -> str | None:
        """The first failure that a process has reported without request."""
        own = self._process.failure if self._process else None
        return self._first(own) if self._ranks.any(own is not None) else None

    def flush(self, counts: Mapping[str, int]) -> str | None:
        """Return when so many snapshots are in each file; returns the first failure, if any."""
        return self._ask({"do": "flush", "counts": counts})

    def finish(self, complete: bool, reason: str) -> str | None:
        """Close the files, complete or not; returns the first failure, if any."""
        broken = self._ask({"do": "close", "complete": complete, "reason": reason})
        wanted = {"do": "settle", "complete": complete and not broken, "reason": broken or reason}
        return self._first(broken, self._ask_root(wanted))

    def close(self) -> None:
        """End this rank's process, if it has one."""
        if self._process:
            self._process.close()
            self._process = None

    def _ask(self, request: dict[str, Any], of_this: bool = True) -> str | None:
        refused = None
        if self._process and of_this:
            try:
                self._process.ask(request)
            except (ModelError, RunFailed) as error:
                refused = str(error)
        return self._first(refused)

    def _ask_root(self, request: dict[str, Any]) -> str | None:
        return self._ask(request, self._ranks.rank == 0)

    def _first(self, *own: str | None) -> str | None:
        """The message of the lowest rank that has one."""
        message = next(filter(None, own), None)
        return next(filter(None, self._ranks.everywhere(message)), None)


@contextlib.contextmanager
def started_ahead(model: Model, ranks: Alone) -> Iterator[WriterProcess | None]:
    """The process that will write this host's fields, for the first of its ranks: it starts while the model is set up.

    None where no monitor has a file, on other ranks, and where it cannot be started, which `Writers.start` says.
    """
    wanted = any(getattr(monitor, "file", None) for monitor in model.monitors)
    process = None
    if wanted and ranks.hosts.index(ranks.hosts[ranks.rank]) == ranks.rank:
        with contextlib.suppress(OSError):
            process = WriterProcess()
    try:
        yield process
    finally:
        if process:
            process.close()


def boxes(regions: Mapping[str, Sequence[int]], parts: Sequence[Sequence[Piece]]) -> list[list[Boxes]]:
    """The boxes of regions of these shapes in the files of each rank; the first holds regions that are zero throughout.

    A rank has one file, or several where its samples appear at several places (`images`).
    """
    files: list[list[dict[str, Any]]] = []
    for part in parts:
        columns = [[(piece["component"], tuple(box)) for box in piece["boxes"]] for piece in part]
        files.append([dict(filter(None, row)) for row in zip_longest(*columns)])
    for name, whole in regions.items():
        if not any(name in box for each in files for box in each):
            files[0][0][name] = (0, 0, 0), tuple(whole)
    return [[*each] for each in files]
