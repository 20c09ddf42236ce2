"""The time loop: how runs end, what they keep, what they say."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.run.guard import likely_cause
from nearfield.run.weighings import Weighings, window

MIDDLE = (5e-3, 5e-3, 5e-3)


def box(boundary="pec", **entries) -> nf.Simulation:
    """A cube of 10 cells a side with a point current in its middle and a probe beside it."""
    entries.setdefault("sources", [nf.PointCurrent(MIDDLE, "z", nf.Gaussian(15e9))])
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (10, 10, 10)),
        boundaries=nf.Boundaries(all=boundary),
        monitors=[nf.Probe("tip", (4e-3, 4e-3, 4e-3))],
        **entries,
    )


def test_given_steps_are_made_exactly_whatever_the_blocks():
    result = box(steps=137, check_every=50).run(threads=1)
    assert result.status == "done"
    assert result.facts["runs"]["sources"]["steps"] == 137
    assert result["tip"].sizes["time"] == 137
    weighed = np.round(result.excitation().energy.time.values / result.facts["time_step"])
    assert list(weighed[:3]) == [50, 100, 123] and weighed[-1] == 137  # and within the last tenth


def test_a_decaying_run_ends_at_a_check_step_below_the_wanted_energy():
    result = box(nf.CPML(4), check_every=20, sources=[nf.PointCurrent(MIDDLE, "z", nf.GaussianDerivative(8e9))]).run(1)
    facts = result.facts["runs"]["sources"]
    assert facts["ended"] == "decayed" and facts["steps"] % 20 == 0 and facts["energy_ratio"] <= 1e-6
    assert not result.facts["warnings"]


def test_a_run_that_never_decays_is_cut_off_with_a_warning():
    ringing = [nf.PointCurrent(MIDDLE, "z", nf.GaussianDerivative(15e9))]
    walls = box(decay=1e-3, duration=2e-9, sources=ringing).run(threads=1)
    assert walls.facts["runs"]["sources"]["ended"] == "steps"
    assert any("cut off" in warning for warning in walls.facts["warnings"])


def test_a_divergence_names_step_component_place_medium_and_cause(tmp_path):
    huge = [nf.PointCurrent(MIDDLE, "z", nf.Gaussian(15e9), moment=1e30)]
    with pytest.raises(nf.DivergedError) as caught:
        box(steps=400, sources=huge).run(threads=1, output=tmp_path / "result.h5")
    message = str(caught.value)
    assert "diverged at step" in message and "Likely cause" in message and "x=" in message and "in " in message
    assert caught.value.result.status == "diverged"
    kept = nf.open_result(tmp_path / "result.h5")
    assert kept.status == "diverged" and kept.facts["divergence"] == message and kept["tip"].sizes["time"] > 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_source_too_strong_for_single_precision_is_named():
    pulse = nf.Gaussian(15e9, amplitude=1e38)
    port = nf.LumpedPort("feed", (4e-3, 4e-3, 4e-3), (4e-3, 4e-3, 5e-3), "z", 50, waveform=pulse)
    with pytest.raises(nf.DivergedError, match=r"a source of amplitude 1e\+38, too strong"):
        box(steps=400, sources=[], ports=[port]).run(threads=1)


def test_energy_that_doubles_slowly_is_laid_to_the_cpml_if_there_is_one():
    """Fields that do not travel gain there over thousands of steps; circuits and media break within some hundred."""
    element = nf.LumpedElement((4e-3, 4e-3, 4e-3), (4e-3, 4e-3, 5e-3), "z", resistance=50)
    for boundary, slowly in ((nf.CPML(1), True), (nf.CPML(1), False), ("pec", True)):
        setup = Discretization(box(boundary, steps=1, elements=[element]))
        found = likely_cause(setup, (5, 5, 5), (2000 if slowly else 50) * setup.time_step)
        assert ("do not travel" in found) == (slowly and boundary != "pec")
        assert ("circuit" in found) == (not slowly or boundary == "pec")


METAL = nf.Medium(poles=[nf.Drude(60e9, 1e9)])
FILM = nf.Structure(nf.Box((-1, -1, 4e-3), (1, 1, 6e-3)), METAL)  # across z, far from the layers of z


@pytest.mark.parametrize("place", [(5, 5, 0), (5, 5, 5)])
def test_energy_that_doubles_slowly_in_a_cell_with_a_phase_is_laid_to_the_evanescent_fields_in_its_cpml(place):
    """Deep in a layer of vacuum and far from it, whatever stands between."""
    faces = nf.Boundaries(x=nf.Bloch(phase=1.0), y="periodic", z=nf.CPML(1))
    setup = Discretization(box(steps=1, structures=[FILM]).replace(boundaries=faces))
    found = likely_cause(setup, place, 14000 * setup.time_step)
    assert "beyond the light line of the Bloch phase, gain slowly in the CPML at z_low and z_high" in found
    assert "or give these faces CPML(order=" in found and "dispersive" not in found and "medium with" not in found


@pytest.mark.parametrize(("along", "named"), [("x", True), ("z", False)])
def test_a_layer_is_blamed_for_the_media_that_it_holds_alone(along, named):
    """The film runs into the layers of x, and keeps from those of z."""
    faces = nf.Boundaries(**({"x": "periodic", "y": "periodic", "z": "periodic"} | {along: nf.CPML(1)}))
    setup = Discretization(box(steps=1, structures=[FILM]).replace(boundaries=faces))
    place = (0, 5, 5) if along == "x" else (5, 5, 0)
    for steps in (50, 14000):
        found = likely_cause(setup, place, steps * setup.time_step)
        assert ("with a dispersive medium in it" in found) == named
        assert "change across its depth" not in found
        assert ("do not travel" in found) == (not named and steps > 500)


def test_a_model_of_vacuum_has_no_medium_to_blame():
    setup = Discretization(box("pec", steps=1))
    assert "medium" not in likely_cause(setup, (5, 5, 5), 50 * setup.time_step)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_with_every_finished_block_recorded(number, tmp_path):
    for delay in (0.0, 0.01, 0.05, 0.2):
        before, sent = signal.getsignal(number), []

        def send(info, delay=delay, sent=sent):  # the run has begun
            if not sent:
                sent.append(threading.Timer(delay, os.kill, (os.getpid(), number)))
                sent[0].start()

        result = box(steps=10**8, check_every=1).run(threads=2, output=tmp_path / "result.h5", progress=send)
        assert result.status == "interrupted" and signal.getsignal(number) is before
        assert result["tip"].sizes["time"] == result.facts["runs"]["sources"]["steps"]
    assert nf.open_result(tmp_path / "result.h5").status == "interrupted"


def test_results_do_not_depend_on_threads():
    signals = [box(steps=120).run(threads=threads)["tip"].values for threads in (1, 2, 5)]
    assert all(np.array_equal(signals[0], other) for other in signals[1:])
    assert np.abs(signals[0]).max() > 0


def test_a_source_beyond_single_precision_is_refused():
    for strong in (nf.Gaussian(15e9, amplitude=1e39), nf.Gaussian(15e9)):
        sources = [nf.PointCurrent(MIDDLE, "z", strong, moment=1e36)]
        with pytest.raises(nf.ModelError, match="source is too strong"):
            box(steps=40, sources=sources).run(threads=1)


def test_every_finished_excitation_is_kept_while_the_next_one_runs(tmp_path):
    edge = 1e-3
    ports = [
        nf.LumpedPort(name, (x, 5e-3, 5e-3), (x, 5e-3, 6e-3), "z", waveform=nf.Gaussian(15e9))
        for name, x in (("one", 3 * edge), ("two", 7 * edge))
    ]
    path, seen = tmp_path / "result.h5", []

    def look(info):
        if info.excitation == "two" and not seen:
            kept = nf.open_result(path)
            seen.append((kept.status, kept.excitations, kept["tip"].sizes["time"]))

    result = box(nf.CPML(2), sources=(), ports=ports, steps=60, check_every=20).run(1, path, look)
    assert seen == [("failed", ("one",), 60)]
    assert result.status == nf.open_result(path).status == "done"


@pytest.mark.parametrize("permittivity", [10.0, 80.0])
@pytest.mark.parametrize("width", [0.3, 0.5])
def test_what_rings_for_ever_in_a_dense_medium_never_decays(permittivity, width):
    """Its sum of squares swings between H's part and 1/eps_r of that; a check in a trough once ended such runs."""
    index = permittivity**0.5
    size = np.array((20, 16, 12)) * 1e-3 / index
    ringing = 299792458.0 / 2 / index * np.hypot(1 / size[0], 1 / size[1])
    pulse = nf.ModulatedGaussian(ringing, width * ringing)
    model = nf.Simulation(
        grid=nf.Grid.uniform(1e-3 / index, (20, 16, 12)),
        background=nf.Medium(permittivity=permittivity),
        boundaries=nf.Boundaries(all="pec"),
        sources=[nf.PointCurrent(tuple(0.5 * size), "z", pulse)],
        decay=0.3,
        duration=4e-9,
    )
    result = model.run(threads=1)
    assert result.facts["runs"]["sources"]["ended"] == "steps"
    assert result.facts["runs"]["sources"]["energy_ratio"] > 0.8
    assert any("cut off" in warning for warning in result.facts["warnings"])


def test_a_run_that_decays_has_been_below_the_wanted_energy_over_half_a_slow_period():
    pulse = [nf.PointCurrent(MIDDLE, "z", nf.GaussianDerivative(8e9))]
    water = nf.Medium(1.5, poles=nf.Debye(1.0, 1e-11))  # holds energy in poles
    result = box(nf.CPML(4), check_every=10, sources=pulse, background=water).run(1)
    energy = result.excitation().energy
    last = energy.time.values >= energy.time.values[-1] - window(energy.time.values[-1], (0.0, 8e9))
    assert last.sum() >= 5 and energy.values[last].max() <= 1e-6 * energy.values.max()
    assert result.facts["runs"]["sources"]["energy_ratio"] == energy.values[last].max() / energy.values.max()


@pytest.mark.parametrize("permittivity", [1.0, 4.0])
def test_a_run_ends_at_once_where_its_energy_cannot_rise_again(permittivity):
    """In vacuum at the first check below the wanted part, else that over eps_r, or after the window."""
    pulse = [nf.PointCurrent(MIDDLE, "z", nf.GaussianDerivative(8e9))]
    result = box(nf.CPML(4), check_every=10, sources=pulse, background=nf.Medium(permittivity)).run(1)
    energy, facts = result.excitation().energy, result.facts["runs"]["sources"]
    checks = energy.values[np.round(energy.time.values / result.facts["time_step"]) % 10 == 0]
    assert facts["ended"] == "decayed" and facts["energy_ratio"] <= 1e-6
    after = permittivity * checks[checks.argmax() :] / checks.max()
    assert after[-1] <= 1e-6 < after[:-1].min()


@pytest.mark.parametrize(
    ("every", "steps", "start"), [(100, 5000, 2000), (7, 999, 700), (1, 50, 20), (10**6, 4000, None)]
)
def test_weighings_meet_every_phase_of_half_a_slow_period(every, steps, start):
    """At most 0.15 of it apart, of the last one too; a multiple of `every` ends it."""
    weighings = Weighings(every, steps, 1e-12, (2e9, 20e9))
    found = [start or 0]
    while found[-1] < steps:
        found.append(weighings.following(found[-1], start))
    at_end = steps - weighings.window(steps)
    assert weighings.window(steps) == min(250, -(-steps // 10)) and at_end in found
    for first, last in [(at_end, steps)] + ([(start, weighings.end(start))] if start else []):
        gaps = np.diff([n for n in found if first <= n <= last])
        assert gaps.max() <= 0.15 * (last - first) + 1
    assert start is None or (weighings.end(start) % every == 0 and weighings.end(start) in found)


@given(st.integers(1, 10**6), st.integers(1, 300), st.floats(1e8, 1e12))
def test_a_window_at_the_end_of_a_decay_holds_nothing_from_before_it(start, every, lowest):
    weighings = Weighings(every, 10**7, 1e-12, (lowest, 2 * lowest))
    end = weighings.end(start)
    assert start <= end - weighings.window(end) and end % every == 0
    assert end - every < start + weighings.window(end) + 1
