"""Harmonic inversion: known sums of decaying waves, and modes of boxes that the grid has in closed form."""

import json
from functools import lru_cache

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.cli import main
from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.report import resonance_plots

STEP = 1e-12


def ringing(count, modes, noise=0.0, step=STEP, seed=1):
    """Sum of amplitude exp(-pi f/Q t) cos(2 pi f t + phase) and white noise; modes as (f, Q, amplitude, phase)."""
    t = step * np.arange(count)
    waves = [a * np.exp(-np.pi * f / q * t) * np.cos(2 * np.pi * f * t + phase) for f, q, a, phase in modes]
    return sum(waves) + noise * np.random.default_rng(seed).standard_normal(count)


def agrees(modes, wanted, sigmas=6.0, rounding=1e-12):
    """Each wanted mode is there, nothing else is, and each number is within its own error or rounding."""
    assert modes.sizes["mode"] == len(wanted)
    for n, (f, q, a, phase) in enumerate(sorted(wanted)):
        found = modes.isel(mode=n)
        assert abs(found.frequency - f) <= sigmas * found.frequency_error + rounding * f
        assert abs(found.decay_rate - np.pi * f / q) <= sigmas * found.decay_rate_error + rounding * 2 * np.pi * f
        assert abs(found.amplitude - a * np.exp(1j * phase)) <= sigmas * found.amplitude_error + 1e-9 * a


def test_a_quality_factor_of_millions_is_read_from_ten_periods():
    modes = nf.resonances(ringing(1000, [(10e9, 2e6, 1.0, 0.3)]), (9e9, 11e9), time_step=STEP)
    agrees(modes, [(10e9, 2e6, 1.0, 0.3)])
    # rounding of 1e-16 in each of 1000 samples over 63 radians leaves some 1e-13 of the angular frequency: 1e-6 of Q
    assert modes.quality_factor.item() == pytest.approx(2e6, rel=1e-5)


def test_modes_far_closer_than_one_over_the_duration_are_told_apart():
    wanted = [(10e9, 1e4, 1.0, 0.0), (10.05e9, 2e4, 0.5, 1.0)]  # 0.2 periods of their beat
    agrees(nf.resonances(ringing(4000, wanted), (9e9, 11e9), time_step=STEP), wanted)


def test_forty_modes_of_a_long_signal_are_all_found_once():
    wanted = [(5e9 + 0.2e9 * n, 100 + 50 * n, 1 + n % 3, (n % 7) - 3.0) for n in range(40)]
    agrees(nf.resonances(ringing(30000, wanted, noise=1e-6), (4.9e9, 12.9e9), time_step=STEP), wanted)


def test_a_hundred_modes_of_a_short_signal_are_told_apart():
    wanted = [(100e9 + 1e9 * n, 1e6, 1.0, 0.1 * n) for n in range(100)]  # three Fourier cells apart
    modes = nf.resonances(ringing(3000, wanted), (99.5e9, 199.5e9), time_step=STEP)
    assert modes.frequency.values == pytest.approx([f for f, *_ in wanted], rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_in_noise_errors_say_how_far_off_the_modes_are(seed):
    wanted = [(10e9, 2e3, 1.0, 0.5), (10.2e9, 1e3, 0.3, 2.0)]
    modes = nf.resonances(ringing(20000, wanted, noise=0.1, seed=seed), (9e9, 11e9), time_step=STEP)
    agrees(modes, wanted)
    # least squares: 20 000 samples of noise 0.1 beside a wave of 1 that lasts 2000/(pi 10 GHz) = 64 ns > 20 ns
    assert modes.frequency_error[0] < 1e5


def test_errors_hold_for_modes_as_weak_as_the_noise():
    wanted = [(9.5e9, 150, 1.0, 0.3), (10e9, 300, 0.5, 1.0), (10.5e9, 220, 0.1, 2.0)]
    off = []
    for seed in range(60):
        modes = nf.resonances(ringing(20000, wanted, noise=0.1, seed=seed), (9e9, 11e9), time_step=STEP)
        for f, q, a, phase in wanted:
            found = modes.isel(mode=int(np.argmin(np.abs(modes.frequency.values - f))))
            if abs(found.frequency - f) < 5e7:
                rate, amplitude = np.pi * f / q, a * np.exp(1j * phase)
                parts = (("frequency", f), ("decay_rate", rate), ("amplitude", amplitude))
                off.append([float(abs(found[name] - value) / found[f"{name}_error"]) for name, value in parts])
    assert len(off) > 170
    # the mean square of some 180 is off by 10 % at most; a complex amplitude has its error in both parts together
    assert np.sqrt(np.mean(np.square(off), axis=0)) == pytest.approx(np.ones(3), abs=0.12)
    assert (np.array(off) < 1).mean(axis=0) == pytest.approx([0.68, 0.68, 0.63], abs=0.1)


def test_only_a_mode_that_grows_by_more_than_rounding_does_is_left_out():
    t = STEP * np.arange(4000)
    for growth, count in ((1e-5, 1), (1e-2, 0)):  # of the amplitude, from the first sample to the last
        signal = np.exp(growth * t / t[-1]) * np.cos(2 * np.pi * 10e9 * t)
        assert nf.resonances(signal, (9e9, 11e9), time_step=STEP).sizes["mode"] == count


def test_beside_a_static_field_rounding_may_let_a_mode_grow_by_more():
    """A current that leaves a charge: rounding of a field 10,000 times as strong is 3e-4 of the mode's."""
    t = STEP * np.arange(4000)
    signal = np.exp(3e-4 * t / t[-1]) * np.cos(2 * np.pi * 10e9 * t)
    for static, count in ((0.0, 0), (1e4, 1)):
        modes = nf.resonances(signal + static, (9e9, 11e9), time_step=STEP)
        assert modes.sizes["mode"] == count


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_has_no_resonance(seed):
    assert nf.resonances(ringing(20000, [], noise=1.0, seed=seed), (5e9, 50e9), time_step=STEP).sizes["mode"] == 0


def test_a_wave_a_thousand_times_stronger_outside_the_band_does_not_disturb():
    inside, outside = (10e9, 2e3, 1.0, 0.0), (30e9, 3e3, 1000.0, 1.0)
    agrees(nf.resonances(ringing(20000, [inside, outside]), (9e9, 11e9), time_step=STEP), [inside], rounding=1e-9)


def test_a_mode_on_the_border_of_two_parts_of_the_band_is_found_once():
    count = 30000
    width = 150 / (count * STEP)  # of a part
    border = (6e9 + 2 * 4 * width / np.ceil(4 * width / width), 5e4, 1.0, 0.0)
    agrees(nf.resonances(ringing(count, [border]), (6e9, 6e9 + 4 * width), time_step=STEP), [border], rounding=1e-11)


def test_growing_waves_and_low_quality_are_left_out():
    t = STEP * np.arange(3000)
    signal = ringing(3000, [(10e9, 1e3, 1.0, 0.0), (12e9, 5.0, 1.0, 0.0)])
    signal += 1e-3 * np.exp(1e9 * t) * np.cos(18e9 * np.pi * t)
    agrees(nf.resonances(signal, (8e9, 13e9), time_step=STEP), [(10e9, 1e3, 1.0, 0.0)], rounding=1e-9)
    assert nf.resonances(signal, (8e9, 13e9), time_step=STEP, smallest_q=2).sizes["mode"] == 2


def test_complex_signals_have_negative_frequencies_too():
    t = STEP * np.arange(3000)
    signal = np.exp((-1e7 - 6e9j * np.pi) * t) + 2 * np.exp((-2e7 + 4e9j * np.pi) * t)
    modes = nf.resonances(signal, (-5e9, 5e9), time_step=STEP)
    assert modes.frequency.values == pytest.approx([-3e9, 2e9], rel=1e-10)
    assert modes.quality_factor.values == pytest.approx([300 * np.pi, 100 * np.pi], rel=1e-7)
    assert np.abs(modes.amplitude.values) == pytest.approx([1, 2], rel=1e-9)


def test_labelled_signals_keep_their_unit_and_their_time():
    t = 3e-9 + STEP * np.arange(2000)
    signal = xarray.DataArray(np.cos(2e10 * np.pi * t), {"time": t}, ["time"], attrs={"units": "V/m"})
    modes = nf.resonances(signal, ("9 GHz", "11 GHz"), start=4e-9)
    assert modes.attrs["time_origin"] == pytest.approx(4e-9)
    assert modes.amplitude.attrs["units"] == "V/m" and modes.frequency.attrs["units"] == "Hz"
    assert modes.amplitude.item() == pytest.approx(np.exp(2e10j * np.pi * modes.attrs["time_origin"]), rel=1e-6)


BAD = {
    "no step": ((np.ones(100), (1e9, 2e9)), {}, "time_step"),
    "too short": ((np.ones(20), (1e9, 2e9)), {"time_step": STEP}, "needs 32"),
    "beyond Nyquist": ((np.ones(100), (1e9, 2e12)), {"time_step": STEP}, "holds frequencies up to"),
    "turned band": ((np.ones(100), (2e9, 1e9)), {"time_step": STEP}, "the lower one first"),
    "no band": ((np.ones(100), "2 GHz"), {"time_step": STEP}, "lowest and the highest"),
    "wrong unit": ((np.ones(100), ("2 mm", "3 mm")), {"time_step": STEP}, "unit of a length"),
    "two axes": ((np.ones((10, 10)), (1e9, 2e9)), {"time_step": STEP}, "in one row"),
    "not finite": ((np.full(100, np.nan), (1e9, 2e9)), {"time_step": STEP}, "all finite"),
    "turned band of a short signal": ((np.ones(20), (2e9, 1e9)), {"time_step": STEP}, "the lower one first"),
    "no time": ((np.ones(100), (1e9, 2e9)), {"time_step": STEP, "start": np.nan}, "give two times in s"),
    "turned times": (
        (np.ones(100), (1e9, 2e9)),
        {"time_step": STEP, "start": 2.0, "end": 1.0},
        "the earlier one first",
    ),
    "no Q": ((np.ones(100), (1e9, 2e9)), {"time_step": STEP, "smallest_q": np.nan}, "a quality factor from 0 on"),
    "negative": ((np.ones(100), (-2e9, -1e9)), {"time_step": STEP}, "the signal is real"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_signals_and_bands_are_refused(case):
    arguments, options, says = BAD[case]
    with pytest.raises(nf.ModelError, match=says):
        nf.resonances(*arguments, **options)


CELLS, SIZE = (12, 10, 8), 1e-3


@lru_cache(maxsize=2)
def box(conductivity: float) -> nf.Result:
    """What is heard in `model`."""
    return model(conductivity).run(threads=1)


def model(conductivity: float) -> nf.Simulation:
    """A metal box of 12 x 10 x 8 mm, filled, rung by a current and heard at a point that lies on no node of a mode."""
    return nf.Simulation(
        nf.Grid.uniform(SIZE, CELLS),
        boundaries=nf.Boundaries(all=nf.PEC),
        precision="double",
        steps=4000,
        background=nf.Medium(2.0, conductivity=conductivity),
        sources=[nf.PointCurrent((5e-3, 4e-3, 2.5e-3), "z", nf.GaussianDerivative(25e9))],
        monitors=[nf.Probe("tip", (7e-3, 3e-3, 1.5e-3), "Ez")],
    )


def grid_modes(result: nf.Result, low: float, high: float) -> np.ndarray:
    """Frequencies (Hz) in closed form of the modes with Ez on the grid, losses left out."""
    step = result.facts["time_step"]
    m, n, p = np.meshgrid(range(1, 9), range(1, 9), range(8), indexing="ij")
    square = sum(np.sin(order * np.pi / (2 * count)) ** 2 for order, count in zip((m, n, p), CELLS))
    root = VACUUM_SPEED * step / SIZE * np.sqrt(square / 2.0)
    modes = np.sort(2 / step * np.arcsin(np.clip(root, 0, 1)).ravel()) / (2 * np.pi)
    return modes[(modes > low) & (modes < high)]


def test_a_metal_box_has_the_modes_of_its_grid():
    result = box(0.0)
    modes, closed = nf.resonances(result, (12e9, 30e9), probe="tip"), grid_modes(result, 12e9, 30e9)
    assert closed.size >= 6
    # in double precision: rounding alone, 1e-16 a step over 4000 steps
    assert modes.frequency.values == pytest.approx(closed, rel=1e-10)
    assert np.abs(modes.decay_rate.values).max() < 1e-9 * 2 * np.pi * 12e9


def test_a_box_that_conducts_has_the_quality_of_its_filling():
    conductivity = 5e-3
    result = box(conductivity)
    modes, step = nf.resonances(result, (12e9, 30e9), probe="tip"), result.facts["time_step"]
    # on the grid abs(z)^2 = (1 - s)/(1 + s), s = sigma dt/(2 eps), for every mode
    loss = conductivity * step / (2 * 2.0 * VACUUM_PERMITTIVITY)
    assert modes.decay_rate.values == pytest.approx(np.log((1 + loss) / (1 - loss)) / (2 * step), rel=1e-7)
    quality = 2 * np.pi * modes.frequency.values * 2.0 * VACUUM_PERMITTIVITY / conductivity
    assert modes.quality_factor.values == pytest.approx(quality, rel=loss**2 + 1e-6)


def test_the_report_lists_and_draws_the_modes_of_probes_that_ask_for_them(tmp_path, capsys):
    simulation = model(0.0)
    asking = simulation.monitors[0].model_copy(update={"resonances": (12e9, 20e9)})
    too_high = asking.model_copy(update={"name": "fast", "resonances": (12e9, 20e15)})
    result = simulation.model_copy(update={"monitors": (asking, too_high)}).run(threads=1)
    result.save(tmp_path / "result.h5")
    closed = grid_modes(result, 12e9, 20e9)
    assert main(["show", str(tmp_path), "--resonances", "tip", "20 GHz", "30e9"]) == 0
    page = (tmp_path / "report.html").read_text()
    assert '<section id="resonances">' in page  # what the command asks for comes first
    section = page[page.index('<section id="resonances-2">') : page.index('<section id="energy">')]
    assert [f"<td>{f / 1e9:.8g} GHz</td>" in section for f in closed] == [True] * closed.size
    assert section.count("<tr>") == closed.size + 1 and "amplitude (V/m)" in section and "<svg" in section
    assert "Resonances at fast could not be found: band: given" in page
    capsys.readouterr()
    assert main(["show", str(tmp_path), "--resonances", "tap", "12e9", "20e9"]) == 2
    assert "there is: 'tip'" in capsys.readouterr().err


def test_a_band_upside_down_is_refused():
    with pytest.raises(nf.ModelError, match="give the lowest and the highest frequency"):
        nf.Probe("tip", (0, 0, 0), resonances=("3 GHz", "2 GHz"))


def test_the_command_lists_the_modes_of_a_result(tmp_path, capsys):
    box(0.0).save(tmp_path / "result.h5")
    command = ["resonances", str(tmp_path), "--probe", "tip", "--band", "12 GHz", "20e9"]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    closed = grid_modes(box(0.0), 12e9, 20e9)
    assert [mode["frequency_hertz"] for mode in answer["modes"]] == pytest.approx(closed, rel=1e-10)
    assert answer["modes"][0]["amplitude_unit"] == "V/m"
    assert main(command) == 0
    assert len(capsys.readouterr().out.splitlines()) == closed.size + 2
    assert main([*command[:3], "tap", *command[4:]]) == 2
    assert "there is: 'tip'" in capsys.readouterr().err


def test_two_modes_that_the_signal_cannot_tell_apart_are_found_as_one():
    """A square's, 3.4 MHz apart in 4 ns, with the rounding of single precision: alone, one of them seemed to grow."""
    random, time = np.random.default_rng(11), 1e-12 * np.arange(4000)
    other, amplitudes, phases = 10e9 + random.uniform(1e6, 2e7), random.uniform(0.3, 1, 2), random.uniform(0, 6.28, 2)
    terms = zip((10e9, other, 9.6e9), (*amplitudes, 0.2), (*phases, 0.0))
    signal = sum(size * np.cos(2 * np.pi * f * time + phase) for f, size, phase in terms)
    signal = np.float32(signal) * (1 + 1e-6 * random.standard_normal(time.size))
    modes = nf.resonances(signal, (9e9, 11e9), time_step=1e-12)
    assert modes.frequency.values == pytest.approx([9.6e9, 10e9 + (other - 10e9) / 2], rel=4e-4)
    whole = abs(np.sum(amplitudes * np.exp(1j * (phases + 2 * np.pi * np.array([0, other - 10e9]) * 2e-9))))
    assert abs(modes.amplitude.values[1]) == pytest.approx(whole, rel=0.03)


def test_growth_of_rounding_is_more_between_two_modes_that_beat():
    """A turned square's, 0.69 rad apart over the signal: both seemed to grow, and the strongest mode was left out."""
    length = 4e-9
    beat = [(10e9, 1.4e-4, 0.6, 0.0), (10e9 + 0.69 / (2 * np.pi * length), 3e-4, 0.4, 0.0)]

    def grown(modes):
        return ringing(4000, [(f, -np.pi * f * length / growth, a, phase) for f, growth, a, phase in modes])

    both = nf.resonances(grown(beat), (9e9, 11e9), time_step=STEP)
    assert both.frequency.values == pytest.approx([f for f, *_ in beat], rel=1e-6)
    for alone in beat:
        assert nf.resonances(grown([alone]), (9e9, 11e9), time_step=STEP).sizes["mode"] == 0


def test_times_may_be_text_and_what_is_none_is_refused_in_words():
    signal, band = np.cos(2 * np.pi * 10e9 * STEP * np.arange(2000)), (9e9, 11e9)
    wanted = nf.resonances(signal, band, time_step=STEP, start=1e-10)
    found = nf.resonances(signal, ("9 GHz", "11 GHz"), time_step=f"{STEP:.17g} s", start="100 ps")
    assert found.equals(wanted) and found.sizes["mode"] == 1
    for name, given in {"time_step": [STEP], "start": "10 mm", "end": np.nan, "smallest_q": "10 GHz"}.items():
        with pytest.raises(nf.ModelError, match=f"{name}: .*given"):
            nf.resonances(signal, band, **{"time_step": STEP, name: given})


def test_times_without_end_are_all_of_the_signal():
    signal, band = np.cos(2 * np.pi * 10e9 * STEP * np.arange(2000)), (9e9, 11e9)
    wanted = nf.resonances(signal, band, time_step=STEP)
    for start, end in ((-np.inf, np.inf), (None, "inf"), ("-inf", None)):
        assert nf.resonances(signal, band, time_step=STEP, start=start, end=end).equals(wanted)


def test_of_a_real_signal_the_part_of_a_band_above_0_is_taken():
    signal = np.cos(2 * np.pi * 10e9 * STEP * np.arange(2000))
    wanted, found = (nf.resonances(signal, (low, 12e9), time_step=STEP) for low in (0.0, -12e9))
    assert found.equals(wanted) and found.sizes["mode"] == 1


def test_a_signal_over_frequency_is_no_signal_over_time():
    array = xarray.DataArray(np.ones(100), {"frequency": 1e9 * np.arange(100)}, ["frequency"])
    with pytest.raises(nf.ModelError, match="over one axis of times"):
        nf.resonances(array, (1e9, 2e9))


def test_a_probe_is_heard_from_the_end_of_the_last_of_unlike_sources(tmp_path):
    """While the second one was on, the signal was taken for what rings."""
    early, late = (nf.GaussianDerivative(25e9, delay=delay) for delay in (None, 400e-12))
    sources = [nf.PointCurrent((5e-3, 4e-3, 2.5e-3), "z", each) for each in (early, late)]
    result = model(0.0).model_copy(update={"sources": tuple(sources), "steps": 1200}).run(threads=1)
    modes = nf.resonances(result, (12e9, 30e9), probe="tip")
    assert modes.attrs["time_origin"] >= late.end > early.end
    again = nf.resonances(nf.open_result(result.save(tmp_path / "r.h5")), (12e9, 30e9), probe="tip")
    assert again.identical(modes)


def test_complex_signals_of_a_cell_with_a_phase_are_listed_and_drawn():
    cell = nf.Simulation(
        nf.Grid.uniform(SIZE, (12, 1, 1)),
        boundaries=nf.Boundaries(all=nf.PERIODIC, x=nf.Bloch(1.0)),
        sources=[nf.PointCurrent((3e-3, 0, 0), "z", nf.Gaussian(30e9))],
        monitors=[nf.Probe("tip", (7e-3, 0, 0), "Ez", resonances=(1e9, 40e9))],
        steps=1500,
    )
    result, remarks = cell.run(threads=1), []
    (asked,) = resonance_plots.ringings(result, resonance_plots.asked_for(cell), remarks)
    assert not remarks and asked.modes.sizes["mode"] and resonance_plots.resonance_figure(result, asked)
    ring = resonance_plots.ringing(result, "tip", (-6e9, 6e9))
    expected = VACUUM_SPEED / (12 * SIZE) / (2 * np.pi)  # of the wave that turns by 1 rad over the cell
    assert np.abs(np.abs(ring.modes.frequency.values) / expected - 1).min() < 0.01
    assert np.all(np.diff(ring.frequency) > 0) and ring.frequency[0] < -5.9e9
    assert abs(abs(ring.frequency[np.argmax(ring.level)]) / expected - 1) < 0.1
