"""Waveforms: values, ends, bands, and the refusals of samples."""

import numpy as np
import pytest

import nearfield as nf

PULSES = (
    nf.Gaussian(20e9, amplitude=3.0),
    nf.GaussianDerivative(9.42e9, amplitude=3.0),
    nf.Ricker("1 GHz", 3.0),
    nf.ModulatedGaussian("10 GHz", "4 GHz", 3.0),
)


@pytest.mark.parametrize("pulse", PULSES, ids=lambda pulse: pulse.kind)
def test_pulses_begin_and_end_at_1e_8_of_their_peak(pulse):
    t = np.linspace(0.0, pulse.end, 20001)
    value = pulse.value(t)
    assert np.abs(value).max() == pytest.approx(3.0, rel=1e-5)
    assert abs(value[0]) < 1e-8 * 3.0 and abs(value[-1]) < 1.01e-8 * 3.0
    assert not pulse.value(np.array([-1e-12, pulse.end * (1 + 1e-9), 1.0])).any()


@pytest.mark.parametrize("pulse", PULSES, ids=lambda pulse: pulse.kind)
def test_band_edges_lie_20_db_and_the_highest_frequency_60_db_below_the_peak(pulse):
    peak = np.abs(pulse.spectrum(np.linspace(0.0, pulse.highest_frequency, 2001))).max()
    low, high = pulse.band
    edges = np.abs(pulse.spectrum(np.array([low, high, pulse.highest_frequency]))) / peak
    wanted = [1.0 if low == 0.0 else 0.1, 0.1, 1e-3]
    assert edges == pytest.approx(wanted, rel=1e-4)
    assert pulse.maximum_frequency == high


def test_gaussian_spectrum_is_the_closed_form():
    pulse = nf.Gaussian(1e9, delay=4e-9)
    f = np.array([0.0, 0.3e9, 1e9])
    width = pulse.width
    wanted = np.sqrt(np.pi) * width * np.exp(-((np.pi * f * width) ** 2)) * np.exp(-2j * np.pi * f * 4e-9)
    assert np.abs(pulse.spectrum(f) - wanted).max() < 1e-8 * abs(wanted[0])


def test_derivative_of_a_gaussian_leaves_no_charge():
    pulse = nf.GaussianDerivative(1e9)
    assert abs(pulse.spectrum(np.array([0.0]))[0]) < 1e-9 * abs(pulse.spectrum(np.array([1e9]))[0])


def test_given_delay_moves_the_centre():
    pulse = nf.Ricker(1e9, delay="10 ns")
    assert pulse.value(np.array([10e-9]))[0] == 1.0


def test_continuous_wave_reaches_its_phasor_after_the_ramp():
    wave = nf.ContinuousWave("2 GHz", ramp_cycles=3, phase="30 deg", amplitude=1.5)
    t = 1.5e-9 + np.arange(1000) * 0.5e-9 / 1000  # one period right after the ramp
    phasor = 2.0 * np.mean(wave.value(t) * np.exp(-2j * np.pi * 2e9 * t))
    assert phasor == pytest.approx(1.5 * np.exp(1j * np.pi / 6), abs=1e-12)
    assert wave.end == np.inf and wave.value(np.array([0.0]))[0] == 0.0


def test_samples_are_linear_between_points_and_zero_outside():
    signal = nf.Samples(times=["1 ns", "2 ns", "4 ns"], values=[0.0, 2.0, 0.0])
    assert signal.value(np.array([0.5e-9, 1.5e-9, 3e-9, 5e-9])) == pytest.approx([0.0, 1.0, 1.0, 0.0])
    assert signal.end == 4e-9


def test_samples_of_a_gaussian_have_its_band_and_spectrum():
    pulse = nf.Gaussian(1e9)
    t = np.linspace(0.0, pulse.end, 2001)
    signal = nf.Samples(times=t, values=pulse.value(t))
    assert signal.maximum_frequency == pytest.approx(1e9, rel=0.02)
    assert signal.highest_frequency == pytest.approx(pulse.highest_frequency, rel=0.02)
    f = np.array([0.0, 0.5e9, 1e9])
    assert np.abs(signal.spectrum(f) - pulse.spectrum(f)).max() < 1e-4 * abs(pulse.spectrum(f[:1])[0])


def test_samples_come_from_a_file_of_two_columns(tmp_path):
    path = tmp_path / "signal.csv"
    path.write_text("# time, value\n0, 0\n1e-9, 1\n\n2e-9 0\n")
    assert nf.Samples(file=str(path)).value(np.array([1e-9]))[0] == 1.0


REFUSED = (
    (dict(), "either both"),
    (dict(times=[0, 1e-9]), "either both"),
    (dict(times=[0, 1e-9], values=[0, 1], file="x"), "either both"),
    (dict(times=[0, 1e-9], values=[0, 1, 2]), "2 times and 3 values"),
    (dict(times=[0, 0], values=[0, 1]), "must increase"),
    (dict(times=[-1e-9, 0], values=[0, 1]), "run begins at 0"),
    (dict(times=[0, 1e-9], values=[0, 0]), "all values are zero"),
    (dict(file="/nowhere/signal.txt"), "cannot be read"),
)


@pytest.mark.parametrize(("entries", "message"), REFUSED)
def test_wrong_samples_are_refused_with_a_reason(entries, message):
    with pytest.raises(nf.ModelError, match=message):
        nf.Samples(**entries)


@pytest.mark.parametrize("text", ["1 2 3\n", "a b\n", "\udcff", "1e-9 inf\n2e-9 0\n", ""])
def test_a_file_that_holds_no_samples_is_refused(tmp_path, text):
    path = tmp_path / "signal.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(nf.ModelError):
        nf.Samples(file=str(path))


def test_a_band_that_reaches_below_zero_is_refused():
    with pytest.raises(nf.ModelError, match="below zero"):
        nf.ModulatedGaussian(1e9, 3e9)


def test_the_spectrum_of_a_signal_is_labelled_and_refuses_what_has_no_times():
    import xarray

    t = 1e-12 * np.arange(300)
    pulse = nf.Gaussian(20e9)
    found = nf.spectrum(xarray.DataArray(pulse.value(t), {"time": t}, ["time"], attrs={"units": "V"}), [5e9, 10e9])
    assert found.dims == ("frequency",) and found.attrs["units"] == "V s"
    assert np.allclose(found, pulse.spectrum(np.array([5e9, 10e9])), rtol=1e-6)
    with pytest.raises(nf.ModelError, match="one axis of times"):
        nf.spectrum(xarray.DataArray(np.zeros((2, 2))), [1e9])


def test_a_spectrum_ends_at_half_the_rate_of_the_samples():
    import xarray

    t = 1e-12 * np.arange(400)
    signal = xarray.DataArray(nf.Gaussian(20e9).value(t), {"time": t}, ["time"])
    found = nf.spectrum(signal, [10e9, -10e9, 5e11, 5.1e11, 1e12])
    assert np.isfinite(found.values).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("zero_first", [False, True])
def test_the_band_of_samples_is_that_of_the_signal_however_late_it_comes(zero_first):
    x = np.linspace(0.0, 1.0, 201)
    burst = np.sin(2 * np.pi * 10 * x) * np.sin(np.pi * x)
    bands = []
    for late in (1e-12, 1e-9, 1e-3):
        times, values = late + 2e-9 * x, burst
        if zero_first:
            times, values = np.append(0.0, times), np.append(0.0, values)
        bands.append(nf.Samples(times=times, values=values).band)
    assert bands[0] == pytest.approx((4.374e9, 5.624e9), rel=1e-3)
    assert bands == [pytest.approx(bands[0], rel=1e-3)] * 3


def test_samples_end_at_the_first_zero_after_their_signal():
    assert nf.Samples(times=[0, 1, 2, 3, 4], values=[0, 1, 0, 0, 0]).end == 2
    assert nf.Samples(times=[0, 1, 2, 3, 4], values=[0, 0, 1, 0, 2]).end == 4


@pytest.mark.parametrize("phase", [0.0, 0.7, 0.5 * np.pi])
@pytest.mark.parametrize("cycles", [0.5, 1.0, 2.3, 5.0])
def test_a_ramp_leaves_the_mean_sum_that_is_said(cycles, phase):
    wave = nf.ContinuousWave(1e9, cycles, phase)
    t = np.linspace(0.0, (cycles + 1.0) * 1e-9, 20001)
    sums = np.cumsum(wave.value(t)) * t[1] * 2 * np.pi * 1e9
    assert abs(sums[t > cycles * 1e-9].mean()) == pytest.approx(wave.sum_after_ramp, abs=3e-3)


def test_frequencies_and_times_of_pulses_may_be_texts_and_none():
    samples = nf.Samples(times=[0, 1e-10, 2e-10], values=[0, 1, 0])
    for pulse in (*PULSES, samples):
        assert pulse.spectrum("1 GHz") == pulse.spectrum(1e9)
        assert (pulse.spectrum([1e9, "2 GHz"]) == pulse.spectrum(np.array([1e9, 2e9]))).all()
        assert pulse.spectrum([]).shape == (0,)
        assert pulse.value("0.1 ns") == pulse.value(1e-10)
        with pytest.raises(nf.ModelError, match="t: given"):
            pulse.value({"a": 1})
    with pytest.raises(nf.ModelError, match="never ends"):
        nf.ContinuousWave(1e9).spectrum([1e9])


BOX = {"grid": nf.Grid.uniform(1e-3, (9, 9, 9)), "boundaries": nf.Boundaries(all="pec"), "steps": 3}
ON = nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", PULSES[0])


@pytest.mark.parametrize(
    "off",
    [
        *(
            nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", kind(5e9, amplitude=0))
            for kind in (nf.Gaussian, nf.GaussianDerivative, nf.Ricker, nf.ContinuousWave)
        ),
        nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.ModulatedGaussian(5e9, 1e9, 0.0)),
        nf.PlaneWave((3e-3, 3e-3, 3e-3), (6e-3, 6e-3, 6e-3), "+z", "x", PULSES[0], amplitude="0 V/m"),
        nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", PULSES[0], moment=0),
        nf.MagneticPointCurrent((4e-3, 4e-3, 4e-3), "z", PULSES[0], moment=0),
        nf.LineCurrent((4e-3, 4e-3, 3e-3), (4e-3, 4e-3, 6e-3), PULSES[0], current=0),
        nf.CurrentSheet((4e-3, 3e-3, 3e-3), (4e-3, 6e-3, 6e-3), "z", PULSES[0], density=0),
    ],
)
def test_a_run_of_which_all_sources_have_strength_0_is_refused_and_of_some_is_not(off):
    with pytest.raises(nf.ModelError, match="the strength of every source is 0"):
        nf.Simulation(**BOX, sources=[off]).check()
    both = nf.Simulation(**BOX, sources=[off, ON])
    assert both.check() and both.run().excitations


def test_a_port_whose_waveform_is_0_is_refused_where_it_is_driven():
    ports = [
        nf.LumpedPort(name, (x, 4e-3, 3e-3), (x, 4e-3, 4e-3), "z", waveform=nf.Gaussian(5e9, amplitude=amplitude))
        for name, x, amplitude in (("one", 3e-3, 1.0), ("two", 6e-3, 0.0))
    ]
    with pytest.raises(nf.ModelError, match=r'excitation "two": .* amplitude 0'):
        nf.Simulation(**BOX, ports=ports).check()
    assert nf.Simulation(**BOX, ports=ports, excitations=["one"]).check()
