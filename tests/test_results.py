"""Results: one file, whole or not at all, the same in memory and on disk."""

import h5py
import numpy as np
import pytest

import nearfield as nf
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


def test_files_that_are_no_results_are_refused(tmp_path):
    with pytest.raises(nf.ModelError, match="does not exist"):
        nf.open_result(tmp_path / "absent.h5")
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(nf.ModelError, match="cannot be read as a result"):
        nf.open_result(tmp_path / "text.h5")
    h5py.File(tmp_path / "foreign.h5", "w").close()
    with pytest.raises(nf.ModelError, match="format_version none"):
        nf.open_result(tmp_path / "foreign.h5")


def test_damaged_files_are_refused_or_read_but_nothing_else(saved, tmp_path):
    path = saved
    whole, damaged = path.read_bytes(), tmp_path / "damaged.h5"
    random = np.random.default_rng(5)
    for length in random.integers(0, len(whole), 20):
        damaged.write_bytes(whole[:length])
        with pytest.raises(nf.ModelError, match=r"damaged\.h5"):
            nf.open_result(damaged)
    for place in random.integers(0, len(whole), 100):
        content = bytearray(whole)
        content[place] ^= 1 << int(random.integers(8))
        damaged.write_bytes(content)
        try:
            result = nf.open_result(damaged)
            for record in result.record.excitations.values():
                for monitor in record.monitors.values():
                    [variable.array for variable in monitor.variables.values()]
        except nf.ModelError:
            pass


def test_touchstone_comes_from_the_result(tmp_path):
    path = Result(record()).write_touchstone(tmp_path / "antenna")
    assert path.suffix == ".s2p" and path.read_text()
