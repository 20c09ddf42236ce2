"""Update coefficients against their definitions, evaluated point by point."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.edge_loads import EdgeLoad
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.grid.yee import is_half

PARTS = 8  # faces of test bodies lie at multiples of an eighth of a cell, so midpoint sums over eighths are exact
PEC_WALLS = nf.Boundaries(all=nf.PEC)


def coefficients(grid, structures, boundaries=PEC_WALLS, background=None, loads=()):
    step = 0.9 * grid.maximum_time_step()
    return Coefficients(grid, filled_shapes(structures), background or nf.Medium(), boundaries, step, loads)


def sampled_media(grid, structures, boundaries, background):
    """(eps, mu, sigma, sigma_m) at the centres of PARTS^3 pieces of every cell, the last structure winning.

    In the CPML the slice beside its inner face stands.
    """
    axes = []
    for axis, (low, high) in enumerate(boundaries.interior(grid)):
        line, length = grid.lines[axis], grid.primary(axis)
        fine = (line[:-1, None] + length[:, None] * (np.arange(PARTS) + 0.5) / PARTS).ravel()
        axes.append(fine[np.clip(np.arange(fine.size), low * PARTS, high * PARTS - 1)])
    x, y, z = np.meshgrid(*axes, indexing="ij", sparse=True)
    found = np.empty((4, *(axis.size for axis in axes)))
    for medium, where in [(background, slice(None))] + [(s.medium, s.shape.contains(x, y, z)) for s in structures]:
        if isinstance(medium, nf.Medium):
            values = medium.permittivity, medium.permeability, medium.conductivity, medium.magnetic_conductivity
            for column in range(4):
                found[column][where] = values[column]
    return found


def sizes(relative, loss, constant, time_step):
    """Geometric mean of the absolute value of eps_r or mu_r with its loss over the band that a time step resolves."""
    high = 0.05 / time_step
    omega = 2 * np.pi * np.geomspace(1e-3 * high, high, 64).reshape(-1, 1, 1, 1)
    return np.exp(np.log(np.abs(relative - 1j * loss / (constant * omega))).mean(axis=0))


def sample_mean(grid, values, size, component, index):
    """Mean of what media lend: arithmetic over the dual face, in series by their sizes along the component's axis."""
    ranges, weights = [], []
    for axis, n in enumerate(index):
        if is_half(component, axis):
            pieces = np.arange(n * PARTS, (n + 1) * PARTS)
        else:
            pieces = np.arange(int((n - 0.5) * PARTS), int((n + 0.5) * PARTS))
            pieces = pieces[(pieces >= 0) & (pieces < grid.cells[axis] * PARTS)]
        ranges.append(pieces)
        weights.append(grid.primary(axis)[pieces // PARTS])
    block, thick = values[np.ix_(*ranges)], size[np.ix_(*ranges)]
    own = component % 3
    for axis in range(3):
        if axis != own:
            block, thick = (np.average(b, axis=axis, weights=weights[axis], keepdims=True) for b in (block, thick))
    inverse = np.average(1 / thick.ravel(), weights=weights[own])
    return np.average(block.ravel() / thick.ravel() ** 2, weights=weights[own]) / inverse**2


def assert_agrees_with_samples(grid, structures, boundaries, background):
    found = coefficients(grid, structures, boundaries, background)
    media = sampled_media(grid, structures, boundaries, background)
    for component in range(6):
        stay, drive = found.dense(component)
        store, loss, constant = (0, 2, VACUUM_PERMITTIVITY) if component < 3 else (1, 3, VACUUM_PERMEABILITY)
        shape = grid.component_shape(component)
        size = sizes(media[store], media[loss], constant, found.time_step)
        for index in itertools.product(*map(range, stay.shape)):
            missing = any(n >= size for n, size in zip(index, shape))
            on_wall = component < 3 and any(
                axis != component
                and (
                    (index[axis] == 0 and boundaries.face(axis, "low") != "pmc")
                    or (index[axis] == grid.cells[axis] and boundaries.face(axis, "high") != "pmc")
                )
                for axis in range(3)
            )
            expected = 0.0, 0.0
            if not missing and not on_wall:
                relative, lost = (sample_mean(grid, media[n], size, component, index) for n in (store, loss))
                s = lost * found.time_step / (2 * constant * relative)
                expected = (1 - s) / (1 + s), 1 / (relative * (1 + s))
            assert (stay[index], drive[index]) == pytest.approx(expected, rel=1e-11, abs=1e-12), (component, index)


def random_boxes(random, grid, count):
    boxes = []
    for _ in range(count):
        corners = []
        for axis in range(3):
            line, length = grid.lines[axis], grid.primary(axis)
            eighths = np.sort(random.choice(grid.cells[axis] * PARTS, 2, replace=False))
            corners.append([line[e // PARTS] + length[e // PARTS] * (e % PARTS) / PARTS for e in eighths])
        medium = nf.Medium(*random.uniform(1, 10, 2), random.choice([0.0, 0.3]), random.choice([0.0, 2e4]))
        boxes.append(nf.Structure(nf.Box(*np.transpose(corners)), medium))
    return boxes


def random_grid(random, cells):
    return nf.Grid(*(np.cumsum(np.append(0, random.uniform(0.7e-3, 1.4e-3, n))) for n in cells)).resolve()


@pytest.mark.parametrize("seed", range(3))
def test_random_overlapping_boxes_agree_with_pointwise_definitions(seed):
    random = np.random.default_rng(seed)
    grid = random_grid(random, (4, 3, 5))
    faces = random.choice(["pec", "pmc"], 6)
    boundaries = nf.Boundaries(
        x_low=faces[0], x_high=faces[1], y_low=faces[2], y_high=faces[3], z_low=faces[4], z_high=faces[5]
    )
    background = nf.Medium(2.0, 1.5, 0.01, 100.0)
    assert_agrees_with_samples(grid, random_boxes(random, grid, 4), boundaries, background)


def test_media_go_straight_on_into_the_cpml():
    random = np.random.default_rng(7)
    grid = random_grid(random, (6, 4, 5))
    boundaries = nf.Boundaries(all=nf.PEC, x_low=nf.CPML(2), x_high=nf.CPML(1), z_high=nf.CPML(2), y_low=nf.PMC)
    assert_agrees_with_samples(grid, random_boxes(random, grid, 4), boundaries, nf.Medium())


def every_kind_of_structure():
    return [
        nf.Structure(nf.Box((1e-3, 1.3e-3, 1e-3), (4.2e-3, 5e-3, 4.5e-3)), nf.Medium(4, conductivity=0.1)),
        nf.Structure(nf.Sheet((1e-3, 1e-3, 3e-3), (4e-3, 5e-3, 3e-3)), nf.PEC),
        nf.Structure(nf.Sphere((3e-3, 3e-3, 3e-3), 1.5e-3), nf.Medium(9, 2)),
        nf.Structure(nf.Box((4e-3, 1e-3, 1e-3), (5e-3, 3e-3, 3e-3)), nf.PEC),
        nf.Structure(nf.Polygon("x", [(1e-3, 5e-3), (6e-3, 5e-3), (2e-3, 7.3e-3)], 1.2e-3, 4e-3), nf.Medium(3)),
        nf.Structure(nf.Polygon("y", [(1e-3, 1e-3), (7e-3, 1e-3), (2e-3, 5e-3)], 6e-3, 6e-3), nf.PEC),
        nf.Structure(nf.Cylinder((5e-3, 0, 6e-3), (5e-3, 7e-3, 6e-3), 1e-3), nf.Medium(2, 3)),
        nf.Structure(nf.Cylinder((1e-3, 2e-3, 0), (5e-3, 6e-3, 7e-3), 1e-4), nf.PEC),
        nf.Structure(nf.Box((1e-3, 4e-3, 5e-3), (3e-3, 6e-3, 8e-3)), nf.PMC),
        nf.Structure(nf.Wire([(0, 1e-3, 7e-3), (6e-3, 1e-3, 7e-3), (6e-3, 7e-3, 7e-3)]), nf.PEC),
    ]


@pytest.mark.parametrize(
    "boundaries",
    [
        PEC_WALLS,
        nf.Boundaries(all=nf.PMC, x_low=nf.PEC),
        nf.Boundaries(all=nf.CPML(1), y_low=nf.PMC),
    ],
)
def test_planes_dense_and_at_agree(boundaries):
    grid = nf.Grid.uniform(1e-3, (6, 7, 8)).resolve()
    load = EdgeLoad(2, np.array([3, 3]), np.array([2, 3]), np.array([5, 5]), 0.2, np.array([1.0, 2.0]))
    found = coefficients(grid, every_kind_of_structure(), boundaries, loads=[load])
    dense = [found.dense(component) for component in range(6)]
    i, j, k = np.indices(found.active)
    for component in range(6):
        np.testing.assert_array_equal(found.at(component, i, j, k), dense[component])
    for axis in range(3):
        built, end = np.full((6, 2, *found.active), np.nan), 0
        for planes in found.planes(axis):
            assert planes.start == end
            end = planes.stop
            for component, values in enumerate((*planes.electric, *planes.magnetic)):
                turned = np.moveaxis(built[component], (1 + axis, 1 + (axis + 1) % 3, 1 + (axis + 2) % 3), (1, 2, 3))
                turned[:, planes.start : planes.stop] = values[:, None]
        assert end == found.active[axis]
        np.testing.assert_allclose(built, dense, rtol=1e-13, atol=0)


def test_equal_planes_are_given_once():
    grid = nf.Grid.uniform(1e-3, (64, 64, 64)).resolve()
    box = nf.Structure(nf.Box((20e-3, 0, 0), (40e-3, 64e-3, 64e-3)), nf.Medium(4))
    spans = [(p.start, p.stop) for p in coefficients(grid, [box]).planes(0)]
    assert spans == [(0, 1), (1, 20), (20, 21), (21, 40), (40, 41), (41, 64)]
    pole = nf.Structure(nf.Cylinder((30e-3, 30e-3, 10.5e-3), (30e-3, 30e-3, 50.5e-3), 5.3e-3), nf.PEC)
    assert len(list(coefficients(grid, [box, pole]).planes(2))) <= 12


def test_an_empty_box_of_512_cells_takes_one_plane_of_work():
    grid = nf.Grid.uniform(1e-3, (512, 512, 512)).resolve()
    assert [(p.start, p.stop) for p in coefficients(grid, [], nf.Boundaries()).planes(0)] == [(0, 1), (1, 512)]


def test_an_interface_across_an_edge_is_a_series_and_along_it_a_parallel_connection():
    grid = nf.Grid.uniform(1e-3, (4, 4, 4)).resolve()
    for axis in range(3):
        upper = [4e-3] * 3
        upper[axis] = 1.7e-3  # 0.7 of cell 1
        found = coefficients(grid, [nf.Structure(nf.Box((0, 0, 0), upper), nf.Medium(5))])
        at = [2, 2, 2]
        at[axis] = 1
        assert 1 / found.at(axis, *at)[1] == pytest.approx(1 / (0.7 / 5 + 0.3))
        at[axis] = 2
        for other in {0, 1, 2} - {axis}:
            assert 1 / found.at(other, *at)[1] == pytest.approx(0.2 * 5 + 0.8)


def test_bodies_that_meet_inside_a_cell_leave_no_background_between_them():
    grid = nf.Grid.uniform(1e-3, (3, 3, 3)).resolve()
    below = nf.Structure(nf.Box((0, 0, 0), (3e-3, 3e-3, 1.3e-3)), nf.Medium(4))
    above = nf.Structure(nf.Box((0, 0, 1.3e-3), (3e-3, 3e-3, 3e-3)), nf.Medium(8))
    found = coefficients(grid, [below, above])
    assert 1 / found.at(2, 1, 1, 1)[1] == pytest.approx(1 / (0.3 / 4 + 0.7 / 8))


def test_a_sphere_fills_its_volume_to_a_thousandth():
    """Its surface counts as flat in each cell: an error of second order in the cell over the radius, 7.3 cells."""
    grid = nf.Grid.uniform(1e-3, (20, 20, 20)).resolve()
    found = coefficients(grid, [nf.Structure(nf.Sphere((10.2e-3, 9.7e-3, 10.4e-3), 7.3e-3), nf.Medium(1, 1, 1e-6))])
    drive = found.dense(2)[1]
    loss = (1 / np.where(drive > 0, drive, 1) - 1).sum()  # s, summed: conductivity times volume
    expected = 4 / 3 * np.pi * 7.3**3 * 1e-6 * found.time_step / (2 * VACUUM_PERMITTIVITY)
    assert loss == pytest.approx(expected, rel=1e-3)


def metal(grid, structures, boundaries=PEC_WALLS):
    """Metal edges off the walls, as a set of (component, i, j, k)."""
    found = coefficients(grid, structures, boundaries)
    edges = set()
    for component in range(3):
        index = np.indices(grid.component_shape(component)).reshape(3, -1)
        hit = found.is_metal(component, *index)
        np.testing.assert_array_equal(hit, found.at(component, *index)[1] == 0)
        inside = np.all([(component == a) | ((index[a] > 0) & (index[a] < grid.cells[a])) for a in range(3)], axis=0)
        edges |= {(component, *n) for n in index[:, hit & inside].T.tolist()}
    return edges


def edges_between(nodes):
    """All edges between grid lines (lower, upper) along the three axes."""
    edges = set()
    for component in range(3):
        ranges = [range(low, high + (a != component)) for a, (low, high) in enumerate(nodes)]
        edges |= {(component, *index) for index in itertools.product(*ranges)}
    return edges


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.tuples(st.floats(0.6, 4.4), st.floats(0.6, 4.4)).filter(lambda p: abs(p[0] - p[1]) > 1e-3)] * 3))
def test_a_metal_box_has_its_faces_on_the_nearest_lines(corners):
    grid = nf.Grid.uniform(1.0, (5, 5, 5)).resolve()
    corners = [sorted(pair) for pair in corners]
    nodes = [tuple(grid.nearest_node(a, value) for value in pair) for a, pair in enumerate(corners)]
    box = nf.Structure(nf.Box(*zip(*corners)), nf.PEC)
    assert metal(grid, [box]) == edges_between(nodes)


def test_a_sheet_and_a_wire_take_their_edges():
    grid = nf.Grid.uniform(1e-3, (6, 6, 6)).resolve()
    sheet = nf.Structure(nf.Sheet((1e-3, 2.01e-3, 3.2e-3), (3.98e-3, 5e-3, 3.2e-3)), nf.PEC)
    assert metal(grid, [sheet]) == edges_between([(1, 4), (2, 5), (3, 3)])
    wire = nf.Structure(nf.Wire([(2e-3, 2e-3, 1e-3), (2e-3, 2e-3, 4e-3), (5e-3, 2e-3, 4e-3)]), nf.PEC)
    expected = edges_between([(2, 2), (2, 2), (1, 4)]) | edges_between([(2, 5), (2, 2), (4, 4)])
    assert metal(grid, [wire]) == expected
    thin = nf.Structure(nf.Cylinder((2e-3, 2e-3, 1e-3), (2e-3, 2e-3, 4e-3), 0.1e-3), nf.PEC)
    assert metal(grid, [thin]) == edges_between([(2, 2), (2, 2), (1, 4)])


def test_a_thin_slanting_cylinder_conducts_from_end_to_end():
    grid = nf.Grid.uniform(1e-3, (8, 8, 8)).resolve()
    edges = metal(grid, [nf.Structure(nf.Cylinder((1e-3, 1e-3, 1e-3), (6e-3, 4e-3, 7e-3), 0.1e-3), nf.PEC)])
    reached, front = {(1, 1, 1)}, [(1, 1, 1)]
    while front:
        node = front.pop()
        for component, *start in edges:
            end = tuple(n + (a == component) for a, n in enumerate(start))
            for one, other in ((tuple(start), end), (end, tuple(start))):
                if one == node and other not in reached:
                    reached.add(other)
                    front.append(other)
    assert (6, 4, 7) in reached and len(edges) == 5 + 3 + 6


def test_a_flat_polygon_takes_the_faces_whose_centre_it_holds():
    grid = nf.Grid.uniform(1.0, (6, 6, 4)).resolve()
    corner = nf.Polygon("z", [(1, 1), (5, 1), (5, 2), (2, 2), (2, 5), (1, 5)], 2, 2)
    expected = edges_between([(1, 5), (1, 2), (2, 2)]) | edges_between([(1, 2), (1, 5), (2, 2)])
    assert metal(grid, [nf.Structure(corner, nf.PEC)]) == expected


def test_a_metal_sphere_is_made_of_the_whole_cells_well_inside():
    """Its steps stand out, so it keeps cells up to 0.15 of a cell below its surface."""
    grid = nf.Grid.uniform(1.0, (20, 20, 20)).resolve()
    edges = metal(grid, [nf.Structure(nf.Sphere((10.1, 9.8, 10), 7.0), nf.PEC)])
    cells = 0
    for i, j, k in itertools.product(range(20), repeat=3):
        around = edges_between([(i, i + 1), (j, j + 1), (k, k + 1)])
        cells += around <= edges
    assert cells == pytest.approx(4 / 3 * np.pi * 6.85**3, rel=0.02)


def test_a_later_body_frees_what_it_holds_and_no_more():
    grid = nf.Grid.uniform(1.0, (8, 8, 8)).resolve()
    block = nf.Structure(nf.Box((1, 1, 1), (7, 7, 7)), nf.PEC)
    hole = nf.Structure(nf.Box((3, 3, 3), (5, 5, 7)), nf.Medium(2))  # open at the top
    inside = {
        edge
        for edge in edges_between([(3, 5), (3, 5), (3, 7)])
        if all(a == edge[0] or 3 < edge[1 + a] < 5 for a in (0, 1)) and (edge[0] == 2 or edge[3] > 3)
    }
    assert metal(grid, [block, hole]) == edges_between([(1, 7)] * 3) - inside
    assert metal(grid, [hole, block]) == edges_between([(1, 7)] * 3)
    sheet = nf.Structure(nf.Sheet((1, 1, 4), (7, 7, 4)), nf.PEC)
    on_top = nf.Structure(nf.Box((0, 0, 0), (8, 8, 4)), nf.Medium(2))
    assert metal(grid, [sheet, on_top]) == edges_between([(1, 7), (1, 7), (4, 4)])
    buried = nf.Structure(nf.Box((0, 0, 0), (8, 8, 6)), nf.Medium(2))
    assert metal(grid, [sheet, buried]) == set()


def test_metal_goes_straight_on_into_the_cpml():
    grid = nf.Grid.uniform(1.0, (10, 8, 6)).resolve()
    boundaries = nf.Boundaries(all=nf.PEC, x_low=nf.CPML(3), x_high=nf.CPML(2))

    def off_walls(nodes):
        return {edge for edge in edges_between(nodes) if edge[0] == 0 or 0 < edge[1] < 10}

    strip = nf.Structure(nf.Sheet((3, 2, 3), (8, 4, 3)), nf.PEC)  # ends on both inner faces
    assert metal(grid, [strip], boundaries) == off_walls([(0, 10), (2, 4), (3, 3)])
    bar = nf.Structure(nf.Box((0, 2, 2), (6, 4, 4)), nf.PEC)
    assert metal(grid, [bar], boundaries) == off_walls([(0, 6), (2, 4), (2, 4)])
    short = nf.Structure(nf.Sheet((4, 2, 3), (7, 4, 3)), nf.PEC)
    assert metal(grid, [short], boundaries) == edges_between([(4, 7), (2, 4), (3, 3)])
    plate = nf.Structure(nf.Polygon("z", [(3, 2), (6, 2), (3, 5)], 3, 3), nf.PEC)
    edges = metal(grid, [plate], boundaries)
    assert {(0, 0, 2, 3), (0, 2, 4, 3), (1, 1, 3, 3)} <= edges


def test_pmc_takes_the_magnetic_samples_strictly_inside():
    grid = nf.Grid.uniform(1.0, (6, 6, 6)).resolve()
    found = coefficients(grid, [nf.Structure(nf.Box((1, 1, 1), (4, 4, 4)), nf.PMC)])
    for component in range(3, 6):
        index = np.indices(grid.component_shape(component)).reshape(3, -1)
        place = [index[a] + 0.5 * is_half(component, a) for a in range(3)]
        inside = np.all([(q > 1) & (q < 4) for q in place], axis=0)
        np.testing.assert_array_equal(found.at(component, *index)[1] == 0, inside)
        np.testing.assert_array_equal(found.is_metal(component, *index), inside)


def test_loads_add_to_the_medium_of_their_edges():
    grid = nf.Grid.uniform(1e-3, (4, 4, 4)).resolve()
    loads = [EdgeLoad(2, np.array([2]), np.array([1]), np.array([1]), 0.5, 3.0)] * 2
    found = coefficients(grid, [], background=nf.Medium(2.0), loads=loads)
    s = 1.0 * found.time_step / (2 * VACUUM_PERMITTIVITY * 8.0)
    assert [float(v) for v in found.at(2, 2, 1, 1)] == pytest.approx([(1 - s) / (1 + s), 1 / (8 * (1 + s))])
    assert found.at(2, 1, 1, 1)[1] == pytest.approx(0.5)


def test_names_of_media_serve_messages():
    grid = nf.Grid.uniform(1.0, (8, 8, 8)).resolve()
    board, post = nf.Box((0, 0, 0), (8, 8, 2)), nf.Box((2, 2, 0), (4, 4, 4))
    structures = [nf.Structure(board, "board"), nf.Structure(post, nf.PEC)]
    media = {"board": nf.Medium(2.2, name="FR4")}
    found = Coefficients(grid, filled_shapes(structures, media), nf.Medium(), nf.Boundaries(all=nf.CPML(1)), 1e-9)
    assert [found.medium_name(*place) for place in ((6, 6, 1), (3, 3, 1), (6, 6, 6))] == ["FR4", "pec", "vacuum"]
    with pytest.raises(nf.ModelError, match="medium 'wood' is not defined; known media: pec, pmc, board"):
        filled_shapes([nf.Structure(board, "wood")], media)


@pytest.mark.slow
def test_ten_million_cells_take_seconds():
    grid = nf.Grid.uniform(1e-3, (215, 215, 215)).resolve()
    structures = [
        nf.Structure(nf.Sphere((0.1, 0.1, 0.1), 0.09), nf.Medium(4)),
        nf.Structure(nf.Box((0.0305, 0.0303, 0.0302), (0.1, 0.15, 0.15)), nf.Medium(2, conductivity=1)),
        nf.Structure(nf.Box((0.04, 0.04, 0.04), (0.05, 0.15, 0.15)), nf.PEC),
    ]
    begin = time.perf_counter()
    assert sum(p.stop - p.start for p in coefficients(grid, structures, nf.Boundaries()).planes(0)) == 215
    print(f"{time.perf_counter() - begin:.1f} s")  # about 8 s; no time decides a test
