"""The automatic grid: lines on edges, gentle grading, resolution, the thirds rule, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.grading import graded_cells, ramp

FREQUENCY = 10e9
CELL = VACUUM_SPEED / FREQUENCY / 20  # 1.5 mm


def simulate(structures, boundaries=None, **grid):
    auto = nf.AutoGrid(**{"cells_per_wavelength": 20, "maximum_frequency": FREQUENCY, **grid})
    return nf.Simulation(grid=auto, structures=structures, boundaries=boundaries or nf.Boundaries(all=nf.PEC))


def resolved(structures, boundaries=None, **grid):
    simulation = simulate(structures, boundaries, **grid)
    return simulation.grid.resolve(simulation)


def worst_ratio(line):
    length = np.diff(line)
    return max(1.0, *(length[1:] / length[:-1]), *(length[:-1] / length[1:])) if length.size > 1 else 1.0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(1e-3, 3), st.floats(1e-2, 1)), min_size=1, max_size=12), st.floats(1.1, 4))
def test_graded_cells_fill_the_gaps_within_the_ratio(parts, ratio):
    gaps, wanted = zip(*parts)
    cells = graded_cells(gaps, wanted, ratio)
    for gap, largest, sizes in zip(gaps, wanted, cells):
        assert sizes.sum() == pytest.approx(gap)
        assert sizes.max() <= largest * (1 + 1e-6)
    assert worst_ratio(np.append(0, np.cumsum(np.concatenate(cells)))) <= ratio


def test_a_ramp_stops_below_the_wanted_size():
    assert ramp(1.0, 8.0, 2.0).tolist() == [1, 2, 4]
    assert ramp(8.0, 8.0, 2.0).size == 0


coordinate = st.floats(0, 30).map(lambda value: round(value, 2) * 1e-3)
interval = st.tuples(coordinate, coordinate).filter(lambda pair: abs(pair[0] - pair[1]) > 1e-4).map(sorted)


@st.composite
def structure(draw):
    x, y, z = draw(st.tuples(interval, interval, interval))
    kind = draw(st.sampled_from(["dielectric", "sheet", "block", "ball"]))
    if kind == "sheet":
        return nf.Structure(nf.Sheet((x[0], y[0], z[0]), (x[1], y[1], z[0])), nf.PEC)
    if kind == "ball":
        return nf.Structure(nf.Sphere((x[0], y[0], z[0]), 0.5 * (x[1] - x[0])), nf.Medium(draw(st.floats(1, 12))))
    medium = nf.PEC if kind == "block" else nf.Medium(draw(st.floats(1, 12)))
    return nf.Structure(nf.Box((x[0], y[0], z[0]), (x[1], y[1], z[1])), medium)


@settings(max_examples=60, deadline=None)
@given(st.lists(structure(), min_size=1, max_size=5), st.floats(1.15, 2.5), st.booleans())
def test_any_model_gets_a_gently_graded_and_fine_enough_grid(structures, ratio, thirds):
    boundaries = nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC)
    grid = resolved(
        structures, boundaries, maximum_ratio=ratio, thirds_rule=thirds, lower=(-5e-3,) * 3, upper=(35e-3,) * 3
    )
    for axis in range(3):
        line = grid.lines[axis]
        assert (np.diff(line) > 0).all() and np.diff(line).max() <= CELL * (1 + 1e-6)
        assert worst_ratio(line) <= ratio * (1 + 1e-9)
        low, high = boundaries.cpml_cells(axis)
        assert line[low] == -5e-3 and line[line.size - 1 - high] == 35e-3
    for item in structures:
        if isinstance(item.medium, nf.Medium):
            for axis, (low, high) in enumerate(zip(*item.shape.bounds())):
                inside = (grid.lines[axis][:-1] < min(high, 35e-3)) & (grid.lines[axis][1:] > max(low, -5e-3))
                assert np.diff(grid.lines[axis])[inside].max() <= CELL / item.medium.index * (1 + 1e-6)


def test_lines_lie_on_the_faces_of_dielectrics_and_solid_metal():
    slab = nf.Structure(nf.Box((0, 0, 0), (20e-3, 20e-3, 0.8e-3)), nf.Medium(2.2))
    block = nf.Structure(nf.Box((4.1e-3, 5.3e-3, 0.8e-3), (11.7e-3, 9.9e-3, 4e-3)), nf.PEC)
    grid = resolved([slab, block])
    for axis, places in enumerate([(0, 4.1e-3, 11.7e-3, 20e-3), (0, 5.3e-3, 9.9e-3, 20e-3), (0, 0.8e-3, 4e-3)]):
        for place in places:
            assert np.abs(grid.lines[axis] - place).min() < 1e-12
    assert np.sum((grid.lines[2] > -1e-9) & (grid.lines[2] < 0.8e-3 + 1e-9)) >= 4  # three cells through the slab


def test_ports_and_sources_get_lines_at_their_edges():
    auto = nf.AutoGrid(20, FREQUENCY, lower=(0, 0, 0), upper=(30e-3,) * 3)
    simulation = nf.Simulation(
        grid=auto,
        boundaries=nf.Boundaries(all=nf.PEC),
        ports=[nf.LumpedPort("feed", (7.1e-3, 3.3e-3, 0), (9.2e-3, 3.3e-3, 1.1e-3), "z")],
        sources=[nf.PointCurrent((12.3e-3, 14.9e-3, 17.7e-3), "z", nf.Gaussian(FREQUENCY))],
    )
    grid = auto.resolve(simulation)
    for axis, places in enumerate([(7.1e-3, 9.2e-3, 12.3e-3), (3.3e-3, 14.9e-3), (0, 1.1e-3)]):
        for place in places:
            assert np.abs(grid.lines[axis] - place).min() < 1e-12


def test_edges_of_thin_metal_lie_a_third_of_a_cell_outside_its_last_line():
    strip = nf.Structure(nf.Sheet((8e-3, 5e-3, 6e-3), (12e-3, 35e-3, 6e-3)), nf.PEC)
    for body in (strip, nf.Structure(nf.Box((8e-3, 5e-3, 6e-3), (12e-3, 35e-3, 6.035e-3)), nf.PEC)):
        grid = resolved([body], lower=(0, 0, 0), upper=(20e-3, 40e-3, 12e-3))
        for axis, edge, inward in ((0, 8e-3, 1), (0, 12e-3, -1), (1, 5e-3, 1), (1, 35e-3, -1)):
            line = grid.lines[axis]
            node = grid.nearest_node(axis, edge)
            cell = abs(line[node] - line[node - inward])
            assert (line[node] - edge) * inward == pytest.approx(cell / 3, rel=1e-6)
        assert np.abs(grid.lines[2] - 6e-3).min() < 1e-12
    grid = resolved([strip], lower=(0, 0, 0), upper=(20e-3, 40e-3, 12e-3), thirds_rule=False)
    assert np.abs(grid.lines[0] - 8e-3).min() < 1e-12


@pytest.mark.parametrize("width", [0.2e-3, 0.5e-3, 1e-3, 3e-3])
@pytest.mark.parametrize("gap", [0.15e-3, 0.6e-3, 2e-3])
def test_narrow_strips_and_slots_stay_apart(width, gap):
    strips = [
        nf.Structure(nf.Sheet((start, 0, 5e-3), (start + width, 20e-3, 5e-3)), nf.PEC)
        for start in (5e-3, 5e-3 + width + gap)
    ]
    grid = resolved(strips, lower=(0, 0, 0), upper=(20e-3, 20e-3, 10e-3))
    nodes = [grid.nearest_node(0, place) for place in (5e-3, 5e-3 + width, 5e-3 + width + gap, 5e-3 + 2 * width + gap)]
    assert nodes[0] < nodes[1] < nodes[2] < nodes[3]


def test_the_space_spans_the_model_with_padding_at_cpml_faces():
    box = nf.Structure(nf.Box((0, 0, 0), (9e-3, 9e-3, 9e-3)), nf.Medium(4))
    boundaries = nf.Boundaries(all=nf.CPML(6), z_low=nf.PEC)
    grid = resolved([box], boundaries, padding="2 mm")
    assert grid.lines[0][6] == pytest.approx(-2e-3) and grid.lines[0][-7] == pytest.approx(11e-3)
    assert grid.lines[2][0] == 0.0
    outer = np.diff(grid.lines[0][:8])
    np.testing.assert_allclose(outer, outer[0], rtol=1e-6)
    grid = resolved([box], boundaries)
    assert grid.lines[1][6] == pytest.approx(-10 * CELL)  # half a wavelength


def test_details_below_the_smallest_cell_share_a_line():
    films = [
        nf.Structure(nf.Box((0, 0, 0), (9e-3, 9e-3, 5e-3)), nf.Medium(2)),
        nf.Structure(nf.Box((0, 0, 5e-3), (9e-3, 9e-3, 5.001e-3)), nf.Medium(3)),
    ]
    grid = resolved(films, lower=(0, 0, 0), upper=(9e-3, 9e-3, 10e-3))
    assert min(np.diff(line).min() for line in grid.lines) > CELL / np.sqrt(3) / 50 / 2
    fine = resolved(films, lower=(0, 0, 0), upper=(9e-3, 9e-3, 10e-3), minimum_cell=1e-7)
    assert np.abs(fine.lines[2] - 5.001e-3).min() < 1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resolved([]), "nothing to span"),
        (lambda: resolved([nf.Structure(nf.Sheet((0, 0, 0), (1, 1, 0)), nf.PEC)]), "z 0 to 0 m, which is nothing"),
        (lambda: resolved([], lower=(0, 0, 0), upper=(-1, 1, 1)), "x 0 to -1 m"),
        (lambda: resolved([], lower=(0, 0, 0), upper=(5e3, 5e3, 5e3)), "lower maximum_frequency"),
        (lambda: resolved([], lower=(0, 0, 0), upper=(5, 5, 5)), "at most 10,000,000,000"),
        (lambda: nf.AutoGrid(20), "maximum_frequency"),
        (lambda: nf.AutoGrid(2, 1e9), "cells_per_wavelength"),
        (lambda: nf.AutoGrid(20, 1e9, maximum_ratio=1.0), "maximum_ratio"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()
