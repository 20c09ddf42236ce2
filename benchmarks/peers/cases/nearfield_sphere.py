"""Nearfield on a metal sphere of 200 mm in a plane wave, 50 to 1000 MHz: radar cross-sections.

Cells of a twentieth of the shortest wavelength in a box of 1 m, the wave in one of 0.75 m, CPML of 10 cells outside.
"""

import numpy as np
from nearfield_tools import arguments, tell

import nearfield as nf

RADIUS, BOX, WAVE = 0.2, 1.0, 0.75  # m
LOW, HIGH, CUT = 50e6, 1000e6, 500e6
FREQUENCY, ANGLES = np.linspace(LOW, HIGH, 39), np.arange(0, 181, 5)


def model(refine=1.0):
    wave = nf.PlaneWave(
        (-WAVE / 2,) * 3, (WAVE / 2,) * 3, "+x", "z", nf.ModulatedGaussian(0.5 * (LOW + HIGH), HIGH - LOW)
    )
    return nf.Simulation(
        title="Metal sphere",
        grid=nf.AutoGrid(20 * refine, HIGH, lower=(-BOX / 2,) * 3, upper=(BOX / 2,) * 3),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), RADIUS), nf.PEC)],
        boundaries=nf.Boundaries(all=nf.CPML()),
        sources=[wave],
        monitors=[nf.FarField("far", sorted({*FREQUENCY, CUT}), theta=["90 deg"], phi=np.radians(ANGLES))],
    )


def main():
    given = arguments(__doc__)

    def answers(result):
        section = result["far"].radar_cross_section().isel(theta=0)
        back = section.sel(frequency=FREQUENCY).isel(phi=-1)
        return {
            "frequency": FREQUENCY.tolist(),
            "monostatic": back.values.tolist(),
            "angle": ANGLES.tolist(),
            "bistatic": section.sel(frequency=CUT).values.tolist(),
        }

    tell(model(given.refine), given, answers)


if __name__ == "__main__":
    main()
