"""The example of a photonic crystal: bands of a Bloch cell are the eigenvalues of plane waves."""

from pathlib import Path

import numpy as np
import pytest
from cases import slow_after

import nearfield as nf
from examples.photonic_crystal import LOSSIEST, PERIOD, C, expected, model, resonances

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("wave", slow_after(1, [(0.5, 0.0), (0.25, 0.0), (0.5, 0.25)]))
def test_the_lowest_bands_of_a_lattice_of_rods(wave):
    """12 cells a period, 10 a wavelength in the rod for the second band: an even grid's frequency is low by

    (pi/10)^2/6 (1 - S^2/3) = 1.6 % at most; the first band has twice as many.
    """
    found, theory = resonances(wave, 2, cells=12, periods=100.0), expected(wave, 2)
    assert np.abs(found / theory - 1).max() < 0.016
    assert abs(found[0] / theory[0] - 1) < 0.004


def test_bands_that_nearly_cross_are_told_apart():
    """Next to the crossing at the centre of the zone, 2 % apart: as close as one over the time recorded."""
    wave = (1 / 12, 0.0)
    found, theory = resonances(wave, 4, cells=12, periods=100.0), expected(wave, 4)
    assert np.allclose(found, theory, rtol=0.04)  # 6.4 cells a wavelength in the rod: (pi/6.4)^2/6


@pytest.mark.slow
def test_a_band_at_the_opposite_wave_vector_has_the_same_frequency():
    waves = [resonances(wave, 2, cells=10, periods=60.0) for wave in ((0.3, 0.1), (-0.3, -0.1), (0.1, 0.3))]
    assert np.allclose(waves[0], waves[1], rtol=1e-8) and np.allclose(waves[0], waves[2], rtol=1e-8)


def test_the_model_file_of_the_crystal_is_the_model_in_python():
    stored, made = nf.load(ROOT / "examples" / "photonic_crystal.toml"), model((0.5, 0.0))
    assert stored.duration == pytest.approx(made.duration, rel=0.01)
    assert stored.model_copy(update={"duration": made.duration}) == made


@pytest.mark.slow
def test_every_probe_hears_every_mode_in_single_precision_too():
    """On the way to M each band is even or odd about a diagonal, on which no probe may lie."""
    result = model((0.25, 0.25), cells=20).model_copy(update={"precision": "single"}).run(threads=1)
    band = [f * C / PERIOD for f in (0.02, 0.75)]
    heard = [nf.resonances(result, band, probe=name, smallest_q=LOSSIEST).frequency.values for name in result.monitors]
    assert [each.size for each in heard] == [4, 4, 4]
    assert np.allclose(heard, heard[0], rtol=1e-6)  # rounding of single precision, 6e-8, over a few hundred radians
