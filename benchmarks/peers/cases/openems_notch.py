"""openEMS on a microstrip line of 0.6 mm with an open stub of 12 mm, on 0.254 mm of eps_r 3.66: S to 7 GHz.

Cells of a fiftieth of the wavelength in the board at 7 GHz, a quarter of it at the line, four in the board; the line
runs into PML at both ends, Mur walls elsewhere, 2.54 mm above the ground too.
"""

import numpy as np
from openems_tools import LIGHT, arguments, smoothed, tell

UNIT = 1e-6  # m
LENGTH, WIDTH, HEIGHT, STUB = 50000.0, 600.0, 254.0, 12000.0
PERMITTIVITY, HIGHEST = 3.66, 7e9


def main():
    given = arguments(__doc__)
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=round(200000 * given.refine))
    solver.SetGaussExcite(HIGHEST / 2, HIGHEST / 2)
    solver.SetBoundaryCond(["PML_8", "PML_8", "MUR", "MUR", "PEC", "MUR"])
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    largest = LIGHT / (HIGHEST * PERMITTIVITY**0.5) / UNIT / 50  # m in units, of the board
    fine = largest / 4 / given.refine
    inside, outside = WIDTH / 2 - fine / 3, WIDTH / 2 + 2 * fine / 3
    near = smoothed([0, inside, outside], fine, 1.5)
    edges = np.concatenate((-near[::-1], near))
    x = smoothed([-LENGTH, *edges, LENGTH], largest / given.refine, 1.5)
    far = 15 * WIDTH
    ends = STUB + WIDTH / 2 - fine / 3, STUB + WIDTH / 2 + 2 * fine / 3
    y = smoothed([-far, *edges, *ends, far + STUB], largest / given.refine, 1.3)
    board = np.linspace(0, HEIGHT, round(4 * given.refine) + 1)
    z = smoothed([*board, 10 * HEIGHT], largest / given.refine, 1.5)
    grid = structure.GetGrid()
    grid.SetDeltaUnit(UNIT)
    for axis, lines in zip("xyz", (x, y, z)):
        grid.AddLine(axis, np.unique(lines))
    material = structure.AddMaterial("board", epsilon=PERMITTIVITY)
    material.AddBox([x[0], y[0], 0], [x[-1], y[-1], HEIGHT], priority=0)
    metal = structure.AddMetal("metal")
    half, shift = 0.5 * WIDTH, 10 * largest
    corners = [[x[0], -half, HEIGHT], [0, half, 0]], [[x[-1], -half, HEIGHT], [0, half, 0]]
    common = dict(priority=999, MeasPlaneShift=LENGTH / 3)
    ports = [
        solver.AddMSLPort(1, metal, *corners[0], "x", "z", excite=-1, FeedShift=shift, **common),
        solver.AddMSLPort(2, metal, *corners[1], "x", "z", **common),
    ]
    metal.AddBox([-half, half, HEIGHT], [half, half + STUB, HEIGHT], priority=999)
    frequency = np.linspace(0.1e9, HIGHEST, 1381)

    def answers(folder):
        for port in ports:
            port.CalcPort(folder, frequency, ref_impedance=50)
        back, through = (np.abs(port.uf_ref / ports[0].uf_inc) for port in ports)
        at = int(np.argmin(through))
        # S for the line's own impedance, which the three probes of a port find
        for port in ports:
            port.CalcPort(folder, frequency)
        line = float(np.median(np.abs(ports[0].Z_ref[(frequency > 1e9) & (frequency < 3e9)])))
        return {
            "notch": float(frequency[at]),
            "depth_db": float(20 * np.log10(through[at])),
            "highest_power": float((back**2 + through**2)[frequency > 1e9].max()),
            "lowest_power": float((back**2 + through**2)[frequency > 1e9].min()),
            "line_impedance": line,
            "frequency": frequency[::20].tolist(),
            "s11_abs": back[::20].tolist(),
            "s21_abs": through[::20].tolist(),
        }

    tell(solver, given.threads, answers, cells=int((len(x) - 1) * (len(y) - 1) * (len(z) - 1)))


if __name__ == "__main__":
    main()
