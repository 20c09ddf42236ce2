"""Spectra and scattering matrices from made-up waves whose answers are known."""

import os
import subprocess
import sys

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.analysis.sparameters import (
    frequency_axis,
    input_impedance,
    port_waves,
    renormalised,
    scattering,
    scattering_matrix,
)
from nearfield.analysis.spectra import fourier_integral
from nearfield.records.records import Variable

F = np.linspace(0.1e9, 5e9, 23)


def random_matrix(random, ports):
    """Passive: the largest singular value is 0.9."""
    matrix = random.normal(size=(F.size, ports, ports)) + 1j * random.normal(size=(F.size, ports, ports))
    return 0.9 * matrix / np.linalg.norm(matrix, 2, axis=(1, 2))[:, None, None]


@pytest.mark.parametrize("samples", [3, 255, 256, 257, 1000])
def test_fourier_integral_is_the_plain_sum_on_even_samples(samples):
    random = np.random.default_rng(samples)
    time = 3e-12 + 1e-12 * np.arange(samples)
    values = random.normal(size=(2, samples))
    wanted = values @ np.exp(-2j * np.pi * np.outer(time, F)) * 1e-12
    assert np.abs(fourier_integral(time, values, F) - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_fourier_integral_of_a_gaussian_on_uneven_samples():
    random = np.random.default_rng(0)
    time = np.cumsum(random.uniform(0.2e-12, 1e-12, 4000))
    centre, width = time[2000], 0.1e-9
    found = fourier_integral(time, np.exp(-(((time - centre) / width) ** 2)), F)
    wanted = np.sqrt(np.pi) * width * np.exp(-((np.pi * F * width) ** 2) - 2j * np.pi * F * centre)
    # the trapezoidal rule: dt^2/12 of the second derivative, summed over uneven steps
    assert np.abs(found - wanted).max() < 1e-4 * abs(wanted[0])


def test_fourier_integral_refuses_values_that_do_not_match():
    with pytest.raises(ValueError, match="do not match"):
        fourier_integral(np.arange(3.0), np.arange(4.0), F)


def test_waves_carry_the_power_of_voltage_and_current():
    random = np.random.default_rng(1)
    time = 1e-12 * np.arange(300)
    variables = {
        "time": Variable(("time",), time),
        "voltage": Variable(("time",), random.normal(size=300)),
        "time_half": Variable(("time_half",), time + 0.5e-12),
        "current": Variable(("time_half",), random.normal(size=300)),
    }
    a, b = port_waves(variables, F, 75.0)
    voltage = fourier_integral(time, variables["voltage"].array, F)
    current = fourier_integral(time + 0.5e-12, variables["current"].array, F)
    assert abs(a) ** 2 - abs(b) ** 2 == pytest.approx((voltage * current.conj()).real, rel=1e-9, abs=1e-30)


@pytest.mark.parametrize("ports", [1, 2, 3, 5])
def test_all_excitations_give_s_whatever_the_terminations(ports):
    random = np.random.default_rng(ports)
    s = random_matrix(random, ports)
    incident = random_matrix(random, ports) + 3 * np.eye(ports)  # columns: excitations, imperfect terminations
    order = random.permutation(ports)
    found = scattering_matrix(incident[:, :, order], (s @ incident)[:, :, order], list(order))
    assert np.abs(found - s).max() < 1e-12


def test_frequencies_without_energy_are_not_a_number():
    incident = np.ones((5, 1, 1), dtype=complex)
    incident[3:] = 1e-4
    found = scattering_matrix(incident, 0.5 * incident, [0])
    assert np.isfinite(found[:3]).all() and np.isnan(found[3:]).all()


def test_frequencies_that_samples_do_not_hold_are_not_a_number():
    time = 1e-12 * np.arange(200)
    signal = np.exp(-(((time - 5e-11) / 1e-11) ** 2))
    columns = {"time": time, "voltage": signal, "current": -0.01 * signal}
    port = {name: Variable(("time",), array, {}) for name, array in columns.items()}
    found = scattering({"feed": 50.0}, {"feed": {"feed": port}}, np.array([5e9, 4e11, 5.2e11, 1e12, 1e30]))
    assert np.isfinite(found["sparameters"].array.ravel()).tolist() == [True, False, False, False, False]


def test_a_diverged_recording_never_gives_a_number():
    incident = np.full((2, 1, 1), complex(np.nan, 0.0))
    assert np.isnan(scattering_matrix(incident, incident, [0])).all()


def test_frequencies_at_which_all_sources_make_one_field_are_nan():
    """As through series capacitors at 0 Hz: both ports have one voltage and no current, whichever is driven."""
    incident = np.array([[[1.0, 1.0 + 1e-5], [1.0, 1.0]], [[1.0, 0.5], [0.5, 1.0]]], dtype=complex)
    found = scattering_matrix(incident, incident, [0, 1])
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], np.eye(2), atol=1e-12)


def test_sources_are_no_excitation_of_a_port():
    time = 1e-12 * np.arange(50)
    signal = np.exp(-(((time - 25e-12) / 5e-12) ** 2))
    record = {"time": Variable(("time",), time), "voltage": Variable(("time",), signal)}
    record["current"] = Variable(("time",), signal / 150.0)
    found = scattering({"p": 50.0}, {"sources": {"p": record}, "p": {"p": record}}, F)
    assert found["sparameters"].array == pytest.approx(np.full((len(F), 1, 1), 0.5))  # (150 - 50)/(150 + 50)
    assert list(found["to"].array) == ["p"] and found["reference_impedance"].array.tolist() == [50.0]
    assert input_impedance(found["sparameters"].array, 50.0) == pytest.approx(np.full((len(F), 1, 1), 150.0))


def test_spectra_take_text_and_refuse_what_is_no_signal_over_time():
    time = 1e-12 * np.arange(50)
    signal = xarray.DataArray(np.exp(-(((time - 25e-12) / 5e-12) ** 2)), {"time": time}, ["time"])
    assert nf.spectrum(signal, ["10 GHz", 2e10]).equals(nf.spectrum(signal, np.array([1e10, 2e10])))
    assert nf.spectrum(signal, range(3)).sizes["frequency"] == 3
    over_frequency = signal.rename(time="frequency")
    for array, frequencies, says in (
        (signal, [[1.0, 2.0]], "frequencies: given"),
        (signal, np.nan, "frequencies: .*finite"),
        (signal[:0], 1e9, "no samples"),
        (over_frequency, 1e9, "one axis of times"),
        (over_frequency.rename(frequency="x").assign_coords(x=("x", time, {"units": "m"})), 1e9, "one axis of times"),
    ):
        with pytest.raises(nf.ModelError, match=says):
            nf.spectrum(array, frequencies)
    with pytest.raises(nf.ModelError, match="decibels: given 'a'"):
        nf.decibels("a")


def test_renormalised_keeps_the_impedance_matrix():
    s = random_matrix(np.random.default_rng(7), 3)
    given, wanted = np.array([50.0, 75.0, 20.0]), np.array([50.0, 50.0, 50.0])

    def impedance_matrix(matrix, reference):
        root = np.diag(np.sqrt(reference))
        return root @ (np.eye(3) + matrix) @ np.linalg.inv(np.eye(3) - matrix) @ root

    found = renormalised(s, given, wanted)
    assert np.abs(impedance_matrix(found, wanted) / impedance_matrix(s, given) - 1).max() < 1e-9


def test_frequency_axis_spans_the_band():
    assert frequency_axis((0.0, 20e9))[[0, 1, -1]] == pytest.approx([0.0, 20e6, 20e9])
    assert frequency_axis((1e9, 1e9)).tolist() == [1e9]


SPECTRUM = """
import numpy as np
from nearfield.analysis.spectra import fourier_integral

time = 1e-12 * np.arange(200)
values = np.random.default_rng(1).standard_normal((3, time.size)) + 1j
print(fourier_integral(time, values, np.linspace(1e9, 9e9, 1001)).tobytes().hex())
"""


def test_spectra_have_the_same_bits_on_any_number_of_cores():
    said = []
    for threads in ("1", "2", "3"):
        cores = {"OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", SPECTRUM], capture_output=True, check=True, env=os.environ | cores)
        said.append(done.stdout)
    assert said[0] and len(set(said)) == 1
