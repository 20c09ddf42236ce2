"""Transmission lines (validation/microstrip, validation/coax) and the filter of Sheen et al. on its published mesh."""

import numpy as np
import pytest

from validation.coax import run as coax
from validation.microstrip import run as microstrip


def test_microstrip_has_the_impedance_of_hammerstad_and_jensen():
    """1.5 %, the page's: 0.2 % of the formula, the rest the singular field at the strip's edges."""
    frequencies = np.linspace(2e9, 4e9, 5)
    impedance, effective = microstrip.expected()
    assert (impedance, effective) == pytest.approx((49.87, 1.8817), rel=1e-3)
    z, eps = microstrip.line_constants(microstrip.model(8, 3), frequencies)
    assert z.real.mean() == pytest.approx(impedance, rel=0.015)
    assert eps.mean() == pytest.approx(effective, rel=0.015)


@pytest.mark.parametrize("cell, low, high", [(10e-3, 0.98, 1.05), (5e-3, 0.99, 1.03)])
def test_staircase_coax_has_the_impedance_of_its_circles(cell, low, high):
    """At 5 mm the page's +3/-1 %, at 10 mm twice as much."""
    z = coax.impedance(np.linspace(80e6, 200e6, 4), cell, "staircase")
    assert low * coax.expected() <= z.real.mean() <= high * coax.expected()


def test_coax_with_nothing_stated_has_the_impedance_of_its_circles():
    """The page's 0.5 % at 5 mm, twice the cells: cut cells are second order, and the CPML's echo is half of it."""
    z = coax.impedance(np.linspace(80e6, 200e6, 4), 10e-3)
    assert z.real.mean() == pytest.approx(coax.expected(), rel=0.005)
