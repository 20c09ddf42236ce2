"""Flat strips, and gaps between flat metal, narrower than a cell: they act where they are drawn, wherever in a cell."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from agreement import assert_model_agrees
from test_conformal import assert_part_agrees, largest_eigenvalue, random_lines
from test_sheet_rims import PEC_WALLS, coefficients, cube, same
from test_thin_wires import assert_stable

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.metal.sample_numbers import SampleNumbers

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from coplanar_lines import errors

MM = 1e-3
FEW = np.array([0.0, 0.2, 0.5, 0.7])  # places in a cell


@pytest.mark.parametrize("cells", ["cubes", "half as high", "graded"])
@pytest.mark.parametrize("width", [0.3, 0.6, 0.9])
def test_a_coplanar_line_with_a_strip_narrower_than_a_cell_has_the_impedance_of_its_closed_form(cells, width):
    """43 to 4 % off on whole edges. 1.2 %: 0.9 m are 1.5 cells where cells are graded; 0.1 % are the grounds' rims."""
    found = errors(cells, width, 3.0, places=FEW)
    assert np.abs(found).max(axis=0) == pytest.approx([0.0, 0.0], abs=1.2e-2 if cells == "graded" else 1.5e-3)


@pytest.mark.parametrize("cells", ["cubes", "half as high", "graded"])
@pytest.mark.parametrize("gap", [0.3, 0.6, 0.9, 1.3])
def test_a_coplanar_line_with_gaps_narrower_than_a_cell_has_the_impedance_of_its_closed_form(cells, gap):
    """0.5 to 29 % off with a field of its own for each rim; the field of a gap knows nothing of the next one."""
    found = errors(cells, 3.0, gap, places=FEW)
    assert np.abs(found).max(axis=0) == pytest.approx([0.0, 0.0], abs=1.2e-2)


@pytest.mark.parametrize(("width", "gap"), [(0.5, 0.5), (0.5, 0.9), (0.9, 0.9), (0.9, 1.2)])
def test_a_narrow_strip_in_a_narrow_gap_is_not_joined_to_its_grounds(width, gap):
    """On whole edges the line is 3 to 56 % off, and at some places a short."""
    found = errors("cubes", width, gap, places=FEW)
    assert np.abs(found).max(axis=0) == pytest.approx([0.0, 0.0], abs=0.07)


def test_two_strips_beside_a_gap_are_each_others_mirror_image():
    """In the middle of each both rims are as near, and that with the gap counts.

    0.1 %: what lies in the middle of the gap is taken a thousandth of a cell beside it.
    """
    found = coefficients(cube(12), [nf.Sheet((low, 0, 6), (low + 2, 12, 6)) for low in (3.5, 6.5)])
    for component in range(6):
        drive = found.dense(component)[1]
        drive = drive if component in (0, 4, 5) else drive[1:]
        np.testing.assert_allclose(drive, drive[::-1], rtol=1e-3)


def ring(shift, width=0.5, length=12.0):
    """Frequency of a half-wave strip in a box of 1 m cells, over that of its length."""
    half, guess = 0.5 * length, 0.45 * VACUUM_SPEED / length
    at = 14.0, 8.0 + shift, 8.0
    low, high = (tuple(np.add(at, (way * half, way * 0.5 * width, 0.0)).tolist()) for way in (-1, 1))
    model = nf.Simulation(
        grid=nf.Grid.uniform(1.0, (28, 16, 16)), boundaries=PEC_WALLS, duration=40 / guess,
        structures=[nf.Structure(nf.Sheet(low, high), nf.PEC)],
        sources=[nf.PointCurrent((11.0, at[1] + 2, 9.0), "x", nf.ModulatedGaussian(guess, 0.5 * guess))],
        monitors=[nf.Probe("ringing", (17.0, at[1] - 2, 7.0), "Ex")],
    )  # fmt: skip
    modes = nf.resonances(model.run(threads=1), (0.6 * guess, 1.2 * guess), probe="ringing")
    return float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))]) * 2 * length / VACUUM_SPEED


def test_a_half_wave_strip_rings_alike_wherever_in_a_cell_it_lies():
    """0.8104 in cells of half the size; on whole edges 0.734 or 0.761."""
    assert [ring(shift) for shift in (0.0, 0.3, 0.5, 0.8)] == pytest.approx([0.8104] * 4, rel=2e-3)


def random_strips(random, lines, count):
    """Narrow strips in any planes, and plates with narrow gaps between them."""
    found = []
    for number in range(count):
        u, v, normal = random.permutation(3).tolist()
        height, cell = float(random.choice(lines[normal][2:-2])), float(np.diff(lines[u]).min())
        at, long = random.uniform(0.25, 0.75) * lines[u][-1], np.array((0.1, 0.9)) * lines[v][-1]
        width = random.uniform(0.05, 1.0) * cell
        spans = [(at, at + width)] if number % 2 else [(-1.0, at), (at + 1.4 * width, at + 1.4 * width + 3.0 * cell)]
        for span in spans:
            low, high = np.empty(3), np.empty(3)
            low[normal] = high[normal] = height
            (low[u], high[u]), (low[v], high[v]) = span, long
            found.append(nf.Sheet(tuple(low.tolist()), tuple(high.tolist())))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_narrow_strips_and_gaps_leave_the_longest_step(seed):
    random, count = np.random.default_rng(seed), (10, 9, 10)
    lines = [np.asarray(random_lines(random, n, True)) for n in count]
    if seed % 3:
        lines = [np.arange(n + 1) * size for n, size in zip(count, (1.0, 1.0, 1.0 / (seed % 3)))]
    grid = nf.Grid(*lines).resolve()
    step, found = grid.maximum_time_step(), None
    while found is None or not found.metal.strips:  # those that cross a plate beside their line stay on whole edges
        found = coefficients(grid, random_strips(random, lines, 2 + seed % 2), step=step)
    assert found.metal.sheets.taken
    assert largest_eigenvalue(found, grid, step, 200) < 4.0


@pytest.mark.parametrize("gap", [0.02, 0.1])
@pytest.mark.parametrize("past", [0.0, 0.01, 0.31, 0.999])
def test_gaps_of_a_small_part_of_a_cell_leave_the_longest_step_wherever_they_lie(gap, past):
    """With the bounds of single rims the eigenvalue is up to 40 where one rim lies on a line."""
    grid = cube(12)
    plates = [nf.Sheet((0, 0, 6), (5 + past, 12, 6)), nf.Sheet((5 + past + gap, 0, 6), (12, 12, 6))]
    found = coefficients(grid, plates, step=grid.maximum_time_step())
    assert largest_eigenvalue(found, grid, grid.maximum_time_step(), 200) < 4.0


def test_a_gap_over_a_seam_is_one_in_the_middle():
    boundaries = nf.Boundaries(nf.PEC, x_low="periodic", x_high="periodic")
    grid = nf.Grid.uniform(1.0, (12, 10, 10)).resolve()
    grid = replace(grid, phases=boundaries.phases(grid))
    middle, seam = (
        coefficients(
            grid,
            [nf.Sheet((a - 4, 0, 5), (a, 10, 5)), nf.Sheet((a + 0.7, 0, 5), (a + 4.6, 10, 5))],
            boundaries=boundaries,
        )
        for a in (5.7, -0.3)
    )
    for component in range(6):
        wanted = np.roll(middle.dense(component)[1], 6, axis=0)
        np.testing.assert_allclose(seam.dense(component)[1], wanted, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 0.2, 0.5])
def test_about_narrow_strips_no_face_counts_with_more_than_the_least_of_its_live_edges(offset):
    """What the proof for thin wires asks for."""
    strips = [
        nf.Sheet((2, 4.1 + offset, 6), (10, 4.9 + offset, 6)),
        nf.Sheet((3, 8 + offset, 2.3), (3, 8.2 + offset, 9)),
    ]
    assert_stable(cube(12), coefficients(cube(12), strips))


def test_the_energy_about_narrow_strips_and_gaps_stays_bounded_over_twenty_thousand_steps():
    spans = ((2.2, 5.25, 5), (11.4, 5.75, 5)), ((5.1, 2.2, 3), (5.3, 9.7, 3)), ((0, 0, 7), (14, 6.1, 7))
    spans += (((0, 6.5, 7), (14, 12, 7)),)
    sheets = [nf.Sheet(*(tuple(MM * q for q in corner) for corner in span)) for span in spans]
    model = nf.Simulation(
        nf.Grid.uniform(MM, (14, 12, 11)), structures=[nf.Structure(sheet, nf.PEC) for sheet in sheets],
        boundaries=PEC_WALLS, steps=20_000, precision="double",
    )  # fmt: skip
    solver, random, largest = nf.Solver(model, threads=1), np.random.default_rng(1), []
    for component, name in enumerate(("Ex", "Ey", "Ez")):
        solver.set_field(name, random.standard_normal(solver.grid.component_shape(component)))
    for _ in range(10):
        solver.advance(2_000)
        largest.append(max(float(np.abs(solver.field(name)).max()) for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")))
    assert max(largest[5:]) < 2.0 * max(largest[:5])


def test_strips_along_any_axis_have_the_same_factors():
    strip, gap = (
        ((2.0, 4.1, 6.0), (10.0, 4.7, 6.0)),
        [((0.0, 0.0, 9.0), (12.0, 5.2, 9.0)), ((0.0, 5.8, 9.0), (12.0, 12.0, 9.0))],
    )
    found = [
        coefficients(cube(12), [nf.Sheet(*(tuple(np.roll(corner, turn)) for corner in one)) for one in (strip, *gap)])
        for turn in range(3)
    ]
    for turn in (1, 2):
        for component in range(6):
            own = found[0].dense(component)[1]
            other = found[turn].dense((component + turn) % 3 + 3 * (component > 2))[1]
            np.testing.assert_allclose(np.transpose(own, np.roll(range(3), turn)), other, rtol=1e-9)


def small_model(precision="double", **options):
    """A strip into the CPML, one that meets a plate, a gap over a dispersive block and a port; graded cells."""
    lines = [MM * np.cumsum([0, *(1 + 0.2 * np.sin(np.arange(n) + n))]) for n in (17, 14, 13)]
    at = lambda *node: tuple(float(np.interp(n, np.arange(line.size), line)) for line, n in zip(lines, node))  # noqa: E731
    water = nf.Medium(2.0, 1.0, 0.1, poles=[nf.Debye(3.0, 9.2e-12)])
    spans = (
        ((0, 9.7, 8), (8.2, 10.2, 8)),
        ((4, 5.2, 5), (7.7, 5.7, 5)),
        ((7.5, 3, 5), (14, 5.4, 5)),
        ((7.5, 6, 5), (14, 9, 5)),
    )
    return nf.Simulation(
        nf.Grid(*lines),
        boundaries=nf.Boundaries(nf.CPML(3), z_low=nf.PEC),
        structures=[
            nf.Structure(nf.Box(at(9, 3, 3), at(14, 9, 7)), water),
            *(nf.Structure(nf.Sheet(*(at(*corner) for corner in span)), nf.PEC) for span in spans),
        ],
        ports=[nf.LumpedPort("feed", at(4, 5, 0), at(4, 5, 5), "z", waveform=nf.Gaussian(20e9))],
        monitors=[nf.Probe("e", at(6, 6, 3), "Ex")],
        precision=precision,
        steps=20,
        **options,
    )


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_model_agrees_with_the_oracle_by_every_schedule(engine_name, precision):
    setup = small_model(precision)._setup()
    assert len(setup.coefficients.metal.strips) == 2
    assert_model_agrees(engine_name, setup.plan, "feed")


def test_the_box_of_a_rank_agrees_with_the_whole():
    found, low, high = small_model()._setup().coefficients, (4, 3, 2), (13, 12, 10)
    whole = [found.dense(component)[1] for component in range(6)]
    for axis in range(3):
        assert_part_agrees(found, whole, axis, low, high, relative=0.0)


def parts(found, grid):
    """How many pieces the metal edges off the walls make."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    samples, edges = SampleNumbers(grid), []
    for component in range(3):
        index = np.argwhere(found.dense(component)[1] == 0.0)
        inner = np.all([(index[:, a] > 0) | (a == component) for a in range(3)], axis=0)
        edges.append(samples.number(component, index[inner]))
    _, ends = np.unique(samples.ends_of(np.concatenate(edges)), return_inverse=True)
    ends = ends.reshape(-1, 2)
    size = ends.max() + 1
    return connected_components(coo_matrix((np.ones(len(ends)), ends.T), (size, size)))[0]


JOINED = {
    "an L of two strips": [((2.0, 3.2, 6), (9.9, 3.8, 6)), ((9.3, 3.2, 6), (9.9, 10, 6))],
    "a T of two strips, end on side": [((2.0, 5.3, 6), (9.3, 5.9, 6)), ((9.3, 2, 6), (9.9, 10, 6))],
    "a strip that ends at a plate's rim": [((2.0, 5.3, 6), (7.6, 5.9, 6)), ((7.6, 2, 6), (11, 10, 6))],
    "a strip over a plate": [((2.0, 5.3, 6), (9.6, 5.9, 6)), ((7.6, 2, 6), (11, 10, 6))],
    "a plate that ends on a strip's side": [((2.0, 5.3, 6), (10, 5.9, 6)), ((4.2, 5.9, 6), (6.7, 10, 6))],
    "two strips end to end": [((2.0, 5.3, 6), (6.4, 5.9, 6)), ((6.4, 5.3, 6), (10, 5.9, 6))],
    "a strip beside a plate, as one": [((2.0, 3, 6), (10, 5.3, 6)), ((2.0, 5.3, 6), (10, 5.9, 6))],
    "two strips beside each other, as one": [((2.0, 4.5, 6), (10, 5.3, 6)), ((2.0, 5.3, 6), (10, 5.9, 6))],
}


@pytest.mark.parametrize("by", [0.0, 0.17, 0.33, 0.5, 0.71, 0.9])
@pytest.mark.parametrize("case", JOINED)
def test_what_touches_a_narrow_strip_stays_joined_to_it(case, by):
    sheets = [nf.Sheet(*(tuple(np.add(corner, (by, by, 0))) for corner in span)) for span in JOINED[case]]
    assert parts(coefficients(cube(14), sheets), cube(14)) == 1


def test_what_lies_beside_a_narrow_strip_stays_apart_from_it():
    for by in np.arange(10) / 10:
        sheets = [nf.Sheet((2, 2 + by, 6), (10, 5 + by, 6)), nf.Sheet((2, 5.9 + by, 6), (10, 6.4 + by, 6))]
        assert parts(coefficients(cube(14), sheets), cube(14)) == 2


def test_a_port_as_wide_as_a_strip_on_two_lines_meets_it_with_both():
    """The strip's line is one of them."""
    column = 2, np.array([[3, 3], [3, 3]]), np.array([[5, 5], [6, 6]]), np.array([[0, 1], [0, 1]])
    strip = [nf.Sheet((3, 5.35, 2), (9, 5.95, 2))]
    found = coefficients(cube(12), strip, gaps=[tuple([column[0], *(part.ravel() for part in column[1:])])])
    assert found.is_metal(1, np.array([3]), np.array([5]), np.array([2]))[0]
    assert not coefficients(cube(12), strip).is_metal(1, np.array([3]), np.array([5]), np.array([2]))[0]


@pytest.mark.parametrize("along", [1.0, 0.2])
def test_circuits_one_cell_apart_may_stand_on_a_narrow_strip(along):
    """Wires with a radius are refused so near; and cells along the strip may be too short for a post of its radius."""
    grid = nf.Grid(along * np.arange(13.0), np.arange(13.0), np.arange(13.0)).resolve()
    posts = [(2, np.full(2, x), np.full(2, 6), np.arange(2)) for x in (4, 5)]
    found = coefficients(
        grid, [nf.Sheet((3 * along, 5.7, 2), (10 * along, 6.2, 2))], step=grid.maximum_time_step(), gaps=posts
    )
    assert found.metal.strips
    assert largest_eigenvalue(found, grid, grid.maximum_time_step()) < 4.0


def test_a_narrow_polygon_is_a_narrow_strip():
    corners = [(2.2, 4.1), (9.6, 4.1), (9.6, 4.7), (2.2, 4.7)]
    sheet, polygon = nf.Sheet((2.2, 4.1, 6), (9.6, 4.7, 6)), nf.Polygon("z", corners, 6, 6)
    assert same(coefficients(cube(12), [sheet]), coefficients(cube(12), [polygon]))


def test_staircases_keep_strips_on_whole_edges():
    on, off = [nf.Sheet((2, 4, 6), (10, 5, 6))], [nf.Sheet((2, 4.2, 6), (10, 4.9, 6))]
    assert same(coefficients(cube(12), on, "staircase"), coefficients(cube(12), off, "staircase"))
    assert not same(coefficients(cube(12), on), coefficients(cube(12), off))


def model(*structures, metal="auto"):
    source = nf.PointCurrent((2e-3, 2e-3, 2.5e-3), "z", nf.Gaussian(1e10))
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (12, 12, 12)),
        boundaries=PEC_WALLS,
        structures=structures,
        sources=[source],
        metal=metal,
    )


def strip(low, high, medium=nf.PEC):
    return nf.Structure(nf.Sheet((2e-3, low * MM, 6e-3), (10e-3, high * MM, 6e-3)), medium, name="strip")


def test_auto_follows_a_strip_of_one_cell_on_lines():
    found = model(strip(4, 5))._setup()
    assert found.metal == "conformal" and found.coefficients.metal.strips
    assert found.time_step == model(strip(4, 5), metal="staircase")._setup().time_step


def test_check_lists_no_strip_or_gap_that_acts_where_it_is_drawn():
    plates = [
        nf.Structure(nf.Sheet((0, a * MM, 3e-3), (12e-3, b * MM, 3e-3)), nf.PEC) for a, b in ((0, 6.2), (6.8, 12))
    ]
    assert not model(strip(4.1, 4.6), *plates).check().moved
    listed = [one["what"] for one in model(strip(4.1, 4.4), *plates, metal="staircase").check().moved]
    assert any("narrower along y" in what for what in listed) and any("gap along y" in what for what in listed)


def test_strips_that_are_not_followed_are_listed_as_before():
    """Good conductors keep the faces of their loss; two that are one cell apart share theirs."""
    conductor = model(strip(4.1, 4.4, nf.Conductor(5.8e7)))
    for each in (conductor, model(strip(4.1, 4.4), strip(5.1, 5.4))):
        assert not each._setup().coefficients.metal.strips
        assert any("narrower along y" in one["what"] for one in each.check().moved)
