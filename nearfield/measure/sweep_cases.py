"""One case of the output sweep, and the process that runs cases: a hollow box with a point source, recorded whole.

    python -m nearfield.measure.sweep_cases '{"cases": [...], "folder": "...", "until": null}'

Each rank is started like this; rank 0 prints a line of JSON for every case: n^3 points a domain, the domains in a row
along z, ten steps recorded at every point, as in the conference paper on output (docs/literature.md).
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield import Boundaries, FieldFile, Gaussian, Grid, Parallel, PointCurrent, Simulation, Snapshot
from nearfield.entry.errors import NearfieldError
from nearfield.machine.group_memory import free_memory
from nearfield.machine.transport import Alone, world

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.formats.sizes import PredictedSize

CELL = 1e-3  # m
STEPS = 10  # recorded at the end of a case
SERVER, PER_DOMAIN, WHOLE = "server", "file-per-domain", "whole"
FIELDS = ("filled", "early")
OF_DISK, OF_MEMORY = 0.5, 0.5  # a case takes at most these shares of free disk and memory
Spent = tuple[int, float, float]  # points of a domain; seconds of all its cases, of which output
MEMORY_A_POINT = 250  # bytes: fields 30 to 80, two snapshots in a ring, the writer's copies


@dataclass(frozen=True)
class Case:
    """One run. `fields` are those of the first ten steps (`early`), mostly zeros and symmetric, or of ten steps once
    waves have been everywhere (`filled`), from a source in each domain, off its middle.
    """

    size: int  # points of a domain along each axis
    domains: int
    format: Any  # of a `FieldFile`
    codec: str
    mode: str  # server: one file; file-per-domain; whole: kept in memory, then one file
    fields: str = "filled"

    @property
    def points(self) -> int:
        return self.size**3 * self.domains

    @property
    def steps(self) -> int:
        """Steps made; waves take 1.75 for the width of a cell, and no corner is further than 1.1 n from its source."""
        return STEPS + (2 * self.size if self.fields == "filled" else 0)

    def simulation(self, ranks: int) -> Simulation:
        """The box and what records it, for so many ranks."""
        n, parts = self.size, [(0.5, 0.5, 0.5)]
        if self.fields == "filled":  # a source off the middle of every domain, instead of one in the middle
            parts = [(0.37, 0.43, 0.31 + number) for number in range(self.domains)]
        nodes = [[int(part * n) * CELL for part in place] for place in parts]
        sources = [PointCurrent((x, y, z + CELL / 2), "z", Gaussian(30e9, delay=0.0)) for x, y, z in nodes]
        grid, walls = Grid.uniform(CELL, (n, n, n * self.domains)), Boundaries(all="pec")
        simulation = Simulation(grid=grid, boundaries=walls, steps=self.steps, sources=sources)
        return simulation.model_copy(update={"monitors": self.monitors(ranks, simulation)})

    def monitors(self, ranks: int, simulation: Simulation) -> tuple[Snapshot, ...]:
        """One of the whole box; one a domain where the ranks' own files cannot be had, as with text."""
        by_rank = self.mode == PER_DOMAIN and ranks == self.domains and self.format != "ascii"
        split = self.mode == PER_DOMAIN and not by_rank
        file = None if self.mode == WHOLE else FieldFile(format=self.format, codec=self.codec, per_domain=by_rank)
        when: dict[str, Any] = {"every": 1}
        if self.fields == "filled":
            step = simulation._setup().time_step
            when = {"times": [step * number for number in range(self.steps - STEPS + 1, self.steps + 1)]}
        side = self.size * CELL
        cuts = [number * side for number in (range(self.domains + 1) if split else (0, self.domains))]
        return tuple(
            Snapshot(f"record{number}", (0, 0, low), (side, side, high), file=file, **when)
            for number, (low, high) in enumerate(pairwise(cuts))
        )


def predicted(setup: Discretization) -> PredictedSize | None:
    """Bytes of a case's files by the library's own prediction; None where it has none."""
    from nearfield.formats.sizes import PredictedSize, predicted_size

    sizes = [predicted_size(description) for description in descriptions(setup)]
    return sum(sizes, PredictedSize(0, True)) if sizes else None


def descriptions(setup: Discretization) -> list[Any]:
    """Contents of each file that a run will write."""
    context, found = setup.context, []
    for name, feature in setup.lowered[2].items():
        item: Any = feature.item
        file = item.file or FieldFile()
        samples = item._regions(context), item._positions(context), len(item._steps(context))
        found.append(file.description(context.grid, *samples, context.precision, name))
    return found


def refusal(case: Case, setup: Discretization, folder: Path) -> str | None:
    """The reason why a case would fill this machine's disk or memory; None where it would not."""
    from nearfield.formats.sizes import free_bytes, readable

    size, free, memory = predicted(setup), free_bytes(folder), free_memory()
    if size is not None and size.bytes > OF_DISK * free:
        return f"{size} on a disk with {readable(free)} free"
    needed = case.points * MEMORY_A_POINT
    if memory is not None and needed > OF_MEMORY * memory:
        return f"about {readable(needed)} of memory, {readable(memory)} is free"
    return None


def measurement(case: Case, folder: Path, ranks: Alone) -> dict[str, Any]:
    """Run a case; its three times by rank, its bytes. Nothing is left in the folder. A signal ends it for good."""
    simulation = case.simulation(ranks.size)
    setup = simulation._setup()
    if why := ranks.from_root(refusal(case, setup, folder) if ranks.rank == 0 else None):
        return {"refused": why}
    place = folder / "case"
    begun = time.perf_counter()
    try:
        threads, parallel = 1 if ranks.size == case.domains else None, Parallel(domains=f"1x1x{case.domains}")
        result = simulation.run(threads, place / "result.h5", parallel=parallel)
        elapsed = time.perf_counter() - begun
        if result.status != "done":
            raise KeyboardInterrupt
        if ranks.rank:
            return {}
        return times(case, result.facts, elapsed) | sizes(setup, place, case)
    except NearfieldError as error:
        return {"refused": str(error)}
    finally:
        if ranks.rank == 0:
            shutil.rmtree(place, ignore_errors=True)


def times(case: Case, facts: dict[str, Any], elapsed: float) -> dict[str, Any]:
    """Seconds a rank: compute and communication of ten steps; until files were open; stalled; and until whole."""
    share, loop, ranks = STEPS / case.steps, facts["runs"]["sources"]["seconds"], facts["rank_seconds"]
    waited = zip(ranks.get("wait", [0.0]), ranks.get("pack", [0.0]))
    found = {"ranks": facts["ranks"], "elapsed": elapsed}
    found["compute"] = [share * each for each in ranks.get("compute", [loop])]
    found["communication"] = [share * (wait + pack) for wait, pack in waited]
    if case.mode == WHOLE:
        return found | {"opening": 0.0, "stalled": [0.0], "output": elapsed - facts["setup_seconds"] - loop}
    fields = facts["fields"]
    found |= {"opening": fields["opening_seconds"], "stalled": fields["stalled_seconds"]}
    output = max(fields["stalled_seconds"]) + fields["closing_seconds"]
    return found | {"buffer_bytes": fields["ring_bytes"], "output": output}


def sizes(setup: Discretization, place: Path, case: Case) -> dict[str, Any]:
    """Bytes of the samples, of the files, of what was predicted, and the number of files."""
    files = [path for path in place.rglob("*") if path.is_file() and (case.mode == WHOLE) == (path.name == "result.h5")]
    samples = sum(each.snapshots * each.samples * each.dtype.itemsize for each in descriptions(setup))
    guess = predicted(setup)
    found = {"raw_bytes": samples, "bytes": sum(path.stat().st_size for path in files), "files": len(files)}
    found |= {"predicted_bytes": guess and guess.bytes, "predicted_exact": bool(guess and guess.exact)}
    return found | ({"buffer_bytes": samples} if case.mode == WHOLE else {})


def lines(cases: list[Case], folder: Path, until: float | None, ranks: Alone) -> Iterator[dict[str, Any]]:
    """The result of each case. Sizes that would end after `until` (s since the epoch) are left out, but the first."""
    made: list[Spent] = []
    for size, group in groupby(cases, lambda case: case.size):
        begun, output = time.time(), 0.0
        late = bool(until and made and begun + foreseen(made, size) > until)
        for case in group:
            found = {"left_out": True} if ranks.from_root(late) else measurement(case, folder, ranks)
            output += found.get("output", 0.0)
            yield {"case": asdict(case), **found}
        if not late:
            made.append((size**3, time.time() - begun, output))


def foreseen(made: list[Spent], size: int) -> float:
    """Seconds that a size will take: on the line through the last two; after one its output alone is taken to grow."""
    points, seconds, output = made[-1]
    if len(made) == 1:
        return seconds + output * (size**3 / points - 1)
    before = made[-2]
    slope = max(seconds - before[1], 0.0) / (points - before[0])
    return seconds + slope * (size**3 - points)


def main(text: str) -> None:
    """Run the requested cases as one of the ranks. Error, as a line of JSON: this rank does not find the others."""
    try:
        ranks = world()
    except NearfieldError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    request = json.loads(text)
    cases = [Case(**each) for each in request["cases"]]
    try:
        for found in lines(cases, Path(request["folder"]), request["until"], ranks):
            if ranks.rank == 0:
                print(json.dumps(found), flush=True)
    except BaseException:
        if ranks.size > 1:
            import traceback

            traceback.print_exc()
            ranks.abort(4)
        raise


if __name__ == "__main__":
    main(sys.argv[1])
