"""What an attacker from outside does: kills at any moment, damaged files, full disks, stopped processes.

    python tests/faults/harness.py [--scale 1] [--seed 1] [--output FILE]     figures as JSON, into FILE too
    python tests/faults/harness.py --page                                      the table of docs/reliability.md again

Every trial holds or does not; nothing is fitted. Trials that this machine cannot make are counted as skipped, with why.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE.parent)]

from checkpointed import killed_after, rich, run_on, tiny  # noqa: E402
from whole_runs import arrays  # noqa: E402

import nearfield as nf  # noqa: E402
from benchmarks.machine import commit, machine  # noqa: E402
from nearfield.formats import open_fields  # noqa: E402
from nearfield.run.checkpoint.folder import checkpoints  # noqa: E402

RECORDED = ROOT / "benchmarks" / "results" / "faults.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- below: written from benchmarks/results/faults.json by tests/faults/harness.py -->", "<!-- end -->"
MM = 1e-3
STEPS = {"steps": 400, "decay": None, "duration": None}


@dataclass
class Tally:
    """How often a promise held in its trials; `skipped` says why there are none."""

    promise: str
    trials: int = 0
    held: int = 0
    broken: list[str] = field(default_factory=list)
    skipped: str = ""

    def add(self, holds: bool, what: str) -> None:
        self.trials += 1
        self.held += holds
        if not holds:
            self.broken.append(what)


def field_file() -> nf.Simulation:
    """A run that streams its volume."""
    cut = nf.Snapshot("cut", (0, 0, 0), (4 * MM,) * 3, every=3, file=nf.FieldFile())
    return tiny(**STEPS_OF_TINY).model_copy(update={"monitors": (cut, nf.Probe("tip", (2.2 * MM,) * 3))})


STEPS_OF_TINY = {"steps": 800}
MODELS: dict[str, Callable[[], nf.Simulation]] = {
    "poles, circuit, sums": lambda: rich(**STEPS),
    "two excitations": lambda: rich(**STEPS | {"steps": 200}),
    "one excitation": lambda: rich(**STEPS, excitations=("sources",)),
    "double precision": lambda: rich(**STEPS | {"steps": 200}, precision="double"),
    "stepwise": lambda: rich(**STEPS | {"steps": 200}, schedule="stepwise"),
    "decay": lambda: rich(),
    "closed box": lambda: tiny(**STEPS_OF_TINY),
    "field file": field_file,
}


def kills(folder: Path, count: int, draw: random.Random) -> Tally:
    """Kill a run `count` times at any moment, each time going on in other domains and threads; then to its end."""
    found = Tally("killed at any moment and gone on with, in other domains and threads: every number the same")
    for name, model in MODELS.items():
        place, simulation = folder / name, model()
        simulation.run(output=place / "whole" / "result.h5", threads=1)
        killed = tries = 0
        while killed < count and tries < 4 * count:
            tries += 1
            killed += killed_after(draw.uniform(0.02, 0.4), lambda: run_on(simulation, place / "out", draw))  # noqa: B023
            draw.random()
        run_on(simulation, place / "out", draw)
        same = arrays(place / "out" / "result.h5") == arrays(place / "whole" / "result.h5")
        for number in range(killed):
            found.add(same, f"{name}, kill {number}")
    return found


def ranks(folder: Path, count: int, draw: random.Random) -> Tally:
    """Stop a run by SIGTERM with a checkpoint, and go on with it on two ranks."""
    found = Tally("stopped by SIGTERM and gone on with on two ranks: every number the same")
    if shutil.which("mpiexec") is None:
        found.skipped = "no mpiexec on PATH"
        return found
    simulation = rich(**STEPS | {"steps": 600}, excitations=("sources",))
    simulation.run(output=folder / "whole" / "result.h5", threads=1)
    for number in range(count):
        out, model = folder / f"{number}", folder / "model.toml"
        model.write_text(simulation.to_toml())
        code = stopped_by(signal.SIGTERM, [str(model), "--output", str(out)], out, draw)
        again = command(["--resume", str(out), "--ranks", "2"]) if code == 75 else code
        same = again == 0 and arrays(out / "result.h5") == arrays(folder / "whole" / "result.h5")
        found.add(same, f"run {number}: exit codes {code} and {again}")
    return found


def command(arguments: list[str]) -> int:
    """Exit code of `nearfield run`."""
    line = [sys.executable, "-m", "nearfield", "run", *arguments, "--no-report", "--threads", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(line, env=environment, capture_output=True, timeout=300, check=False).returncode


def stopped_by(number: int, arguments: list[str], out: Path, draw: random.Random, revive: bool = False) -> int:
    """Exit code of a run with checkpoints that a signal meets among its steps; `revive`: SIGCONT follows."""
    line = [sys.executable, "-m", "nearfield", "run", *arguments, "--checkpoint", "20 steps", "--no-report"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    unheard = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen([*line, "--threads", "1"], env=environment, **unheard) as on:
        end = time.monotonic() + 60
        while not checkpoints(out) and on.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.05))
        on.send_signal(number)
        if revive:
            time.sleep(draw.uniform(0.1, 0.4))
            on.send_signal(signal.SIGCONT)
        return on.wait(timeout=300)


def stopped(folder: Path, count: int, draw: random.Random) -> Tally:
    """Stop a process among its steps, and let it go on."""
    found = Tally("a process stopped (SIGSTOP) and continued: every number the same")
    simulation, model = rich(**STEPS, excitations=("sources",)), folder / "model.toml"
    simulation.run(output=folder / "whole" / "result.h5", threads=1)
    model.write_text(simulation.to_toml())
    for number in range(count):
        out = folder / f"{number}"
        code = stopped_by(signal.SIGSTOP, [str(model), "--output", str(out)], out, draw, revive=True)
        same = code == 0 and arrays(out / "result.h5") == arrays(folder / "whole" / "result.h5")
        found.add(same, f"run {number}: exit code {code}")
    return found


def everything(path: Path) -> None:
    """Read every number of a result."""
    result = nf.open_result(path)
    for run in result.record.excitations.values():
        monitors = [each.variables for each in run.monitors.values()]
        for group in (run.energy, run.waveform or {}, *run.ports.values(), *monitors):
            for variable in group.values():
                variable.array  # noqa: B018
    for variable in (result.record.sparameters or {}).values():
        variable.array  # noqa: B018


def flipped(content: bytes, draw: random.Random) -> bytes:
    """One bit changed, eight bytes overwritten, or the end cut off: never what it was."""
    changed, at = bytearray(content), draw.randrange(len(content))
    way = draw.randrange(3)
    if way == 2:
        return bytes(changed[:at])
    changed[at : at + 8 * way] = bytes(255 - byte for byte in changed[at : at + 8 * way])
    if way == 0:
        changed[at] ^= 1 << draw.randrange(8)
    return bytes(changed)


def damaged_results(folder: Path, count: int, draw: random.Random) -> Tally:
    """Damage a result anywhere."""
    found = Tally("a damaged `result.h5` is refused: no changed number is shown, nothing hangs")
    rich(**STEPS | {"steps": 60}).run(output=folder / "result.h5", threads=1)
    whole, path = (folder / "result.h5").read_bytes(), folder / "damaged.h5"
    for number in range(count):
        path.unlink(missing_ok=True)
        path.write_bytes(flipped(whole, draw))
        try:
            everything(path)
            found.add(False, f"file {number} was read")
        except nf.ModelError:
            found.add(True, "")
    return found


def damaged_field_files(folder: Path, count: int, draw: random.Random) -> Tally:
    """Damage a field file of any format anywhere: it is refused, or the damage lies where no number is."""
    found = Tally("a damaged field file is refused, or every number of it is the one that was written; nothing hangs")
    for kind, codec in (("hdf5", "none"), ("hdf5", "zlib"), ("binary", "none"), ("ascii", "none")):
        file = nf.FieldFile(format=kind, codec=codec)
        cut = nf.Snapshot("cut", (0, 0, 0), (4 * MM,) * 3, every=100, file=file)
        tiny(**STEPS_OF_TINY).replace(monitors=[cut]).run(output=folder / f"{kind}-{codec}" / "result.h5", threads=1)
        path = next((folder / f"{kind}-{codec}" / "result-fields").iterdir())
        whole, wanted = path.read_bytes(), numbers_of(path)
        for number in range(count):
            path.write_bytes(flipped(whole, draw))
            try:
                found.add(numbers_of(path) == wanted, f"{kind}, {codec}, file {number}")
            except nf.ModelError:
                found.add(True, "")
    return found


def numbers_of(path: Path) -> dict[str, bytes]:
    """Every number of a field file, snapshots by their steps."""
    fields = open_fields(path)
    return {str(name): fields[name].values.tobytes() for name in (*fields.data_vars, *fields.coords)}


def damaged_checkpoints(folder: Path, count: int, draw: random.Random) -> Tally:
    """Damage the newest checkpoint of a run anywhere, and go on."""
    found = Tally("a damaged checkpoint is named, the one before it used: every number the same")
    tiny(60).run(output=folder / "out" / "result.h5", checkpoint="every 20 steps", threads=1)
    wanted = arrays(folder / "out" / "result.h5")
    for number in range(count):
        place = folder / f"{number}"
        shutil.copytree(folder / "out", place)
        path = draw.choice(sorted(checkpoints(place)[0].iterdir()))
        path.write_bytes(flipped(path.read_bytes(), draw))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            nf.resume(place, threads=1)
        named = sum("is damaged" in str(each.message) for each in said) == 1
        found.add(named and arrays(place / "result.h5") == wanted, f"{path.name} of checkpoint {number}")
        shutil.rmtree(place)
    return found


@contextlib.contextmanager
def disk(folder: Path, options: str) -> Iterator[bool]:
    """A small disk in memory; False where there is no right to mount one."""
    folder.mkdir(parents=True)
    line = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(line, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def full_disks(folder: Path, count: int, draw: random.Random) -> Tally:
    """Run onto disks of too few bytes, or of too few files."""
    found = Tally("on a disk that fills up (bytes or files) a run ends with 0, 2 or 4, and what it leaves is whole")
    simulation = rich(**STEPS | {"steps": 120})
    simulation.run(output=folder / "whole" / "result.h5", threads=1)
    (folder / "model.toml").write_text(simulation.to_toml())
    for number in range(count):
        options = f"size={draw.randrange(8, 4000, 4)}k" if number % 3 else f"size=64m,nr_inodes={draw.randrange(2, 14)}"
        with disk(folder / f"{number}", options) as mounted:
            if not mounted:
                found.skipped = "no right to mount a disk"
                return found
            out = folder / f"{number}" / "out"
            code = command([str(folder / "model.toml"), "--output", str(out), "--checkpoint", "40 steps"])
            result = out / "result.h5"
            try:
                whole = not result.exists() or (everything(result) or True)
            except nf.ModelError:
                whole = False
            same = code != 0 or arrays(result) == arrays(folder / "whole" / "result.h5")
            found.add(code in (0, 2, 4) and whole and same, f"{options}: exit code {code}, result whole: {whole}")
    return found


TRIALS = {  # of each: how many at scale 1
    kills: 4,
    ranks: 3,
    stopped: 4,
    damaged_results: 100,
    damaged_field_files: 25,  # of each of four kinds
    damaged_checkpoints: 20,
    full_disks: 9,
}


def trials(scale: float, seed: int) -> dict[str, dict]:
    """All trials, in a folder of their own."""
    with tempfile.TemporaryDirectory() as base, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {}
        for trial, count in TRIALS.items():
            folder = Path(base) / trial.__name__
            folder.mkdir()
            tally = trial(folder, max(1, round(scale * count)), random.Random(f"{trial.__name__} {seed}"))
            remark = tally.skipped or tally.broken[:3] or ""
            print(f"{tally.held} of {tally.trials}: {tally.promise} {remark}", file=sys.stderr, flush=True)
            found[trial.__name__] = asdict(tally)
    return found


def table(found: dict) -> str:
    """The figures as the page has them."""
    rows = [f"| {each['promise']} | {each['held']} of {each['trials']} |" for each in found["trials"].values()]
    return "\n".join(["| promise | held |", "|---|---|", *rows])


def page_with(found: dict) -> str:
    """The page with the table of these figures."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    lead = f"Commit {found['commit']}, seed {found['seed']}: `{found['command']}`, also run by `make nightly`."
    return f"{before}{BEGIN}\n\n{lead}\n\n{table(found)}\n\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Make the trials; exit code 1 where a promise did not hold."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--scale", type=float, default=1.0)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--output", type=Path)
    given.add_argument("--page", action="store_true")
    options = given.parse_args()
    if options.page:
        PAGE.write_text(page_with(json.loads(RECORDED.read_text())), encoding="utf-8")
        return 0
    line = f"python tests/faults/harness.py --scale {options.scale:g} --seed {options.seed}"
    facts = {"command": line, "commit": commit(), "machine": machine(), "seed": options.seed}
    found = facts | {"trials": trials(options.scale, options.seed)}
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(each["held"] < each["trials"] for each in found["trials"].values()))


if __name__ == "__main__":
    sys.exit(main())
