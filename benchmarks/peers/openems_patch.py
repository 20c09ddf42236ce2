"""openEMS on a patch antenna that `nearfield_patch.py --describe` wrote: the same grid lines, bodies and feed.

The ground is a PEC wall, the other five faces hold its 8-cell PML within the same lines. The feed is a resistive sheet
with a source, V and I are recorded at the reference plane. Prints one JSON object. Needs openEMS's own Python.
"""

import argparse
import json
import math

from openems_run import report, run


def simulate(antenna, steps, threads):
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=steps, EndCriteria=1e-30)
    solver.SetGaussExcite(0, antenna["highest_frequency"])
    solver.SetBoundaryCond(["PML_8"] * 4 + ["PEC", "PML_8"])
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    grid = structure.GetGrid()
    grid.SetDeltaUnit(1.0)
    for axis, lines in zip("xyz", antenna["lines"]):
        grid.AddLine(axis, lines)
    for number, body in enumerate(antenna["bodies"]):
        if body["permittivity"] is None:
            medium = structure.AddMetal(f"metal {number}")
        else:
            medium = structure.AddMaterial(f"board {number}", epsilon=body["permittivity"])
        medium.AddBox(body["lower"], body["upper"], priority=number)
    feed(structure, antenna["port"])
    run(solver, threads)


def feed(structure, port):
    """The sheet across the line, and probes of V and I where Nearfield's microstrip port has them.

    Spelled out, because the port classes of openEMS 0.0.35 need a NumPy before 1.24.
    """
    lower, upper, plane = port["lower"], port["upper"], port["reference_plane"]
    middle = 0.5 * (lower[0] + upper[0])
    for item in (
        structure.AddLumpedElement("resistance", ny=2, caps=True, R=port["resistance"]),
        structure.AddExcitation("source", exc_type=0, exc_val=[0, 0, -1]),
    ):
        item.AddBox(lower, upper, priority=10)
    structure.AddProbe("sheet", p_type=0).AddBox([middle, lower[1], lower[2]], [middle, lower[1], upper[2]])
    structure.AddProbe("voltage", p_type=0).AddBox([middle, plane, lower[2]], [middle, plane, upper[2]])
    current = structure.AddProbe("current", p_type=1, norm_dir=1)
    current.AddBox([lower[0], plane, upper[2]], [upper[0], plane, upper[2]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="what nearfield_patch.py --describe wrote")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    with open(given.model, encoding="utf-8") as file:
        antenna = json.load(file)
    if given.child:
        simulate(antenna, given.steps, given.threads)
    else:
        report(math.prod(len(lines) - 1 for lines in antenna["lines"]), threads=given.threads)


if __name__ == "__main__":
    main()
