"""The Yee grid: positions, lengths, the stable step, interpolation, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import is_half

spacings = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6)


def graded(x, y, z):
    return nf.Grid(*(np.concatenate(([0.0], np.cumsum(part))) * 1e-3 for part in (x, y, z))).resolve()


def test_components_lie_at_their_yee_positions():
    grid = nf.Grid.uniform((1e-3, 2e-3, 3e-3), (4, 5, 6), origin=(1e-3, 0, 0)).resolve()
    assert grid.cells == (4, 5, 6)
    assert [grid.component_shape(c) for c in range(6)] == [
        (4, 6, 7),
        (5, 5, 7),
        (5, 6, 6),
        (5, 5, 6),
        (4, 6, 6),
        (4, 5, 7),
    ]
    for component in range(6):
        for axis, samples in enumerate(grid.component_axes(component)):
            first = grid.lines[axis][0] + 0.5 * grid.primary(axis)[0] * is_half(component, axis)
            assert samples[0] == pytest.approx(first, abs=1e-15)
            assert samples.size == grid.component_shape(component)[axis]


def test_graded_cells_have_the_sizes_that_are_wanted_and_fill_the_axis():
    """Between places cells grow by one ratio, exp(slope): 1 to 2 mm over 10 mm in 10 ln(2) = 6.93 cells."""
    grading = nf.Grading(["-10 mm", 0, "10 mm", "20 mm"], ["1 mm", "1 mm", "2 mm", "2 mm"])
    line = grading.lines()
    length = np.diff(line)
    assert (line[0], line[-1], length.size) == (-10e-3, 20e-3, 22)
    assert length.size == grading.count == np.ceil(10 + 10 * np.log(2) + 5)
    assert (length <= 2e-3).all() and (length[line[1:] < 0] < 1e-3).all()
    growing = length[(line[:-1] > 0) & (line[1:] < 10e-3)]
    np.testing.assert_allclose(growing[1:] / growing[:-1], np.exp(0.1 * (21.93147 / 22)), rtol=1e-6)


@pytest.mark.parametrize("cells", [10, 11, 200])
def test_graded_cells_are_as_many_as_are_asked_for_and_symmetric_where_their_sizes_are(cells):
    line = nf.Grading((-3, -1, 1, 3), (0.2, 0.1, 0.1, 0.2), cells).lines()
    assert line.size == cells + 1
    np.testing.assert_allclose(line, -line[::-1], atol=1e-15)
    assert cells % 2 or line[cells // 2] == 0.0


@given(spacings)
def test_dual_lengths_are_half_at_the_walls_and_add_up(spacing):
    grid = graded(spacing, [1], [1])
    dual, length = grid.dual(0), grid.primary(0)
    assert dual[0] == 0.5 * length[0] and dual[-1] == 0.5 * length[-1]
    np.testing.assert_allclose(dual[1:-1], np.diff(grid.centres(0)), rtol=1e-9)
    assert dual.sum() == pytest.approx(length.sum())


def test_even_lines_give_exactly_constant_lengths():
    grid = nf.Grid.uniform(0.389e-3, (1000, 1, 1), origin=(-0.1, 0, 0)).resolve()
    assert np.unique(grid.primary(0)).size == 1
    assert np.unique(nf.Grid([0, 1e-3, 2.001e-3], [0, 1], [0, 1]).resolve().primary(0)).size == 2


def test_maximum_time_step_is_the_courant_limit_on_a_uniform_grid():
    grid = nf.Grid.uniform((1e-3, 2e-3, 3e-3), (4, 4, 4)).resolve()
    limit = 1 / (VACUUM_SPEED * np.sqrt(1e6 + 0.25e6 + 1e6 / 9))
    assert grid.maximum_time_step() == pytest.approx(limit, rel=1e-12)
    assert grid.maximum_time_step(0.5) == pytest.approx(0.5 * limit, rel=1e-12)


@given(spacings)
def test_maximum_time_step_is_below_the_exact_limit_of_a_graded_axis(spacing):
    """The largest eigenvalue of the one-dimensional operator, walls PMC (nodes with half cells at the ends)."""
    grid = graded(spacing, [1e9], [1e9])
    length, dual = grid.primary(0), grid.dual(0)
    difference = np.diff(np.eye(dual.size), axis=0) / length[:, None]
    operator = (difference.T * length) @ difference / dual[:, None]
    exact = 2 / (VACUUM_SPEED * np.sqrt(np.linalg.eigvals(operator).real.max()))
    limit = grid.maximum_time_step()
    assert limit <= exact * (1 + 1e-9)
    assert limit >= 0.99 * length.min() / VACUUM_SPEED


@settings(max_examples=50)
@given(spacings, spacings, st.integers(0, 5), st.tuples(*[st.floats(0.0, 1.0)] * 3))
def test_interpolation_reproduces_linear_fields_between_samples(x, z, component, fraction):
    grid = graded(x, [1, 1.5], z)
    axes = grid.component_axes(component)
    position = tuple(axis[0] + f * (axis[-1] - axis[0]) for axis, f in zip(axes, fraction))
    entries = grid.interpolation(component, position)
    assert len(entries) <= 8 and sum(e[3] for e in entries) == pytest.approx(1)
    for axis in range(3):
        found = sum(e[3] * axes[axis][e[axis]] for e in entries)
        assert found == pytest.approx(position[axis], abs=1e-5 * 2e-3)


def test_interpolation_is_one_entry_on_a_sample():
    grid = nf.Grid.uniform(1e-3, (4, 4, 4)).resolve()
    assert grid.interpolation(2, (1e-3, 3e-3 * (1 + 1e-15), 1.5e-3)) == [(1, 3, 1, 1.0)]
    assert grid.interpolation(2, (0, 0, 0)) == [(0, 0, 0, 1.0)]  # half a cell off the last sample: it stands


@given(spacings, st.floats(-1e-3, 13e-3))
def test_nearest_node_is_the_nearest(spacing, place):
    grid = graded(spacing, [1], [1])
    distance = np.abs(grid.lines[0] - place)
    assert distance[grid.nearest_node(0, place)] == distance.min()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.Grid([0], [0, 1], [0, 1]), "x: 1 lines given, at least 2"),
        (lambda: nf.Grid([0, 1], [0, 2, 1], [0, 1]), r"y: grid lines must increase, but line 2 \(1 m\)"),
        (lambda: nf.Grid([0, 1], [0, 1], [0, 1, 1]), "z: grid lines must increase"),
        (lambda: nf.Grid([0, float("nan")], [0, 1], [0, 1]), r"x\[1\]: a length must be finite"),
        (lambda: nf.Grid.uniform(-1e-3, (1, 1, 1)), "must be positive"),
        (lambda: nf.Grid.uniform(1e-3, (1, 1)), "needs three values"),
        (lambda: nf.Grid.uniform(1e-3, (1, 0, 1)), "cells along y is 0; at least 1"),
        (lambda: nf.Grid.uniform(1e-3, (1, 2.5, 1)), "whole number"),
        (lambda: nf.Grid.uniform(1e-3, (10000, 10000, 1000)), "= 100,000,000,000 cells, at most 10,000,000,000"),
        (lambda: nf.Grid.uniform(1e-3, (10**7, 1, 1)), "along one axis"),
        (lambda: nf.Grid.uniform(1e-18, (1, 1, 1), (1, 0, 0)), "lost in rounding"),
        (lambda: nf.Grid.uniform(1e-3, (4, 4, 4)).resolve().interpolation(0, (5e-3, 0, 0)), "outside the grid"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()


@given(
    st.floats(1e-6, 1e-2),
    st.floats(-17, 0),
    st.sampled_from([-0.9, 0.0, 0.9]),
    st.floats(3.0, 60.0),
    st.sampled_from([-0.5, 0.0, 2.0]),
)
def test_graded_cells_increase_and_none_is_larger_than_given(size, power, sign, cells, start):
    """However little the sizes at both ends differ."""
    sizes = size, size * (1.0 + sign * 10.0**power)
    low = start * cells * size
    lengths = np.diff(nf.Grading([low, low + cells * size], sizes).lines())
    assert lengths.min() > 0.0 and lengths.max() < max(sizes) * (1 + 1e-6)


def test_sizes_that_differ_by_rounding_give_even_cells():
    for end, sizes in ((20 * 0.9e-3, [0.9e-3, 0.3e-3 * 3]), (9.5e-3, [0.95e-3, 0.19e-3 * 5])):
        assert np.diff(nf.Grading([0, end], sizes).lines()) == pytest.approx(sizes[0], rel=1e-9)


def test_cells_that_numbers_cannot_tell_apart_are_refused():
    sizes = {axis: [0.1, 1e-60 if axis == "z" else 0.1, 0.1] for axis in "xyz"}
    grid = nf.GradedGrid(*(nf.Grading([0, 1, 2], size, cells=40) for size in sizes.values()))
    with pytest.raises(nf.ModelError, match="too small to be told apart"):
        grid.resolve()
