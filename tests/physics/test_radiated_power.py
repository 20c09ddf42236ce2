"""Power of a point current: in space within 1 %, on the Yee lattice within rounding and the CPML (validation)."""

from functools import cache

import pytest

from validation.radiated_power.run import FREQUENCY, lattice_factor, powers, radiated, simulation

MEDIA = (1.0, 2.25)


@cache
def through(permittivity: float) -> dict[str, float]:
    return {box: float(power[0]) for box, power in powers(permittivity).items()}


@pytest.mark.parametrize("permittivity", MEDIA)
def test_power_is_that_in_space_within_a_percent(permittivity):
    """At 20 cells a wavelength the lattice itself radiates 1 + (k d)^2/8 - 5 (w dt)^2/24 times as much: < 1 %."""
    assert through(permittivity)["small"] == pytest.approx(radiated(FREQUENCY, permittivity), rel=0.01)


@pytest.mark.parametrize("permittivity", MEDIA)
def test_power_is_that_of_the_lattice(permittivity):
    """5e-4: twice the -75 dB that the CPML may send back onto the source, and single precision."""
    factor = lattice_factor(FREQUENCY, permittivity, simulation(permittivity, (FREQUENCY,))._setup().time_step)
    assert through(permittivity)["small"] == pytest.approx(factor * radiated(FREQUENCY, permittivity), rel=5e-4)


@pytest.mark.parametrize("permittivity", MEDIA)
def test_power_does_not_depend_on_the_flux_box(permittivity):
    assert through(permittivity)["large"] == pytest.approx(through(permittivity)["small"], rel=0.003)


def test_a_dielectric_radiates_its_index_times_as_much():
    """The two lattices differ by 0.37 % in what they add."""
    assert through(2.25)["small"] / through(1.0)["small"] == pytest.approx(1.5, rel=0.005)
