"""openEMS on a unit cell of a composite right/left-handed line between microstrip lines: S at its ends.

Three layers of eps_r 3.48, 1.524, 0.101 and 0.254 mm; on top a line of 4 mm with a gap of 4.7 mm, below the third layer
a plate with two stubs that end on vias. Cells of a thirtieth of the wavelength in the board at 6 GHz, a quarter of it
at the cell; the lines run into PML at both ends.
"""

import numpy as np
from openems_tools import LIGHT, arguments, smoothed, tell

UNIT = 1e-6  # m
LAYERS, PERMITTIVITY = (1524.0, 101.0, 254.0), 3.48
CELL, WIDTH, GAP_BELOW, GAP_ABOVE = 14000.0, 4000.0, 1950.0, 4700.0
STUB, STUB_WIDTH, VIA = 7800.0, 1000.0, 250.0
FEED, SIDE, ROOF = 30000.0, 30000.0, 20000.0
LOW, HIGH = 0.8e9, 6e9
TOP, BELOW = sum(LAYERS), sum(LAYERS[:2])


def mesh(largest, fine):
    """Grid lines along x, y, z: a third of a cell inside metal's edges, two thirds outside."""
    inside, outside = fine / 3, 2 * fine / 3
    plate, stub, feed = (CELL - GAP_BELOW) / 2, STUB_WIDTH / 2, GAP_ABOVE / 2
    hole = WIDTH / 2 + STUB - stub
    x = [0, stub - inside, stub + outside, plate - inside, plate + outside, feed + inside, feed - outside, VIA]
    y = [0, WIDTH / 2 - inside, WIDTH / 2 + outside, hole - VIA, hole, hole + VIA, WIDTH / 2 + STUB]
    x, y = (sorted({*each, *(-line for line in each)}) for each in (x, y))
    half = FEED + CELL / 2
    z = [0, LAYERS[0], *np.linspace(BELOW, TOP, 4), ROOF]
    near = smoothed([-CELL / 2, *x, CELL / 2], fine, 1.5), smoothed(y, fine, 1.5)
    return (
        smoothed([-half, *near[0], half], largest, 1.5),
        smoothed([-SIDE, *near[1], SIDE], largest, 1.5),
        smoothed(z, largest, 1.5),
    )


def bodies(structure, x, y):
    half, plate, stub = WIDTH / 2, (CELL - GAP_BELOW) / 2, STUB_WIDTH / 2
    board = structure.AddMaterial("board", epsilon=PERMITTIVITY)
    board.AddBox([x[0], y[0], 0], [x[-1], y[-1], TOP], priority=0)
    metal = structure.AddMetal("metal")
    for side in (-1, 1):
        metal.AddBox([side * CELL / 2, -half, TOP], [side * GAP_ABOVE / 2, half, TOP], priority=10)
        at = side * (half + STUB - stub)
        metal.AddCylinder([0, at, 0], [0, at, BELOW], VIA, priority=10)
    metal.AddBox([-plate, -half, BELOW], [plate, half, BELOW], priority=10)
    metal.AddBox([-stub, -half - STUB, BELOW], [stub, half + STUB, BELOW], priority=10)
    return metal


def main():
    given = arguments(__doc__)
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=round(200000 * given.refine))
    solver.SetGaussExcite(0.5 * (LOW + HIGH), 0.5 * (HIGH - LOW))
    solver.SetBoundaryCond(["PML_8", "PML_8", "MUR", "MUR", "PEC", "PML_8"])
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    largest = LIGHT / (HIGH * PERMITTIVITY**0.5) / UNIT / 30
    x, y, z = mesh(largest / given.refine, largest / 4 / given.refine)
    grid = structure.GetGrid()
    grid.SetDeltaUnit(UNIT)
    for axis, lines in zip("xyz", (x, y, z)):
        grid.AddLine(axis, lines)
    metal = bodies(structure, x, y)
    corners = [([side * (FEED + CELL / 2), -WIDTH / 2, TOP], [side * CELL / 2, WIDTH / 2, 0]) for side in (-1, 1)]
    common = dict(priority=999, MeasPlaneShift=FEED / 2)
    ports = [
        solver.AddMSLPort(1, metal, *corners[0], "x", "z", excite=-1, FeedShift=10 * largest, **common),
        solver.AddMSLPort(2, metal, *corners[1], "x", "z", **common),
    ]
    frequency = np.linspace(LOW, HIGH, 1601)

    def answers(folder):
        for port in ports:
            port.CalcPort(folder, frequency, ref_plane_shift=FEED)
        entering = ports[0].uf_inc
        back, through = (port.uf_ref / entering for port in ports)
        impedance = ports[1].Z_ref
        return {
            "frequency": frequency[::4].tolist(),
            "s11": [[v.real, v.imag] for v in back[::4]],
            "s21": [[v.real, v.imag] for v in through[::4]],
            "impedance": [[v.real, v.imag] for v in impedance[::4]],
        }

    tell(solver, given.threads, answers, cells=(len(x) - 1) * (len(y) - 1) * (len(z) - 1))


if __name__ == "__main__":
    main()
