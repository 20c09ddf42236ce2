"""Wires of a stated radius: lines in a metal tube, a half-wave dipole, a loop.

    .venv/bin/python -m validation.thin_wire.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.half_wave_dipole.moments import impedance
from validation.half_wave_dipole.run import graded, input_impedance, resonance
from validation.picture import picture

C, ETA = 299792458.0, 376.730313412  # m/s, ohm
SIDE = 24e-3  # of the tube (m)
CELL, HALF = 3e-3, 25  # of the dipole: m, and cells of an arm
RADII = (1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 0.5)  # in cells


def tube_impedance(radius: float, x: float, y: float, side: float = SIDE) -> float:
    """eta times the static potential (V) of a thin round wire at (x, y) in a square tube, for 1 C/m over eps0.

    Between the two plates y = 0 and y = side a line charge has a closed form; images in the other two walls alternate.
    """
    scale = math.pi / side
    total = 2.0 * math.log(2.0 / (scale * radius) * math.sin(scale * y))
    for n in range(-6, 7):
        for sign, apart in ((1.0, 2 * n * side), (-1.0, 2 * n * side - 2 * x)):
            if apart != 0.0:
                wide = math.cosh(scale * apart)
                total += sign * math.log((wide - math.cos(2 * scale * y)) / (wide - 1.0))
    return ETA * total / (4.0 * math.pi)


def tube(radius: float, x: np.ndarray, y: np.ndarray, place: tuple[float, float]) -> nf.Simulation:
    """The tube along z between two CPMLs, fed by a current from the wire to the floor, V and I past it."""
    cell = 1e-3
    z = cell * np.arange(91)
    wire = nf.Wire([(*place, z[0]), (*place, z[-1])], radius=radius)
    beside = [(line[max(np.searchsorted(line, at - 1e-9) - 1, 0)], line[np.searchsorted(line, at - 1e-9) + 1])
              for line, at in zip((x, y), place)]  # fmt: skip
    lower, upper = zip(*beside)
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[nf.Structure(wire, nf.PEC)],
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(16), z_high=nf.CPML(16)),
        sources=[nf.LineCurrent((place[0], 0, 30e-3), (*place, 30e-3), nf.GaussianDerivative(2e9))],
        monitors=[
            nf.Voltage("voltage", (*place, 60e-3), (place[0], 0, 60e-3)),
            nf.Current("current", (*lower, 60e-3), (*upper, 60e-3)),
        ],
    )


def line_impedance(radius: float, x: np.ndarray, y: np.ndarray, place: tuple[float, float]) -> float:
    """V/I (ohm) of the travelling wave at 1 GHz."""
    result = tube(radius, x, y, place).run(threads=2)
    voltage, current = result["voltage"], result["current"]
    ratio = [fourier_integral(part[part.dims[0]].values, part.values, np.array([1e9])) for part in (voltage, current)]
    return float(abs(ratio[0][0] / ratio[1][0]))
