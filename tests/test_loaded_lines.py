"""Waves of lines known at a few frequencies, between and beside these."""

import numpy as np
import pytest

from nearfield.analysis.loaded_line import LoadedLine, chebyshev_points, wave_number
from nearfield.analysis.open_line import OpenLine
from nearfield.analysis.sparameters import excited_enough, scattering_matrix

CELL, STEP = 1e-3, 1e-12
LOW = np.array([1e5, 6e6, 1e8])


def quasi_tem(kind=LoadedLine, **more):
    """A line of index 1.7 and, at eta0 over V = I, one of 120 pi/1.7 ohm; squares known to 1e-7 of the largest."""
    points = chebyshev_points(0.0, 6e9, 9, STEP)
    k2 = wave_number(points, STEP) ** 2
    noise = 1e-7 * 2.89 * k2[-1] * (-1.0) ** np.arange(points.size)
    noise[0] = 1e-9 * k2[0]
    ones = np.ones((points.size, 1))
    return kind(points, 2.89 * k2 + noise, 2.89 * k2, ones, ones, CELL, STEP, **more)


def test_a_wave_that_goes_on_to_0_hz_has_no_cut_off_among_rounding():
    """1e-3: the second point, at a fifth of the highest frequency, has a square of 4 % of the largest, to 3e-6."""
    line = quasi_tem()
    k = wave_number(LOW, STEP)
    per_cell = line.per_cell(LOW)
    assert np.abs(per_cell) == pytest.approx(1.0, abs=1e-12)
    assert -np.log(per_cell).imag / (CELL * k) == pytest.approx(1.7, rel=1e-3)
    assert np.isnan(line.cutoff_frequency)


def test_a_mode_with_a_cut_off_keeps_it():
    points = chebyshev_points(0.0, 6e9, 9, STEP)
    k2, cut = wave_number(points, STEP) ** 2, float(wave_number(np.array([2e9]), STEP)[0]) ** 2
    ones = np.ones((points.size, 1))
    line = LoadedLine(points, k2 - cut, k2, ones, ones, CELL, STEP)
    assert line.cutoff_frequency == pytest.approx(2e9, rel=1e-3)
    assert np.abs(line.per_cell(np.array([1e9]))) < 0.99


def test_a_frequency_without_real_impedance_says_nothing_and_leaves_the_others():
    """Waves of a reference impedance where that of the line is zero have no size."""
    line = quasi_tem(OpenLine, within=np.ones(9), currents=np.ones(9))
    impedances = line.impedances
    object.__setattr__(line, "impedances", lambda f: impedances(f) * (f > 1e7))
    f = np.array([6e6, 2e9, 3e9])
    a, b = line.restated(np.ones(3, complex), np.zeros(3, complex), f, 50.0)
    assert a[0] == b[0] == 0.0 and np.isfinite(a).all() and np.isfinite(b).all()
    s = scattering_matrix(a[:, None, None], b[:, None, None], [0])[:, 0, 0]
    assert np.isnan(s[0]) and np.isfinite(s[1:]).all()


def test_drives_that_are_no_numbers_leave_the_others():
    found = excited_enough(np.array([np.inf, np.nan, 1.0, 1e-9, 0.5]))
    assert found.tolist() == [False, False, True, False, True]
