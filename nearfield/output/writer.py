"""The process beside a solver that writes its snapshots: empties rings of shared memory into field files.

    python -m nearfield.output.writer            requests come as lines of JSON on its input

    {"do": "open", "tasks": [...],               one task a file, with the rings of the ranks that feed it, and the
     "processors": [2, 3], "threads": 2}         processors that it may use, and how many are free for each file
    {"do": "join", "files": [...]}               files that join the parts which the writers of all hosts have opened
    {"do": "flush", "counts": {"cut": 40}}       answered when so many snapshots are committed
    {"do": "close", "complete": true}            answered when all files are closed
    {"do": "settle", "complete": true}           once the writers of all hosts have closed theirs: end the joining files

    {"written": 40}                              said without request: a sign of life

Each file has a thread. It waits for a snapshot's pieces from all ranks of its host, puts them together and writes them;
the codec's threads compress. A disk that refuses is reported once, and later snapshots are dropped, so that the solver
never waits for it. When the input ends the solver is dead: open files are closed as interrupted.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from nearfield import stream
from nearfield.entry.errors import NearfieldError
from nearfield.entry.triples import Triple, triple
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.files import FieldFile
from nearfield.formats.layout import JoinedFile, PartFiles, boxes_from
from nearfield.formats.opening import open_field_file
from nearfield.formats.pieced import Pieced
from nearfield.machine.interruption import FOR_THE_RUN
from nearfield.output.element_file import ElementFile
from nearfield.output.sent_pieces import Pieces
from nearfield.records.records import HALF, Variable

COMMIT_EVERY = 1.0  # s, least time between two commits that nobody requested
LOOK_EVERY = 0.2  # s between looks at requests while no snapshot comes
DIED = "the solver ended without closing it"


class FileThread(threading.Thread):
    """Receives the snapshots of one file and writes them."""

    def __init__(self, task: dict[str, Any], compressors: int) -> None:
        super().__init__(daemon=True)
        self.task, self.written, self.failure = task, task["keep"] or 0, ""
        self.ended = ""  # how the rings ended
        self.committed = threading.Condition()
        self.reported = 0.0  # when it last said that it goes on
        self.settled = task["keep"] or 0  # snapshots that the disk has
        self.wanted = 0  # snapshots to be settled as soon as they are there
        for piece in (piece for part in task["parts"] for piece in part["pieces"]):
            piece["cut"], piece["open"] = np.array(piece["cut"]), np.array(piece["open"], dtype=task["dtype"])
        self._positions = {n: Variable((n,), np.array(v), {"units": "m"}) for n, v in task["positions"].items()}
        self.readers = [stream.attach(part["ring"]) for part in task["parts"]]
        description = FieldDescription.from_json(task["description"])
        self.file: FieldFile | PartFiles | ElementFile
        if task.get("analysis"):
            self.file = ElementFile(task, compressors)
        elif task["domains"] is None:
            self.file = open_field_file(task["path"], description, compressors, task["keep"])
        else:
            domains = [boxes_from(each) for each in task["domains"]]
            self.file = PartFiles(task["path"], description, domains, compressors, task["keep"], task["here"])

    def run(self) -> None:
        last = -COMMIT_EVERY  # the first snapshot at once
        while not self.ended:
            blocks = self._received()
            try:
                if blocks and not self.failure:
                    self._write(blocks)
                if not self.failure and (self._is_wanted() or self._is_due(last)):
                    self._commit()
                    last = time.monotonic()
            except Exception as error:  # whatever it is: the rings must be emptied, or the solver waits for ever
                self.failure = said(error)
                report({"failed": self.failure})
                self._notify()
            for block in blocks:
                block.release()
            if blocks:
                self._report_progress()
        for reader in self.readers:
            reader.close()

    def _received(self) -> list[stream.Block]:
        """The pieces of the next snapshot from all ranks; an empty list while none comes."""
        blocks: list[stream.Block] = []
        try:
            for reader in self.readers:
                while True:
                    try:
                        blocks.append(reader.receive(LOOK_EVERY))
                        break
                    except stream.TimedOut:
                        if not blocks:
                            return []
        except stream.EndOfStream:
            self.ended = "closed"
        except stream.StreamError:
            self.ended = DIED
        if self.ended:
            for block in blocks:  # some ranks sent a snapshot that others did not
                block.release()
            return []
        return blocks

    def _write(self, blocks: list[stream.Block]) -> None:
        number, pieces = self.written, Pieces(self.task, blocks)
        times = {"time" + HALF * half: column[number] for half, column in enumerate(self.task["times"])}
        averaged = pieces.averaged(self._positions, times) if self.task["averaged"] else None
        self.written += 1
        if isinstance(self.file, ElementFile):
            self.file.take(averaged or {}, self._positions, times)
            return
        for name, component in self.file.description.components.items():
            for offset, values in self._boxes(pieces, name, averaged):
                moment = self.task["steps"][number], times[component.dims[0]]
                self.file.write(Block(name, number, *moment, values, offset))

    def _boxes(
        self, pieces: Pieces, name: str, averaged: dict[str, np.ndarray] | None
    ) -> Iterator[tuple[Triple, np.ndarray | Pieced]]:
        """Offset and values of the boxes of a component: one by one for the files of domains, else the whole."""
        if self.task["domains"] is None:
            every, values = self.task["sample_every"], averaged[name] if averaged else pieces.whole(name)
            yield (0, 0, 0), values if every == 1 else np.asarray(values)[::every, ::every, ::every]
            return
        for box in self.task["boxes"]:
            if name in box:
                yield triple(box[name][0]), pieces.box(name, *box[name])

    def _is_wanted(self) -> bool:
        return self.wanted > self.settled and self.written >= self.wanted

    def _is_due(self, last: float) -> bool:
        return self.written > self.file.committed and time.monotonic() - last > COMMIT_EVERY

    def _commit(self) -> None:
        wanted = self._is_wanted()
        self.file.flush()
        if wanted:  # for a checkpoint, which is on the disk when it has its name
            self._report_progress()
            self.file.settle()
            self.settled = self.file.committed
            self._report_progress()
        self._notify()

    def _report_progress(self) -> None:
        if time.monotonic() - self.reported > LOOK_EVERY:
            self.reported = time.monotonic()
            report({"written": self.written})

    def _notify(self) -> None:
        with self.committed:
            self.committed.notify_all()

    def commit_up_to(self, count: int) -> None:
        """Return when so many snapshots are in the file and on the disk, or the file has failed or ended."""
        self.wanted = count
        with self.committed:
            self.committed.wait_for(lambda: self.settled >= count or self.failure or not self.is_alive())

    def finish(self, complete: bool, reason: str) -> None:
        """Once the rings have ended: close the file."""
        self.join()
        if self.failure:
            return
        if self.ended != "closed":
            complete, reason = False, DIED
        self.file.close(complete, reason)


class Files:
    """All files that are open."""

    def __init__(self) -> None:
        self.threads: list[FileThread] = []
        self.joined: list[JoinedFile] = []

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out a request. Error: `NearfieldError` if that cannot be done."""
        wanted = request["do"]
        if wanted == "open":
            self._open(request["tasks"], request["processors"], request["threads"])
        elif wanted == "join":
            for file in request["files"]:
                description = FieldDescription.from_json(file["description"])
                domains = [boxes_from(each) for each in file["domains"]]
                self.joined.append(JoinedFile(file["path"], description, domains))
        elif wanted == "flush":
            for thread in self.threads:
                thread.commit_up_to(request["counts"][thread.task["name"]])
        else:
            end = self.close if wanted == "close" else self.settle
            end(request["complete"], request["reason"] or "the run was broken off")
        return {"done": wanted}

    def _open(self, tasks: list[dict[str, Any]], processors: list[int], threads: int) -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, processors)  # of this thread, and of those that it starts
        opened: list[FileThread] = []
        with contextlib.ExitStack() as broken:
            for task in tasks:
                opened.append(FileThread(task, threads))
                broken.callback(opened[-1].file.close, False, "another file could not be opened")
            broken.pop_all()
        for thread in opened:
            thread.start()
        self.threads = opened

    def close(self, complete: bool, reason: str) -> None:
        """Close all files but those that join them."""
        threads, self.threads = self.threads, []
        for thread in threads:
            with reported():
                thread.finish(complete, reason)

    def settle(self, complete: bool, reason: str) -> None:
        """Close the files that join others."""
        joined, self.joined = self.joined, []
        for file in joined:
            with reported():
                file.close(complete, reason)


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Report an error to the solver instead of raising it."""
    try:
        yield
    except Exception as error:
        report({"failed": said(error)})


def said(error: Exception) -> str:
    """What an error says; of one that nobody foresaw, what it is."""
    if isinstance(error, NearfieldError | OSError):
        return str(error)
    if isinstance(error, MemoryError):
        return "the process that writes the fields has not enough memory; record a smaller box or fewer snapshots"
    return f"internal error in the process that writes the fields, {type(error).__name__}: {error}. Please report it"


report_lock = threading.Lock()


def report(message: dict[str, Any]) -> None:
    """Send a line of JSON to the solver, if it is alive."""
    with report_lock, contextlib.suppress(OSError):
        print(json.dumps(message), flush=True)


def main() -> None:
    """Serve until the input ends. Signals of a terminal or a batch system are for the solver."""
    for number in FOR_THE_RUN:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FOR_THE_RUN)
    files = Files()
    for line in sys.stdin:
        try:
            answer = files.answer(json.loads(line))
        except Exception as error:
            answer = {"refused": said(error)}
        report(answer)
    files.close(False, DIED)
    files.settle(False, DIED)
    os._exit(0)  # the solver waits for this, and has nothing of what Python and HDF5 do at their ends


if __name__ == "__main__":
    main()
