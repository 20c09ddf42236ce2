"""The output sweep: every format, codec and mode over sizes and numbers of domains, rounds in turn, within a budget.

Each number of domains is a launch of its own (sweep_cases.py): as many ranks as domains where MPI is there, else one
process with so many domains. Small sizes go first. In the first round a size is left out, with all larger ones, if it
would end after its launch's share of the time; later rounds, while there is time, repeat what was kept.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.codecs import PLUGINS, Codec
from nearfield.machine.facts import measured_by
from nearfield.machine.topology import topology
from nearfield.measure.sweep_cases import FIELDS, PER_DOMAIN, SERVER, STEPS, WHOLE, Case
from nearfield.measure.workers import last_line
from nearfield.parallel.launch import MOST_RANKS_A_CORE, command, command_on, end_with_parent, launcher

FORMATS = ("ascii", "binary", "hdf5")
MODES = (SERVER, PER_DOMAIN, WHOLE)
MOST_SIZE = 1000  # points along an axis
LAUNCH = 60.0  # s, more than a launch takes to begin
SLACK = 1.25  # times the budget, that a last round may end at
LINGERS = 10.0  # s, at most, in which what was ended lets go of its files
LATE = 10.0  # times its share, after which a launch is ended
SIZES = ("raw_bytes", "bytes", "files", "predicted_bytes", "predicted_exact", "buffer_bytes")
NOTHING: dict[str, str] = {}
MODULE = "nearfield.measure.sweep_cases"


@dataclass(frozen=True)
class Sweep:
    """A sweep to measure. Errors, on construction: `ModelError` for what this machine does not have."""

    sizes: tuple[int, ...]
    domains: tuple[int, ...]
    formats: tuple[str, ...] = FORMATS
    codecs: tuple[str, ...] = ("zlib",)
    modes: tuple[str, ...] = (SERVER, PER_DOMAIN)
    rounds: int = 3
    seconds: float | None = None  # for all; None: as long as it takes
    fields: str = FIELDS[0]
    hosts: tuple[str, ...] = ()  # none: this machine

    def __post_init__(self) -> None:
        kinds = ("format", self.formats, FORMATS), ("mode", self.modes, MODES), ("fields", (self.fields,), FIELDS)
        for what, names, allowed in kinds:
            if unknown := [each for each in names if each not in allowed]:
                raise ModelError(f"{what} {unknown[0]!r} is unknown; allowed: {', '.join(allowed)}")
        for codec in self.codecs:
            Codec.parse(codec).refuse_missing()
        if not (self.sizes and 2 <= min(self.sizes) and max(self.sizes) <= MOST_SIZE):
            raise ModelError(f"sizes are 2 to {MOST_SIZE} points along each axis of a domain; give such as 30,40,50")
        most = MOST_RANKS_A_CORE * topology().cores
        if not (self.domains and 1 <= min(self.domains) and max(self.domains) <= most):
            raise ModelError(f"domains are 1 to {most} on this machine of {topology().cores} cores; give such as 1,2")
        if not self.cases(self.domains[0]):
            why = f"mode {WHOLE} is that of hdf5, and one domain has one file: add mode {SERVER}"
            given = f"format {', '.join(self.formats)} in mode {', '.join(self.modes)}"
            raise ModelError(f"nothing to measure: {given}; {why}")

    def cases(self, domains: int) -> list[Case]:
        """All cases of so many domains, small ones first. One domain has one file in either mode: `server`.

        With mode `whole`, HDF5 without a codec goes through a ring as well: the same file, to compare.
        """
        kinds = [(form, "none") for form in self.formats if form != "hdf5"]
        kinds += [("hdf5", str(Codec.parse(codec))) for codec in self.codecs if "hdf5" in self.formats]
        rings = kinds if ("hdf5", "none") in kinds or WHOLE not in self.modes else [*kinds, ("hdf5", "none")]
        apart = len(self.hosts_for(domains)) > 1  # every rank then has a file of its own, which is no text
        found = []
        for size in sorted(set(self.sizes)):
            for mode in self.modes:
                if mode == WHOLE:
                    found += [Case(size, domains, "hdf5", "none", mode, self.fields)] * ("hdf5" in self.formats)
                elif mode == SERVER and not apart:
                    found += [Case(size, domains, form, codec, mode, self.fields) for form, codec in rings]
                elif mode == PER_DOMAIN and domains > 1:
                    there = [kind for kind in (rings if apart else kinds) if not apart or kind[0] != "ascii"]
                    found += [Case(size, domains, form, codec, mode, self.fields) for form, codec in there]
        return found

    def hosts_for(self, domains: int) -> tuple[str, ...]:
        """As many of the hosts as share so many ranks evenly."""
        most = max((count for count in range(1, len(self.hosts) + 1) if domains % count == 0), default=0)
        return self.hosts[:most]


def installed_codecs() -> tuple[str, ...]:
    """zlib, and those that a package brings where it is there."""
    return ("zlib", *(PLUGINS if importlib.util.find_spec("hdf5plugin") else ()))


def has_mpi() -> bool:
    """Whether ranks can be started here."""
    if importlib.util.find_spec("mpi4py") is None:
        return False
    try:
        launcher()
    except ModelError:
        return False
    return True


def measure(sweep: Sweep, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run the sweep, its files in a folder within `folder` that is gone afterwards, however it ends.

    `cases`: a row each (`row`); `left_out`: what the budget or a refusal took, with the reason. A round that would end
    much later than the budget is left out as well: `rounds` are those made.
    """
    mpi, begun = has_mpi(), time.time()
    said: dict[Case, list[dict[str, Any]]] = {}
    made, latest = 0, 0.0
    with scratch(folder) as within:
        while made < sweep.rounds and not (made and time.time() + latest > begun + SLACK * (sweep.seconds or math.inf)):
            started = time.time()
            for domains in sorted(set(sweep.domains)):
                kept = [case for case in sweep.cases(domains) if not made or "compute" in said.get(case, [{}])[0]]
                until = deadline(sweep, domains, begun) if sweep.seconds and not made else None
                for line in launched(kept, within, until, mpi, sweep.hosts_for(domains)):
                    said.setdefault(Case(**line.pop("case")), []).append(line)
            made, latest = made + 1, time.time() - started
            tell(f"round {made} of {sweep.rounds} done, {time.time() - begun:.0f} s")
    rows = [row(case, each) for case, each in said.items() if "compute" in each[0]]
    return {
        **measured_by(),
        **{"fields": sweep.fields, "recorded_steps": STEPS, "rounds": made, "mpi": mpi, "hosts": len(sweep.hosts) or 1},
        **{"cases": rows, "left_out": reasons(sweep, said)},
        **{"seconds": time.time() - begun, "folder": str(folder.absolute())},
    }


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A folder within a folder, while it is needed; a writer that is just ending may hold it a moment longer."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="nearfield-bench-", dir=folder))
    except OSError as error:
        raise ModelError(f"{folder}: {error.strerror}; choose a folder that can be written with --output") from None
    try:
        yield place
    finally:
        end = time.monotonic() + LINGERS
        while place.exists() and time.monotonic() < end:
            shutil.rmtree(place, ignore_errors=True)
            time.sleep(0.05 * place.exists())


def deadline(sweep: Sweep, domains: int, begun: float) -> float:
    """Time at which the first round's launch of so many domains must end: shares by points; unused time goes on."""
    left = begun + (sweep.seconds or math.inf) / sweep.rounds - time.time()
    share = domains / sum(count for count in set(sweep.domains) if count >= domains)
    return time.time() + max(left, 0.0) * share


def launched(
    cases: Sequence[Case], folder: Path, until: float | None, mpi: bool, hosts: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """The lines that a launch prints. Errors: `RunFailed`, it broke down or did not end; `ModelError`, it refuses."""
    if not cases:
        return
    ranks = cases[0].domains if mpi else 1
    request = json.dumps({"cases": [asdict(case) for case in cases], "folder": str(folder), "until": until})
    line, environment = [sys.executable, "-m", MODULE, request], NOTHING
    if hosts:
        line, environment = command_on(hosts, ranks // len(hosts), [request], launcher(), MODULE)
    elif ranks > 1:
        line, environment = command(ranks, [request], launcher(), MODULE)
    count = 0
    with tempfile.TemporaryFile("w+") as complaint, start(line, os.environ | environment, complaint) as process:
        seconds = LAUNCH + LATE * (max(until - time.time(), 0.0) if until else 3600.0)
        watch = threading.Timer(seconds, end, [process])
        watch.daemon = True
        watch.start()
        try:
            for text in process.stdout or ():
                if text.startswith("{"):
                    found = json.loads(text)
                    if "error" in found:
                        raise ModelError(found["error"])
                    count += 1
                    yield found
            process.wait()
        finally:
            watch.cancel()
            end(process)
        if process.returncode or count < len(cases):
            complaint.seek(0)
            why = f"exit code {process.returncode}: {last_line(complaint.read()) or 'no output'}"
            raise RunFailed(f"{ranks} ranks made {count} of {len(cases)} cases, {why}")


def start(line: list[str], variables: dict[str, str], complaint: IO[str]) -> subprocess.Popen[str]:
    """A launch in a session of its own, which ends with this process."""
    own: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True, "preexec_fn": end_with_parent}
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=complaint, text=True, env=variables, **own)


def end(process: subprocess.Popen) -> None:
    """End a launch with all that it started, if it still runs."""
    if process.poll() is None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(10.0)


def row(case: Case, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A case's line: times (s) of ten steps as mean, spread and most over the rounds, and bytes."""
    said = [each for each in said if "compute" in each]
    timers = {name: over_rounds([max(each[name]) for each in said]) for name in ("compute", "communication", "stalled")}
    timers |= {name: over_rounds([each[name] for each in said]) for name in ("opening", "output", "elapsed")}
    size = {"points": case.points, "steps": case.steps, "ranks": said[0]["ranks"]}
    uneven = {"compute_spread_of_ranks": statistics.fmean(deviation(each["compute"]) for each in said)}
    return asdict(case) | size | timers | uneven | {name: said[0][name] for name in SIZES}


def over_rounds(values: Sequence[float]) -> dict[str, Any]:
    """Mean, spread (standard deviation over the mean) and most; all values."""
    return {"mean": statistics.fmean(values), "spread": deviation(values), "max": max(values), "values": list(values)}


def deviation(values: Sequence[float]) -> float:
    """Standard deviation over the mean; 0 of one value."""
    mean = statistics.fmean(values)
    return statistics.stdev(values) / mean if len(values) > 1 and mean > 0 else 0.0


def reasons(sweep: Sweep, said: dict[Case, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Sizes and domains that were not measured, and why; all formats of a size beyond the budget are one entry."""
    refused = [(case, each[0]["refused"]) for case, each in said.items() if "refused" in each[0]]
    names = ("size", "domains", "format", "codec", "mode")
    found = [{name: getattr(case, name) for name in names} | {"why": why} for case, why in refused]
    late = sorted({(case.size, case.domains) for case, each in said.items() if "left_out" in each[0]})
    why = f"beyond --seconds {math.inf if sweep.seconds is None else sweep.seconds:g}"
    return found + [{"size": size, "domains": domains, "why": why} for size, domains in late]
