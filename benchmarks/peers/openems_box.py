"""openEMS on the empty box: Gaussian current in the middle, PEC walls or its 8-cell PML. Needs openEMS's own Python.

Prints one JSON object. The speed is the one openEMS reports of its time-stepping loop. `--every N` sets the
excitation so that its Nyquist rate is N steps, which is how often openEMS dumps; `--dumps` has it dump E and H of all
points, where they lie in the Yee cell, to HDF5.
"""

import argparse

from openems_run import report, run

STEP = 1e-3 / 299792458 / 3**0.5  # s, of cubic cells of 1 mm


def simulate(cells, steps, threads, boundary, every, dumps):
    import numpy as np
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=steps, EndCriteria=1e-30, **({"OverSampling": 1} if every else {}))
    middle_frequency = 1 / (4 * (every + 0.5) * STEP) if every else 5e9
    solver.SetGaussExcite(middle_frequency, middle_frequency)
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
    for number, name in enumerate(("electric", "magnetic") if dumps else ()):
        dump = structure.AddDump(name, dump_type=number, dump_mode=0, file_type=1)
        dump.AddBox([0] * 3, [cells] * 3)
    run(solver, threads, dumps)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--boundary", choices=["pec", "cpml"], default="pec")
    parser.add_argument("--every", type=int, help="steps between dumps")
    parser.add_argument("--dumps", help="folder for dumps, of their own and deleted afterwards; needs --every")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        simulate(given.cells, given.steps, given.threads, given.boundary, given.every, given.dumps)
    else:
        report(given.cells**3, threads=given.threads, boundary=given.boundary)


if __name__ == "__main__":
    main()
