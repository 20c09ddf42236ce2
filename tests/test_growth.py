"""Fields that grow after the sources are off end the run while they are small; what only fluctuates never does."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.run.growth import RISE, grown, grown_at_end
from nearfield.run.guard import Guard
from nearfield.run.weighings import Weighings

CHECKS = np.arange(2000)


def first_alarm(energies) -> int | None:
    """The check at which growth is seen."""
    return next((n for n in range(1, len(energies) + 1) if grown(energies[:n])), None)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_an_exponential_tail_is_seen_while_it_is_small(rate):
    """A tail from 1e-7 of the decaying rest is seen at most two hundredfolds above its least."""
    energies = np.exp(-CHECKS / 5) + 1e-7 * np.exp(rate * CHECKS)
    seen = first_alarm(energies[: int(16 / rate)])
    assert seen is not None and energies[seen - 1] < RISE**2 * energies.min()


@pytest.mark.parametrize("phase", [0.0, 0.4, 1.1])
@pytest.mark.parametrize("floor", [0.0, 1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("period", [13.3, 100.0, 1700.0])
def test_beats_and_ringing_are_not_growth(period, floor, phase):
    """Energy that poles give back to the fields follows the square of a sine."""
    beats = floor + np.sin(np.pi * CHECKS / period + phase) ** 2
    assert first_alarm(beats[:900]) is None
    assert not any(grown_at_end(beats[:n]) for n in range(1, 900))


def test_noise_and_a_static_rest_are_not_growth():
    noise = np.random.default_rng(1).uniform(0.2, 1.0, CHECKS.size) * 1e-14
    assert first_alarm(np.exp(-CHECKS) + noise) is None
    assert not any(grown_at_end((np.exp(-CHECKS) + noise)[:n]) for n in range(1, 400))
    assert first_alarm(np.exp(-CHECKS) + 1e-3) is None
    assert first_alarm(np.zeros(400)) is None


def test_a_run_whose_energy_grows_to_its_last_step_has_diverged():
    """Growth too slow to be seen on the way, between stretches of 16 and 32 checks: 3000 times over 167 of them."""
    tail = np.exp(-CHECKS / 2) + 1e-4 * np.exp(CHECKS * np.log(3072) / 167)
    assert first_alarm(tail[:167]) is None
    for checks, ended in ((167, "diverged"), (60, "steps")):
        guard = Guard(0.0, 1e-12, 1.0, Weighings(every=1, steps=10**6, time_step=1e-12, band=(1e9, 1e10)))
        assert {guard.add(n + 1, energy) for n, energy in enumerate(tail[:checks])} == {None}
        assert guard.last() == ended
    assert "twofold every" in guard.growth or not guard.growth


def cavity(**entries) -> nf.Simulation:
    """A cavity of 12 x 8 x 6 mm without losses."""
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (12, 8, 6)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((3e-3, 3e-3, 2.5e-3), "z", nf.GaussianDerivative(10e9))],
        monitors=[nf.Probe("tip", (8e-3, 5e-3, 3e-3))],
        **entries,
    )


def tank(inductance: float, capacitance: float) -> list[nf.LumpedElement]:
    """A coil in parallel with a capacitor across the cavity's height: two elements at its ends."""
    spots = ((5e-3, 4e-3), (6e-3, 4e-3))
    values = ({"inductance": inductance}, {"capacitance": capacitance})
    return [nf.LumpedElement((x, y, 0), (x, y, 6e-3), "z", **value) for (x, y), value in zip(spots, values)]


GAS = nf.Medium(1.0, poles=[nf.Lorentz(strength=0.01, resonance_frequency=22.5e9, damping=0.0)])


@pytest.mark.parametrize("check_every", [3, 40])
@pytest.mark.parametrize(
    "entries",
    [
        {},
        {"elements": tank(5e-9, 0.05e-12)},
        {"elements": tank(100e-9, 10e-12)},
        {"elements": tank(0.5e-9, 0.1e-12)},
        {"background": GAS},
    ],
    ids=["empty", "tank near the cavity's own", "large tank", "small tank", "gas"],
)
def test_lossless_cavities_circuits_and_gases_ring_on(entries, check_every):
    result = cavity(steps=500 * check_every, check_every=check_every, **entries).run(threads=1)
    assert result.status == "done" and result.facts["runs"]["sources"]["ended"] == "steps"


def film(**entries) -> nf.Simulation:
    """A film of metal, 60 nm thick, whose surface waves run into the CPML; some of them run backwards."""
    cell = 20e-9
    metal = nf.Medium(1.0, poles=[nf.Drude(660e12)])
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (60, 1, 45)),
        structures=[nf.Structure(nf.Box((0, 0, 27 * cell), (60 * cell, cell, 30 * cell)), metal)],
        boundaries=nf.Boundaries(y="periodic"),
        sources=[nf.PointCurrent((30 * cell, 0, 29.5 * cell), "z", nf.ModulatedGaussian(300e12, 180e12))],
        monitors=[nf.Probe("e", (30 * cell, 0, 32.5 * cell), "Ez")],
        **entries,
    )


def test_surface_waves_that_grow_in_a_cpml_end_the_run_and_are_found(tmp_path):
    """Seen at step 4000, with a quarter of the pulse's energy; ten times the pulse's came at 5400."""
    with pytest.raises(nf.DivergedError, match="with all sources off the energy of the fields grew") as caught:
        film(steps=20000).run(threads=1)
    message, energy = str(caught.value), caught.value.result.excitation().energy
    assert "in the CPML at x_" in message and "cell (" in message and "End the medium some cells before it" in message
    assert energy[-1] < energy.max()


def test_the_command_line_ends_with_3(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.toml").write_text(film(steps=20000).to_toml())
    assert main(["run", "film.toml", "--no-report"]) == 3
    assert "twofold every" in capsys.readouterr().err


@pytest.mark.slow
def test_a_slabs_trapped_mode_gains_in_a_layer_with_alpha_0_and_the_one_of_a_guides_end_takes_its_energy():
    """WR-90 in 18 cells across, 4 mm of eps_r 2.2, which holds a mode below the cut-off, 18 cells from the layers."""

    def guide(layer):
        h, cells = 1.27e-3, 60
        side, middle = (18 * h, 8 * h), 0.5 * cells * h
        ends = [((0, 0, n * h), (*side, n * h)) for n in (14, cells - 14)]
        return nf.Simulation(
            grid=nf.Grid.uniform(h, (18, 8, cells)),
            boundaries=nf.Boundaries(nf.PEC, z_low=layer, z_high=layer),
            structures=[nf.Structure(nf.Box((0, 0, middle - 2e-3), (*side, middle + 2e-3)), nf.Medium(2.2))],
            ports=[
                nf.WaveguidePort(name, *end, way, "TE10") for name, end, way in zip(("in", "out"), ends, ("+z", "-z"))
            ],
            waveform=nf.ModulatedGaussian(10e9, 5e9),
            excitations=["in"],
        )

    named = r"CPML\(order=2\.75, sigma_ratio=2\.3, kappa_maximum=1, alpha_order=0, alpha_maximum=0\.0918\)"
    with pytest.raises(nf.DivergedError, match=named) as ended:
        guide(nf.CPML(alpha_maximum=0.0)).run(threads=2)
    assert "twofold every" in str(ended.value)
    result = guide(nf.CPML()).run(threads=2)
    assert result.status == "done" and result.facts["runs"]["in"]["energy_rise"] < 1.3
    power = (abs(result.sparameters_at([8e9, 10e9, 12e9])) ** 2).sel(source="in").sum("to")
    assert power.values == pytest.approx(1.0, abs=5e-3)
