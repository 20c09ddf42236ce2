"""Poles: their closed forms agree with each other, and the recursion is the trapezoidal rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.entry.errors import ModelError
from nearfield.media.poles import PoleStep

GIGA = 2 * np.pi * 1e9
POLES = {
    "debye": nf.Debye(75.2, 9.231e-12),
    "slow debye": nf.Debye(1e4, 1e-3),
    "instant debye": nf.Debye(2.0, 1e-16),
    "drude": nf.Drude(28.7e9, 20e9),
    "lossless drude": nf.Drude(28.7e9, 0.0),
    "lorentz": nf.Lorentz(1.25, 10e9, 5e9),
    "lossless lorentz": nf.Lorentz(1.25, 10e9, 0.0),
    "critical lorentz": nf.Lorentz(1.25, 10e9, 10 * GIGA),
    "overdamped lorentz": nf.Lorentz(1.25, 10e9, 500 * GIGA),
    "pair": nf.PoleResidue(complex(-3e9, 9e10), complex(4e9, -7e10)),
    "real": nf.PoleResidue(-3e9, 8e9),
    "at zero": nf.PoleResidue(0.0, 8e9),
}


def transfer(step: PoleStep, z: np.ndarray) -> np.ndarray:
    """chi of a recursion: P for E = z^n."""
    driven = step.before + step.now * z
    if len(step.states) == 2:
        k, q = step.states
        driven = driven + q / (z - 1 - k)
    elif step.states:
        k, rho, q, r = step.states
        driven = driven + ((z - 1 - k) * q + r) / ((z - 1 - k) ** 2 - rho)
    return driven / (z - 1)


@pytest.mark.parametrize("name", POLES)
@pytest.mark.parametrize("time_step", (1e-14, 1e-12, 2e-11))
def test_the_recursion_is_the_trapezoidal_rule(name, time_step):
    z = np.exp(1j * np.linspace(0.05, 3.0, 40)) * 1.01  # the discrete poles lie within the unit circle or on it
    s = 2 / time_step * (z - 1) / (z + 1)
    expected = POLES[name].susceptibility(s)
    assert np.abs(transfer(POLES[name]._step(time_step), z) - expected).max() < 1e-7 * np.abs(expected).max()


@pytest.mark.parametrize("name", POLES)
def test_pole_residue_pairs_add_up_to_the_closed_form(name):
    s = 2j * np.pi * np.geomspace(1e7, 1e12, 30)
    found = np.zeros(30, complex)
    for pole, residue in POLES[name]._terms():
        found += residue / (s - pole) + (residue.conjugate() / (s - pole.conjugate()) if pole.imag else 0.0)
    expected = POLES[name].susceptibility(s)
    tolerance = 1e-9 if name not in ("lossless drude", "critical lorentz") else 4e-3  # a double pole, split
    assert np.abs(found / expected - 1).max() < tolerance


@settings(max_examples=60, deadline=None)
@given(st.floats(-10, 2), st.floats(-10, 2), st.floats(-3, 3))
def test_no_choice_of_a_lorentz_pole_loses_digits(resonance, damping, strength):
    step = 1e-12
    pole = nf.Lorentz(10**strength, 10**resonance / step, 10**damping / step)
    z = np.exp(1j * np.linspace(0.1, 3.0, 20))
    expected = pole.susceptibility(2 / step * (z - 1) / (z + 1))
    states = pole._step(step).states
    assert np.isfinite(states).all()
    if abs(states[0]) > 1e-9:  # nearer to the unit circle, z - 1 - k itself loses the digits
        assert np.abs(transfer(pole._step(step), z) / expected - 1).max() < 1e-5


def test_a_medium_sums_its_poles_and_its_conductivity():
    medium = nf.Medium(3.0, conductivity=0.2, poles=[POLES["debye"], POLES["lorentz"]], magnetic_poles=POLES["pair"])
    f = np.array([1e9, 2e10])
    s = 2j * np.pi * f
    expected = 3.0 + 0.2 / (s * 8.8541878188e-12) + 75.2 / (1 + s * 9.231e-12) + POLES["lorentz"].susceptibility(s)
    assert np.allclose(medium.relative_permittivity(f), expected, rtol=1e-9)
    assert np.allclose(medium.relative_permeability(f), 1.0 + POLES["pair"].susceptibility(s), rtol=1e-12)
    assert nf.Medium().relative_permittivity(1e9) == 1.0


def test_the_index_of_a_medium_is_that_of_its_shortest_wave_in_the_band():
    medium = nf.Medium(poles=[nf.Lorentz(50.0, 5e9, 1e9)])
    alone = abs(np.sqrt(medium.relative_permittivity(5e9)))
    assert medium.index_at(20e9) == pytest.approx(alone * 5 / 20, rel=0.02)
    assert medium.index == 1.0
    assert nf.Medium(4.0, conductivity=10.0).index_at(1e9) == 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.PoleResidue(1e9, 1e9), "grows"),
        (lambda: nf.PoleResidue(-1e9, [1e9, 2e9]), "a real pole has a real residue"),
        (lambda: nf.PoleResidue([1, 2, 3], 1e9), "real part, imaginary part"),
        (lambda: nf.Debye(1.0, 0.0), "must be positive"),
        (lambda: nf.Drude(1e9, "20 GHz"), "not a rate"),
        (lambda: nf.Medium(poles=["debye"]), "poles"),
        (lambda: nf.Medium().relative_permittivity(0.0), "positive, finite"),
    ],
)
def test_what_is_no_pole_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_model_file_holds_poles_of_every_kind():
    media = {name: nf.Medium(2.0, poles=[pole], magnetic_poles=[pole]) for name, pole in POLES.items()}
    simulation = nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 4)), media=media, steps=1)
    from nearfield.model_file import loads

    assert loads(simulation.to_toml()) == simulation
