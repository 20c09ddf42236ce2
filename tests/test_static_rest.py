"""Pulses with a static part: pulses without are the default, others are named, and their field ends no run late."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.run.static_rest import moments, worth_a_look
from nearfield.sources.cautions import left_over

MIDDLE = (15e-3, 15e-3, 15.2e-3)
HALF_PULSE = nf.Samples(times=[0, 5e-11, 1e-10, 1.5e-10, 2e-10], values=[0, 1, 0, -0.5, 0])


def space(*sources, boundary="cpml", **entries) -> nf.Simulation:
    """30 mm of space with some sources."""
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (30, 30, 30)),
        boundaries=nf.Boundaries(all=boundary),
        sources=list(sources),
        monitors=[nf.Probe("near", (13e-3, 14e-3, 14e-3))],
        **entries,
    )


def cautioned(*sources, **entries) -> list[str]:
    """Warnings about charge that stays."""
    return [text for text in space(*sources, **entries).check().warnings if "sum up to zero" in text]


@pytest.mark.parametrize("width", [0.5, 0.8, 1.2, 1.6, 2.0])
def test_a_modulated_gaussian_sums_up_to_zero_however_wide(width):
    """The plain product leaves 10^-(2/width)^2 of the envelope's sum, 10 % at the widest; its ends leave 1e-7."""
    pulse = nf.ModulatedGaussian(10e9, width * 10e9)
    spectrum = np.abs(pulse.spectrum(np.array([0.0, 10e9])))
    assert spectrum[0] < 1e-6 * spectrum[1] and left_over(pulse) < 1e-6
    assert pulse.value(np.array([pulse.centre]))[0] == pytest.approx(1.0, abs=1e-12)


def test_narrow_modulated_gaussians_keep_their_bits():
    pulse = nf.ModulatedGaussian(10e9, 7e9)
    t = np.linspace(0.0, pulse.end, 301)
    x = (t - pulse.centre) / pulse.width
    plain = np.exp(-(x**2)) * np.cos(2.0 * np.pi * pulse.frequency * pulse.width * x)
    assert np.array_equal(pulse.value(t), 1.0 * plain)


RAMPED = nf.ContinuousWave(10e9, ramp_cycles=2, phase="90 deg")


@pytest.mark.parametrize(
    "pulse, part",
    [(nf.Gaussian(10e9), 1), (HALF_PULSE, 0.5), (nf.Ricker(5e9), 0), (nf.ContinuousWave(10e9), 0), (RAMPED, 1 / 15)],
)
def test_what_is_left_is_the_last_sum_over_the_largest(pulse, part):
    assert left_over(pulse) == pytest.approx(part, abs=1e-6)


def test_check_names_currents_that_leave_charge_and_how_much():
    point = nf.PointCurrent(MIDDLE, "z", HALF_PULSE)
    assert "50 % of the largest charge stays" in cautioned(point)[0]
    assert "6.67 % of the largest charge stays" in cautioned(nf.PointCurrent(MIDDLE, "z", RAMPED), steps=10)[0]
    assert "100 % of the largest flux" in cautioned(nf.MagneticPointCurrent(MIDDLE, "x", nf.Gaussian(9e9)))[0]
    assert "(and 1 other source)" in cautioned(point, point)[0]
    line = nf.LineCurrent((15e-3, 15e-3, 0), (15e-3, 15e-3, 20e-3), nf.Gaussian(9e9))
    assert len(cautioned(line, boundary="pec")) == 1


def test_currents_that_leave_no_charge_are_not_named():
    pulse = nf.Gaussian(9e9)
    through = nf.LineCurrent((15e-3, 15e-3, 0), (15e-3, 15e-3, 30e-3), pulse)
    sheet = nf.CurrentSheet((0, 0, 15e-3), (30e-3, 30e-3, 15e-3), "x", pulse)
    point = nf.PointCurrent(MIDDLE, "z", pulse)
    assert not cautioned(through, boundary="pec")
    assert not cautioned(sheet, boundary="periodic")
    assert not cautioned(point, background=nf.Medium(2.0, conductivity=0.1))
    assert not cautioned(nf.PointCurrent(MIDDLE, "z", nf.ModulatedGaussian(5e9, 9e9)))


def test_charge_is_followed_over_a_seam_with_a_phase():
    """A point current shared over the seam ends in space; a line along the other axis closes on itself."""

    def cautioned_in_a_cell(source) -> bool:
        cell = nf.Simulation(
            grid=nf.Grid.uniform(1e-3, (10, 10, 30)),
            boundaries=nf.Boundaries(x=nf.Bloch(phase="40 deg"), y="periodic"),
            sources=[source],
            monitors=[nf.Probe("near", (5e-3, 5e-3, 14e-3))],
            steps=10,
        )
        return "sum up to zero" in "".join(cell.check().warnings)

    assert cautioned_in_a_cell(nf.PointCurrent((0.1e-3, 5e-3, 15e-3), "x", nf.Gaussian(9e9)))
    assert not cautioned_in_a_cell(nf.PointCurrent((0.1e-3, 5e-3, 15e-3), "x", nf.ModulatedGaussian(5e9, 9e9)))
    assert not cautioned_in_a_cell(nf.LineCurrent((10e-3, 0, 15e-3), (10e-3, 10e-3, 15e-3), nf.Gaussian(9e9)))


@pytest.mark.parametrize("kind", [nf.PointCurrent, nf.MagneticPointCurrent])
@pytest.mark.parametrize("pulse", [nf.Gaussian(9e9), HALF_PULSE], ids=["Gaussian", "samples"])
def test_a_field_that_stays_ends_no_run_late(kind, pulse):
    """A run without a static part takes 300 steps; 12 usual transits of the box are 1100, the cut-off 14 000."""
    simulation = space(kind(MIDDLE, "z", pulse))
    result = simulation.run(threads=1)
    facts = result.facts["runs"]["sources"]
    assert facts["ended"] == "decayed" and facts["steps"] < 0.2 * simulation._setup().steps
    assert facts["static_ratio"] > 1e-4 and any("left a static field" in text for text in result.facts["warnings"])
    values = result["near"].values  # of a magnetic source nothing but rounding is left of E
    assert kind is nf.MagneticPointCurrent or np.ptp(values[-20:]) < 1e-2 * np.abs(values).max()


def test_flux_that_stays_in_a_ring_of_metal_is_told_from_what_moves():
    """The current of the ring keeps the flux that a magnetic pulse left."""
    ring = nf.Structure(nf.Box((12e-3, 12e-3, 14e-3), (18e-3, 18e-3, 16e-3)), nf.PEC)
    hole = nf.Structure(nf.Box((14e-3, 14e-3, 14e-3), (16e-3, 16e-3, 16e-3)), nf.Medium())
    result = space(nf.MagneticPointCurrent((15e-3,) * 3, "z", nf.Gaussian(9e9)), structures=[ring, hole]).run(threads=1)
    assert result.facts["runs"]["sources"]["ended"] == "decayed"


@pytest.mark.parametrize("check_every", [1, 7, 100])
def test_a_lossless_cavity_is_not_taken_for_static(check_every):
    cavity = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (12, 8, 6)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((3e-3, 3e-3, 2.5e-3), "z", nf.GaussianDerivative(10e9))],
        monitors=[nf.Probe("tip", (8e-3, 5e-3, 3e-3))],
        decay=1e-3,
        steps=3000,
        check_every=check_every,
    )
    facts = cavity.run(threads=1).facts["runs"]["sources"]
    assert facts["ended"] == "steps" and facts["static_ratio"] == 0.0


def test_a_resumed_run_ends_at_the_same_step(tmp_path):
    """No checkpoint falls between the moments of a look."""
    simulation = space(nf.PointCurrent(MIDDLE, "z", nf.Gaussian(9e9)))
    whole = simulation.run(threads=1, output=tmp_path / "result.h5", checkpoint="every 35 steps")
    again = nf.resume(tmp_path)
    assert again.facts["resumed"] and bool((again["near"] == whole["near"]).all())
    found, wanted = (result.facts["runs"]["sources"] for result in (again, whole))
    assert all(found[name] == wanted[name] for name in ("steps", "ended", "static_ratio")) and wanted["static_ratio"]
    assert any("left a static field" in text for text in again.facts["warnings"])


def test_looks_are_rare_and_only_where_the_energy_stands_still():
    assert [n for n in range(1, 60) if worth_a_look([1.0] * n)] == [8, 11, 14, 18, 23, 30, 39, 51]
    assert not any(worth_a_look(list(0.9 ** np.arange(n))) for n in range(1, 60))
    assert moments(700, 100) == [700, 723, 761, 799] and moments(3, 2) == []
