"""Elements found beside a run: their numbers are those of the same fields analysed later, their cost is said before."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.discretization.discretization import Discretization
from nearfield.dissipation.quantities import scalar
from nearfield.machine.binding import resolve
from nearfield.machine.hardware import from_synthetic
from nearfield.machine.processors import Bound
from nearfield.machine.transport import Alone
from nearfield.output import element_file
from nearfield.output.writers import Writers
from nearfield.pictures import style
from nearfield.pictures.overview import draw_result
from nearfield.records.records import HALF, Variable
from nearfield.report.element_section import statistics_figure

BOX = (1e-3, 1e-3, 1e-3), (15e-3, 13e-3, 11e-3)


def cavity(*monitors, steps: int = 90) -> nf.Simulation:
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (16, 14, 12)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((5e-3, 6e-3, 4.5e-3), "z", nf.GaussianDerivative(10e9), moment=1e-3)],
        monitors=monitors,
        steps=steps,
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:elements of")
def test_elements_beside_a_run_are_those_of_its_snapshots(tmp_path):
    found = nf.ElementStatistics("spots", *BOX, every=30, quantity="energy")
    plane = nf.ElementStatistics(
        "plane", (0, 0, 5e-3), (16e-3, 14e-3, 5e-3), every=45, quantity="Ez", method="discrete"
    )
    result = cavity(found, plane, nf.Snapshot("fields", *BOX, every=30)).run(output=tmp_path / "result.h5", threads=1)
    spots = result["spots"]
    moments = result["fields"].collocated()
    assert spots.time.values == pytest.approx(moments[next(iter(moments.data_vars))].time.values)
    for number in range(3):
        parts = {name: moments[name].values[number : number + 1] for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")}
        later = nf.elements(scalar(parts, "energy"), 1e-3).summary()
        for name in ("elements", "pairs", "maxima", "minima"):
            assert spots[name].values[number] == later[name]
        assert spots.mean_length.values[number] == pytest.approx(later["mean_length"], rel=1e-6)
    assert spots.attrs["quantity"] == "energy" and (spots.seconds.values > 0).all()
    assert result["plane"].sizes["time"] == 2 and (result["plane"].highest > result["plane"].lowest).all()
    again = nf.open_result(tmp_path / "result.h5")
    assert again["spots"].equals(spots)
    assert nf.Simulation.model_validate(cavity(found).model_dump()).monitors[0] == found


@pytest.mark.filterwarnings("ignore:elements of")
def test_elements_of_a_periodic_cell_go_on_across_the_faces_that_the_box_fills(tmp_path):
    """Of a graded axis too; an axis that the box leaves a part of ends there."""
    lines = 1e-3 * np.cumsum([0.0, *(1 + 0.3 * np.sin(np.arange(12)))])
    ends = tuple(float(n) for n in (12e-3, 10e-3, lines[-1]))
    whole = nf.ElementStatistics("whole", (0, 0, 0), ends, every=40, quantity="Ez")
    part = nf.ElementStatistics("part", (0, 0, 0), (ends[0], 8e-3, ends[2]), every=40, quantity="Ez")
    plane = nf.ElementStatistics("plane", (0, 5e-3, 0), (ends[0], 5e-3, ends[2]), every=40, quantity="Ez")
    place = 5e-3, 6e-3, 0.5 * (lines[4] + lines[5])
    model = nf.Simulation(
        grid=nf.Grid(np.arange(13) * 1e-3, np.arange(11) * 1e-3, lines),
        boundaries=nf.Boundaries(all="periodic"),
        sources=[nf.PointCurrent(place, "z", nf.GaussianDerivative(10e9), moment=1e-3)],
        monitors=[whole, part, plane, nf.Snapshot("fields", (0, 0, 0), ends, "Ez", every=40)],
        steps=80,
    )
    result = model.run(output=tmp_path / "result.h5", threads=1)
    values = next(iter(result["fields"].collocated().data_vars.values())).values[-1]
    x, y = (np.arange(n + 1) * 1e-3 + 5e-4 for n in (12, 10))
    z = np.append(0.5 * (lines[1:] + lines[:-1]), 0.5 * (lines[0] + lines[1]) + lines[-1])
    for name, later in (
        ("whole", nf.elements(values, [x, y, z], "xyz")),
        ("part", nf.elements(values[:, :8], [x, y[:8], z], "xz")),
    ):
        told, summary = result[name].isel(time=-1), later.summary()
        assert all(told[number] == summary[number] for number in ("elements", "pairs", "maxima", "minima"))
        assert told.mean_length == pytest.approx(summary["mean_length"], rel=1e-5)
    assert [result[name].attrs["periodic"] for name in ("whole", "part", "plane")] == ["xyz", "xz", "xz"]


def test_the_report_draws_numbers_and_lengths_over_time():
    import xarray

    columns = {name: ("time", np.arange(3.0), {"units": ""}) for name in ("maxima", "minima", "mean_length")}
    told = xarray.Dataset({**columns, "time": [0.0, 1e-9, 2e-9]}, attrs={"quantity": "energy"})
    monitors = {"spots": SimpleNamespace(kind="elements"), "other": SimpleNamespace(kind="probe")}

    class Excitation(dict):
        name, record = "source", SimpleNamespace(monitors=monitors)

    result = SimpleNamespace(title="", excitations=["source"], excitation=lambda: Excitation(spots=told))
    panels, ax = draw_result(result, "spots", None), style.blank().subplots()
    assert [len(panel.lines) for panel in panels] == [2, 1]
    assert draw_result(result, "spots", ax) is ax and len(ax.lines) == 2
    counts, lengths = statistics_figure(result).axes
    assert [line.get_label() for line in counts.lines] == ["spots, maxima", "spots, minima"]
    assert lengths.lines[0].get_xdata() == pytest.approx([0, 1, 2]) and "ns" in lengths.get_xlabel()
    monitors.pop("spots")
    assert statistics_figure(result) is None


def test_fields_that_are_the_same_everywhere_have_no_elements(tmp_path):
    rows = element_file.ElementFile({"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "Ez"}}, 1)
    rows.take({"Ez": np.zeros((8, 8, 1))}, {}, {"time": 1e-9})
    assert rows.rows[0]["elements"] == 0 and rows.rows[0]["time"] == 1e-9


@pytest.mark.parametrize(("scale", "worst"), [(1e-40, 1), (1e40, 1), (1, np.inf)])
def test_fields_too_weak_or_strong_for_slopes_have_no_elements(scale, worst, tmp_path):
    """What runs ahead of a pulse is below the least number of which slopes are made; a run that diverges is above."""
    wave = np.sin(np.arange(8.0)) + 2
    half = {axis + HALF: Variable((axis,), np.arange(8) * 1e-3, {}) for axis in "xy"}
    task = {"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "intensity", "method": "hybrid"}}
    rows = element_file.ElementFile(task, 1)
    values = scale * wave * wave[:, None]
    values[3, 3] *= worst
    rows.take({name: values[:, :, None] for name in ("Ex", "Ey", "Ez")}, half, {"time": 1.0})
    assert rows.rows[0]["elements"] == 0 and rows.rows[0]["highest"] > 0


def test_a_row_holds_the_numbers_of_a_plane_of_cells(tmp_path):
    line = np.arange(17) * 1e-3
    wave = np.sin(np.arange(16) * np.pi / 4 + 0.1)
    values = (wave[:, None] * wave)[:, :, None]
    half = {axis + HALF: Variable((axis,), (line[1:] + line[:-1]) / 2, {}) for axis in "xy"}
    task = {"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "Hz", "method": "hybrid"}}
    rows = element_file.ElementFile(task, 1)
    rows.take({"Hz": values}, half, {"time": 1.0, "time" + HALF: 2.0})
    later = nf.elements(values[:, :, 0], 1e-3).summary()
    assert {name: rows.rows[0][name] for name in ("elements", "maxima", "minima")} == {
        name: later[name] for name in ("elements", "maxima", "minima")
    }
    assert rows.rows[0]["mean_length"] == pytest.approx(later["mean_length"], rel=1e-9)
    assert rows.rows[0]["time"] == 2.0


def test_a_run_that_goes_on_keeps_earlier_rows(tmp_path):
    task = {"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "Ez", "method": "hybrid"}}
    first = element_file.ElementFile(task, 1)
    for moment in range(3):
        first.take({"Ez": np.zeros((8, 8, 1))}, {}, {"time": float(moment)})
    first.close(True)
    second = element_file.ElementFile(task | {"keep": 2}, 1)
    assert [row["time"] for row in second.rows] == [0.0, 1.0] and second.committed == 2


def test_a_file_that_lost_rows_is_not_gone_on_with(tmp_path):
    """They vanished without a word: the file held no numbers, and the run was "done"."""
    task = {"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "Ez", "method": "hybrid"}}
    rows = element_file.ElementFile(task, 1)
    rows.take({"Ez": np.zeros((8, 8, 1))}, {}, {"time": 0.0})
    rows.flush()
    assert element_file.statistics_in(rows.path).attrs["status"] == "running"
    rows.close(False, "the run was interrupted")
    assert element_file.statistics_in(rows.path).attrs["status"] == "interrupted: the run was interrupted"
    with pytest.raises(nf.ModelError, match="holds 1 rows, 2 are needed"):
        element_file.ElementFile(task | {"keep": 2}, 1)


def test_changed_numbers_of_elements_are_not_shown(tmp_path):
    rows = element_file.ElementFile({"path": tmp_path / "a.h5", "keep": None, "analysis": {"quantity": "Ez"}}, 1)
    rows.take({"Ez": np.full((8, 8, 1), 0.3)}, {}, {"time": 0.0})
    rows.close(True)
    content = rows.path.read_bytes()
    place = content.index(np.float64(0.3).tobytes())
    rows.path.write_bytes(content[: place + 3] + b"?" + content[place + 4 :])
    with pytest.raises(nf.ModelError, match="damaged at"):
        element_file.statistics_in(rows.path)


def test_the_cost_of_analyses_is_said_before(tmp_path, capsys):
    (tmp_path / "model.toml").write_text(cavity(nf.ElementStatistics("spots", *BOX, every=30)).to_toml())
    assert main(["check", f"{tmp_path}/model.toml"]) == 0
    assert "elements of 'spots': 3 times 1,680 points" in capsys.readouterr().out
    setup = Discretization(cavity(nf.ElementStatistics("spots", *BOX, every=30)))
    assert "raise `every`" in element_file.slows(setup, 1e-6, False)
    assert "fewer --threads" in element_file.slows(setup, 1e3, 2)
    assert "threads" not in element_file.slows(setup, 1e3, 1), "the only processor: nobody can give fewer"
    assert element_file.slows(setup, 1e3, 0) == ""


@pytest.mark.parametrize(("bind", "threads", "shared"), [(None, 1, 0), ("none", 1, 0), ("node", 1, 0), (None, 2, 2)])
def test_a_thread_that_may_move_leaves_the_other_processor_to_the_analyses(monkeypatch, bind, threads, shared):
    """By default one thread of two processors is bound to both of them, and the run was said to have none left."""
    monkeypatch.setattr("nearfield.machine.binding.require_binding", lambda *asked: None)
    monkeypatch.setattr("nearfield.output.writers.cgroup_limit", lambda: None)
    machine = replace(from_synthetic("core:2 pu:1"), simulated=False)
    found = resolve(bind, "off", threads, machine, bound=Bound(*[machine.processors] * 3))
    writers = Writers(SimpleNamespace(ranks=Alone(), binding=found))
    assert writers.shared_processors == shared
    assert writers.spare.count == 2 - threads


@pytest.mark.parametrize(
    ("monitor", "words"),
    [
        (nf.ElementStatistics("spots", (0, 0, 0), (2e-3, 9e-3, 9e-3), every=30), "2 x 9 x 9 cells"),
        (nf.ElementStatistics("spots", *BOX, every=30), "statistics beside the result .* no output"),
    ],
)
def test_what_cannot_be_analysed_is_refused_before_the_run(monitor, words):
    with pytest.raises(nf.ModelError, match=words):
        cavity(monitor).run()


def test_damaged_statistics_are_refused_by_name(tmp_path):
    path = tmp_path / "a.h5"
    rows = element_file.ElementFile({"path": path, "keep": None, "analysis": {"quantity": "Ez"}}, 1)
    rows.take({"Ez": np.zeros((8, 8, 1))}, {}, {"time": 1e-9})
    rows.close(True)
    assert element_file.statistics_in(path).time.values == [1e-9]
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(nf.ModelError, match=r"a\.h5, is damaged"):
        element_file.statistics_in(path)
