"""openEMS on the empty box: Gaussian current in the middle, PEC walls or its 8-cell PML. Needs openEMS's own Python.

Prints one JSON object. The speed is the one openEMS reports of its time-stepping loop.
"""

import argparse

from openems_run import report, run


def simulate(cells, steps, threads, boundary):
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
    run(solver, threads)


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
    else:
        report(given.cells**3, threads=given.threads, boundary=given.boundary)


if __name__ == "__main__":
    main()
