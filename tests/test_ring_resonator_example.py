"""The example of a ring resonator at a small size: its modes are those of the layered cylinder."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.ring_resonator import exact, found, mismatch, model, numbers

FILE = Path(nf.__file__).parents[1] / "examples" / "ring_resonator.toml"


@lru_cache
def coarse(plane=None):
    """Frequency and Q at ten cells in the width, with a plane of symmetry across x or without."""
    return numbers(found(10, widths=150.0, symmetry=nf.Symmetry(x=plane, y="magnetic")))


def test_the_exact_modes_are_zeros_of_the_boundary_determinant_and_near_published_ones():
    modes = exact()
    assert [order for order, *_ in modes] == [3, 4, 5, 2]
    for order, frequency, quality in modes:
        k = 2 * np.pi * frequency * (1 + 0.5j / quality)
        assert abs(mismatch(order, k)) < 1e-9 * abs(mismatch(order, 1.01 * k))
    # 0.118, 0.147, 0.176 with Q of 80, 316 and 1700, rounded
    assert np.allclose([f for _, f, _ in modes[:3]], [0.118, 0.147, 0.176], rtol=5e-3)
    assert np.allclose([q for *_, q in modes[:3]], [80, 316, 1700], rtol=0.1)


def test_frequency_and_q_of_the_ring_are_those_of_the_layered_cylinder():
    # ten cells in the width: 17 to 25 a wavelength in the ring. The grid's dispersion is (pi/17)^2/6 = 0.6 % there, and
    # Q, which falls with a high power of the frequency in such a ring, changes by some ten times that
    modes = coarse()
    assert len(modes) == 4
    for (frequency, quality), (_, right_frequency, right_quality) in zip(modes, exact()):
        assert frequency == pytest.approx(right_frequency, rel=6e-3)
        assert quality == pytest.approx(right_quality, rel=0.06)


@pytest.mark.parametrize("plane, orders", [("magnetic", [1, 3]), ("electric", [0, 2])])  # 4 and 2; 3 and 5
def test_a_plane_across_x_keeps_the_modes_of_even_or_of_odd_order(plane, orders):
    assert np.allclose(coarse(plane), [coarse()[n] for n in orders], rtol=1e-4)


def test_the_model_file_of_the_ring_is_that_of_the_script():
    loaded, made = nf.load(FILE), model(20)
    assert loaded.check().warnings == ()
    assert loaded.duration == pytest.approx(made.duration, rel=1e-3)
    assert loaded.grid.cells == made.grid.cells
    assert np.allclose(loaded.grid.spacing, made.grid.spacing) and np.allclose(loaded.grid.origin, made.grid.origin)
    assert loaded.boundaries == made.boundaries and loaded.symmetry == made.symmetry
    for one, other in zip(loaded.structures, made.structures):
        assert one.shape.radius == pytest.approx(other.shape.radius)
        assert one.medium.permittivity == pytest.approx(other.medium.permittivity)
    assert np.allclose(loaded.sources[0].start, made.sources[0].start)
    assert np.allclose(loaded.sources[0].waveform.band, made.sources[0].waveform.band)
    assert np.allclose(loaded.monitors[0].position, made.monitors[0].position)
