"""What the CPML sends back, in the page's own set-up (validation/cpml)."""

from functools import cache

import numpy as np
import pytest

import nearfield as nf
from validation.cpml.run import field_at_far_corner, long_wave_reflection, open_space, reflection


@cache
def level(cells: int) -> float:
    return reflection(field_at_far_corner(cells, nf.CPML(cells)), reference())


@cache
def reference() -> np.ndarray:
    return open_space()


def test_ten_default_cells_reflect_less_than_minus_75_db():
    assert level(10) <= -75.0


@pytest.mark.parametrize("thin, thick", [(6, 10), (10, 16)])
def test_more_cells_gain_20_db(thin, thick):
    assert level(thin) - level(thick) >= 20.0


def test_single_precision_loses_nothing():
    """Rounding of 210 steps, 210 x 6e-8 at worst, lies 98 dB down and adds little to -90 dB."""
    field = field_at_far_corner(10, nf.CPML(), precision="single")
    assert reflection(field, reference()) <= -75.0


def test_long_waves_are_absorbed_too():
    """Below c/(2 pi eta0 alpha cell) the frequency shift weakens the layer; at 500 cells a wavelength it holds."""
    assert max(long_wave_reflection((20, 50, 100, 200, 500))) <= -80.0


def test_fields_die_out_in_open_space():
    """A pulse without a direct component leaves nothing behind: no late instability, no trapped field."""
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (30, 30, 30)),
        sources=[nf.PointCurrent((15e-3, 15e-3, 15.5e-3), "z", nf.GaussianDerivative(5e9))],
        monitors=[nf.Probe("near", (17e-3, 15e-3, 15.5e-3))],
        steps=4000,
        precision="double",
    )
    field = np.abs(simulation.run(threads=1)["near"].values)
    assert field[-500:].max() < 1e-7 * field.max()
