"""openEMS on a patch of 32 x 40 mm on a lossy board of 60 x 60 x 1.524 mm, eps_r 3.38, fed 6 mm off its middle.

Cells of a twentieth of the wavelength at 3 GHz, a fiftieth at the patch's edges, four in the board; Mur walls.
"""

import numpy as np
from openems_tools import LIGHT, VACUUM_PERMITTIVITY, arguments, smoothed, tell

UNIT = 1e-3  # m
PATCH, BOARD, HEIGHT, FEED = (32.0, 40.0), 60.0, 1.524, -6.0
PERMITTIVITY, LOSS = 3.38, 1e-3 * 2 * np.pi * 2.45e9 * VACUUM_PERMITTIVITY * 3.38
BOX = ((-100, 100), (-100, 100), (-50, 100))
MIDDLE, WIDTH = 2e9, 1e9


def main():
    given = arguments(__doc__)
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=round(30000 * given.refine), EndCriteria=1e-4)
    solver.SetGaussExcite(MIDDLE, WIDTH)
    solver.SetBoundaryCond(["MUR"] * 6)
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    largest = LIGHT / (MIDDLE + WIDTH) / UNIT / 20 / given.refine
    edge = LIGHT / (MIDDLE + WIDTH) / UNIT / 50 / given.refine
    lines = [list(ends) for ends in BOX]
    for axis, length in enumerate(PATCH):
        inside, outside = length / 2 - edge / 3, length / 2 + 2 * edge / 3
        lines[axis] += [-BOARD / 2, BOARD / 2, -outside, -inside, inside, outside]
    lines[0].append(FEED)
    lines[1].append(0.0)
    lines[2] += list(np.linspace(0, HEIGHT, round(4 * given.refine) + 1))
    lines = [smoothed(each, largest, 1.4) for each in lines]
    grid = structure.GetGrid()
    grid.SetDeltaUnit(UNIT)
    for axis, each in zip("xyz", lines):
        grid.AddLine(axis, each)
    (a, b), half = (PATCH[0] / 2, PATCH[1] / 2), BOARD / 2
    board = structure.AddMaterial("board", epsilon=PERMITTIVITY, kappa=LOSS)
    board.AddBox([-half, -half, 0], [half, half, HEIGHT], priority=0)
    structure.AddMetal("patch").AddBox([-a, -b, HEIGHT], [a, b, HEIGHT], priority=10)
    structure.AddMetal("ground").AddBox([-half, -half, 0], [half, half, 0], priority=10)
    port = solver.AddLumpedPort(1, 50, [FEED, 0, 0], [FEED, 0, HEIGHT], "z", 1.0, priority=5)
    far = solver.CreateNF2FFBox()
    frequency = np.linspace(1e9, 3e9, 2001)

    def answers(folder):
        port.CalcPort(folder, frequency)
        s11 = np.abs(port.uf_ref / port.uf_inc)
        at = int(np.argmin(s11))
        pattern = far.CalcNF2FF(folder, frequency[at], np.arange(0, 181, 2.0), np.arange(0, 360, 5.0))
        return {
            "resonance": float(frequency[at]),
            "depth_db": float(20 * np.log10(s11[at])),
            "directivity_dbi": float(10 * np.log10(pattern.Dmax[0])),
            "efficiency": float(pattern.Prad[0] / port.P_acc[at]),
        }

    tell(solver, given.threads, answers, cells=int(np.prod([len(each) - 1 for each in lines])))


if __name__ == "__main__":
    main()
