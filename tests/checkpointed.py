"""What the tests of checkpoints share: a model with every feature that keeps something, and one that is tiny.

As a program: run the model of some steps again and again, each time killed after a while, until it was killed so often;
then to its end. Arguments: folder, number of kills, seed. Every run is a fork of this process, so that a cycle costs
no imports.
"""

from __future__ import annotations

import glob
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from whole_runs import arrays

import nearfield as nf
from nearfield.run.checkpoint.folder import checkpoints

MM = 1e-3
BAND = (6e9, 12e9)


def rich(**entries) -> nf.Simulation:
    """CPML, a circuit, sums over time of every kind, two excitations, one that ends by decay."""
    defaults = {"decay": 0.3, "duration": 0.28e-9, "check_every": 20, "excitations": ("sources", "feed")}
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (18, 20, 36)),
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC, y_high=nf.PMC),
        structures=[
            nf.Structure(
                nf.Box((8 * MM, 8 * MM, 12 * MM), (11 * MM, 12 * MM, 20 * MM)),
                nf.Medium(2.2, 1.0, 0.05, poles=nf.Drude(5e9, 1e10), magnetic_poles=nf.Debye(0.5, 1e-11)),
            ),
            nf.Structure(
                nf.Sphere((9 * MM, 10 * MM, 18 * MM), 2.3 * MM),
                nf.Medium(2.0, poles=[nf.Debye(3.0, 9e-12), nf.Lorentz(1.0, 10e9, 2e9)]),
            ),
        ],
        sources=[nf.CurrentSheet((6 * MM, 6 * MM, 22 * MM), (12 * MM, 12 * MM, 22 * MM), "x", nf.Gaussian(20e9))],
        ports=[
            nf.LumpedPort(
                "feed", (7 * MM, 9 * MM, 14 * MM), (7 * MM, 9 * MM, 18 * MM), "z", inductance=1e-9, capacitance=1e-12
            )
        ],
        monitors=[
            nf.Probe("tip", (9.2 * MM, 9.3 * MM, 11.9 * MM), "Ez"),
            nf.Voltage("u", (6 * MM, 9 * MM, 17 * MM), (12 * MM, 9 * MM, 17 * MM)),
            nf.Snapshot("cut", (9 * MM, 5 * MM, 5 * MM), (9 * MM, 15 * MM, 30 * MM), every=30),
            nf.FieldDFT("plane", (5 * MM, 9 * MM, 5 * MM), (13 * MM, 9 * MM, 30 * MM), BAND),
            nf.FarField("pattern", BAND, theta=(0.0, 0.6), phi=(3.5,)),
        ],
        waveform=nf.Gaussian(20e9),
        **(defaults | entries),
    )


def tiny(steps: int = 30, **entries) -> nf.Simulation:
    """A current in a closed box of a few cells."""
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (4, 4, 4)),
        boundaries=nf.Boundaries(all=nf.PEC),
        steps=steps,
        sources=[nf.PointCurrent((2 * MM,) * 3, "z", nf.Gaussian(15e9))],
        monitors=[nf.Probe("tip", (2.2 * MM,) * 3)],
        **entries,
    )


def kept_on_the_way(simulation: nf.Simulation, folder: Path, every: int) -> list[Path]:
    """Run with checkpoints; copies of all of them, each in a folder of its own, by number of steps."""
    folder.mkdir()

    def copy(_=None) -> None:
        for path in checkpoints(folder / "run"):
            if not (folder / path.name).exists():
                shutil.copytree(path, folder / path.name / path.name)

    simulation.run(output=folder / "run" / "result.h5", progress=copy, checkpoint=f"every {every} steps")
    copy()
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))


def awaited(pattern: str | Path, seconds: float = 60) -> None:
    """Wait until there is such a file; a run that has left a checkpoint is among its steps, however fast it is."""
    end = time.monotonic() + seconds
    while not glob.glob(str(pattern)) and time.monotonic() < end:
        time.sleep(0.02)


def assert_goes_on(simulation: nf.Simulation, folder: Path, every: int, number: int = 0) -> None:
    """A run that goes on from a checkpoint on its way leaves what one run to its end does, to the last bit."""
    wanted = simulation.run(output=folder / "whole.h5")
    kept = kept_on_the_way(simulation, folder / "all", every)[number]
    assert nf.resume(kept, threads=2).status == wanted.status == "done"
    assert arrays(kept / "result.h5") == arrays(folder / "whole.h5")


def run_on(simulation: nf.Simulation, folder: Path, draw: random.Random) -> None:
    """From the newest checkpoint, or from the beginning."""
    options = {"threads": draw.randint(1, 2), "parallel": nf.Parallel(domains=draw.choice([1, 2]))}
    if checkpoints(folder):
        nf.resume(folder, **options)
    else:
        simulation.run(output=folder / "result.h5", checkpoint="every 8 steps", **options)


def killed_after(seconds: float, work) -> bool:
    """Do the work in a fork, and kill that; whether it was still at it."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        work()
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    """Kill, and at last run to the end."""
    folder, kills, draw = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    simulation, killed, stood = rich(steps=400, decay=None, duration=None), 0, set()
    while killed < kills:
        killed += killed_after(draw.uniform(0.05, 0.45), lambda: run_on(simulation, folder, draw))
        draw.random()  # the forks drew for themselves
        stood |= {path.name for path in checkpoints(folder)[:1]}
    run_on(simulation, folder, draw)
    print(f"killed {killed} times, at {len(stood)} checkpoints")


if __name__ == "__main__":
    main()
