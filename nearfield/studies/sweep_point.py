"""One run of a sweep, kept in a folder named after the content of its model, in a process of its own.

    python -m nearfield.studies.sweep_point FOLDER THREADS SHARE

A run that the system ends for its memory, or that crashes, takes no other with it; and a worker of MPI or Dask, whose
process belongs to a launcher, runs no part of a run on several ranks by mistake.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import nearfield
from nearfield.entry.errors import DivergedError, ModelError, NearfieldError, NoRoom
from nearfield.entry.whole_file import is_full, reason_of, write_whole
from nearfield.machine.topology import available_threads
from nearfield.machine.transport import SIZES
from nearfield.parallel.launch import end_with_parent

MODEL, RESULT, FAILURE = "model.toml", "result.h5", "failure.json"
FINAL = ("diverged",)  # ends of a run that would be the same again
FULL = "full"  # how a run ends for which the disk has no room
NO_ROOM = os.EX_CANTCREAT  # exit code of the process of such a run
_running: set[subprocess.Popen[str]] = set()
_guard = threading.Lock()
_stopped = threading.Event()  # a sweep was asked to end: a run whose process starts after that is ended too


def folder_of(runs: Path, text: str) -> Path:
    """Where the run of a model is kept: its name is the checksum of the model and of this version."""
    return runs / hashlib.sha256(f"{nearfield.__version__}\n{text}".encode()).hexdigest()[:24]


def kept(folder: Path) -> dict[str, Any] | None:
    """How the run of a folder ended, "done" or why not; None where it is to be made."""
    from nearfield.records.hdf5 import read_record

    failure = failed(folder)
    if failure:
        return failure if failure.get("status") in FINAL else None
    try:
        done = (folder / RESULT).is_file() and read_record(folder / RESULT).status == "done"
    except ModelError:
        done = False
    return {"status": "done", "message": ""} if done else None


def failed(folder: Path) -> dict[str, Any]:
    """The note that a run left which ended in an error; empty without one."""
    try:
        return dict(json.loads((folder / FAILURE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def run_kept(text: str, folder: str, threads: int | None, share: int) -> dict[str, Any]:
    """Make the run of a model in its folder, in a process of its own, and say how it ended.

    threads: of the run; None: the cores that this process may use, over `share` runs that go on beside each other.
    """
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name in (RESULT, FAILURE):
            (home / name).unlink(missing_ok=True)
        write_whole(home / MODEL, text)
    except OSError as error:
        return {"status": FULL if is_full(error) else "failed", "message": f"{home}: {reason_of(error)}"}
    command = [sys.executable, "-m", "nearfield.studies.sweep_point", folder, str(threads or 0), str(share)]
    environment = {name: value for name, value in os.environ.items() if name not in SIZES}
    paths = [str(Path(nearfield.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    own: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, preexec_fn=end_with_parent, **own) as process:
        with _guard:
            _running.add(process)
            if _stopped.is_set():
                process.terminate()
        try:
            complaint = process.communicate()[1]
        finally:
            with _guard:
                _running.discard(process)
    if found := failed(home) or kept(home):
        return found
    last = complaint.strip().rpartition("\n")[2]
    if process.returncode == NO_ROOM:
        return {"status": FULL, "message": last}
    ended = f"was ended by signal {-process.returncode}" if process.returncode < 0 else "failed"
    return {"status": "failed", "message": f"the process of the run {ended}{f': {last}' if last else ''}"}


def allow_runs() -> None:
    """Let runs of later sweeps start, once none of those that `end_all` was for is about to."""
    _stopped.clear()


def end_all() -> None:
    """Ask the runs that go on in processes of this one to end, and those whose process is about to start."""
    with _guard:
        _stopped.set()
        for process in _running:
            process.terminate()


def make_run(folder: Path, threads: int | None, share: int) -> int:
    """Make the run of the model in a folder; what would fail again the same way leaves a note. The exit code."""
    from nearfield.model_file import loads
    from nearfield.parallel.start import Parallel

    text = (folder / MODEL).read_text(encoding="utf-8")
    spread = Parallel(bind="none") if share > 1 else None  # else all neighbours would sit on the same cores
    threads = threads or max(1, available_threads() // share)
    try:
        loads(text, name=str(folder / MODEL)).run(threads=threads, output=folder / RESULT, parallel=spread)
    except NearfieldError as error:
        status = {DivergedError: "diverged", ModelError: "refused"}.get(type(error), "failed")
        print(" ".join(str(error).split()), file=sys.stderr)
        if is_full(error) or isinstance(error, NoRoom):
            return NO_ROOM
        write_whole(folder / FAILURE, json.dumps({"status": status, "message": str(error)}))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(make_run(Path(sys.argv[1]), int(sys.argv[2]) or None, int(sys.argv[3])))
