"""Faces of dispersive media against Fresnel, slabs against the Airy sum (validation/debye_water, drude_slab)."""

import numpy as np
import pytest

import nearfield as nf
from validation.debye_water.run import CELL, PUBLISHED, WATER
from validation.drude_slab.run import FREQUENCIES, REFLECTED, TRANSMITTED
from validation.drude_slab.run import found as slab
from validation.half_space import expected, found

GIGA = 2e9 * np.pi


def test_water_reflects_as_published():
    r = found(np.array(list(PUBLISHED)), WATER, CELL, 60e9, 0.5e-9)
    assert r == pytest.approx(list(PUBLISHED.values()), rel=0.005)


def test_a_plasma_slab_reflects_and_transmits_as_published():
    r, t = (20 * np.log10(values) for values in slab(FREQUENCIES))
    for wanted, values in ((REFLECTED, r), (TRANSMITTED, t)):
        assert values == pytest.approx(wanted, abs=0.2)


@pytest.mark.parametrize(
    "medium",
    [
        nf.Medium(2.0, poles=[nf.PoleResidue([-8 * GIGA, 40 * GIGA], [10 * GIGA, -60 * GIGA])], conductivity=1.0),
        nf.Medium(3.0, 1.5, poles=nf.Debye(2.0, 5e-12), magnetic_poles=nf.Lorentz(1.0, 20e9, 10e9)),
        nf.Medium(poles=[nf.Drude(15e9), nf.Debye(1.0, 3e-12), nf.Lorentz(1.0, 30e9, 60 * GIGA)]),
    ],
    ids=["pair", "magnetic", "three"],
)
def test_any_face_follows_fresnel(medium):
    """0.05 mm cells: 36 or more a wavelength up to 40 GHz, (pi/36)^2/2 = 0.4 % of the impedance."""
    frequencies = np.linspace(10e9, 40e9, 7)
    r = found(frequencies, medium, 0.05e-3, 60e9, 0.6e-9)
    assert r == pytest.approx(np.abs(expected(frequencies, medium)), abs=0.004)
