"""A dipole of 30 edges, its port in one of them, against the method of moments (validation/half_wave_dipole)."""

import math
from functools import cache

import numpy as np
import pytest

import nearfield as nf
from validation.half_wave_dipole.moments import impedance, pattern
from validation.half_wave_dipole.run import LENGTH, C, input_impedance, model, reference, resonance, wire

CELL = 5e-3
HALF_WAVE = 0.5 * C / LENGTH


@cache
def result() -> nf.Result:
    return model(CELL, (HALF_WAVE,)).run(threads=1)


def test_the_reference_finds_the_classical_impedance_of_a_thin_dipole():
    """73.08 + j42.5 ohm; at 1e-30 wavelengths the wire is still 1/(2 ln(2 L/a)) = 0.7 % from infinitely thin."""
    z = impedance(HALF_WAVE, LENGTH, 1e-30 * LENGTH, 202, 100)
    assert z.real == pytest.approx(73.08, rel=0.01) and z.imag == pytest.approx(42.5, rel=0.01)


def test_impedance_is_that_of_a_round_wire_within_3_percent():
    """3 %: the page's; about 1 % is the reference's own segment length at 5 mm."""
    frequencies, z = input_impedance(result(), (0.75e9, 1.05e9))
    some = slice(None, None, 20)
    expected = reference(frequencies[some], CELL)
    assert np.abs(z[some] - expected).max() < 0.03 * np.abs(expected).min()
    assert resonance(frequencies, z)[0] == pytest.approx(resonance(frequencies[some], expected)[0], rel=0.01)


def test_pattern_is_that_of_half_a_wave():
    far = result()["pattern"]
    directivity, beamwidth = pattern(HALF_WAVE, *wire(CELL))
    assert float(far.directivity_dbi.max()) == pytest.approx(10 * math.log10(directivity), abs=0.05)
    assert math.degrees(float(far.beamwidth()[0])) == pytest.approx(beamwidth, abs=0.5)


def test_a_lossless_antenna_radiates_what_it_accepts():
    far = result()["pattern"]
    assert float(far.radiation_efficiency[0]) == pytest.approx(1.0, abs=0.01)
    s11 = result().sparameters.sel(to="feed", source="feed").interp(frequency=HALF_WAVE)
    mismatch = 1 - abs(complex(s11)) ** 2
    assert float(far.realized_gain.max() / far.gain.max()) == pytest.approx(mismatch, rel=1e-3)
