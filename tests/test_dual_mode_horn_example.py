"""The dual-mode horn: its theory, its dimensions by theory, and the horn itself at 14 cells a wavelength."""

import numpy as np
import pytest

import nearfield as nf
from examples.dual_mode_horn import FIGURE, HORN, RATIO, WAVELENGTH, K, design, expected_reflection, found, model
from examples.dual_mode_theory import TE11, TM11, beamwidths, directivity, fields, flare, pure, radiated, step, waves

FOLDER = FIGURE.parents[2] / "examples"


def test_an_aperture_of_both_modes_radiates_equal_beams():
    voltage = pure(RATIO)
    assert directivity(WAVELENGTH, voltage, K) == pytest.approx(14.53, abs=0.005)
    assert beamwidths(WAVELENGTH, voltage, K) == pytest.approx((36.3, 36.4), abs=0.05)


def test_patterns_in_closed_form_are_the_transforms_of_the_modes_fields():
    rng = np.random.default_rng(3)
    voltage, theta = rng.normal(size=20) + 1j * rng.normal(size=20), np.radians(np.arange(1, 90, 8.0))
    place, weight = np.polynomial.legendre.leggauss(200)
    rho, turn = 0.5 * WAVELENGTH * (place + 1), 2 * np.pi * np.arange(128) / 128
    along, across = (voltage @ part for part in fields(WAVELENGTH, rho))
    area = (0.5 * WAVELENGTH * weight * rho)[:, None] * 2 * np.pi / 128
    sine, cosine = np.sin(turn), np.cos(turn)
    e_y = along[:, None] * sine**2 + across[:, None] * cosine**2
    for part, towards in zip(radiated(WAVELENGTH, voltage, theta, K), (sine, cosine)):
        late = np.exp(1j * K * np.sin(theta)[:, None, None] * rho[:, None] * towards)
        np.testing.assert_allclose(part, 0.5 * (1 + np.cos(theta)) * (late * e_y * area).sum(axis=(1, 2)), rtol=1e-6)


def test_mode_matching_keeps_the_power_and_leaves_an_even_guide_alone():
    cone = flare(16e-3, 20e-3, 30e-3, K)
    sent = np.array([part[:, TE11] for part in (cone.s11, cone.s21)])
    goes_on = np.array([waves(radius, K)[0].imag == 0 for radius in (16e-3, 20e-3)])
    assert (np.abs(sent[goes_on]) ** 2).sum() == pytest.approx(1.0, abs=1e-9)
    same = step(18e-3, 18e-3, K)
    np.testing.assert_allclose(same.s21, np.eye(20), atol=1e-7)
    assert np.abs(same.s11).max() < 1e-7


def test_the_dimensions_are_those_of_the_design():
    np.testing.assert_allclose(HORN, design(), atol=5.1e-6)  # rounded to 0.01 mm
    np.testing.assert_allclose(HORN.on_axis(K)[TM11], RATIO, atol=2e-3)
    goes_on = [waves(radius, K)[0][[0, 1, TM11]].imag == 0 for radius in (HORN.guide, HORN.step)]
    assert np.array_equal(goes_on, [(True, False, False), (True, False, True)])


@pytest.mark.slow
def test_the_horn_has_its_beams_its_reflection_and_low_cross_polarisation():
    """Directivity and beamwidths by the tolerances of validation/dual_mode_horn; S11 of 0.023, to a part in 200."""
    ours = found(model(1.75e-3, space=8e-3, layer=8, frequencies=(12e9,)))
    assert ours.directivity == pytest.approx(14.53, abs=0.4)
    assert ours.beamwidths == pytest.approx((36.3, 36.4), abs=1.5)
    assert abs(np.subtract(*ours.beamwidths)) < 2.5
    assert ours.cross < -28.0
    s11 = np.abs(ours.reflected.interp(frequency=12e9).values)
    assert s11 == pytest.approx(np.abs(expected_reflection([12e9])[0]), abs=5e-3)


def test_the_model_file_is_that_of_the_script():
    loaded, made = nf.load(FOLDER / "dual_mode_horn.toml"), model()
    assert loaded.grid.resolve().cells == made.grid.resolve().cells
    np.testing.assert_allclose(loaded.grid.origin, made.grid.origin)
    np.testing.assert_allclose(loaded.structures[0].shape.profile, made.structures[0].shape.profile, atol=1e-12)
    assert (loaded.ports, loaded.waveform, loaded.symmetry) == (made.ports, made.waveform, made.symmetry)
    assert (loaded.boundaries, loaded.monitors, loaded.metal) == (made.boundaries, made.monitors, made.metal)
