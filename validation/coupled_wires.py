"""A half-wave dipole with a port in its middle and another wire beside it, at 60 cells a wavelength of 1 m."""

from __future__ import annotations

import numpy as np

import nearfield as nf

CELL, FREQUENCY = 1.0 / 60.0, 299792458.0  # m, Hz
RADIUS = 0.12  # cells


def model(apart: float, off: tuple[float, float] = (0.0, 0.0), metal: str = "auto") -> nf.Simulation:
    """The wires along z, `apart` cells from each other along x, the fed one `off` a line along x and y (cells)."""
    (x, y), lengths = off, (44, 36, 52)
    arms = [(x, -14.1, 0.0), (x, 1.0, 15.1), (x + apart, -13.6, 14.6)]
    wires = [nf.Wire([tuple(CELL * q for q in (at, y, z)) for z in ends], RADIUS * CELL) for at, *ends in arms]
    feed = [tuple(CELL * q for q in (x, y, z)) for z in (0.0, 1.0)]
    return nf.Simulation(
        grid=nf.Grid(*(CELL * (np.arange(n + 1) - n // 2) for n in lengths)),
        boundaries=nf.Boundaries(nf.CPML(8)),
        structures=[nf.Structure(wire, nf.PEC) for wire in wires],
        ports=[nf.LumpedPort("feed", *feed, "z", resistance=50.0)],
        waveform=nf.ModulatedGaussian(FREQUENCY, 0.5 * FREQUENCY),
        metal=metal,
    )


def impedance(result: nf.Result) -> complex:
    """Of the fed wire (ohm)."""
    own = result.sparameters.sel(to="feed", source="feed").interp(frequency=FREQUENCY)
    s = complex(own.values)
    return 50.0 * (1.0 + s) / (1.0 - s)
