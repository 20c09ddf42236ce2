"""A slip of units is named before it starts a run of years; runs say how long they take; long ones are asked for."""

from __future__ import annotations

import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.run.forecast import DAY, HOUR, forecast, refuse_unasked, surely_short

C = 299792458.0


def model(wavelength=C / 12.5e9, frequency=12.5e9, cells=24, **entries) -> nf.Simulation:
    """A point current amid cells of a 20th of a wavelength (m), with a pulse up to a frequency (Hz)."""
    cell = wavelength / 20
    middle = cells // 2 * cell
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (cells, cells, cells)),
        boundaries=nf.Boundaries(all=nf.CPML(6)),
        sources=[nf.PointCurrent((middle, middle, middle + cell / 2), "z", nf.GaussianDerivative(frequency / 2.76))],
        monitors=[nf.Probe("near", (middle, middle, middle))],
        **entries,
    )


@pytest.fixture(autouse=True)
def memory_enough(monkeypatch):
    """Of 10^12 steps the recordings need more memory than a machine has, which is refused: these tests ask of time."""
    monkeypatch.setattr("nearfield.run.memory.memory_whole", lambda: None)


def warned(simulation: nf.Simulation) -> str:
    """All warnings of `check` in one text."""
    return "\n".join(simulation.check().warnings)


@pytest.mark.parametrize(
    ("simulation", "name"),
    [
        (model(wavelength=0.299792458 / 12.5e9), "c = 0.3 (m/ns)"),
        (model(wavelength=299.8 / 12.5e9), "c = 300 (m/us)"),
        (model(wavelength=2.998e5 / 12.5e9), "c = 3e5 (km/s)"),
        (model(frequency=12.5), "GHz taken for Hz"),
        (model(frequency=12.5e3), "MHz taken for Hz"),
        (model(frequency=12.5e6), "kHz taken for Hz"),
        (model(wavelength=24e-6), "lengths in mm converted twice"),
    ],
)
def test_check_names_the_slip_behind_far_too_many_cells_a_wavelength(simulation, name):
    assert "cells per wavelength in background" in warned(simulation) and name in warned(simulation)


def test_a_model_beyond_the_machine_is_told_the_slip_behind_it_too(monkeypatch):
    monkeypatch.setattr("nearfield.run.memory.memory_whole", lambda: 2**30)
    said = "\n".join(model(wavelength=0.299792458 / 12.5e9).check().warnings)
    assert "this machine has 1 GiB in all" in said and "c = 0.3 (m/ns)" in said


@pytest.mark.parametrize(("wavelength", "unit"), [(24.0, "mm"), (24e3, "um"), (24e6, "nm")])
def test_lengths_in_another_unit_are_named_where_the_grid_is_too_coarse(wavelength, unit):
    with pytest.raises(nf.ModelError, match=f"times too coarse: lengths in {unit} given as m"):
        model(wavelength).check()


def test_sound_models_are_not_suspected():
    assert not model().check().warnings
    fine = model(wavelength=C / 12.5e9 / 50)  # 1000 cells a wavelength, as structures far smaller than it have
    assert not fine.check().warnings


def test_a_pulse_far_longer_than_the_model_is_named():
    narrow = nf.PointCurrent((15e-3, 15e-3, 15.5e-3), "z", nf.ModulatedGaussian(10e9, 2e3))
    simulation = nf.Simulation(grid=nf.Grid.uniform(1e-3, (30, 30, 30)), sources=[narrow], steps=10)
    assert "a pulse lasts" in warned(simulation) and "MHz for GHz" in warned(simulation)
    usual = narrow.model_copy(update={"waveform": nf.ModulatedGaussian(10e9, 20e6)})  # 500 periods
    assert "a pulse lasts" not in warned(simulation.model_copy(update={"sources": (usual,)}))


def test_an_hour_that_nobody_asked_for_is_named_once():
    endless = model(duration=1.0)
    assert endless.check().predicted_seconds > HOUR
    assert warned(endless).count("over an hour, and the model gives no `steps`") == 1
    asked = model(steps=10**9)
    assert asked.check().predicted_seconds > HOUR and "over an hour" not in warned(asked)


def test_more_than_a_day_is_refused_unless_it_is_asked_for():
    found = forecast(model(duration=1.0)._setup(), threads=1)
    assert found.seconds > DAY and not surely_short(model(duration=1.0)._setup())
    with pytest.raises(nf.ModelError, match=r"more than a day .*--long .*run\(long=True\)"):
        model(duration=1.0).run(threads=1)
    refuse_unasked(found, allowed=True)
    refuse_unasked(forecast(model(steps=10**9)._setup(), threads=1), allowed=False)


def test_a_run_that_is_meant_starts(monkeypatch):
    def stop(info):
        raise RuntimeError("it runs")

    for entries, long in (({"duration": 1.0}, True), ({"steps": 10**9}, False)):
        with pytest.raises(RuntimeError, match="it runs"):
            model(**entries, check_every=10).run(threads=1, long=long, progress=stop)


def test_small_models_are_known_to_be_short_without_a_forecast(monkeypatch):
    monkeypatch.setattr("nearfield.run.time_loop.forecast", None)
    assert model(steps=20).run(threads=1).status == "done"


def test_the_command_line_says_the_time_first_and_refuses_with_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(model(steps=30).to_toml())
    assert main(["run", "short.toml", "--no-report"]) == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert "predicted for 30 steps of 13,824 cells at" in first and "Mcells/s (" in first
    (tmp_path / "slip.toml").write_text(model(wavelength=0.299792458 / 12.5e9).to_toml())
    assert main(["run", "slip.toml"]) == 2
    said = capsys.readouterr().err
    assert "days predicted" in said.splitlines()[0] and "c = 0.3 (m/ns)" in said and "--long" in said
    assert not (tmp_path / "out" / "slip").exists()


def test_the_forecast_says_where_its_rate_is_from():
    found = forecast(model()._setup(), threads=1)
    assert any(word in found.source for word in ("measured here", "scaled from a measurement", "an assumption"))
    assert found.seconds >= found.steps * 1.5e-6


@pytest.mark.parametrize(("reach", "unit"), [(2e9, "nm"), (30e3, "um"), (300.0, "mm")])
def test_a_straight_body_out_of_all_proportion_is_named_with_its_slip_of_units(reach, unit):
    def warnings(far: float) -> list[str]:
        boxes = (nf.Box((-high, 5e-3, 5e-3), (3e-3, 8e-3, 8e-3)) for high in (far, 0.9 * far))
        bodies = [nf.Structure(box, nf.Medium(2.0), name=f"bar {n}") for n, box in enumerate(boxes)]
        pulse = nf.GaussianDerivative(2e9)
        return [
            each
            for each in nf.Simulation(
                nf.Grid.uniform(1e-3, (20, 16, 14)),
                boundaries=nf.Boundaries(all=nf.PEC),
                structures=bodies,
                sources=[nf.PointCurrent((9e-3, 9e-3, 9.5e-3), "z", pulse)],
                steps=10,
            )
            .check()
            .warnings
            if "beyond the grid along x" in each
        ]

    (found,) = warnings(reach)
    assert "'bar 0' and 1 more reaches" in found and f"a length in {unit} given as m?" in found
    assert not warnings(180.0), "below 10 000 times the grid: a usual way to draw a body without end"
