"""Nothing that is computed after the steps may lose what they recorded: it fails as a warning with its name."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.analysis import pattern_variables
from nearfield.cli import main
from nearfield.run import time_loop

CELL = 2e-3


def antenna(**options) -> nf.Simulation:
    """A short dipole with a port, a far field and a probe in 20^3 cells."""
    middle = 10 * CELL
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (20, 20, 20)),
        boundaries=nf.Boundaries(all=nf.CPML(5)),
        ports=[nf.LumpedPort("feed", (middle, middle, 10 * CELL), (middle, middle, 11 * CELL), "z")],
        waveform=nf.Gaussian(8e9),
        monitors=[
            nf.FarField("pattern", [5e9], theta=["0 deg", "90 deg"], phi=[0]),
            nf.Probe("tip", (middle, middle, 12 * CELL)),
        ],
        steps=120,
        **options,
    )


def broken(*args, **kwargs):
    raise IndexError("index 43 is out of bounds")


def named(result, name: str) -> list[str]:
    return [text for text in result.facts["warnings"] if name in text]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_guide_in_a_wide_and_short_box_has_a_far_field(axis):
    """Faces across the other axes have numbers of nodes that the guide's axis does not reach."""
    cells = np.roll([24, 40, 36], axis)
    inside = np.roll([(0, 6e-3), (14e-3, 26e-3), (14e-3, 22e-3)], axis, axis=0)
    metal = np.roll([(-1, 12e-3), (10e-3, 30e-3), (10e-3, 26e-3)], axis, axis=0)
    hole = np.roll([(-1, 1), (14e-3, 26e-3), (14e-3, 22e-3)], axis, axis=0)
    port = inside.copy()
    port[axis] = 9e-3, 9e-3
    surface = np.roll([(7e-3, 17e-3), (8e-3, 32e-3), (8e-3, 28e-3)], axis, axis=0)
    result = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, tuple(cells.tolist())),
        structures=[
            nf.Structure(nf.Box(*metal.T.tolist()), nf.PEC, name="guide"),
            nf.Structure(nf.Box(*hole.T.tolist()), nf.Medium()),
        ],
        boundaries=nf.Boundaries(all=nf.CPML(5)),
        ports=[nf.WaveguidePort("in", *port.T.tolist(), "+" + "xyz"[axis], "1", shape="any")],
        waveform=nf.ModulatedGaussian(16e9, 4e9),
        monitors=[nf.FarField("pattern", [16e9], *surface.T.tolist(), theta=[0.0], phi=[0.0])],
        steps=40,
    ).run(threads=1)
    assert "failed_derivations" not in result.facts
    assert result["pattern"].directivity.size == 1


def test_a_far_field_that_fails_leaves_the_record_and_a_warning_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pattern_variables, "sphere_power", broken)
    result = antenna().run(threads=1, output=tmp_path / "result.h5")
    kept = nf.open_result(tmp_path / "result.h5")
    for each in (result, kept):
        assert each.status == "done"
        (text,) = (text for text in named(each, "far-field 'pattern'") if " failed (" in text)
        assert "IndexError: index 43" in text and "kept" in text
        assert each.facts["failed_derivations"] == [text.split(" failed (")[0]]
        assert each["tip"].size == 120 and np.isfinite(each.sparameters.values).any()
    monkeypatch.undo()
    assert kept["pattern"].directivity.size == 2  # the surface was kept: the pattern follows from it later


def test_labels_that_fail_leave_the_bare_recordings(monkeypatch):
    monkeypatch.setattr(nf.FarField, "_collect", broken)
    result = antenna().run(threads=1)
    assert result.status == "done" and named(result, "'pattern'")
    record = result.excitation().record.monitors["pattern"]
    assert record.kind == "raw"
    assert sum(name.startswith("recording_") for name in record.variables) == 24  # 6 faces, E and H along them
    assert np.abs(result["pattern"].values).max() > 0


def test_s_parameters_that_fail_leave_the_ports_signals(monkeypatch):
    monkeypatch.setattr(time_loop, "scattering_variables", broken)
    result = antenna().run(threads=1)
    assert result.status == "done" and named(result, "S-parameters")
    assert result.excitation().record.ports["feed"]["voltage"].array.size == 120


def test_the_record_lies_in_the_file_before_anything_is_derived(tmp_path, monkeypatch):
    found = []

    def look(*args):
        found.append(nf.open_result(tmp_path / "result.h5"))
        assert "surface_power" in found[0].excitation().record.monitors["pattern"].variables
        return broken()

    monkeypatch.setattr(pattern_variables, "sphere_power", look)
    antenna().run(threads=1, output=tmp_path / "result.h5")
    assert len(found) == 1


@pytest.mark.parametrize(
    "place, name",
    [
        ("nearfield.analysis.pattern_variables.sphere_power", "far-field 'pattern'"),
        ("nearfield.run.time_loop.scattering_variables", "S-parameters"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("nearfield.analysis.sparameters.touchstone_text", "the Touchstone file"),
                ("nearfield.report.plots.return_loss", "drawing 'Return loss'"),
                ("nearfield.report.page.far_field_rows", "the table of far fields"),
            )
        ),
        ("nearfield.run.time_loop.model_trust", "judging the model"),
        ("nearfield.report.show.show", "the report"),
        ("nearfield.commands.run.answers_of", "the answers"),
    ],
)
def test_whatever_fails_after_the_run_the_command_ends_with_0_and_says_its_name(
    tmp_path, monkeypatch, capsys, place, name
):
    (tmp_path / "model.toml").write_text(antenna().to_toml())
    module, function = place.rsplit(".", 1)
    broken_one = lambda *args, **kwargs: broken()  # noqa: E731
    broken_one.__name__ = function
    monkeypatch.setattr(__import__(module, fromlist=[function]), function, broken_one)
    folder = tmp_path / "out"
    assert main(["run", str(tmp_path / "model.toml"), "--output", str(folder), "--threads", "1"]) == 0
    said = capsys.readouterr().err
    assert f"warning: {name}" in said.replace("warning: deriving ", "warning: ")
    kept = nf.open_result(folder / "result.h5")
    assert kept.status == "done" and named(kept, name)
    if function not in ("show", "answers_of"):  # the page is written before the screen's answers
        assert name.replace("'", "&#39;") in (folder / "report.html").read_text()


def test_what_cannot_be_judged_is_an_entry_of_its_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "model.toml").write_text(antenna().to_toml())
    monkeypatch.setattr("nearfield.trust.result.port_trust", lambda result: broken())
    assert main(["run", str(tmp_path / "model.toml"), "--output", str(tmp_path / "out"), "--threads", "1"]) == 0
    assert "unknown: not judged: judging the ports failed" in " ".join(capsys.readouterr().out.split())
    assert "judging the ports failed" in (tmp_path / "out" / "report.html").read_text()


def test_a_record_that_cannot_be_saved_ends_with_4(tmp_path, monkeypatch, capsys):
    (tmp_path / "model.toml").write_text(antenna().to_toml())

    def full(*args):
        raise nf.RunFailed("the result could not be written: no space left")

    monkeypatch.setattr(time_loop, "write_result", full)
    assert main(["run", str(tmp_path / "model.toml"), "--output", str(tmp_path / "out"), "--json"]) == 4
    assert "could not be written" in capsys.readouterr().err
    with pytest.raises(nf.RunFailed) as caught:
        antenna().run(threads=1, output=tmp_path / "result.h5")
    assert caught.value.result["pattern"].directivity.size == 2
