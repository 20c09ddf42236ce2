"""The tutorials that both codes run: what stands for theory, and the page's table."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from validation.mie import mie

PEERS = Path(__file__).resolve().parents[1] / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS / "cases"))
import page  # noqa: E402  (found through the line above)
import theory  # noqa: E402


@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
def test_the_sphere_sends_back_what_the_series_of_the_validation_says(size):
    """Backwards both polarisations agree, and another sum over the same coefficients gives it."""
    frequency = size * theory.LIGHT / (2 * np.pi * 0.2)
    (found,) = theory.sphere_cross_section(frequency, 0.2, np.array([np.pi]))
    assert found / (np.pi * 0.2**2) == pytest.approx(mie(size, None)[2], rel=1e-9)


def test_what_a_sphere_sends_forward_is_what_it_takes_from_the_wave():
    """The optical theorem gives one part of the forward amplitude; of a large sphere it is most of it."""
    frequency = 4.0 * theory.LIGHT / (2 * np.pi * 0.2)
    (forward,) = theory.sphere_cross_section(frequency, 0.2, np.array([0.0]))
    extinction, k = mie(4.0, None)[0] * np.pi * 0.2**2, 4.0 / 0.2
    assert forward >= k**2 * extinction**2 / (4 * np.pi)
    assert forward == pytest.approx(k**2 * extinction**2 / (4 * np.pi), rel=0.2)


def test_tanks_of_a_cell_are_found_from_its_waves():
    """Half a series tank, a shunt tank, half a series tank, between lines of 60 ohm."""
    series, shunt = (2e-9, 0.6e-12), (3e-12, 1.1e-9)  # L, C and C, L
    f = np.linspace(0.8e9, 6e9, 4001)
    w = 2 * np.pi * f
    z, y = 1j * w * series[0] + 1 / (1j * w * series[1]), 1j * w * shunt[0] + 1 / (1j * w * shunt[1])
    a, c = 1 + z * y / 2, y
    b = z * (1 + z * y / 4)
    total = 2 * a + b / 60 + c * 60
    found = theory.tanks(f, (b / 60 - c * 60) / total, 2 / total, np.full(f.size, 60.0))
    assert found["right_inductance"] == pytest.approx(series[0], rel=2e-3)
    assert found["left_capacitance"] == pytest.approx(series[1], rel=2e-3)
    assert found["right_capacitance"] == pytest.approx(shunt[0], rel=2e-3)
    assert found["left_inductance"] == pytest.approx(shunt[1], rel=2e-3)


def test_the_page_shows_the_table_of_its_file():
    found = json.loads(page.RESULT.read_text(encoding="utf-8"))
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.table(found) in text and page.written(text, found) == text


@pytest.mark.parametrize("case", ["waveguide", "sphere"])
def test_where_theory_is_exact_we_are_at_least_as_close_to_it(case):
    runs = json.loads(page.RESULT.read_text(encoding="utf-8"))["cases"][case]["runs"]
    ours, theirs = ([run for run in runs if run["code"] == code] for code in ("Nearfield", "openEMS"))
    for name, value in theirs[0]["quantities"].items():
        found = ours[0]["quantities"][name]
        assert found < value if name == "S11 (dB)" else abs(found) <= abs(value), name
