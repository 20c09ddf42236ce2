"""openEMS on a metal sphere of 200 mm in a plane wave, 50 to 1000 MHz: radar cross-sections.

Cells of a twentieth of the shortest wavelength in a box of 1 m, the wave in one of 0.75 m, PML of 8 cells outside.
"""

import numpy as np
from openems_tools import LIGHT, VACUUM_IMPEDANCE, arguments, smoothed, tell

UNIT = 1e-3  # m
RADIUS, BOX, WAVE = 200.0, 1000.0, 750.0
LOW, HIGH, CUT = 50e6, 1000e6, 500e6
LAYER = 8


def main():
    given = arguments(__doc__)
    from CSXCAD import ContinuousStructure
    from openEMS import openEMS
    from openEMS.ports import UI_data

    solver = openEMS()
    solver.SetGaussExcite(0.5 * (LOW + HIGH), 0.5 * (HIGH - LOW))
    solver.SetBoundaryCond(["PML_8"] * 6)
    structure = ContinuousStructure()
    solver.SetCSX(structure)
    half = smoothed([0, BOX / 2], LIGHT / HIGH / UNIT / 20 / given.refine)
    behind = half[-1] + (half[-1] - half[-2]) * np.arange(1, LAYER + 1)
    lines = np.concatenate((-behind[::-1], -half[:0:-1], half, behind))
    grid = structure.GetGrid()
    grid.SetDeltaUnit(UNIT)
    for axis in "xyz":
        grid.AddLine(axis, lines)
    structure.AddMetal("sphere").AddSphere([0, 0, 0], RADIUS, priority=10)
    wave = structure.AddExcitation("wave", exc_type=10, exc_val=[0, 0, 1])
    wave.SetPropagationDir([1.0, 0, 0])
    wave.SetFrequency(CUT)
    wave.AddBox([-WAVE / 2] * 3, [WAVE / 2] * 3)
    far = solver.CreateNF2FFBox(start=[-half[-1]] * 3, stop=[half[-1]] * 3)
    frequency, angles = np.linspace(LOW, HIGH, 39), np.arange(0, 181, 5)

    def section(field, folder, at, phi):
        """Radar cross-section (m^2) at angles phi (degrees) in the plane across E."""
        incident = 0.5 / VACUUM_IMPEDANCE * np.abs(UI_data("et", folder, at).ui_f_val[0]) ** 2
        found = field.CalcNF2FF(folder, at, [90.0], phi)
        return 4 * np.pi * np.array([found.P_rad[n][0] / incident[n] for n in range(len(at))])

    def answers(folder):
        return {
            "frequency": frequency.tolist(),
            "monostatic": section(far, folder, frequency, [180.0])[:, 0].tolist(),
            "angle": angles.tolist(),
            "bistatic": section(far, folder, np.array([CUT]), angles.astype(float))[0].tolist(),
        }

    tell(solver, given.threads, answers, cells=(len(lines) - 1) ** 3)


if __name__ == "__main__":
    main()
