"""The writers of a run: beside the ranks of each host one process, which writes what they send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.layout import Boxes
from nearfield.machine.hardware import this_machine
from nearfield.output.writer_process import WriterProcess
from nearfield.parallel.start import Started

Piece = dict[str, Any]  # what `images.piece_of` makes


class Writers:
    """Processes that write fields; the first rank of each host talks to the one there, rank 0's joins what all write.

    All ranks call the same methods in the same order (but `close`), and all hear what any of them says.
    """

    def __init__(self, started: Started) -> None:
        self._ranks = started.ranks
        hosts = self._ranks.hosts
        self.several = len(set(hosts)) > 1
        self.here = [rank for rank, host in enumerate(hosts) if host == hosts[self._ranks.rank]]
        self._leads = self.here[0] == self._ranks.rank
        used = self._ranks.everywhere([number for each in started.binding.processors for number in each])
        self._used = {number for rank in self.here for number in used[rank]}
        self._process: WriterProcess | None = None
        self._not_started: str | None = None

    def start(self) -> None:
        """Start the process of this host, and do not wait for it."""
        if self._leads and self._process is None:
            try:
                self._process = WriterProcess(spare_processors(self._used))
            except OSError as error:
                self._not_started = f"the process that writes the fields could not be started: {error}"

    def open(self, tasks: list[dict[str, Any]], joined: list[dict[str, Any]]) -> None:
        """Open the files of this host's tasks, then those that join the files of all. Error: `ModelError`."""
        refused = self._first(self._not_started) or self._ask({"do": "open", "tasks": tasks})
        refused = refused or (self._ask_root({"do": "join", "files": joined}) if joined else None)
        if refused:
            raise ModelError(refused)

    def failure(self) -> str | None:
        """What broke by itself, so far."""
        own = self._process.failure if self._process else None
        return self._first(own) if self._ranks.any(own is not None) else None

    def flush(self, counts: Mapping[str, int]) -> str | None:
        """Return when so many snapshots are in each file; what broke on the way."""
        return self._ask({"do": "flush", "counts": counts})

    def finish(self, complete: bool, reason: str) -> str | None:
        """Close the files, complete or not; what broke."""
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
        """What the lowest rank that has something to say says."""
        said = next(filter(None, own), None)
        return next(filter(None, self._ranks.everywhere(said)), None)


def spare_processors(used: set[int]) -> list[int]:
    """Processors of this host that no thread of a rank is bound to; all where there is none."""
    everything = set(this_machine().processors)
    return sorted(everything - used) or sorted(everything)


def boxes(regions: Mapping[str, Sequence[int]], parts: Sequence[Sequence[Piece]]) -> list[list[Boxes]]:
    """What the files of each rank hold of regions of these shapes; the first one has those that are zero throughout.

    A rank has one file, or several where what it sends appears at several places (`images`).
    """
    found: list[list[dict[str, Any]]] = []
    for part in parts:
        most = max((len(piece["boxes"]) for piece in part), default=0)
        found.append(
            [
                {piece["component"]: tuple(piece["boxes"][number]) for piece in part if number < len(piece["boxes"])}
                for number in range(most)
            ]
        )
    for name, whole in regions.items():
        if not any(name in box for each in found for box in each):
            found[0][0][name] = (0, 0, 0), tuple(whole)
    return found
