"""Nearfield on a microstrip line of 0.6 mm with an open stub of 12 mm, on 0.254 mm of eps_r 3.66: S to 7 GHz.

An automatic grid of 50 cells a wavelength in the board at 7 GHz; the line runs into the CPML at both ends, whose
ports know its mode (shape "open"). The CPML stands at the sides and above as well.
"""

import numpy as np
from nearfield_tools import arguments, tell

import nearfield as nf

MM = 1e-3
WIDTH, HEIGHT, STUB = 0.6 * MM, 0.254 * MM, 12 * MM
HIGHEST = 7e9
ENDS = 20 * MM  # of the line, at the CPML; the published line is 50 mm long on each side
SIDE, HEADROOM = 4 * MM, 2.54 * MM
AT = 15 * MM  # of the ports, from the stub's middle


def model(refine=1.0):
    lower = -ENDS, -SIDE, 0
    upper = ENDS, 0.5 * WIDTH + STUB + SIDE, HEADROOM
    far = 0.1  # m, into the CPML
    half = 0.5 * WIDTH
    return nf.Simulation(
        title="Microstrip notch filter",
        grid=nf.AutoGrid(50 * refine, HIGHEST, lower=lower, upper=upper),
        structures=[
            nf.Structure(nf.Box((-far, -far, 0), (far, far, HEIGHT)), nf.Medium(3.66)),
            nf.Structure(nf.Sheet((-far, -half, HEIGHT), (far, half, HEIGHT)), nf.PEC),
            nf.Structure(nf.Sheet((-half, half, HEIGHT), (half, half + STUB, HEIGHT)), nf.PEC),
        ],
        boundaries=nf.Boundaries(all=nf.CPML(), z_low=nf.PEC),
        ports=[
            nf.WaveguidePort(name, (x, -SIDE, 0), (x, SIDE, HEADROOM), way, 1, "open", reference_impedance=50.0)
            for name, x, way in (("in", -AT, "+x"), ("out", AT, "-x"))
        ],
        excitations=["in"],
    )


def main():
    given = arguments(__doc__)
    frequency = np.linspace(0.1e9, HIGHEST, 1381)
    made = model(given.refine)

    def answers(result):
        s = result.sparameters_at(frequency).sel(source="in")
        back, through = (np.abs(s.sel(to=name).values) for name in ("in", "out"))
        at, power = int(np.argmin(through)), (back**2 + through**2)[frequency > 1e9]
        modes = made.guide_modes(np.array([2e9])).isel(port=0, frequency=0)
        return {
            "notch": float(frequency[at]),
            "depth_db": float(20 * np.log10(through[at])),
            "highest_power": float(power.max()),
            "lowest_power": float(power.min()),
            "line_impedance": float(modes.characteristic_impedance),
            "frequency": frequency[::20].tolist(),
            "s11_abs": back[::20].tolist(),
            "s21_abs": through[::20].tolist(),
        }

    tell(made, given, answers)


if __name__ == "__main__":
    main()
