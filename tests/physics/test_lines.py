"""Transmission lines (validation/microstrip, validation/coax) and the filter of Sheen et al. on its published mesh."""

import numpy as np
import pytest

from validation.coax import run as coax
from validation.low_pass_filter import run as low_pass
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
    z = coax.impedance(np.linspace(80e6, 200e6, 4), cell)
    assert low * coax.expected() <= z.real.mean() <= high * coax.expected()


def test_low_pass_filter_is_passive_and_has_its_null_between_6_and_7_ghz():
    """1.01: V and I are interpolated at the reference planes, 0.7 % at 20 GHz."""
    frequencies, s11, s21 = low_pass.magnitudes(low_pass.model(1.0).run(threads=1).sparameters)
    assert (s11**2 + s21**2).max() <= 1.01
    assert 5.2e9 < low_pass.edge(frequencies, s21) < 5.8e9
    assert 6e9 < low_pass.nulls(frequencies, s21)[0] < 7e9
    assert s21[(frequencies > 6e9) & (frequencies < 9e9)].max() < 0.316


@pytest.mark.slow
def test_low_pass_filter_has_the_same_edge_on_two_meshes():
    edges = [low_pass.edge(*low_pass.magnitudes(low_pass.model(r).run().sparameters)[::2]) for r in (1.0, 1.5)]
    assert edges[0] == pytest.approx(edges[1], rel=0.02)
