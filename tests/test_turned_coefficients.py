"""Coefficients have the same bits whichever axis planes are asked along, and whichever part of a model is asked for."""

import numpy as np
import pytest
from drawn_models import MM, drawn_setup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import draws

import nearfield as nf


def assembled(coefficients, axis: int, low, high) -> np.ndarray:
    """(stay and drive of 6 components, then of each medium with poles; x, y, z) of a part of the model."""
    shape = [high[(axis + n) % 3] - low[(axis + n) % 3] for n in range(3)]
    count = len(coefficients.pole_media)
    found = np.zeros((12 + 6 * count, *shape))
    found[12 : 12 + 3 * count] = 1.0  # stay of media that are not there
    for planes in coefficients.planes(axis, low, high):
        both = np.concatenate((planes.electric, planes.magnetic)).reshape(12, *shape[1:])
        found[:12, planes.start : planes.stop] = both[:, None]
        for poles in planes.poles:
            found[12 + 3 * poles.medium : 15 + 3 * poles.medium, planes.start : planes.stop] = poles.stay[:, None]
            first = 12 + 3 * (count + poles.medium)
            found[first : first + 3, planes.start : planes.stop] = poles.weight[:, None]
    return np.moveaxis(found, (1, 2, 3), [1 + (axis + n) % 3 for n in range(3)])


def assert_equal_parts(coefficients, rng) -> None:
    """Of all of a model along each axis, and of a part of it."""
    shape = coefficients.active
    whole = assembled(coefficients, 0, (0, 0, 0), shape)
    for axis in (1, 2):
        other = assembled(coefficients, axis, (0, 0, 0), shape)
        assert np.array_equal(whole, other), (axis, np.abs(whole - other).max(axis=(1, 2, 3)))
    low = tuple(int(rng.integers(n - 1)) for n in shape)
    high = tuple(int(rng.integers(first + 1, n + 1)) for first, n in zip(low, shape))
    cut = tuple(slice(*ends) for ends in zip(low, high))
    for axis in range(3):
        part = assembled(coefficients, axis, low, high)
        assert np.array_equal(whole[(slice(None), *cut)], part), axis


@settings(max_examples=draws(10), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
@pytest.mark.slow
def test_coefficients_are_those_of_any_axis_and_any_part(seed):
    setup = drawn_setup(seed)
    if setup:
        assert_equal_parts(setup.coefficients, np.random.default_rng(seed))


@pytest.mark.parametrize("permittivity", [2.0, 49.0])
def test_a_boxs_edges_have_the_same_bits_in_planes_across_any_axis(permittivity):
    """About its edges samples hold 1, 1, 1 and eps, which added in another order give 0.8 or 0.8000000000000002."""
    box = nf.Structure(nf.Box((3 * MM, 3 * MM, 3 * MM), (8 * MM, 9 * MM, 16 * MM)), nf.Medium(permittivity))
    lines = [MM * np.arange(n) for n in (12, 13, 20)]
    simulation = nf.Simulation(nf.Grid(*lines), boundaries=nf.Boundaries(nf.PEC), structures=[box], steps=1)
    assert_equal_parts(simulation._setup().coefficients, np.random.default_rng(1))
