"""Small models that hold every feature at once: bodies of all kinds, lumped parts, a plane wave, all monitors."""

from __future__ import annotations

import nearfield as nf

MM = 1e-3
PULSE = nf.Gaussian(20e9)
BEFORE, ABOVE = (5e-3, 5e-3, 5e-3), (19e-3, 17e-3, 29e-3)  # corners of the plane wave's box (m)


def scene(precision: str = "single", oblique: bool = True, averaging: str = "diagonal") -> nf.Simulation:
    """A box of 24 x 22 x 34 cells in CPML."""
    debye = nf.Medium(2.0, poles=[nf.Debye(3.0, 1e-11)])
    bodies = [
        (nf.Box((7e-3, 7e-3, 7e-3), (16e-3, 14.3e-3, 9e-3)), nf.Medium(4.0, conductivity=0.01)),
        (nf.Sphere((9.1e-3, 8.8e-3, 20e-3), 2.4e-3), debye),
        (nf.Sphere((15e-3, 13.2e-3, 21e-3), 2.3e-3), nf.PEC),
        (nf.Cylinder((15e-3, 8e-3, 12e-3), (15e-3, 8e-3, 18e-3), 2.1e-3), nf.Medium(9.0)),
        (nf.Sheet((9e-3, 9e-3, 9e-3), (13.4e-3, 12.7e-3, 9e-3)), nf.PEC),
        (nf.Wire([(12e-3, 11e-3, 12e-3), (12e-3, 11e-3, 17e-3)]), nf.PEC),
        (nf.Wire([(12e-3, 11e-3, 18e-3), (12e-3, 11e-3, 23e-3)]), nf.PEC),
    ]
    turned = {"direction": (1.0, 0.4, 0.2), "polarisation": (-0.2, 0.0, 1.0)}
    along = {"direction": "+y", "polarisation": (0.0, 0.0, 1.0)}
    return nf.Simulation(
        nf.Grid.uniform(MM, (24, 22, 34)),
        boundaries=nf.Boundaries(all=nf.CPML(3)),
        structures=[nf.Structure(*body) for body in bodies],
        sources=[nf.PlaneWave(lower=BEFORE, upper=ABOVE, waveform=PULSE, **(turned if oblique else along))],
        ports=[nf.LumpedPort("port", (12e-3, 11e-3, 17e-3), (12e-3, 11e-3, 18e-3), "z")],
        monitors=[
            nf.Probe("probe", (9e-3, 14e-3, 25e-3)),
            nf.FieldDFT("cut", (3e-3, 3e-3, 16e-3), (21e-3, 19e-3, 16e-3), frequencies=[5e9, 1e10]),
            nf.Snapshot("side", (3e-3, 11e-3, 3e-3), (21e-3, 11e-3, 31e-3), every=4),
            nf.FarField("far", frequencies=[1e10], lower=(4e-3,) * 3, upper=(20e-3, 18e-3, 30e-3)),
        ],
        metal="conformal",
        averaging=averaging,
        excitations=["sources"],
        waveform=PULSE,
        precision=precision,
        steps=16,
    )
