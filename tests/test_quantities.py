"""Quantities: what may be written, what it means to the last bit, what is refused and how."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfield.entry import quantities as q
from nearfield.entry.errors import ModelError
from nearfield.entry.schema import Schema


class Thing(Schema):
    """One field of each sort."""

    length: q.Length = 0.0
    gap: q.PositiveLength | None = None
    resistance: q.Resistance = 0.0
    frequency: q.PositiveFrequency = 1.0
    capacitance: q.PositiveCapacitance = 1.0
    angle: q.Angle = 0.0
    corner: q.Position = (0.0, 0.0, 0.0)
    frequencies: q.Frequencies = ()
    count: q.Whole = 1


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        ("length", "12.45 mm", 12.45e-3),
        ("length", "12.45mm", 12.45e-3),
        ("length", " -3e-2 um ", -3e-8),
        ("length", "1 \u00b5m", 1e-6),
        ("length", "1 \u03bcm", 1e-6),
        ("length", "1 inch", 0.0254),
        ("length", "2 mil", 50.8e-6),
        ("length", 3, 3.0),
        ("length", np.float32(0.5), 0.5),
        ("length", np.int64(2), 2.0),
        ("length", np.array(2.5), 2.5),
        ("frequency", "7.5 GHz", 7.5e9),
        ("frequency", "1e-3 THz", 1e9),
        ("resistance", "50 ohm", 50.0),
        ("resistance", "1.5 k\u03a9", 1500.0),
        ("capacitance", "2 pF", 2e-12),
        ("angle", "180 deg", math.pi),
        ("angle", "1 rad", 1.0),
        ("count", 4.0, 4),
        ("count", np.int32(5), 5),
    ],
)
def test_a_value_means_its_si_number_exactly(field, given, value):
    assert getattr(Thing(**{field: given}), field) == value


@given(st.decimals(-10000, 10000, places=4))
def test_millimetres_are_the_nearest_number_to_what_is_written(number):
    assert Thing(length=f"{number} mm").length == float(f"{number}e-3")


def test_pint_quantities_are_converted():
    pint = pytest.importorskip("pint")
    unit = pint.UnitRegistry()
    assert Thing(length=12 * unit.millimeter, frequency=2 * unit.gigahertz).length == pytest.approx(0.012, rel=1e-15)
    with pytest.raises(ModelError, match="not a length"):
        Thing(length=2 * unit.second)


def test_positions_take_lists_tuples_and_arrays():
    for corner in ([0, "1 mm", 2], (0, "1 mm", 2), np.array([0, 1e-3, 2])):
        assert Thing(corner=corner).corner == (0.0, 1e-3, 2.0)
    assert Thing(frequencies=1e9).frequencies == (1e9,)
    assert Thing(frequencies=np.array([1e9, 2e9])).frequencies == (1e9, 2e9)


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("length", "1 GHz", "GHz is the unit of a frequency"),
        ("length", "12", "without a unit"),
        ("length", "1 MM", "did you mean mm"),
        ("length", "wide", "a number in m"),
        ("length", True, "bool"),
        ("length", [1], "a number in m"),
        ("length", {}, "a number in m"),
        ("length", 1j, "a number in m"),
        ("length", math.nan, "finite"),
        ("length", math.inf, "finite"),
        ("length", 10**400, "too large"),
        ("length", "1e999 m", "finite"),
        ("length", "x" * 10**6, "a number in m"),
        ("length", "\u0661 mm", "a number in m"),
        ("length", "nan m", "a number in m"),
        ("gap", 0, "positive"),
        ("gap", "-1 mm", "positive"),
        ("resistance", -1, "zero or positive"),
        ("frequency", 0, "positive"),
        ("corner", (1, 2), "three values"),
        ("corner", "x", "three values"),
        ("corner", (1, 2, "3 s"), r"corner\[2\]"),
        ("corner", np.zeros((3, 3)), "three values"),
        ("frequencies", ["1 GHz", "1 m"], r"frequencies\[1\]"),
        ("count", True, "whole number"),
        ("count", 3.5, "whole number"),
        ("count", 10**400, "whole number"),
        ("count", math.nan, "whole number"),
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(field, given, words):
    with pytest.raises(ModelError, match=words) as refused:
        Thing(**{field: given})
    assert len(str(refused.value)) < 400


def test_numbers_that_python_cannot_print_are_refused():
    with pytest.raises(ModelError, match="too large"):
        Thing(length=10**6000)


@given(st.one_of(st.text(), st.binary(), st.floats(), st.integers(), st.none(), st.lists(st.integers())))
def test_no_value_breaks_the_reader(value):
    try:
        assert math.isfinite(Thing(length=value).length)
    except ModelError:
        pass
