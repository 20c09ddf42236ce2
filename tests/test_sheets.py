"""Resistive sheets: what they add to edges against geometry, the same bits everywhere, reflection against theory."""

import numpy as np
import pytest
from agreement import assert_model_agrees

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from validation.parallel_plate import ETA
from validation.resistive_sheet.run import expected, found

MM = 1e-3
STEP = 1e-12
LINES = [np.cumsum([0, *(1 + 0.3 * np.sin(np.arange(n) + n))]) * MM for n in (7, 6, 5)]
PULSE = nf.Gaussian(30e9)


def sheet(lower, upper, resistance=100.0, **more):
    return nf.Structure(nf.Sheet(lower, upper), nf.ResistiveSheet(resistance, **more))


def conductivity(structures, component, faces="pmc", grid=None):
    """S/m of the edges of a component."""
    grid = grid or nf.Grid(*LINES)
    boundaries = nf.Boundaries(all=faces)
    grid = nf.Simulation(grid, structures, boundaries, steps=1)._setup().grid
    stay, _ = Coefficients(grid, filled_shapes(structures), nf.Medium(), boundaries, STEP).dense(component)
    return grid, 2 * VACUUM_PERMITTIVITY / STEP * (1 - stay) / (1 + stay)


@pytest.mark.parametrize("normal", range(3))
def test_any_cut_carries_the_current_of_the_sheet_as_drawn(normal):
    """A strip of 2.6 mm with its rims inside cells: the conductances of the edges abreast add up to width/R."""
    u, v = (normal + 1) % 3, (normal + 2) % 3
    low, high = np.zeros(3), np.zeros(3)
    low[[u, v]], high[[u, v]] = (-MM, 1.3 * MM), (9 * MM, 3.9 * MM)
    low[normal] = high[normal] = LINES[normal][2] + 0.1 * MM
    grid, found = conductivity([sheet(tuple(low), tuple(high))], u)
    across = np.moveaxis(found, [normal, u, v], [0, 1, 2])[2, :-1]  # edges along u, abreast along v
    conductance = (across * grid.dual(normal)[2] * grid.dual(v)).sum(axis=1)
    assert conductance == pytest.approx(2.6 * MM / 100.0, rel=1e-9)
    assert not np.moveaxis(found, [normal, u], [0, 1])[[0, 1, 3, 4], :-1].any()


def test_the_outline_of_a_polygon_counts_as_its_area():
    corners = [(1.2 * MM, 0.7 * MM), (5.1 * MM, 1.3 * MM), (2.2 * MM, 4.4 * MM)]
    plate = nf.Structure(nf.Polygon("z", corners, LINES[2][2], LINES[2][2]), nf.ResistiveSheet(50.0))
    area = 0.5 * abs(np.linalg.det([np.subtract(corners[1], corners[0]), np.subtract(corners[2], corners[0])]))
    grid, along = conductivity([plate], 0)
    space = grid.primary(0)[:, None] * grid.dual(1) * grid.dual(2)[2]
    assert (along[:-1, :, 2] * space).sum() == pytest.approx(area / 50.0, rel=0.01)  # of 16 points a quarter


def test_sheets_side_by_side_in_one_plane_share_an_edge_and_the_later_of_two_wins():
    line, top = LINES[0], 9 * MM
    half = sheet((0, 0, line[2]), (line[3], top, line[2]))
    over = sheet((line[3], 0, line[2]), (top, top, line[2]), 50.0)
    grid, found = conductivity([half, over], 1, grid=nf.Grid(line, line, line))
    below, above = 0.5 * grid.primary(0)[2:4]
    assert found[3, 2, 2] * grid.dual(0)[3] * grid.dual(2)[2] == pytest.approx(below / 100.0 + above / 50.0)
    whole = sheet((0, 0, line[2]), (top, top, line[2]), 50.0)
    _, found = conductivity([half, over, whole], 1, grid=nf.Grid(line, line, line))
    assert found[3, 2, 2] * grid.dual(2)[2] == pytest.approx(1 / 50.0)


def test_crossing_sheets_add_up_on_the_line_where_they_cross():
    line = LINES[0]
    flat, wall = sheet((0, 0, line[2]), (1, 1, line[2])), sheet((0, line[3], 0), (1, line[3], 1), 50.0)
    grid, found = conductivity([flat, wall], 0, grid=nf.Grid(line, line, line))
    assert found[2, 3, 2] == pytest.approx(0.01 / grid.dual(2)[2] + 0.02 / grid.dual(1)[3])


def test_a_later_body_takes_what_lies_strictly_inside_it_and_leaves_its_face():
    line, body = LINES[0], nf.Structure(nf.Box((-1, -1, 0), (1, 1, LINES[0][3])), nf.Medium(2.0))
    for node, kept in ((2, False), (3, True)):
        one = sheet((0, 0, line[node]), (1, 1, line[node]))
        for structures, there in (([one, body], kept), ([body, one], True)):
            _, found = conductivity(structures, 0, grid=nf.Grid(line, line, line))
            assert (found[2, 2, node] > 0) == there


@pytest.mark.parametrize("part", [0.4, 0.6])
@pytest.mark.parametrize(
    "ends, kept", [((0.0, 3.0), True), ((2.2, 2.9), False), ((1.8, 2.2), True), ((2.7, 3.2), True)]
)
def test_a_later_body_takes_of_sheets_between_lines_what_lies_in_it_as_drawn(part, ends, kept):
    """The line that the sheet moved to was compared with the body as drawn: one on a board's face was lost."""
    lines = np.arange(7) * MM
    low, high = ends if ends[0] else (0.0, 2.0 + part)  # the face of a board
    board = nf.Structure(nf.Box((-1, -1, low * MM), (1, 1, high * MM)), nf.Medium(2.0))
    one, grid = sheet((0, 0, (2.0 + part) * MM), (1, 1, (2.0 + part) * MM)), nf.Grid(lines, lines, lines)
    for structures, there in (([one, board], kept), ([board, one], True)):
        assert (conductivity(structures, 0, grid=grid)[1][2, 2].max() > 0) == there


def test_a_magnetic_wall_has_the_sheet_on_it_and_a_periodic_cell_closes_over_it():
    line = LINES[0]
    grid, found = conductivity([sheet((0, 0, 0), (1, 1, 0))], 0, grid=nf.Grid(line, line, line))
    assert found[2, 0, 0] == pytest.approx(0.01 / grid.dual(2)[0])  # half a cell
    for place in (0.0, line[-1]):
        whole = [sheet((0, 0, place), (line[-1], line[-1], place))]
        grid, found = conductivity(whole, 0, "periodic", nf.Grid(line, line, line))
        assert found[:7, :7, 0] == pytest.approx(0.01 / grid.dual(2)[0])
        assert not found[:, :, 1:7].any()


def test_a_sheet_goes_straight_on_through_the_cpml():
    grid = nf.Grid.uniform(MM, (12, 12, 12))
    _, found = conductivity([sheet((3 * MM, 0, 6 * MM), (9 * MM, 1, 6 * MM))], 0, nf.CPML(3), grid)
    assert found[:, 1:, 6] == pytest.approx(0.01 / MM)


def small_model(precision="single", **options):
    """Sheets that cross in a dielectric, one with an inductance, a flat triangle, CPML, a magnetic wall, a seam."""
    corners = [(2 * MM, MM), (9 * MM, 2.5 * MM), (4 * MM, 7 * MM)]
    entries = {
        "boundaries": nf.Boundaries(nf.CPML(3), x="periodic", y_high=nf.PMC, z_high=nf.PEC),
        "monitors": [nf.Probe("e", (8 * MM, 4.7 * MM, 3.6 * MM), "Ex")],
        "structures": [
            nf.Structure(nf.Box((3 * MM, 0, 2.4 * MM), (8 * MM, 12 * MM, 7 * MM)), nf.Medium(3.0, 1.0, 0.02)),
            sheet((0, 2.2 * MM, 6 * MM), (14 * MM, 20 * MM, 6 * MM), 300.0),
            sheet((5 * MM, 1.5 * MM, 0), (5 * MM, 12 * MM, 9.5 * MM), 40.0, inductance=1e-10),
            nf.Structure(nf.Polygon("z", corners, 4 * MM, 4 * MM), nf.ResistiveSheet(conductivity=1e4, thickness=1e-6)),
        ],
    }
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (14, 12, 11)),
        sources=[nf.PointCurrent((6 * MM, 5.5 * MM, 5 * MM), "x", PULSE)],
        precision=precision,
        steps=20,
        **entries | options,
    )


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_model_agrees_with_the_oracle_by_every_schedule(engine_name, precision):
    plan = small_model(precision)._setup().plan
    assert len(plan.pole_media) == 1
    assert_model_agrees(engine_name, plan)


def test_planes_along_any_axis_single_samples_and_boxes_of_ranks_are_the_same():
    found, low, high = small_model()._setup().coefficients, (2, 3, 2), (13, 11, 9)
    dense = [(found.dense(component)[0], found.dense_poles(0, component)[1]) for component in range(3)]
    for axis in range(3):
        around = [(axis + n) % 3 for n in range(3)]
        part = tuple(slice(low[a], high[a]) for a in around[1:])
        for planes in found.planes(axis, low, high):
            for component in range(3):
                stay, weight = dense[component]
                for plane in range(planes.start + low[axis], planes.stop + low[axis]):
                    whole, poles = (np.moveaxis(values, around, [0, 1, 2])[plane][part] for values in (stay, weight))
                    np.testing.assert_allclose(planes.electric[component, 0], whole, rtol=1e-13)
                    there = planes.poles[0].weight[component] if planes.poles else 0.0 * poles
                    np.testing.assert_allclose(there, poles, rtol=1e-13)
    index = np.argwhere(found.dense(2)[0] != 1.0)[::7].T
    np.testing.assert_array_equal(found.parts_at(2, *index)[0], found.dense(2)[0][tuple(index)])


def test_half_a_model_about_a_sheet_in_its_plane_of_symmetry_is_the_whole():
    walls = nf.Boundaries(all=nf.PEC)
    model = {
        "boundaries": walls,
        "structures": [sheet((2 * MM, 0, 5 * MM), (9 * MM, 12 * MM, 5 * MM), 60.0)],
        "grid": nf.Grid.uniform(MM, (14, 12, 10)),
        "monitors": [nf.Probe("e", (8 * MM, 4.7 * MM, 7 * MM), "Ex")],
        "sources": [nf.PointCurrent((6.5 * MM, 5 * MM, 5 * MM), "x", PULSE)],
        "precision": "double",
        "steps": 200,
    }
    whole, half = (
        nf.Simulation(**model, symmetry=nf.Symmetry(z=kind)).run(threads=1)["e"].values for kind in (None, "magnetic")
    )
    assert np.abs(whole).max() > 0 and half == pytest.approx(whole, abs=1e-12 * np.abs(whole).max())


def test_a_sheet_and_a_screen_reflect_what_theory_says():
    """Validation/resistive_sheet holds the whole; the grid's waves are 2e-4 slow at 3 GHz."""
    f = np.array([3e9])
    assert found(nf.ResistiveSheet(188.365), f)[0] == pytest.approx(-0.5, abs=1e-3)
    film = nf.ResistiveSheet(100.0, 5e-9)
    assert found(film, f)[0] == pytest.approx(expected(film.impedance(f), f)[0], abs=1e-3)
    assert found(nf.ResistiveSheet(ETA), f, 15)[0] == pytest.approx(expected(ETA, f, 15 * MM)[0], abs=3e-3)


def test_a_model_file_holds_sheets_and_names_them_among_the_media():
    named = nf.Structure(nf.Sheet((0, 0, MM), (1, 1, MM)), "film")
    sim = small_model(media={"film": nf.ResistiveSheet(conductivity="1 MS/m", thickness="20 nm")})
    sim = sim.model_copy(update={"structures": (*sim.structures, named)})
    from nearfield.model_file import loads

    assert loads(sim.to_toml()) == sim
    assert not [text for text in sim.check().warnings if "film" in text]
    assert sim.run(threads=1).status == "done"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.ResistiveSheet(), "either resistance"),
        (lambda: nf.ResistiveSheet(50.0, conductivity=1e6, thickness=1e-6), "either resistance"),
        (lambda: nf.ResistiveSheet(conductivity=1e6), "both conductivity"),
        (lambda: nf.ResistiveSheet(0.0), 'give the medium "pec"'),
        (lambda: nf.ResistiveSheet(-1.0), "zero or positive|non-negative|negative"),
        (lambda: nf.Structure(nf.Box((0, 0, 0), (1, 1, 1)), nf.ResistiveSheet(5)), "a box cannot be a resistive sheet"),
        (lambda: nf.Structure(nf.Wire([(0, 0, 0), (1, 0, 0)]), nf.ResistiveSheet(50)), "a wire cannot be"),
        (
            lambda: small_model(
                media={"film": nf.ResistiveSheet(5.0)}, structures=[nf.Structure(nf.Sphere((0, 0, 0), 1), "film")]
            )._setup(),
            "medium 'film': a sphere cannot be",
        ),
        (lambda: small_model(background=nf.ResistiveSheet(5.0)), "background"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()
