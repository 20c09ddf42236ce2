"""`--ranks R`: the launcher's command, built here, printed, and run."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.machine.topology import topology
from nearfield.machine.transport import started

MOST_RANKS_A_CORE = 16  # more ranks only take memory, some 60 MB each
PR_SET_PDEATHSIG = 1  # an option of prctl(2)


def launcher() -> Path:
    """The `mpiexec` beside this Python, else the first on the path. Error: there is none."""
    beside = Path(sys.prefix) / "bin" / "mpiexec"
    found = beside if beside.exists() else shutil.which("mpiexec")
    if not found:
        raise ModelError(
            "several ranks need MPI, and there is no mpiexec here; install one (`pip install mpich mpi4py`, or the "
            "system's), or leave --ranks out: one process uses all cores of this machine"
        )
    return Path(found)


def command(
    ranks: int, arguments: list[str], mpiexec: Path, module: str = "nearfield"
) -> tuple[list[str], dict[str, str]]:
    """The command that starts so many ranks of a module on this machine, and the environment variables it needs.

    Ranks bind themselves, so that the launcher must not; Open MPI refuses root and more ranks than cores unless told.
    """
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    own = [sys.executable, "-m", module, *arguments]
    if "OpenRTE" in version or "Open MPI" in version:
        allowed = [f"{kind}_ALLOW_RUN_AS_ROOT{more}" for kind in ("OMPI", "PRTE") for more in ("", "_CONFIRM")]
        line = [str(mpiexec), "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *own]
        return line, dict.fromkeys(allowed, "1")
    return [str(mpiexec), "-n", str(ranks), *own], {}


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
            launched.send_signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)

        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        handlers = {n: signal.signal(n, pass_on) for n in signals if signal.getsignal(n) != signal.SIG_IGN}
        try:
            code: int = launched.wait()
        finally:
            for handled, handler in handlers.items():
                signal.signal(handled, handler)
    if code in (0, 1, 2, 3, 4, 75, 130):
        return code
    number = -code if code < 0 else code - 128 if code > 128 else code
    ended = f"was ended by signal {number}" if number in set(signal.Signals) else f"failed (exit code {code})"
    print(
        f"error: one of the {ranks} ranks, or their launcher, {ended}; the launcher ended all others. "
        "Results of excitations that were done are kept",
        file=sys.stderr,
    )
    return 4
