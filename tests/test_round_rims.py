"""Derivatives by sizes of round and turned flat metal are rough, and say so."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.studies.round_rims import said_of_round_rims
from nearfield.studies.varied import alike, varied

MM = 1e-3


def rectangle(size):
    return [nf.Structure(nf.Sheet((4 * MM, 4 * MM, 3 * MM), (8 * MM + size, 12 * MM, 3 * MM)), nf.PEC)]


def disc(size):
    return [nf.Structure(nf.Cylinder((8.2 * MM, 8 * MM, 3 * MM), (8.2 * MM, 8 * MM, 3.1 * MM), size), nf.PEC)]


def turned(size):
    corners = [(8 * MM + size * np.cos(0.3 + t), 8 * MM + size * np.sin(0.3 + t)) for t in np.arange(4) * np.pi / 2]
    return [nf.Structure(nf.Polygon("z", corners, 3 * MM, 3 * MM), nf.PEC)]


def round_hole(size):
    hole = nf.Cylinder((8 * MM, 8 * MM, MM), (8 * MM, 8 * MM, 5 * MM), size)
    return [nf.Structure(nf.Difference(nf.Sheet((2 * MM, 2 * MM, 3 * MM), (14 * MM, 14 * MM, 3 * MM)), [hole]), nf.PEC)]


def later_hole(size):
    sheet = nf.Sheet((2 * MM, 2 * MM, 3 * MM), (14 * MM, 14 * MM, 3 * MM))
    hole = nf.Cylinder((8 * MM, 8 * MM, MM), (8 * MM, 8 * MM, 5 * MM), size)
    return [nf.Structure(sheet, nf.PEC), nf.Structure(hole, nf.Medium())]


def rim_beside_a_round_hole(size):
    hole = nf.Cylinder((6 * MM, 8 * MM, MM), (6 * MM, 8 * MM, 5 * MM), 2.3 * MM)
    sheet = nf.Sheet((2 * MM, 2 * MM, 3 * MM), (10 * MM + size, 14 * MM, 3 * MM))
    return [nf.Structure(nf.Difference(sheet, [hole]), nf.PEC)]


def post(size):
    return [nf.Structure(nf.Cylinder((8 * MM, 8 * MM, 0), (8 * MM, 8 * MM, 3 * MM), size), nf.PEC)]


def model(structures):
    lines = [n * MM for n in range(17)]
    return nf.Simulation(
        nf.Grid(lines, lines, lines[:9]), structures, nf.Boundaries(nf.PEC), metal="conformal",
        ports=[nf.LumpedPort("feed", (3 * MM, 3 * MM, 0), (3 * MM, 3 * MM, MM), "z")],
        waveform=nf.Gaussian(9e9), steps=20,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("structures", "rough"),
    [
        (rectangle, False),
        (disc, True),
        (turned, True),
        (round_hole, True),
        (later_hole, True),
        (rim_beside_a_round_hole, False),
        (post, False),
    ],
)
def test_parameters_that_move_rims_along_no_axis_are_named(structures, rough):
    def make(size):
        return model(structures(size))

    given = varied({"size": 2.3 * MM}, {}, make)
    base, pairs = alike(make, given)
    compared = [(Discretization(base), *(Discretization(each) for each in pair)) for pair in pairs]
    said = said_of_round_rims(given, compared)
    assert (said is not None) == rough and (said is None or said.startswith("size: rims of flat metal along no axis"))


def test_the_result_and_a_warning_hold_what_round_rims_make_of_derivatives():
    with pytest.warns(UserWarning, match="size: rims of flat metal along no axis"):
        found = nf.sensitivities(lambda size: model(disc(size)), {"size": 2.3 * MM}, frequencies=[5e9], threads=1)
    assert "7 to 29 %" in found.attrs["round_rims"]
