"""Far fields against closed form, the cases of validation/far_field."""

import pytest

import nearfield as nf
from validation.case import Case
from validation.far_field import run


def failed(case: Case) -> list[dict]:
    assert case.rows
    return [row for row in case.rows if not row["passed"]]


@pytest.fixture
def case() -> Case:
    return Case(run.__file__, "test")


def test_dipoles_have_the_fields_of_closed_form(case):
    """0.4 %: half of 0.056 (k d)^2 of the power, and (k d)^2/36 of the way of 4 cells from the origin."""
    run.dipoles(case)
    assert not failed(case)


def test_turnstile_is_circular_upward_and_linear_sideways(case):
    run.turnstile(case)
    assert not failed(case)


@pytest.mark.parametrize("axis, ground", [("z", nf.PEC), ("x", nf.PEC), ("z", nf.PMC), ("x", nf.PMC)])
def test_dipole_over_a_ground_radiates_with_its_image(case, axis, ground):
    height = 6 * run.CELL + (0.5 * run.CELL if axis == "z" else 0.0)
    run.over_ground(case, "dipole over ground", axis, ground, height)
    assert not failed(case)
