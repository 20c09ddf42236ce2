"""Means over pieces of space: the bits of their formulas, whichever way the pieces lie, and clear refusals."""

import numpy as np
import pytest

from nearfield import _core
from nearfield.coefficients.subcells import Groups, mean, weighted_mean


def straight(parts, series):
    """Mean of (weight, values), added in this order, clipped to the values: that of equal ones is exact."""
    total, whole = 0.0, 0.0
    for weight, values in parts:
        total, whole = total + (weight / values if series else weight * values), whole + weight
    least, most = (np.min([values for _, values in parts], axis=0), np.max([values for _, values in parts], axis=0))
    return np.clip(whole / total if series else total / whole, least, most)


def grouped(sizes, first):
    """So many pieces in each group, the groups half over one another as those about nodes and in cells are."""
    start = first + np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return Groups(start, start + sizes)


@pytest.mark.parametrize("series", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("sizes", [[2] * 300, [1, 3, 2, 2, 1, 4], [3]])
@pytest.mark.parametrize("turned", [False, True])
def test_means_along_an_axis_have_the_bits_of_their_formula(series, place, sizes, turned):
    rng, groups, offset = np.random.default_rng(len(sizes)), grouped(np.array(sizes), 5), 3
    length = rng.uniform(0.5, 2.0, groups.stop[-1] + 4)
    shape = [7, 7]
    shape[place] = int(groups.stop[-1]) - offset + 1
    values = rng.uniform(1.0, 9.0, shape[::-1]).T if turned else rng.uniform(1.0, 9.0, shape)
    values[rng.uniform(size=shape) < 0.3] = 3.7
    found = mean(values, place, groups, length, offset, series)
    rows = values if place == 0 else values.T
    wanted = [
        straight([(length[n], rows[n - offset]) for n in range(start, stop)], series)
        for start, stop in zip(groups.start, groups.stop)
    ]
    assert np.array_equal(found if place == 0 else found.T, wanted)


@pytest.mark.parametrize("series", [False, True])
def test_means_of_layers_have_the_bits_of_their_formula(series):
    rng = np.random.default_rng(1)
    layers = [rng.uniform(1.0, 9.0, (5, 600)), np.full((5, 600), 2.3), rng.uniform(1.0, 9.0, (600, 5)).T]
    parts = list(zip([0.3, 0.7, 1.1], layers))
    assert np.array_equal(weighted_mean(parts, series), straight(parts, series))
    mixed = [(0.3, layers[0]), (0.7, 4.1)]  # a layer of one medium is one number
    assert np.array_equal(
        weighted_mean(mixed, series), straight([(0.3, layers[0]), (0.7, np.full((5, 600), 4.1))], series)
    )
    plain = [(0.3, 2.0), (0.6, 5.0)]
    assert weighted_mean(plain, series) == straight(plain, series)
    assert weighted_mean([(0.3, 0.1), (0.7, 0.1)], series) == 0.1


def test_groups_outside_the_plane_and_planes_of_other_shapes_are_refused():
    values, length = np.ones((4, 3)), np.ones(4)
    for start, stop in ((-1, 2), (2, 2), (3, 5)):
        with pytest.raises(IndexError, match="a group holds pieces of the plane"):
            _core.mean_along(values, 0, np.array([start]), np.array([stop]), length, False)
    with pytest.raises(ValueError, match="pieces a length"):
        _core.mean_along(values, 1, np.array([0]), np.array([2]), length, False)
    with pytest.raises(ValueError, match="of one shape"):
        _core.mean_of_planes([1.0, 1.0], [values, np.ones((4, 2))], False)
