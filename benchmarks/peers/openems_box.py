"""openEMS on the empty box: Gaussian current in the middle, PEC walls or its 8-cell PML. Needs openEMS's own Python.

Prints one JSON object. The speed is the one openEMS reports of its time-stepping loop; the engine prints it through
C, so it is read from a child process.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

REPORT = re.compile(r"Time for (\d+) iterations with ([\d.e+]+) cells : ([\d.]+) sec")


def simulate(cells, steps, threads, boundary):
    """Run openEMS in this process; its report goes to stdout."""
    import numpy as np
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=steps, EndCriteria=1e-30)
    solver.SetGaussExcite(5e9, 5e9)
    solver.SetBoundaryCond(["PEC" if boundary == "pec" else "PML_8"] * 6)
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    grid = structure.GetGrid()
    grid.SetDeltaUnit(1e-3)
    for axis in "xyz":
        grid.AddLine(axis, np.arange(cells + 1))
    middle = cells // 2
    current = structure.AddExcitation("current", 0, [0, 0, 1])
    current.AddBox([middle] * 3, [middle, middle, middle + 1])
    with tempfile.TemporaryDirectory() as folder:
        solver.Run(folder, numThreads=threads, verbose=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--boundary", choices=["pec", "cpml"], default="pec")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        simulate(given.cells, given.steps, given.threads, given.boundary)
        return
    done = subprocess.run([sys.executable, *sys.argv, "--child"], capture_output=True, text=True)
    found = REPORT.search(done.stdout + done.stderr)
    if not found:
        sys.exit("openEMS did not report a speed:\n" + (done.stdout + done.stderr)[-2000:])
    steps, seconds = int(found[1]), float(found[3])
    print(json.dumps({
        "code": "openEMS", "precision": "single", "cells": given.cells**3, "steps": steps, "threads": given.threads,
        "boundary": given.boundary, "seconds": seconds, "mcells_per_second": given.cells**3 * steps / seconds / 1e6,
    }))


if __name__ == "__main__":
    main()
