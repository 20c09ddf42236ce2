"""Random waves of examples/hot_spots.py, and the cavity beside them."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from examples.hot_spots import FIGURE, random_waves, spots_of, squares_of


def test_random_waves_have_the_statistics_of_gaussian_components():
    squares = np.concatenate([random_waves((60, 6, 6), seed).ravel() for seed in range(10)])
    # three Gaussian components: the variance of the sum of squares is 2/3 of its squared mean; some 100 waves' lengths
    # of samples leave 1 / sqrt(100) of each of these, several times that of the product
    assert squares.mean() == pytest.approx(1) and squares.var() == pytest.approx(2 / 3, rel=0.3)


@pytest.mark.slow
def test_spots_of_a_cavity_are_those_of_random_waves(tmp_path):
    model = FIGURE.parents[2] / "examples" / "hot_spots.toml"
    _, inner = squares_of(nf.load(model).run())
    found = spots_of(inner)
    draws = [spots_of(random_waves(inner.shape, seed)) for seed in range(12)]
    for name, value in found.items():
        numbers = [draw[name] for draw in draws]
        # one sample of few modes: four standard deviations of samples of many
        assert abs(value - np.mean(numbers)) < 4 * np.std(numbers, ddof=1)
