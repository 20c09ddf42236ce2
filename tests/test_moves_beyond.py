"""What `check` and the trust report say of bodies that reach out of the grid, or lie beyond a periodic cell."""

import pytest

import nearfield as nf

MM = 1e-3
PERIODIC = nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(8))
PLATE = [(u * MM, v * MM) for u, v in ((-3, -2), (2, -3), (3, 2), (-2, 3))]
SHAPES = {
    "plane between lines": nf.Sheet((-3.3 * MM, -2.7 * MM, 0.4 * MM), (3.3 * MM, 2.7 * MM, 0.4 * MM)),
    "thin box": nf.Box((-3.3 * MM, -2.7 * MM, 0.3 * MM), (3.3 * MM, 2.7 * MM, 0.9 * MM)),
    "slanting rims": nf.Polygon("z", PLATE, 0, 0),
    "ball": nf.Sphere((0.2 * MM, 0, 0), 3.1 * MM),
}


def cell(shape, transforms=(), boundaries=PERIODIC, **entries):
    """A cell of 10 x 10 mm with metal in it, or beside it."""
    grid = nf.Grid.uniform(1 * MM, (10, 10, 34), (-5 * MM, -5 * MM, -17 * MM))
    body = nf.Structure(shape, nf.PEC, "plate", transforms)
    return nf.Simulation(grid, [body], boundaries, steps=1, **entries)


def listed(model):
    """Entries of `moved` without the numbers of copies, each with its size."""
    return sorted((one["what"].split(",")[-1], round(one["cells"], 6)) for one in model.check().moved)


def rims(model):
    """The verdicts of the trust report on rims of sheets."""
    return [entry.verdict for entry in model.run(threads=1).trust if entry.name == "rims of sheets"]


@pytest.mark.parametrize("metal", ["auto", "staircase"])
@pytest.mark.parametrize("name", SHAPES)
def test_what_lies_beyond_a_periodic_cell_is_listed_as_in_it(name, metal):
    home, away = (cell(SHAPES[name], [nf.Translate((x * MM, y * MM, 0))], metal=metal) for x, y in ((0, 0), (-20, 10)))
    assert bool(listed(home)) == ((name, metal) != ("ball", "auto"))  # which is followed to second order
    assert listed(away) == listed(home)


@pytest.mark.parametrize("name", SHAPES)
def test_copies_in_one_place_of_a_cell_are_listed_once(name):
    moves = [nf.Translate((-10 * MM, -10 * MM, 0)), nf.Array((3, 3, 1), (10 * MM, 10 * MM, 0))]
    assert listed(cell(SHAPES[name], moves)) == listed(cell(SHAPES[name]))


def test_rims_that_are_followed_in_a_periodic_cell_are_not_called_whole_edges():
    sheet = nf.Sheet((-3.3 * MM, -2.7 * MM, 0), (3.3 * MM, 2.7 * MM, 0))
    moves = [nf.Translate((-10 * MM, -10 * MM, 0)), nf.Array((3, 3, 1), (10 * MM, 10 * MM, 0))]
    assert rims(cell(sheet, moves)) == rims(cell(sheet)) == []
    assert rims(cell(sheet, moves, metal="staircase")) == rims(cell(sheet, metal="staircase")) == ["bad"]


def test_bodies_out_of_the_grid_are_named_as_lost_and_not_as_moved():
    check = cell(SHAPES["plane between lines"], [nf.Translate((11 * MM, 0, 0))], nf.Boundaries(nf.PEC)).check()
    assert not check.moved
    assert any("lies outside the grid" in warning for warning in check.warnings)


def test_a_gap_between_a_body_and_its_copy_is_listed_as_one_in_the_cell():
    """Half a cell between boxes, wherever the cell begins; rims of sheets share their field over the face."""
    low, high = (-4.75 * MM, -2.7 * MM), (4.75 * MM, 2.7 * MM)
    box, sheet = nf.Box((*low, 0), (*high, 3 * MM)), nf.Sheet((*low, 0), (*high, 0))
    for offset in (0.0, 2.3, 10.0):
        gaps = [one for one in cell(box, [nf.Translate((offset * MM, 0, 0))]).check().moved if "gap" in one["what"]]
        assert [(one["from"], one["to"]) for one in gaps] == [pytest.approx((0.5 * MM, MM))]
        assert gaps[0]["what"] == "gap along x between structure 'plate' and its copy over the periodic face"
    wide = nf.Grid.uniform(1 * MM, (20, 10, 34), (-10 * MM, -5 * MM, -17 * MM))
    moves = [nf.Translate((-5 * MM, 0, 0)), nf.Array((2, 1, 1), (10 * MM, 0, 0))]
    two = nf.Simulation(wide, [nf.Structure(box, nf.PEC, "plate", moves)], PERIODIC, steps=1).check().moved
    assert len([one for one in two if "gap along x" in one["what"]]) == 2
    assert not any("gap" in one["what"] for one in cell(sheet).check().moved)
