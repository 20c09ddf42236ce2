"""Memory of a rank at its peak, over that of its cells: set-up and first steps on 1, 2, 4 and 8 ranks.

    .venv/bin/python benchmarks/rank_memory.py                 the table, some minutes
    .venv/bin/python benchmarks/rank_memory.py --thousand      also one rank of 10^9 cells over 8, 4 GiB

The first of so many ranks runs here alone (lone_rank.py), in a process of its own, the libraries it loads left out.
Every rank has a cube of `--cells` cells a side; the model grows with the ranks. Two models: "plain", a source in vacuum
and a probe; "rich", media, a dispersive and a conformal body, a thin sheet, wires, a port, an oblique plane wave,
spectra, snapshots and a far field. `share`: fields, CPML and poles of what the rank owns, without halos.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paired import parser, write

GRIDS = {1: (1, 1, 1), 2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2)}
CELL = 1e-3  # m
STEPS = 4
THOUSAND = 500  # cells a side of one of 8 ranks: 10^9 in all


def model(kind: str, cells: tuple[int, ...]) -> Any:
    """A model of so many cells."""
    import nearfield as nf

    x, y, z = (n * CELL for n in cells)
    pulse, walls = nf.Gaussian(20e9), nf.Boundaries(all=nf.CPML(8))
    grid = nf.Grid.uniform(CELL, cells)

    def at(a: float, b: float, c: float) -> tuple[float, float, float]:
        return a * x, b * y, c * z

    probe = nf.Probe("probe", at(0.3, 0.3, 0.3))
    if kind == "plain":
        source = nf.PointCurrent(at(0.5, 0.5, 0.5), "z", pulse)
        return nf.Simulation(grid, boundaries=walls, sources=[source], monitors=[probe], steps=STEPS)
    middle = tuple(round(n / 2) * CELL for n in cells)
    (cx, cy, cz), radius = middle, 0.1 * min(x, y, z)
    debye = nf.Medium(2.0, poles=[nf.Debye(3.0, 1e-11)])
    bodies = [
        (nf.Box(at(0.25, 0.25, 0.25), at(0.75, 0.75, 0.35)), nf.Medium(4.0, conductivity=0.01)),
        (nf.Sphere(at(0.35, 0.35, 0.6), radius), debye),
        (nf.Sphere(at(0.65, 0.65, 0.6), radius), nf.PEC),
        (nf.Cylinder(at(0.65, 0.35, 0.4), at(0.65, 0.35, 0.7), radius), nf.Medium(9.0)),
        (nf.Sheet(at(0.3, 0.3, 0.35), at(0.6, 0.6, 0.35)), nf.PEC),
        (nf.Wire([(cx, cy, cz - 6 * CELL), middle]), nf.PEC),
        (nf.Wire([(cx, cy, cz + CELL), (cx, cy, cz + 7 * CELL)]), nf.PEC),
    ]
    wave = nf.PlaneWave(
        lower=at(0.2, 0.2, 0.2), upper=at(0.8, 0.8, 0.8), direction=(1.0, 0.2, 0.1), polarisation=(-0.1, 0, 1.0),
        waveform=pulse,
    )  # fmt: skip
    monitors = [
        probe,
        nf.FieldDFT("cut", at(0.05, 0.05, 0.5), at(0.95, 0.95, 0.5), frequencies=[5e9, 10e9]),
        nf.Flux("through", at(0.1, 0.1, 0.9), at(0.9, 0.9, 0.9), frequencies=[5e9]),
        nf.FarField("far", frequencies=[10e9]),
        nf.Snapshot("side", at(0.05, 0.5, 0.05), at(0.95, 0.5, 0.95), every=2),
    ]
    return nf.Simulation(
        grid, structures=[nf.Structure(*body) for body in bodies], boundaries=walls, sources=[wave],
        ports=[nf.LumpedPort("port", middle, (cx, cy, cz + CELL), "z")], monitors=monitors, metal="conformal",
        excitations=["sources"], waveform=pulse, steps=STEPS,
    )  # fmt: skip


class Peaks:
    """Resident memory at its peak in each phase (bytes), over what it was at the beginning."""

    def __init__(self) -> None:
        self.base, self.found, self.seconds = resident("VmRSS"), {}, {}  # type: ignore[var-annotated]

    def of(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` gives, and its peak kept."""
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
        begun = time.perf_counter()
        made = make()
        self.found[name] = resident("VmHWM") - self.base
        self.seconds[name] = round(time.perf_counter() - begun, 2)
        return made


def resident(name: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


def measure(kind: str, side: int, ranks: int) -> dict[str, Any]:
    """Peaks of the first of so many ranks, in this process."""
    from lone_rank import stand_in

    rank = stand_in(ranks)
    import nearfield as nf
    from nearfield.discretization.cautions import cautions
    from nearfield.discretization.discretization import Discretization
    from nearfield.engines.cpu.pole_sizes import pole_bytes
    from nearfield.parallel.part import PlanPart
    from nearfield.parallel.start import start
    from nearfield.plan.sizes import domain_bytes
    from nearfield.run.rank_memory import rank_memory
    from nearfield.trust.model import model_trust

    small = model("rich", (48, 48, 48))  # loads what is loaded when it is first used
    list(cautions(Discretization(small)))
    start(Discretization(small).plan, 1, parallel=nf.Parallel(domains="x".join(map(str, GRIDS[ranks])), halo_depth=1))
    peaks, grid = Peaks(), GRIDS[ranks]
    entries = peaks.of("entries", lambda: model(kind, tuple(side * n for n in grid)))
    setup = peaks.of("grid", lambda: Discretization(entries, rank))
    peaks.of("metal and media", lambda: setup.coefficients)
    peaks.of("terms", lambda: setup.terms)
    plan = peaks.of("plan", lambda: setup.plan)
    peaks.of("warnings", lambda: (list(cautions(setup)), model_trust(setup)))
    foretold = rank_memory(setup, ranks, domains=grid)
    spread = nf.Parallel(domains="x".join(map(str, grid)), halo_depth=1)
    begun = peaks.of("engine", lambda: start(plan, 1, parallel=spread))
    peaks.of("steps", lambda: begun.engine.advance(STEPS, "sources", True))
    own = begun.engine.own if ranks > 1 else plan.box
    part = PlanPart(plan, own, own).plan
    share = domain_bytes(own.shape, part.cpml, plan.precision) + pole_bytes(part)
    return {
        "model": kind,
        "ranks": ranks,
        "cells": list(plan.cells),
        "own": list(own.shape),
        "share_bytes": share,
        "engine_bytes": begun.local.facts()["bytes"],
        "foretold_bytes": foretold.total,
        "peak_bytes": peaks.found,
        "seconds": peaks.seconds,
    } | ratios(peaks.found, own.size, share)


def ratios(peaks: dict[str, int], samples: int, share: int) -> dict[str, float]:
    """The peak of the set-up a cell that the rank owns, and over its share."""
    most = max(peak for phase, peak in peaks.items() if phase != "steps")
    return {"setup_bytes_per_cell": round(most / samples, 2), "setup_over_share": round(most / share, 3)}


def in_a_process(kind: str, side: int, ranks: int) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--one", f"{kind},{side},{ranks}"]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    measured: dict[str, Any] = json.loads(found.splitlines()[-1])
    return measured


def cases(given: Namespace) -> list[tuple[str, int, int]]:
    """What is measured: model, cells a side of a rank, ranks."""
    found = [(kind, given.cells, ranks) for kind in ("plain", "rich") for ranks in given.ranks]
    return found + [("plain", THOUSAND, 8)] * given.thousand


def main() -> int:
    made = parser(__doc__, cells=128, steps=STEPS, threads=1, pairs=1)
    made.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8], choices=sorted(GRIDS))
    made.add_argument("--thousand", action="store_true", help="one rank of 10^9 cells over 8 as well")
    made.add_argument("--one", help="model,cells,ranks: in this process alone, printed")
    given = made.parse_args()
    if given.one:
        kind, side, ranks = given.one.split(",")
        print(json.dumps(measure(kind, int(side), int(ranks))))
        return 0
    rows = []
    for case in cases(given):
        rows.append(in_a_process(*case))
        print(
            *case,
            rows[-1]["setup_bytes_per_cell"],
            "bytes a cell,",
            rows[-1]["setup_over_share"],
            "of the share",
            flush=True,
        )
    write("rank_memory", given, rows=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
