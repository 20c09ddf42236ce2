"""This checkout against another one: the same bits, the same results, and whether either is faster.

    .venv/bin/python benchmarks/two_builds.py --other ../before --cells 200 --steps 100 --pairs 7

`--other` is a checkout of another commit in which `make setup` was run. Compared are checksums of the empty box over
walls, precisions, schedules, threads, domains and ranks; every dataset of the results of validation cases; a run that
the other build began and this one resumes; rates of the box, and the times of an import and of the command line, taken
in turn. `--parts` names some of these. Exit code 1 where bits differ; a time decides nothing.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from machine import ROOT
from paired import in_turn, parser, spread, write

PARTS = ("bits", "results", "resume", "rates", "start")
CASES = ("patch_antenna", "half_wave_dipole", "coax", "low_pass_filter", "thin_wire", "radiated_power")
LAYOUTS = (  # options that must not change a bit
    ("--threads", "1"),
    ("--threads", "2"),
    ("--threads", "1", "--schedule", "stepwise"),
    ("--threads", "2", "--schedule", "stepwise"),
    ("--threads", "2", "--domains", "2"),
    ("--threads", "2", "--domains", "3"),
    ("--threads", "1", "--ranks", "2"),
    ("--threads", "1", "--ranks", "2", "--domains", "2x1x1", "--halo-depth", "4"),
)
SAVES_RESULTS = """
import itertools, runpy, sys
from nearfield.simulation import Simulation
numbers, original = itertools.count(), Simulation.run
def run(self, *given, **named):
    result = original(self, *given, **named)
    result.save(f"{sys.argv[2]}/{next(numbers)}.h5")
    return result
Simulation.run = run
runpy.run_module(f"validation.{sys.argv[1]}.run", run_name="__main__", alter_sys=True)
"""


def python(checkout: Path, *words: str, cwd: Path | None = None, codes: tuple[int, ...] = (0,)) -> str:
    """Standard output of the checkout's interpreter. Error: another exit code."""
    line = [str(checkout / ".venv" / "bin" / "python"), *words]
    done = subprocess.run(line, cwd=cwd or checkout, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(line)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def bench(checkout: Path, *options: str) -> dict[str, Any]:
    """What `nearfield bench box` says."""
    return json.loads(python(checkout, "-m", "nearfield", "bench", "box", "--json", *options))


def bits(here: Path, other: Path) -> dict[str, Any]:
    """Checksums by walls and precision; `equal`: one for all layouts of both builds."""
    found = {}
    for boundary, precision in itertools.product(("pec", "cpml"), ("single", "double")):
        size = ("--cells", "48", "--steps", "40", "--boundary", boundary, "--precision", precision)
        sums = {bench(build, *size, *layout)["checksum"] for build in (other, here) for layout in LAYOUTS}
        found[f"{boundary}, {precision}"] = {"equal": len(sums) == 1, "checksums": sorted(map(str, sums))}
        print(f"{boundary}, {precision}: {'equal' if len(sums) == 1 else 'NOT EQUAL'} in {len(LAYOUTS)} layouts")
    return found


def datasets(path: Path) -> dict[str, np.ndarray]:
    """Every dataset of a result file by its path."""
    found: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, each: found.update({name: each[()]}) if isinstance(each, h5py.Dataset) else None)
    return found


def differing(first: Path, second: Path) -> Iterator[str]:
    """Names of datasets that are not equal to the last bit in two files, or are in one of them alone; the times and
    the machine of a run, `facts`, count for nothing."""
    one, two = datasets(first), datasets(second)
    for name in sorted((one.keys() | two.keys()) - {"facts"}):
        if name not in one or name not in two or not same(np.asarray(one[name]), np.asarray(two[name])):
            yield name


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays are equal to the last bit; text is compared as such."""
    if first.dtype == object:
        return first.shape == second.shape and first.tolist() == second.tolist()
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def results(here: Path, other: Path) -> dict[str, Any]:
    """Datasets of all results of some validation cases, counted and compared."""
    found = {}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for build, name in ((other, "other"), (here, "here")):
                (Path(folder) / name).mkdir()
                python(build, "-c", SAVES_RESULTS, case, f"{folder}/{name}")
            files = sorted((Path(folder) / "other").glob("*.h5"))
            pairs = [(file, Path(folder, "here", file.name)) for file in files]
            wrong = [f"{file.name}: {name}" for file, twin in pairs for name in differing(file, twin)]
            count = sum(len(datasets(file)) for file in files)
        found[case] = {"files": len(files), "datasets": count, "differing": wrong}
        print(f"{case}: {count} datasets in {len(files)} results, {len(wrong)} differ")
    return found


def resumed(here: Path, other: Path) -> dict[str, Any]:
    """A run that the other build made with checkpoints, gone on with by this one from the newest of them."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out"
        python(other, "-m", "nearfield", "new", "patch", "--output", str(model))
        run = ("-m", "nearfield", "run", "--no-report", "--threads", "2")
        python(other, *run, str(model), "--output", str(out), "--checkpoint", "every 400 steps")
        whole = shutil.copy(out / "result.h5", Path(folder) / "whole.h5")
        (out / "result.h5").unlink()
        python(here, *run, "--resume", str(out))
        wrong = list(differing(Path(whole), out / "result.h5"))
        count = len(datasets(Path(whole)))
    print(f"a run of the other build, resumed: {count} datasets, {len(wrong)} differ")
    return {"datasets": count, "differing": wrong}


def rates(here: Path, other: Path, given: Any) -> dict[str, Any]:
    """Rates of the box (Mcells/s), this build (first) and the other (second) in turn."""
    found = {}
    for boundary in ("pec", "cpml"):
        options = ("--cells", str(given.cells), "--steps", str(given.steps), "--threads", str(given.threads))

        def rate(build: Path, options=(*options, "--boundary", boundary)) -> float:
            return float(bench(build, *options)["mcells_per_second"])

        found[boundary] = in_turn(given.pairs, lambda: rate(here), lambda: rate(other))
        print(f"{boundary}: rate of this build over the other's {spread(found[boundary])}")
    return found


def start(here: Path, other: Path, pairs: int) -> dict[str, Any]:
    """Seconds of an import of the package and of `nearfield --help`, in turn; `ratio`: this build over the other."""
    found = {}
    for name, words in (("import", ("-c", "import nearfield")), ("command line", ("-m", "nearfield", "--help"))):

        def seconds(build: Path, words=words) -> float:
            begun = time.perf_counter()
            python(build, *words)
            return 1000.0 * (time.perf_counter() - begun)

        found[name] = in_turn(pairs, lambda: seconds(here), lambda: seconds(other)) | {"unit": "ms"}
        print(f"{name}: time of this build over the other's {spread(found[name])}")
    return found


def main() -> int:
    asked = parser(__doc__, steps=100, pairs=7)
    asked.add_argument("--other", type=Path, required=True, help="the other checkout, built")
    asked.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    given = asked.parse_args()
    other, parts = given.other.resolve(), given.parts.split(",")
    found: dict[str, Any] = {}
    if "bits" in parts:
        found["bits"] = bits(ROOT, other)
    if "results" in parts:
        found["results"] = results(ROOT, other)
    if "resume" in parts:
        found["resume"] = resumed(ROOT, other)
    if "rates" in parts:
        found["rates"] = rates(ROOT, other, given)
    if "start" in parts:
        found["start"] = start(ROOT, other, given.pairs)
    asks = ["git", "-C", str(other), "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(asks, capture_output=True, text=True).stdout.strip()
    given.other = commit
    write("two-builds", given, **found)
    same = all(each["equal"] for each in found.get("bits", {}).values())
    same &= not any(each["differing"] for each in found.get("results", {}).values())
    return 0 if same and not found.get("resume", {}).get("differing") else 1


if __name__ == "__main__":
    sys.exit(main())
