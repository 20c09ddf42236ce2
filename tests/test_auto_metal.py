"""With nothing stated metal is followed where it is off the grid lines, stays on whole cells elsewhere, and says so."""

import json

import numpy as np
import pytest
from cases import slow_after
from test_sheet_rims import capacity, exact_capacity

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.model_file import loads
from nearfield.studies.convergence import one_method
from nearfield.studies.refinement import refined
from validation.circular_guide.run import RADIUS, expected, found

MM = 1e-3


def space(*structures, **options):
    """A box of 30 cells of 1 mm, ten of them open, with a point current."""
    return nf.Simulation(
        nf.Grid.uniform(MM, (30, 30, 30)),
        [nf.Structure(shape, nf.PEC, f"body {n}") for n, shape in enumerate(structures)],
        sources=[nf.PointCurrent((11 * MM, 11 * MM, 11.5 * MM), "z", nf.Gaussian(10e9))],
        monitors=[nf.Probe("p", (18 * MM, 18 * MM, 18.5 * MM), "Ez")],
        **({"steps": 10} | options),
    )


BALL = nf.Sphere((15 * MM, 15 * MM, 15 * MM), 3.3 * MM)
BLOCK = nf.Box((12 * MM, 12 * MM, 12 * MM), (17 * MM, 16 * MM, 14 * MM))
STAIRS = {"metal": "staircase"}
SHEET = nf.Sheet((12.4 * MM, 12 * MM, 15 * MM), (18 * MM, 18 * MM, 15 * MM))


def test_a_round_guide_has_its_cut_off_with_nothing_stated():
    """At 14 cells in the radius TE11 is 2.7 % low on whole cells; cut cells leave the grid's dispersion, (k d)^2/24."""
    cell = RADIUS / 14
    plain = found(cell, nf.Simulation(nf.Grid.uniform(cell, (4, 4, 4)), steps=1).metal)
    stairs = found(cell, "staircase")
    assert abs(plain["TE11"] / expected("TE11") - 1) < 0.0018 < 0.02 < abs(stairs["TE11"] / expected("TE11") - 1)


ON_LINES = nf.Sheet((12 * MM, 12 * MM, 15 * MM), (18 * MM, 18 * MM, 15 * MM))
WIRE = nf.Wire([(12.3 * MM, 15 * MM, 15 * MM), (17 * MM, 15 * MM, 15 * MM)], 0.1 * MM)
CAVITY = [nf.Box((0, 0, 0), (30 * MM, 30 * MM, 30 * MM)), nf.Box((5 * MM, 5 * MM, 5 * MM), (25 * MM, 25 * MM, 25 * MM))]


@pytest.mark.parametrize(
    "structures",
    [
        [(nf.Box((12 * MM, 0, 0), (17 * MM, 30 * MM, 30 * MM)), nf.PEC)],  # from wall to wall
        [(nf.Sheet((0, 0, 15 * MM), (30 * MM, 30 * MM, 15 * MM)), nf.PEC)],
        [(nf.Box((12 * MM, 12 * MM, 0), (17 * MM, 16 * MM, 3.3 * MM)), nf.PEC)],  # ends in the CPML, where it goes on
        [(CAVITY[0], nf.PEC), (CAVITY[1], nf.Medium())],
        [(WIRE, nf.PEC)],
        [(BALL, nf.Medium(4))],
    ],
)
def test_metal_on_grid_lines_without_open_edges_keeps_bits_and_time_step(structures):
    media = {"structures": [nf.Structure(*each) for each in structures]}
    plain, stairs = (Discretization(space().model_copy(update=media | stated)) for stated in ({}, STAIRS))
    assert plain.metal == "staircase" and plain.time_step == stairs.time_step
    runs = [space().model_copy(update=media | stated).run(threads=1)["p"].values for stated in ({}, STAIRS)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(
    "shapes",
    slow_after(
        1,
        [
            [nf.Sheet((0, 0, 15 * MM), (30 * MM, 18 * MM, 15 * MM)), WIRE],
            [BLOCK],
            [ON_LINES],
            [nf.Box((12 * MM, 12 * MM, 14 * MM), (17 * MM, 16 * MM, 40.7 * MM))],  # ends outside the grid
        ],
    ),
)
def test_edges_in_the_open_field_on_grid_lines_are_followed_at_the_same_time_step(shapes):
    """A whole edge acts a third of a cell wider (sheets), a fifth (solids), than metal that ends on its line."""
    plain, stairs, asked = (Discretization(space(*shapes, **stated)) for stated in ({}, STAIRS, {"metal": "conformal"}))
    assert plain.metal == "conformal" and stairs.metal == "staircase"
    assert plain.time_step == stairs.time_step
    assert all(np.array_equal(plain.coefficients.dense(c)[1], asked.coefficients.dense(c)[1]) for c in range(6))
    assert any((plain.coefficients.dense(c)[1] != stairs.coefficients.dense(c)[1]).any() for c in range(6))
    metal = json.loads(json.dumps(space(*shapes).check().as_dict()))["metal"]
    assert metal["method"] == "conformal" and metal["open_edges"][0] == "structure 'body 0'" and not metal["off_lines"]
    assert "edges in the open field: structure 'body 0'" in metal["why"]
    assert metal["why"] in str(space(*shapes).check())


@pytest.mark.parametrize(
    ("shapes", "cutting"),
    [
        ([BLOCK, BALL], ("structure 'body 1'",)),
        ([SHEET], ()),
        ([nf.Box((12 * MM, 12 * MM, 15 * MM), (17 * MM, 16 * MM, 15.3 * MM))], ()),  # thinner than a cell: a sheet
        ([nf.Cylinder((15 * MM, 15 * MM, 12 * MM), (15 * MM, 15 * MM, 17 * MM), 0.6 * MM)], ()),  # too thin to follow
    ],
)
def test_check_says_which_body_asks_for_more_steps_and_how_many(shapes, cutting):
    model = space(*shapes, steps=None)
    check, stairs = model.check(), space(*shapes, steps=None, metal="staircase").check()
    assert check.metal.method == "conformal" and stairs.metal.method == "staircase"
    assert check.metal.off_lines == stairs.metal.off_lines == (f"structure 'body {len(shapes) - 1}'",)
    assert check.metal.cutting == cutting and stairs.metal.cutting == ()
    assert check.metal.steps_without_cuts == stairs.expected_steps
    assert check.time_step == pytest.approx(stairs.time_step * (0.5**0.5 if cutting else 1.0))
    said = f"cells cut by {cutting[0]} make it {check.expected_steps:,} steps" if cutting else "no cell is cut"
    assert said in str(check) and "off the grid lines" in str(check)
    assert "on whole cells and edges all the same" in str(stairs)
    assert json.loads(json.dumps(check.as_dict()))["metal"]["cutting"] == list(cutting)


def test_a_time_step_too_long_for_cut_cells_names_body_and_way_out():
    step = space(BALL, metal="staircase")._setup().time_step
    assert space(BALL, metal="staircase", time_step=step).check().metal.cutting == ()
    with pytest.raises(nf.ModelError, match=r"cells conformal metal cuts \(structure 'body 0'\).*\"staircase\""):
        space(BALL, time_step=step).check()


def test_a_result_states_how_its_metal_lay():
    """Results of versions with another default state nothing: their text would mean something else today."""
    for stated in ({}, {"metal": "staircase"}):
        result = space(BALL, steps=2, **stated).run(threads=1)
        assert result.facts["metal"] == stated.get("metal", "conformal")
        text = result.model_text
        assert f'metal = "{stated.get("metal", "auto")}"' in text
        assert loads(text).metal == stated.get("metal", "auto")


def test_a_study_of_convergence_lays_metal_one_way_on_all_grids():
    """The wall's face between lines lies on one of the grid with half the cells."""
    halved = nf.Box((12.5 * MM, 0, 0), (18 * MM, 30 * MM, 30 * MM))
    models = [refined(space(halved), factor) for factor in (1, 2)]
    assert [model._setup().metal for model in models] == ["conformal", "staircase"]
    assert [model._setup().metal for model in one_method(models)] == ["conformal", "conformal"]
    models = [refined(space(nf.Box((12 * MM, 0, 0), (18 * MM, 30 * MM, 30 * MM))), factor) for factor in (1, 2)]
    assert [model.metal for model in one_method(models)] == ["auto", "auto"]


@pytest.mark.parametrize("cells", [6, 9])
def test_the_thirds_rule_and_rims_count_the_field_at_an_edge_once(cells):
    """Lines a third of a cell inside a strip's edges and two thirds outside, as the automatic grid draws them.

    By the thirds rule alone, on whole edges, the strip's capacity is right to first order; rims correct what is left. A
    second count of the field at the edges would take a third of a cell off either side, 4 % of the capacity and more.
    """
    low, width = 20 - 1 / 3, cells + 2 / 3
    both, thirds = (capacity(low, low + width, kind) / exact_capacity(width) - 1 for kind in ("conformal", "staircase"))
    assert abs(both) < 1e-3 < abs(thirds) < 0.02
    on_lines = capacity(20.0, 20.0 + cells, "conformal") / exact_capacity(cells) - 1
    assert abs(both - on_lines) < 1e-3
