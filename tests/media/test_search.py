"""The search for poles: it finds those that made a table, and never leaves the passive ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf


def test_the_poles_that_made_a_table_are_found_again():
    made = nf.Medium(4.0, conductivity=0.3, poles=[nf.Debye(60, 9e-12), nf.Debye(8, 1e-9), nf.Lorentz(2, 4e10, 3e10)])
    frequency = np.geomspace(1e7, 1e11, 60)
    fit = nf.fit_medium(frequency, permittivity=made.relative_permittivity(frequency), poles=3)
    assert fit.largest_error < 1e-6
    assert fit.medium.conductivity == pytest.approx(0.3, rel=1e-4)
    times = sorted(pole.relaxation_time for pole in fit.medium.poles if pole.kind == "debye")
    assert times == pytest.approx([9e-12, 1e-9], rel=1e-3)


def test_a_metal_is_found_again_from_n_and_k():
    made = nf.Medium(3.0, poles=[nf.Drude(2.1e15, 1e14), nf.Lorentz(1.0, 6.5e14, 4e14)])
    wavelength = np.linspace(300e-9, 1200e-9, 60)
    root = np.sqrt(made.relative_permittivity(299792458.0 / wavelength))
    fit = nf.fit_medium(wavelength=wavelength, n=root.real, k=-root.imag, poles=2, conductivity=False)
    assert fit.largest_error < 1e-6
    assert {pole.kind for pole in fit.medium.poles} == {"drude", "lorentz"}


def test_a_plasma_without_collisions_is_a_drude_pole():
    frequency = np.geomspace(1e9, 1e11, 30)
    fit = nf.fit_medium(frequency, permittivity=1 - (2e10 / frequency) ** 2, poles=2)
    (pole,) = fit.medium.poles
    assert pole.kind == "drude" and pole.plasma_frequency == pytest.approx(2e10, rel=1e-6)
    assert pole.collision_frequency < 1e-5 * 2 * np.pi * 1e9


def test_a_long_table_takes_seconds_and_all_its_rows_count():
    frequency = np.geomspace(1e7, 2e10, 2000)
    fit = nf.fit_medium(frequency, permittivity=nf.library.about("muscle").published(frequency), poles=4)
    assert fit.frequencies.size == 2000 and fit.rms_error < 0.006


def test_a_clear_glass_gets_resonances_without_losses_that_matter():
    glass = nf.library.fused_silica
    frequency = np.linspace(1.2e14, 1.2e15, 50)
    fit = nf.fit_medium(frequency, n=np.sqrt(glass.relative_permittivity(frequency).real), poles=3)
    assert fit.largest_error < 1e-4  # two resonances a little off can pass for three; glass melts differ by as much
    assert np.abs(fit.fitted.imag).max() < 1e-4


def test_no_line_narrower_than_the_rows_hides_past_an_end_of_the_table():
    water = [78.1 - 3.8j, 73.6 - 17.6j, 62.8 - 29.9j, 41.4 - 36.7j]
    for kinds in (["lorentz"], ["debye", "lorentz"]):
        fit = nf.fit_medium([1e9, 5e9, 10e9, 20e9], permittivity=water, kinds=kinds)
        above = [pole for pole in fit.medium.poles if getattr(pole, "resonance_frequency", 0) > 20e9]
        assert all(pole.damping / np.pi + pole.resonance_frequency - 20e9 > 9.9e9 for pole in above)  # width + distance


def test_lines_beyond_the_rows_keep_their_width():
    line = nf.Medium(2.0, poles=[nf.Lorentz(1.0, 5e9, np.pi * 2e8)])
    for frequency in (np.linspace(1e9, 4e9, 15), np.linspace(6e9, 20e9, 15)):
        fit = nf.fit_medium(frequency, permittivity=line.relative_permittivity(frequency), poles=1)
        (pole,) = fit.medium.poles
        assert (pole.resonance_frequency, pole.damping) == pytest.approx((5e9, np.pi * 2e8), rel=1e-4)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_whatever_is_fitted_absorbs_at_every_frequency(seed, poles):
    random = np.random.default_rng(seed)
    frequency = np.sort(10 ** random.uniform(8, 11, 12))
    table = random.uniform(0.5, 30, 12) - 1j * 10 ** random.uniform(-3, 1.5, 12)
    medium = nf.fit_medium(frequency, permittivity=table, poles=poles).medium
    everywhere = medium.relative_permittivity(np.logspace(0, 18, 400))
    assert (everywhere.imag <= 1e-12 * np.abs(everywhere)).all()
    assert medium.permittivity >= 1.0 and medium.conductivity >= 0.0
    for pole in medium.poles:
        assert getattr(pole, "strength", 1.0) > 0
        assert all(place.real <= 0 for place, _ in pole._terms())


def test_a_wanted_error_takes_as_many_poles_as_it_needs():
    frequency = np.geomspace(1e7, 2e10, 60)
    muscle = nf.library.about("muscle").published(frequency)
    loose, tight = (nf.fit_medium(frequency, permittivity=muscle, error=e, kinds=["debye"]) for e in (0.05, 0.005))
    assert loose.rms_error <= 0.05 and tight.rms_error <= 0.005
    assert len(loose.medium.poles) < len(tight.medium.poles) <= 6


def test_loss_weight_brings_the_losses_nearer_where_both_parts_cannot_be_had():
    frequency = np.geomspace(1e8, 1e10, 40)
    constant = np.full(40, 4 - 0.2j)  # no causal medium has a loss without a slope of the real part
    options = {"permittivity": constant, "poles": 4, "kinds": ["debye"]}
    fits = [nf.fit_medium(frequency, **options, loss_weight=weight) for weight in (1.0, 10.0)]
    loss, real = ([np.abs(getattr(fit.fitted - constant, part)).max() for fit in fits] for part in ("imag", "real"))
    assert loss[1] < 0.5 * loss[0]
    assert real[1] > real[0]


def test_no_line_hides_between_the_rows_of_a_table():
    frequency = np.linspace(1e14, 1.2e15, 40)
    random = np.random.default_rng(5)
    table = (2.0 + 1e-4 * random.standard_normal(40)).astype(complex)  # noise that a sharp line could follow
    fit = nf.fit_medium(frequency, permittivity=table, poles=4)
    between = fit.medium.relative_permittivity(np.linspace(1e14, 1.2e15, 20001))
    assert np.abs(between - 2.0).max() < 1e-3


def test_infinity_is_kept_in_its_range():
    frequency = np.geomspace(1e9, 1e10, 20)
    water = nf.library.water.relative_permittivity(frequency)
    for low, high in ((1.0, 1.5), (8.0, 9.0)):
        fit = nf.fit_medium(frequency, permittivity=water, poles=2, infinity=(low, high))
        assert low <= fit.medium.permittivity <= high * (1 + 1e-12)
        assert fit.rms_error < 0.02
