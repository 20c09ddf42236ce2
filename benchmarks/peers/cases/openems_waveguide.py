"""openEMS on a WR-42 guide, 10.7 x 4.3 x 50 mm, 20 to 26 GHz: S and the phase from port to port.

Cells of a thirtieth of the wavelength at 24 GHz; PML of 8 cells within the guide's length.
"""

import numpy as np
from openems_tools import LIGHT, arguments, decibels, smoothed, tell

UNIT = 1e-6  # m
A, B, LENGTH = 10700.0, 4300.0, 50000.0
LOW, HIGH = 20e9, 26e9


def main():
    given = arguments(__doc__)
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS

    solver = openEMS(NrTS=round(10000 * given.refine))
    solver.SetOverSampling(5)
    solver.SetGaussExcite(0.5 * (LOW + HIGH), 0.5 * (HIGH - LOW))
    solver.SetBoundaryCond(["PEC"] * 4 + ["PML_8"] * 2)
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    grid = structure.GetGrid()
    grid.SetDeltaUnit(UNIT)
    cell = LIGHT / 24e9 / UNIT / 30 / given.refine
    x, y, z = (smoothed([0, length], cell) for length in (A, B, LENGTH))
    for axis, lines in zip("xyz", (x, y, z)):
        grid.AddLine(axis, lines)
    ports = [
        solver.AddRectWaveGuidePort(1, [0, 0, z[10]], [A, B, z[14]], "z", A * UNIT, B * UNIT, "TE10", 1),
        solver.AddRectWaveGuidePort(2, [0, 0, z[-14]], [A, B, z[-15]], "z", A * UNIT, B * UNIT, "TE10"),
    ]
    frequency = np.linspace(LOW, HIGH, 61)

    def answers(folder):
        for port in ports:
            port.CalcPort(folder, frequency)
        entering = ports[0].uf_inc
        back, through = ports[0].uf_ref / entering, ports[1].uf_ref / entering
        phase = -np.unwrap(np.angle(through))
        return {
            "frequency": frequency.tolist(),
            "s11_db": decibels(back).tolist(),
            "s21_abs": np.abs(through).tolist(),
            "phase": phase.tolist(),
            "distance": float((z[-15] - z[14]) * UNIT),
        }

    tell(solver, given.threads, answers, cells=(len(x) - 1) * (len(y) - 1) * (len(z) - 1))


if __name__ == "__main__":
    main()
