"""Nearfield on a WR-42 guide, 10.7 x 4.3 x 50 mm, 20 to 26 GHz: S and the phase from port to port.

Cells of a thirtieth of the wavelength at 24 GHz; the CPML of 10 cells lies outside of the guide's length. As in
openEMS, ports lie on lines of even cells and the time step is the largest stable one.
"""

import numpy as np
from nearfield_tools import arguments, tell

import nearfield as nf

MM = 1e-3
A, B, LENGTH = 10.7 * MM, 4.3 * MM, 50 * MM
LOW, HIGH = 20e9, 26e9
AT = 14 / 121 * LENGTH, 107 / 121 * LENGTH  # of the ports, on lines of even cells


def model(refine=1.0):
    return nf.Simulation(
        title="WR-42 guide",
        grid=nf.AutoGrid(30 * refine, 24e9, lower=(0, 0, 0), upper=(A, B, LENGTH)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(), z_high=nf.CPML()),
        ports=[
            nf.WaveguidePort("in", (0, 0, AT[0]), (A, B, AT[0]), "+z", "TE10"),
            nf.WaveguidePort("out", (0, 0, AT[1]), (A, B, AT[1]), "-z", "TE10"),
        ],
        waveform=nf.ModulatedGaussian(0.5 * (LOW + HIGH), HIGH - LOW),
        excitations=["in"],
        courant=1.0,
    )


def main():
    given = arguments(__doc__)
    frequency = np.linspace(LOW, HIGH, 61)

    def answers(result):
        s = result.sparameters_at(frequency).sel(source="in")
        through = s.sel(to="out").values
        return {
            "frequency": frequency.tolist(),
            "s11_db": nf.decibels(s.sel(to="in")).values.tolist(),
            "s21_abs": np.abs(through).tolist(),
            "phase": (-np.unwrap(np.angle(through))).tolist(),
            "distance": AT[1] - AT[0],
        }

    tell(model(given.refine), given, answers)


if __name__ == "__main__":
    main()
