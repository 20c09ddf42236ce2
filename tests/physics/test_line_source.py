"""The example of a sine line source: a cylindrical wave, until that of the first image in the next cell arrives."""

import math
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.line_source import model, ratios

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_wave_of_a_sine_line_source_is_the_hankel_function():
    """20 cells per wavelength: the lattice's own wave is 0.53 % higher along an axis and lags by (k d)^2/24 at most."""
    places = ((20, 0), (0, 30), (-40, 0))
    values = ratios(200, places)  # 10 wavelengths on a side: 3 periods between the turn-on and the image
    assert np.abs(np.abs(values) - 1.0053).max() < 2e-3
    lag = [(2 * math.pi / 20) ** 2 / 24 * 2 * math.pi / 20 * max(map(abs, place)) for place in places]
    assert (np.abs(np.angle(values)) < lag).all()


def test_the_model_file_of_the_line_source_is_the_model_in_python():
    assert nf.load(ROOT / "examples" / "line_source.toml") == model()
