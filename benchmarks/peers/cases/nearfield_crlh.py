"""Nearfield on a unit cell of a composite right/left-handed line between microstrip lines: S at its ends.

The bodies are those of openems_crlh.py, and so are the cells: an automatic grid of a thirtieth of the wavelength in the
board at 6 GHz, a quarter of it at the cell, three between its plates. The lines run into the CPML at both ends, whose
ports know their mode (shape "open").
"""

import numpy as np
from nearfield_tools import arguments, tell

import nearfield as nf

MM = 1e-3
LAYERS, PERMITTIVITY = (1.524 * MM, 0.101 * MM, 0.254 * MM), 3.48
CELL, WIDTH, GAP_BELOW, GAP_ABOVE = 14 * MM, 4 * MM, 1.95 * MM, 4.7 * MM
STUB, STUB_WIDTH, VIA = 7.8 * MM, 1 * MM, 0.25 * MM
FEED, SIDE, ROOF = 16 * MM, 20 * MM, 16 * MM
PORT = 10 * MM  # of the ports, from the cell's end
LOW, HIGH, LIGHT = 0.8e9, 6e9, 299792458.0
TOP, BELOW = sum(LAYERS), sum(LAYERS[:2])


def model(refine=1.0):
    half, end, plate, stub = 0.5 * WIDTH, 0.5 * CELL, 0.5 * (CELL - GAP_BELOW), 0.5 * STUB_WIDTH
    reach, far = end + FEED, 0.2  # m, the latter into the CPML
    hole = half + STUB - stub
    sheets = [
        ((-far, -half, TOP), (-0.5 * GAP_ABOVE, half, TOP)),
        ((0.5 * GAP_ABOVE, -half, TOP), (far, half, TOP)),
        ((-plate, -half, BELOW), (plate, half, BELOW)),
        ((-stub, -half - STUB, BELOW), (stub, half + STUB, BELOW)),
    ]
    quarter = LIGHT / (HIGH * PERMITTIVITY**0.5) / 120 / refine
    fine = nf.FineCells(
        (-end, -half - STUB, BELOW), (end, half + STUB, TOP), (quarter, quarter, LAYERS[2] / 3 / refine)
    )
    vias = [nf.Cylinder((0, y, 0), (0, y, BELOW), VIA) for y in (-hole, hole)]
    return nf.Simulation(
        title="CRLH unit cell",
        grid=nf.AutoGrid(30 * refine, HIGH, lower=(-reach, -SIDE, 0), upper=(reach, SIDE, ROOF), finer=[fine]),
        structures=[
            nf.Structure(nf.Box((-far, -far, 0), (far, far, TOP)), nf.Medium(PERMITTIVITY)),
            *[nf.Structure(nf.Sheet(lower, upper), nf.PEC) for lower, upper in sheets],
            *[nf.Structure(via, nf.PEC) for via in vias],
        ],
        boundaries=nf.Boundaries(all=nf.CPML(), z_low=nf.PEC),
        ports=[
            nf.WaveguidePort(
                name,
                (side * (end + PORT), -SIDE, 0),
                (side * (end + PORT), SIDE, ROOF),
                way,
                1,
                "open",
                reference_plane=side * end,
                reference_impedance=50.0,
            )
            for name, side, way in (("in", -1, "+x"), ("out", 1, "-x"))
        ],
        waveform=nf.ModulatedGaussian(0.5 * (LOW + HIGH), HIGH - LOW),
        excitations=["in"],
    )


def main():
    given = arguments(__doc__)
    frequency = np.linspace(LOW, HIGH, 1601)

    def answers(result):
        s = result.sparameters_at(frequency).sel(source="in")
        back, through = (s.sel(to=name).values for name in ("in", "out"))
        return {
            "frequency": frequency[::4].tolist(),
            "s11": [[v.real, v.imag] for v in back[::4]],
            "s21": [[v.real, v.imag] for v in through[::4]],
            "impedance": [[50.0, 0.0]] * len(frequency[::4]),
        }

    tell(model(given.refine), given, answers)


if __name__ == "__main__":
    main()
