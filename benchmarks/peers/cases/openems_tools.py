"""What the openEMS cases share: arguments, the run in a folder that goes away, and the line of JSON at its end.

Importing it lets the port classes of openEMS 0.0.35, which need a NumPy before 1.24, run with a later one.
"""

import argparse
import json
import tempfile

import numpy as np

LIGHT = 299792458.0
VACUUM_PERMITTIVITY = 8.8541878128e-12
VACUUM_IMPEDANCE = 376.730313668

for name, kind in (("float", float), ("int", int)):
    if name not in np.__dict__:
        setattr(np, name, kind)


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--refine", type=float, default=1.0, help="how many times smaller the cells are")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def smoothed(lines, largest, ratio=1.5):
    """Grid lines between the given ones, no cell above `largest`, neighbours no more than `ratio` apart."""
    from CSXCAD.SmoothMeshLines import SmoothMeshLines

    return SmoothMeshLines(sorted(float(line) for line in lines), largest, ratio)


def tell(solver, threads, answers, **facts):
    """Run, then print what `answers(folder)` reads from the folder. openEMS tells of steps and time before it."""
    with tempfile.TemporaryDirectory() as folder:
        solver.Run(folder, numThreads=threads, verbose=0)
        found = answers(folder)
    print("\n" + json.dumps({"code": "openEMS", **facts, "answers": found}), flush=True)


def decibels(wave):
    return 20 * np.log10(np.abs(wave))
