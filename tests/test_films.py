"""Flat metal between lines of the grid acts on the nearest one, and faces of media that touch it go along."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients

MM = 1e-3
CELL = 0.2 * MM
BOARD, LID = nf.Medium(9.8, name="board"), nf.Medium(3.0, name="lid")
ROUND = nf.Cylinder((2 * MM, 2 * MM, 0.77 * MM), (2 * MM, 2 * MM, 0.78 * MM), 1 * MM)


def column(*structures, at=(10, 10)) -> np.ndarray:
    """Means of eps along the edges up a column of nodes, from the floor on; NaN in metal."""
    grid, walls = nf.Grid.uniform(CELL, (20, 20, 10)).resolve(), nf.Boundaries(all=nf.PEC)
    shapes = filled_shapes([part for shape, medium in structures for part in nf.Structure(shape, medium).parts()])
    step = grid.maximum_time_step()
    found = Coefficients(grid, shapes, nf.Medium(), walls, step, (), "conformal")
    drive = found.dense(2)[1][at[0], at[1]]
    return np.round(1.0 / np.where(drive == 0.0, np.nan, drive), 3)


def board(top: float) -> tuple:
    return nf.Box((0, 0, 0), (4 * MM, 4 * MM, top * MM)), BOARD


def sheet(height: float) -> tuple:
    return nf.Sheet((1 * MM, 1 * MM, height * MM), (3 * MM, 3 * MM, height * MM)), nf.PEC


@pytest.mark.parametrize(
    "metal",
    [
        sheet(0.77)[0],
        nf.Box((1 * MM, 1 * MM, 0.77 * MM), (3 * MM, 3 * MM, 0.805 * MM)),
        nf.Polygon("z", [(0.8 * MM, 0.8 * MM), (3.2 * MM, 0.8 * MM), (2 * MM, 3.8 * MM)], 0.77 * MM, 0.77 * MM),
        ROUND,
        nf.Sheet((1 * MM, 1 * MM, 0.77 * MM), (3 * MM, 3 * MM, 0.77 * MM))
        - nf.Sphere((2.9 * MM, 2.9 * MM, 0), 0.9 * MM),
    ],
)
def test_no_film_of_air_opens_under_metal_that_moves_up(metal):
    """The mean of the last edge would be 4.2."""
    assert column(board(0.77), (metal, nf.PEC)).tolist() == [9.8] * 4 + [1.0] * 6
    assert (
        column(board(0.77), (metal, nf.PEC), at=(1, 1)).tolist() == [9.8] * 4 + [1.0] * 6
    )  # its field is in the board


@pytest.mark.parametrize("thick, goes", [(0.0, True), (0.01, True), (0.1, False)])
def test_narrow_strips_take_the_board_along_and_rods_act_where_they_are_drawn(thick, goes):
    """Far from them; a strip of 0.6 cells lies on a line, a bar of 0.6 by 0.5 cells is a rod."""
    low, high = (0.5 * MM, 0.74 * MM, 0.77 * MM), (3.5 * MM, 0.86 * MM, (0.77 + thick) * MM)
    strip = nf.Box(low, high) if thick else nf.Sheet(low, high)
    assert (column(board(0.77), (strip, nf.PEC), at=(10, 15))[3] == 9.8) == goes


def test_no_film_of_the_board_is_left_on_metal_that_moves_down():
    assert column(board(0.68), sheet(0.68)).tolist() == [9.8] * 3 + [1.0] * 7
    lid = nf.Box((0, 0, 0.68 * MM), (4 * MM, 4 * MM, 1.2 * MM)), LID
    assert column(board(0.68), sheet(0.68), lid).tolist() == [9.8] * 3 + [3.0] * 3 + [1.0] * 4


def test_metal_within_one_medium_changes_none():
    whole = nf.Box((0, 0, 0), (4 * MM, 4 * MM, 2 * MM)), LID
    assert column(whole, sheet(0.77)).tolist() == [3.0] * 10
    inset = nf.Box((0, 0, 0), (4 * MM, 4 * MM, 0.77 * MM)), BOARD
    assert column(whole, inset, sheet(0.77)).tolist() == [9.8] * 4 + [3.0] * 6


def test_what_stands_under_the_metal_stays_metal():
    post = nf.Box((1.5 * MM, 1.5 * MM, 0), (2.5 * MM, 2.5 * MM, 0.77 * MM)), nf.PEC
    found = column(board(0.77), post, sheet(0.77))
    assert np.isnan(found[:4]).all() and (found[4:] == 1.0).all()


def test_a_face_that_cannot_move_is_met_by_its_medium():
    """A board of triangles; and a film of which nothing would be left."""
    corners = [(x, y, z) for x in (0, 4) for y in (0, 4) for z in (0, 0.77)]
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    triangles = [part for a, b, c, d in quads for part in ((a, b, c), (a, c, d))]
    solid = nf.Mesh(vertices=corners, triangles=triangles, unit="mm"), BOARD
    assert column(solid, sheet(0.77)).tolist() == [9.8] * 4 + [1.0] * 6
    assert column(solid, sheet(0.77), at=(1, 1))[3] < 5.0
    film = nf.Box((0, 0, 0.77 * MM), (4 * MM, 4 * MM, 0.79 * MM)), LID
    assert column(board(0.77), film, sheet(0.77))[:4].tolist() == [9.8] * 4


@pytest.mark.parametrize("top", [0.73, 0.77, 0.68])
def test_a_shorted_strip_on_a_board_between_lines_rings_as_on_lines(top):
    """On the lines that it moves to; at 2.31 and 2.00 GHz with a film of air."""
    strip = nf.Sheet((0, 0, top * MM), (14 * MM, CELL, top * MM))
    probe = (12 * MM, 0, 0.1 * MM)
    model = nf.Simulation(
        grid=nf.Grid.uniform(CELL, (100, 1, 25)),
        boundaries=nf.Boundaries(all=nf.PEC, y=nf.PMC),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (20 * MM, CELL, top * MM)), BOARD),
            nf.Structure(strip, nf.PEC),
        ],
        sources=[nf.PointCurrent((7 * MM, 0, 0.1 * MM), "z", nf.ModulatedGaussian(2e9, 2e9))],
        monitors=[nf.Probe("p", probe, "Ez")],
        duration=12e-9,
    )
    moved = {entry["what"]: entry["to"] for entry in model.check().moved}
    assert moved["structures[0], its upper face across z"] == pytest.approx((0.6 if top < 0.7 else 0.8) * MM)
    result = model.run(threads=1)
    found = nf.resonances(result, (1e9, 3e9), probe="p")
    frequency = float(found.frequency[int(np.argmax(np.abs(found.amplitude.values)))])
    assert frequency == pytest.approx(1.722e9 if top < 0.7 else 1.732e9, rel=1e-3)


def test_rims_off_the_lines_at_an_anisotropic_medium_draw_a_warning():
    """Their field is that of an isotropic one: eps_eff of a line 0.9 % off."""
    for permittivity, end, said in (((9.4, 9.4, 11.6), 8.3, True), (9.4, 8.3, False), ((9.4, 9.4, 11.6), 8.0, False)):
        board = nf.Structure(nf.Box((0, 0, 0), (12, 12, 4)), nf.Medium(permittivity))
        strip = nf.Structure(nf.Sheet((4, 3, 4), (end, 9, 4)), nf.PEC)
        source = nf.PointCurrent((6, 6, 6.5), "z", nf.Gaussian(1e6))
        grid, walls = nf.Grid.uniform(1.0, (12, 12, 10)), nf.Boundaries(all=nf.PEC)
        model = nf.Simulation(grid=grid, boundaries=walls, structures=[board, strip], sources=[source], steps=1)
        assert any("permittivities differ" in warning for warning in model.check().warnings) == said
