"""The automatic grid: lines on edges, gentle grading, resolution, the thirds rule, and what is refused."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.grading import graded_cells, ramp
from nearfield.studies.refinement import refined

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
@example(  # the ball ends a rounding error past the box's face
    [
        nf.Structure(nf.Box((0, 0, 0), (1e-3, 1e-3, 5.56e-3)), nf.Medium()),
        nf.Structure(nf.Sphere((6.39e-3, 0, 0), 5.560000000000001e-3), nf.Medium(2)),
    ],
    2.0,
    False,
)
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
                low, high = max(low, -5e-3) + 1e-12, min(high, 35e-3) - 1e-12  # a face that a line misses by rounding
                inside = (grid.lines[axis][:-1] < high) & (grid.lines[axis][1:] > low)
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


def turned(sheets, by, kind, level=6e-3):
    """Rectangles (u, v) of one plane across the axis `by`, as sheets, thin boxes or polygons."""
    normal = "xyz"[by]
    if kind == "polygon":
        return [
            nf.Structure(nf.Polygon(normal, [(a, c), (b, c), (b, d), (a, d)], level, level), nf.PEC)
            for (a, b), (c, d) in sheets
        ]
    make = nf.Sheet if kind == "sheet" else nf.Box
    thick = 35e-6 if kind == "thin box" else 0.0
    ends = [[(level, level + thick), u, v] for u, v in sheets]
    place = [(a - by) % 3 for a in range(3)]
    return [nf.Structure(make(*zip(*(pairs[n] for n in place))), nf.PEC) for pairs in ends]


def assert_thirds(grid, axis, edge, inward):
    """The nearest lines lie a third of a cell inside the edge and two thirds outside."""
    line = grid.lines[axis]
    inner = line[line > edge - 1e-9][0] if inward > 0 else line[line < edge + 1e-9][-1]
    outer = line[line < edge][-1] if inward > 0 else line[line > edge][0]
    assert abs(inner - edge) == pytest.approx(abs(inner - outer) / 3, rel=1e-6), (axis, edge)


SPACE = {"lower": (0, 0, 0), "upper": (40e-3, 40e-3, 40e-3)}


@pytest.mark.parametrize("by", range(3))
@pytest.mark.parametrize("kind", ["sheet", "polygon", "thin box"])
def test_a_stub_leaves_a_strip_the_rest_of_its_edge(kind, by):
    """Only the part that the stub touches is no edge; where the stub begins there is none either."""
    strip, stub = ((5e-3, 35e-3), (10e-3, 13e-3)), ((20e-3, 20.6e-3), (13e-3, 21e-3))
    grid = resolved(turned([strip, stub], by, kind), **SPACE)
    u, v = (by + 1) % 3, (by + 2) % 3
    for axis, edge, inward in ((v, 10e-3, 1), (v, 13e-3, -1), (v, 21e-3, -1), (u, 20e-3, 1), (u, 20.6e-3, -1)):
        assert_thirds(grid, axis, edge, inward)


@pytest.mark.parametrize("by", range(3))
@pytest.mark.parametrize("overlap", [0.0, 2e-3])
def test_a_feed_and_its_patch_are_one_outline(overlap, by):
    """A step in width, and a feed that goes on under the patch: its end there is no edge, and wants no line."""
    patch, feed = ((10e-3, 30e-3), (15e-3, 31e-3)), ((18e-3, 21e-3), (4e-3, 15e-3 + overlap))
    u, v = (by + 1) % 3, (by + 2) % 3
    grid = resolved(turned([patch, feed], by, "sheet"), **SPACE)
    whole = nf.Polygon("xyz"[by], [(10e-3, 15e-3), (18e-3, 15e-3), (18e-3, 4e-3), (21e-3, 4e-3), (21e-3, 15e-3),
                                   (30e-3, 15e-3), (30e-3, 31e-3), (10e-3, 31e-3)], 6e-3, 6e-3)  # fmt: skip
    for lines in (grid, resolved([nf.Structure(whole, nf.PEC)], **SPACE)):
        for axis, edge, inward in ((v, 15e-3, 1), (v, 31e-3, -1), (v, 4e-3, 1), (u, 18e-3, 1), (u, 21e-3, -1)):
            assert_thirds(lines, axis, edge, inward)


def test_two_halves_of_a_sheet_have_no_edge_between_them():
    halves = [
        nf.Structure(nf.Sheet((a, 5e-3, 6e-3), (b, 35e-3, 6e-3)), nf.PEC) for a, b in ((5e-3, 20e-3), (20e-3, 35e-3))
    ]
    whole = nf.Structure(nf.Sheet((5e-3, 5e-3, 6e-3), (35e-3, 35e-3, 6e-3)), nf.PEC)
    # their widths want cells of a third of it, here all larger than those of the wavelength
    assert all(np.array_equal(*pair) for pair in zip(resolved(halves, **SPACE).lines, resolved([whole], **SPACE).lines))


def test_ends_of_wires_that_nearly_coincide_make_no_flat_cells():
    """They act where they are between lines, so no cell is flatter than half of what is wanted for their sake."""
    lengths = {-0.25: 0.479, 0.0: 0.453, 0.25: 0.451}
    wires = [
        nf.Structure(nf.Wire([(x, 0, -0.5 * long), (x, 0, 0.5 * long)], radius=2.5e-3), nf.PEC)
        for x, long in lengths.items()
    ]
    line = resolved(
        wires, nf.Boundaries(all=nf.CPML(6)), cells_per_wavelength=60, maximum_frequency="300 MHz", padding=0.25
    ).lines[2]
    wanted = VACUUM_SPEED / 300e6 / 60
    assert np.diff(line).min() > 0.5 * wanted  # 1 mm before, of 16.7
    np.testing.assert_allclose(line, -line[::-1], atol=1e-12)  # a symmetric antenna has a symmetric grid


def test_faces_of_media_give_way_to_nearer_lines_but_thin_layers_keep_both():
    steps = [
        nf.Structure(nf.Box((a, 0, 0), (a + 9e-3, 20e-3, top)), nf.Medium(2)) for a, top in ((0, 5e-3), (9e-3, 5.2e-3))
    ]
    space = {"lower": (0, 0, 0), "upper": (20e-3, 20e-3, 10e-3)}
    cell = CELL / np.sqrt(2)
    assert np.diff(resolved(steps, **space).lines[2]).min() > 0.4 * cell  # 0.2 of a cell before
    film = nf.Structure(nf.Box((0, 0, 5e-3), (20e-3, 20e-3, 5.2e-3)), nf.Medium(2))
    line = resolved([film], **space).lines[2]
    assert all(np.abs(line - face).min() < 1e-12 for face in (5e-3, 5.2e-3))


@pytest.mark.slow
def test_a_line_keeps_its_impedance_on_the_grid_that_a_stub_makes():
    """0.6 mm on 0.254 mm of eps_r 3.66, 47.7 ohm by Hammerstad and Jensen within 1 %; where the stub took the thirds
    rule from the edge that it touches, the line had 44.6 ohm for 48.1."""
    low, high, top, mm = (-8e-3, -10e-3, 0.0), (8e-3, 10e-3, 5e-3), 0.254e-3, 1e-3
    line, stub = (
        nf.Structure(nf.Sheet((a * mm, b * mm, top), (c * mm, d * mm, top)), nf.PEC)
        for a, b, c, d in ((-0.3, -10, 0.3, 10), (0.3, -0.3, 5, 0.3))
    )
    found = []
    for metal in ([line], [line, stub]):
        model = nf.Simulation(
            grid=nf.AutoGrid(20, 7e9, lower=low, upper=high),
            structures=[nf.Structure(nf.Box(low, (*high[:2], top)), nf.Medium(3.66)), *metal],
            boundaries=nf.Boundaries(nf.CPML(8), z_low=nf.PEC),
            waveform=nf.ModulatedGaussian(3.5e9, 3e9),
            steps=10,
        )
        x, y, z = model.grid.resolve(model).lines
        port = nf.WaveguidePort("in", (x[8], y[13], 0.0), (x[-9], y[13], z[-9]), "+y", 1, "open")
        modes = model.model_copy(update={"grid": nf.Grid(x, y, z), "ports": (port,)}).guide_modes([2e9])
        found.append(modes.characteristic_impedance.item().real)
    assert found == pytest.approx([47.7, 47.7], rel=0.01)
    assert found[0] == pytest.approx(found[1], rel=2e-3)


def test_finer_boxes_have_cells_as_small_as_asked_and_the_rest_stays_coarse():
    box = nf.FineCells(("4 mm", "10 mm", 0), ("12 mm", "10 mm", "5 mm"), ("0.2 mm", "9 mm", "0.5 mm"))
    grid = resolved([], lower=(0, 0, 0), upper=("30 mm", "30 mm", "30 mm"), finer=[box])
    for line, low, high, cell in ((grid.lines[0], 4e-3, 12e-3, 0.2e-3), (grid.lines[2], 0, 5e-3, 0.5e-3)):
        inside = (line[:-1] < high - 1e-9) & (line[1:] > low + 1e-9)
        assert cell / 1.5 < np.diff(line)[inside].max() <= cell * (1 + 1e-6)
        assert np.diff(line).max() > 0.9 * CELL and worst_ratio(line) <= 1.5
        assert np.abs(line - low).min() < 1e-12 > np.abs(line - high).min()
    assert np.diff(grid.lines[1]).min() > 0.9 * CELL  # flat along y: no size there


def test_a_finer_grid_has_smaller_cells_in_its_finer_boxes_too():
    simulation = simulate(
        [], lower=(0, 0, 0), upper=(0.03, 0.03, 0.03), finer=[nf.FineCells((0, 0, 0), (0.01,) * 3, 3e-4)]
    )
    assert refined(simulation, 1.5).grid.finer[0].cell == pytest.approx((2e-4,) * 3)


def test_finer_boxes_with_swapped_corners_are_refused():
    with pytest.raises(nf.ModelError, match=r"lower y=0.002 m lies above upper y=0.001 m"):
        nf.FineCells((0, 2e-3, 0), (1e-3, 1e-3, 1e-3), 1e-4)


@pytest.mark.parametrize("frequency", [8, "8 kHz"])
def test_a_frequency_without_its_unit_is_refused_where_it_stands(frequency):
    patch = nf.Structure(nf.Sheet((0, 0, 0), ("20 mm", "30 mm", 0)), "pec")
    grid = nf.AutoGrid(20, frequency, padding="5 mm")
    with pytest.raises(nf.ModelError, match=r"maximum_frequency is 8 k?Hz, .* for a model of 30 mm.*\"8 GHz\""):
        nf.Simulation(grid, structures=[patch]).check()
    within = nf.AutoGrid(20, 8, lower=(0, 0, 0), upper=(5e6, 5e6, 1e5), maximum_ratio=3)  # around the Earth
    assert min(within.resolve(nf.Simulation(within)).cells) >= 1


def over_a_face(low, high):
    """A grating of silicon with a period of 20 mm along x."""
    bar = nf.Structure(nf.Box((low, 0, 10e-3), (high, 2e-3, 20e-3)), nf.Medium(11.7))
    auto = nf.AutoGrid(20, "10 GHz", lower=(0, 0, 0), upper=(20e-3, 2e-3, 40e-3))
    return nf.Simulation(auto, [bar], nf.Boundaries(x="periodic", y="periodic"), steps=1)


def test_a_body_over_a_periodic_face_is_meshed_in_both_of_its_parts():
    checked = over_a_face(15e-3, 25e-3).check()
    line = over_a_face(15e-3, 25e-3)._setup().grid.lines[0]
    assert np.isclose(line, 5e-3).any() and np.isclose(line, 15e-3).any()
    silicon = checked.media[1]
    assert silicon.cells_per_wavelength == np.inf and silicon.largest_cell < VACUUM_SPEED / FREQUENCY / 11.7**0.5 / 20
    assert not any("neighbouring" in warning for warning in checked.warnings)


@given(st.floats(0.5e-3, 19e-3), st.floats(0.5e-3, 19e-3))
@settings(max_examples=20, deadline=None)
def test_cells_on_both_sides_of_a_periodic_face_are_within_the_ratio(low, width):
    line = over_a_face(low, low + width)._setup().grid.lines[0]
    length = np.diff(line)
    assert worst_ratio(np.append(line, line[-1] + length[0])) <= 1.5


def test_a_given_grid_that_jumps_over_a_periodic_face_is_warned_of():
    x = nf.Grading([0, 20e-3], [0.5e-3, 2e-3])
    grid = nf.GradedGrid(x, nf.Grading([0, 2e-3], [1e-3, 1e-3]), nf.Grading([0, 40e-3], [1e-3, 1e-3]))
    for x, jumps in (("periodic", True), ("pec", False)):
        found = nf.Simulation(grid, [], nf.Boundaries(x=x, y="periodic"), steps=1).check().warnings
        assert any("neighbouring cells" in warning for warning in found) == jumps


def test_the_part_of_a_body_beyond_a_periodic_face_counts_for_the_cells_in_its_medium():
    bar = nf.Structure(nf.Box((15e-3, 0, 10e-3), (25e-3, 2e-3, 20e-3)), nf.Medium(11.7))
    x = nf.Grading([0, 10e-3, 20e-3], [1e-3, 0.4e-3, 0.4e-3])
    grid = nf.GradedGrid(x, nf.Grading([0, 2e-3], [0.4e-3, 0.4e-3]), nf.Grading([0, 40e-3], [0.4e-3, 0.4e-3]))
    media = nf.Simulation(grid, [bar], nf.Boundaries(x="periodic", y="periodic"), steps=1).check().media
    assert media[1].largest_cell > 0.9e-3
