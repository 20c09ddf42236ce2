"""Shared memory of MPI jobs that were killed: each rank notes what its MPI made, and the next job removes what is left.

An MPI library keeps files in shared memory under names that tell nothing of their owner, and leaves them there when its
ranks are killed. Every rank of ours therefore keeps a note beside them, `nearfield-mpi.<user>.<...>`, with the names
and inodes of the files that it has mapped, and holds the system's lock on it. The system frees a lock when the process
dies, however it does and in whatever name space it was. So the files of a note that can be locked, and that no locked
note names, belong to nobody alive.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
MADE_BY_MPI = ("mpich_shm_", "vader_segment.", "sm_segment.", "osc_rdma.")  # beginnings of names: MPICH, Open MPI

Files = dict[str, int]  # inodes by name


def note_own(folder: Path = SHARED_MEMORY) -> Path | None:
    """Note what the MPI of this process has mapped, for as long as it lives; None where there is nothing to note."""
    mine = mapped(folder)
    if not mine:
        return None
    try:
        descriptor, name = tempfile.mkstemp(prefix=_prefix(), dir=folder)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, json.dumps(mine).encode())
    except OSError:  # shared memory is full, or has no locks: what is left then stays
        return None
    atexit.register(Path(name).unlink, missing_ok=True)
    return Path(name)


def mapped(folder: Path) -> Files:
    """The files of an MPI that this process has mapped from shared memory."""
    found: Files = {}
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split(maxsplit=5)
            path = Path(words[5].strip()) if len(words) == 6 else Path()
            if path.parent == folder and path.name.startswith(MADE_BY_MPI):
                found[path.name] = int(words[4])
    return found


def remove_left(folder: Path = SHARED_MEMORY) -> list[str]:
    """Remove what dead ranks of this user left; the names of the files of their MPI that are gone."""
    dead: list[tuple[Path, Files]] = []
    alive: set[tuple[str, int]] = set()
    with contextlib.ExitStack() as locks:
        for path in sorted(folder.glob(f"{_prefix()}*")):
            note = locks.enter_context(_note(path))
            if note is None:
                continue
            is_dead, files = note
            if is_dead:
                dead.append((path, files))
            else:
                alive |= set(files.items())
        gone = [
            name for _, files in dead for each in files.items() if each not in alive for name in _removed(folder, each)
        ]
        for path, _ in dead:
            path.unlink(missing_ok=True)
    return gone


@contextlib.contextmanager
def _note(path: Path) -> Iterator[tuple[bool, Files] | None]:
    """Whether the writer of a note is dead, and the files it names; it stays locked. None: it is no note of ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    try:
        entry = os.fstat(descriptor)
        ours = stat.S_ISREG(entry.st_mode) and entry.st_uid == os.getuid()
        yield _read(descriptor) if ours else None
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> tuple[bool, Files] | None:
    is_dead = True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        is_dead = False
    try:
        found = json.loads(os.pread(descriptor, 1 << 16, 0))
        files = {str(name): int(inode) for name, inode in found.items()}
    except (ValueError, TypeError, AttributeError):
        return (True, {}) if is_dead else None  # it died before it had written, or is about to write
    return is_dead, files


def _removed(folder: Path, file: tuple[str, int]) -> list[str]:
    """The name of a file that was removed: one that an MPI names so, of this user, and with this inode still."""
    name, inode = file
    path = folder / name
    with contextlib.suppress(OSError):
        entry = path.lstat()
        own = stat.S_ISREG(entry.st_mode) and entry.st_uid == os.getuid() and entry.st_ino == inode
        if own and name.startswith(MADE_BY_MPI) and path.name == name:
            path.unlink()
            return [name]
    return []


def _prefix() -> str:
    return f"nearfield-mpi.{os.getuid()}."
