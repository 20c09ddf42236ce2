"""Results: one file, whole or not at all, the same in memory and on disk."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.entry import file_trial, hdf5_checksums
from nearfield.entry.errors import RunFailed
from nearfield.grid.yee import YeeGrid
from nearfield.records.records import ExcitationRecord, MonitorRecord, RunRecord, Variable
from nearfield.results import Result


def axis(name, values, units):
    return {name: Variable((name,), np.asarray(values, dtype=float), {"units": units})}


def series(name, units, half=False):
    time = "time_half" if half else "time"
    values = np.sin(np.arange(50.0)).astype("f4")
    return axis(time, np.arange(50) * 1e-11, "s") | {name: Variable((time,), values, {"units": units})}


def pulse():
    time = np.arange(400) * 1e-11
    values = 3.0 * np.exp(-(((time - 1e-9) / 0.2e-9) ** 2))
    return axis("time", time, "s") | {"value": Variable(("time",), values, {"units": "1"})}


def record(status="done"):
    rng = np.random.default_rng(3)
    cut = axis("frequency", [1e9, 2e9], "Hz")
    cut |= axis("x", [0, 1, 2], "m") | axis("x_half", [0.5, 1.5], "m") | axis("y", [0], "m") | axis("z", [0, 1], "m")
    cut |= axis("y_half", [0.5], "m") | axis("z_half", [0.5], "m")
    values = rng.normal(size=(2, 2, 1, 2)) + 1j * rng.normal(size=(2, 2, 1, 2))
    cut["Ex"] = Variable(("frequency", "x_half", "y", "z"), values, {"units": "V/m s"})
    power = Variable(("frequency",), np.array([1.0, 2.0]), {"units": "W s^2"})
    monitors = {
        "tip": MonitorRecord("probe", {"name": "tip", "position": (0.0, 1.0, 2.0)}, series("Ez", "V/m")),
        "loop": MonitorRecord("current", {"name": "loop"}, series("current", "A", half=True)),
        "cut": MonitorRecord("field-dft", {"name": "cut"}, cut),
        "..": MonitorRecord("flux", {"name": ".."}, axis("frequency", [1e9], "Hz")),
        "out": MonitorRecord("flux", {"name": "out"}, axis("frequency", [1e9, 2e9], "Hz") | {"power": power}),
    }
    port = series("voltage", "V") | series("current", "A")
    names = Variable(("to",), np.array(["feed", "öther"]), {"units": ""})
    matrix = Variable(("frequency", "to", "source"), rng.normal(size=(2, 2, 2)) + 0j, {"units": ""})
    scattering = axis("frequency", [1e9, 2e9], "Hz") | {
        "to": names,
        "source": Variable(("source",), names.values, {"units": ""}),
        "sparameters": matrix,
        "reference_impedance": Variable(("to",), np.array([50.0, 75.0]), {"units": "ohm"}),
    }
    excitations = {
        name: ExcitationRecord(series("energy", "J"), {"feed": port, "öther": port}, monitors, pulse())
        for name in ("feed", "öther")
    }
    facts = {"time_step": 1e-12, "threads": np.int64(2), "nothing": None, "bad": float("nan"), "runs": {"feed": [1, 2]}}
    grid = YeeGrid((np.array([0.0, 1, 2]), np.array([0.0, 1]), np.array([0.0, 1, 4])))
    media = {"board": {"permittivity": 2.2, "name": None}, "1/2 air": {"permittivity": 1.0}, ".": {}}
    return RunRecord("title = 'µ'\n", grid, media, facts, status, excitations, scattering, "a patch")


@pytest.fixture
def saved(tmp_path):
    return Result(record()).save(tmp_path / "deep" / "result.h5")


def test_a_result_from_a_file_equals_the_one_in_memory(saved):
    memory, stored = Result(record()), nf.open_result(saved)
    assert (stored.status, stored.title, stored.model_text) == ("done", "a patch", "title = 'µ'\n")
    assert stored.excitations == ("feed", "öther") == stored.ports
    assert stored.monitors == ("tip", "loop", "cut", "..", "out")
    assert stored.media == {"board": {"permittivity": 2.2}, "1/2 air": {"permittivity": 1.0}, ".": {}}
    assert stored.facts["threads"] == 2 and stored.facts["bad"] == "nan" and stored.facts["runs"] == {"feed": [1, 2]}
    assert [line.tolist() for line in stored.grid.lines] == [line.tolist() for line in memory.grid.lines]
    for result in (memory, stored):
        assert result["tip"].dims == ("time",) and result["tip"].attrs["units"] == "V/m"
        assert result["loop"].dims == ("time",)  # half steps are a matter of its own time axis
        assert result["cut"]["Ex"].dims == ("frequency", "x", "y", "z")
        assert result.reference_impedances == {"feed": 50.0, "öther": 75.0}
        assert result.excitation("feed").energy.size == 50
        assert set(result.excitation("öther").port("feed")) == {"voltage", "current"}
    assert memory["cut"]["Ex"].identical(stored["cut"]["Ex"])
    assert memory["tip"].identical(stored["tip"])
    assert memory.sparameters.identical(stored.sparameters)
    found = stored.sparameters.sel(to="öther", source="feed")
    assert np.array_equal(found, memory.sparameters[:, 1, 0])


def test_a_grid_from_a_file_ends_as_the_one_in_memory(tmp_path):
    made = record()
    made.grid = YeeGrid(made.grid.lines, phases=(0.0, 1.25, None), mirrors=(None, None, "electric"))
    grid = nf.open_result(Result(made).save(tmp_path / "r.h5")).grid
    assert (grid.phases, grid.mirrors, grid.stepped_from) == (made.grid.phases, made.grid.mirrors, (0, 0, 1))
    assert np.array_equal(grid.dual(0), made.grid.dual(0)) and grid.closed(1) and not grid.closed(2)


def test_the_file_is_plain_hdf5_with_units_dims_and_scales(saved):
    with h5py.File(saved) as file:
        assert file.attrs["status"] == "done" and file.attrs["nearfield_version"] == nf.__version__
        assert file.attrs["format_version"] == 1
        assert {"model", "facts", "grid", "media", "excitations", "sparameters"} <= set(file)
        data = file["excitations/feed/monitors/cut/Ex"]
        assert data.attrs["units"] == "V/m s" and data.attrs["dims"] == '["frequency", "x_half", "y", "z"]'
        assert data.dims[1].label == "x_half" and data.dims[1][0].name.endswith("/cut/x_half")
        assert file["excitations/feed/monitors/tip"].attrs["kind"] == "probe"
        unlabelled = []
        file.visititems(
            lambda name, item: (
                unlabelled.append(name)
                if isinstance(item, h5py.Dataset) and not {"units", "dims"} <= set(item.attrs)
                else None
            )
        )
        assert unlabelled == []


def test_the_folder_of_a_run_is_opened_as_its_result(saved, tmp_path):
    assert nf.open_result(saved.parent).status == nf.open_result(saved).status
    (tmp_path / "empty").mkdir()
    with pytest.raises(nf.ModelError, match=r"empty/result.h5 does not exist"):
        nf.open_result(tmp_path / "empty")


def test_a_write_that_fails_leaves_the_earlier_file_and_nothing_beside_it(saved, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(RunFailed, match=r"No space left on device.* earlier file") as caught:
        Result(record("interrupted")).save(saved)
    assert caught.value.exit_code == 4
    assert nf.open_result(saved).status == "done"
    assert [path.name for path in saved.parent.iterdir()] == ["result.h5"]


def test_an_interrupted_run_replaces_its_file_and_stays_readable(saved):
    part = record("interrupted")
    del part.excitations["öther"]
    part.sparameters = None
    Result(part).save(saved)
    result = nf.open_result(saved)
    assert result.status == "interrupted" and result.excitations == ("feed",)
    with pytest.raises(nf.ModelError, match="no S-parameters"):
        _ = result.sparameters
    part.excitations.clear()
    with pytest.raises(nf.ModelError, match="ended before the first"):
        nf.open_result(Result(part).save(saved)).monitors  # noqa: B018


def test_arrays_stay_in_the_file_until_they_are_asked_for(saved):
    variable = nf.open_result(saved).record.excitations["feed"].monitors["cut"].variables["Ex"]
    assert variable.values.shape == (2, 2, 1, 2) and not isinstance(variable.values, np.ndarray)
    assert np.array_equal(variable.values[1, 0], variable.array[1, 0])


def test_per_source_divides_by_the_spectrum_of_the_waveform(saved):
    result = nf.open_result(saved)
    time, value = (pulse()[name].array for name in ("time", "value"))
    frequency = np.array([1e9, 2e9])
    spectrum = np.exp(-2j * np.pi * np.outer(frequency, time)) @ value * 1e-11
    closed_form = 3.0 * 0.2e-9 * np.sqrt(np.pi) * np.exp(-((np.pi * frequency * 0.2e-9) ** 2))
    assert np.abs(spectrum) == pytest.approx(closed_form, rel=1e-6)
    scaled = result.per_source()
    assert scaled["out"].values == pytest.approx(np.array([1, 2]) / closed_form**2, rel=1e-6)
    assert scaled["out"].attrs["units"].startswith("W")
    ratio = scaled["cut"]["Ex"].values / result["cut"]["Ex"].values
    assert np.allclose(ratio, 1 / spectrum[:, None, None, None])
    assert scaled["cut"]["Ex"].attrs["units"].startswith("V/m per")
    assert scaled["tip"].identical(result["tip"])


def test_per_source_refuses_sources_that_differ_or_never_end():
    different = record()
    different.excitations["feed"].waveform = None
    with pytest.raises(nf.ModelError, match="different ones"):
        _ = Result(different).per_source()["out"]
    endless = record()
    time = np.arange(100) * 1e-11
    endless.excitations["feed"].waveform = axis("time", time, "s") | {
        "value": Variable(("time",), np.cos(6e9 * time), {"units": "1"})
    }
    with pytest.raises(nf.ModelError, match="still on at the last step"):
        _ = Result(endless).per_source()["out"]


def test_unknown_names_list_those_there_are():
    result = Result(record())
    with pytest.raises(nf.ModelError, match="no monitor 'tap' in this result; there is: 'tip', 'loop', 'cut'"):
        result["tap"]
    with pytest.raises(nf.ModelError, match="no excitation 'x'"):
        result.excitation("x")
    with pytest.raises(nf.ModelError, match="component 'Hx' was not recorded; recorded: Ex"):
        result["cut"]["Hx"]
    assert "Ex" in result["cut"]
    assert "Hx" not in result["cut"]


def test_files_that_are_no_results_are_refused(tmp_path, capsys):
    with pytest.raises(nf.ModelError, match="does not exist"):
        nf.open_result(tmp_path / "absent.h5")
    os.mkfifo(tmp_path / "pipe.h5")
    for place in (tmp_path / "pipe.h5", Path("/dev/zero")):
        with pytest.raises(nf.ModelError, match=r"is not an ordinary file; give the path of a result\.h5"):
            nf.open_result(place)
        assert main(["show", str(place)]) == 2 and "is not an ordinary file" in capsys.readouterr().err
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(nf.ModelError, match=r"is no HDF5 file that can be read.*give a result.h5"):
        nf.open_result(tmp_path / "text.h5")
    h5py.File(tmp_path / "foreign.h5", "w").close()
    with pytest.raises(nf.ModelError, match="format_version none"):
        nf.open_result(tmp_path / "foreign.h5")


def everything(path):
    """All numbers of a result file, by their places in the record."""
    result = nf.open_result(path)
    found = {("grid", axis): line for axis, line in zip("xyz", result.grid.lines)}
    groups = {("s",): result.record.sparameters or {}}
    for name, run in result.record.excitations.items():
        groups |= {(name, "energy"): run.energy, (name, "waveform"): run.waveform or {}}
        groups |= {(name, "port", port): variables for port, variables in run.ports.items()}
        groups |= {(name, "monitor", monitor): each.variables for monitor, each in run.monitors.items()}
    return found | {(*at, name): each.array for at, group in groups.items() for name, each in group.items()}


def test_any_bit_that_changed_is_refused_with_the_file_and_a_place(saved, tmp_path):
    """Every region of the file, its table of checksums and the last bytes: nothing that is read may differ."""
    whole, damaged = saved.read_bytes(), tmp_path / "damaged.h5"
    random, named = np.random.default_rng(5), set()
    last = len(whole) - hdf5_checksums.FOOTER.size
    for place in [*random.integers(0, len(whole), 50), *range(last - 3, len(whole), 9)]:
        content = bytearray(whole)
        content[place] ^= 1 << int(random.integers(8))
        damaged.unlink(missing_ok=True)  # another inode: the old content was judged already
        damaged.write_bytes(content)
        with pytest.raises(nf.ModelError, match=r"damaged\.h5 (is damaged at|has lost its checksums)") as refused:
            everything(damaged)
        named |= {str(refused.value).split(" at ")[-1].split(":")[0]}
    assert {"its headers", "its table of checksums"} < named and any(name.startswith("/excitations") for name in named)


def test_results_that_are_cut_anywhere_are_refused(saved, tmp_path):
    whole, damaged = saved.read_bytes(), tmp_path / "damaged.h5"
    for length in [0, 7, len(whole) - 1, *np.random.default_rng(5).integers(0, len(whole), 2)]:
        damaged.unlink(missing_ok=True)
        damaged.write_bytes(whole[:length])
        with pytest.raises(nf.ModelError, match=r"damaged\.h5"):
            nf.open_result(damaged)


def without_checksums(saved):
    """The file as versions wrote it that knew no checksums: h5py cuts what lies behind its own bytes."""
    with h5py.File(saved, "r+") as file:
        del file.attrs[hdf5_checksums.ATTRIBUTE]
    return saved


def test_files_without_checksums_are_read(saved):
    before = everything(saved)
    now = everything(without_checksums(saved))
    assert before.keys() == now.keys() and all(np.array_equal(before[at], now[at]) for at in before)


def test_a_result_that_another_program_changed_is_refused_until_that_is_said_to_be_meant(saved):
    with h5py.File(saved, "r+") as file:
        file["grid/x"][0] = -1.0
    with pytest.raises(nf.ModelError, match=r"lost its checksums.*remove the attribute"):
        nf.open_result(saved)
    assert nf.open_result(without_checksums(saved)).grid.lines[0][0] == -1.0


def test_a_header_that_makes_hdf5_loop_or_crash_is_refused_in_time(saved, monkeypatch):
    """The reader is another process, here one that does what HDF5 does at such headers."""
    without_checksums(saved)
    for source, said in (("while True: pass", "after 1 s"), ("import os; os.abort()", "crashes")):
        file_trial._tried.cache_clear()
        monkeypatch.setattr(file_trial, "SECONDS", 1.0)
        monkeypatch.setattr(file_trial, "READER", ("-c", source))
        with pytest.raises(nf.ModelError, match=f"result.h5 is no HDF5 file that can be read.*{said}"):
            nf.open_result(saved)


def test_results_that_point_into_other_files_are_refused(saved, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"0123456789abcdef")
    without_checksums(saved)
    whole = saved.read_bytes()

    def changed(name, change):
        path = tmp_path / f"{name}.h5"
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            group = file["excitations/feed/monitors/out"]
            units, dims = group["power"].attrs["units"], group["power"].attrs["dims"]
            del group["power"]
            change(group)
            if isinstance(group.get("power", getlink=True), h5py.HardLink):
                group["power"].attrs.update(units=units, dims=dims)
        return path

    outside = changed("external", lambda group: group.create_dataset("power", (2,), "f8", external=str(secret)))
    linked = changed("linked", lambda group: group.update(power=h5py.ExternalLink("other.h5", "/x")))
    for path in (outside, linked):
        with pytest.raises(nf.ModelError, match="not followed"):
            everything(path)


def test_touchstone_comes_from_the_result(tmp_path):
    path = Result(record()).write_touchstone(tmp_path / "antenna")
    assert path.suffix == ".s2p" and path.read_text()


def test_show_draws_no_other_component_for_a_damaged_one(tmp_path, capsys):
    """One byte of each component of a snapshot in turn: `show` refuses, and names it."""
    ends = (0, 0, 2e-3), (8e-3, 8e-3, 2e-3)
    nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (8, 8, 4)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((3e-3, 3e-3, 2.5e-3), "z", nf.Gaussian(20e9))],
        monitors=[nf.Snapshot("cut", *ends, every=10)],
        steps=30,
    ).run(output=tmp_path / "whole" / "result.h5", threads=1)
    content = (tmp_path / "whole" / "result.h5").read_bytes()
    for component in ("Ey", "Hz"):
        values = nf.open_result(tmp_path / "whole" / "result.h5")["cut"][component].values
        place = content.index(values[1].tobytes()[:64]) if values[1].any() else None
        if place is None:
            continue
        copy = tmp_path / component / "result.h5"
        copy.parent.mkdir()
        copy.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert main(["show", str(copy)]) == 2
        assert f"is damaged at /excitations/sources/monitors/cut/{component}" in capsys.readouterr().err
