"""Fields with axes of their own: xarray, coordinates in files, images of VTKHDF, complex values; and bad ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray
from test_elements import GOOD, graded, places, product, total

import nearfield as nf
from nearfield.cli import main
from nearfield.dissipation.quantities import scalar

X, Y, Z = places(24, 1, 0.31), places(20, 1, 0.31), places(16, 1, 0.31)


def labelled(*dims: str) -> xarray.DataArray:
    """cos x + cos y + cos z with its coordinates and the dims in this order."""
    lines = {"x": X, "y": 2 * Y, "z": 3 * Z}
    return xarray.DataArray(total(X, Y, Z), lines, ("x", "y", "z")).transpose(*dims)


def test_arrays_of_xarray_bring_their_axes():
    plain = nf.elements(total(X, Y, Z), (X[1] - X[0], 2 * (Y[1] - Y[0]), 3 * (Z[1] - Z[0])), "xz", threads=1)
    for dims in ("xyz", "zyx", "yzx"):
        found = nf.elements(labelled(*dims), periodic="xz", threads=1)
        assert np.array_equal(found.labels, plain.labels) and found.periodic == (True, False, True)
        assert found.length == pytest.approx(plain.length) and found.coordinates[2] == pytest.approx(3 * Z)
    plane = nf.elements(labelled("z", "y", "x").isel(x=3, drop=True), periodic="z", threads=1)
    assert plane.periodic == (False, True) and plane.spacing[1] == pytest.approx(3 * (Z[1] - Z[0]))
    assert nf.elements(labelled("x", "y", "z"), 1.0, "xz", threads=1).spacing == (1.0, 1.0, 1.0)
    lines = xarray.DataArray(total(X, Y), dims=("north", "east"))
    assert len(nf.elements(lines, periodic="xy", threads=1)) == 4


@pytest.mark.parametrize(
    ("array", "periodic", "words"),
    [
        (labelled("x", "y", "z").isel(x=0, drop=True), "x", "has the axes y, z"),
        (labelled("x", "y", "z").to_dataset(name="phi"), "", "one of its variables: phi"),
        (labelled("x", "y", "z").drop_vars("y"), "", "coordinates of x, z only"),
        (labelled("x", "y", "z")[::-1], "", "no rising numbers"),
        (xarray.DataArray(GOOD, {"x": np.array(["a"] * 16)}, ("x",)), "", "no rising numbers"),
        (xarray.DataArray(np.cos(graded(40, 1)), {"x": graded(40, 1)}, ("x",)), "x", "one more"),
    ],
)
def test_arrays_of_xarray_that_lack_something_are_refused(array, periodic, words):
    with pytest.raises(nf.ModelError) as refused:
        nf.elements(array, periodic=periodic)
    assert words in str(refused.value)


def asked(capsys, given: str, *options: str) -> dict:
    assert main(["elements", given, "--threads", "1", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_coordinates_beside_a_data_set_are_its_spacing(tmp_path, capsys):
    with h5py.File(tmp_path / "flow.nc", "w") as file:  # as NetCDF 4 lays it down
        file["phi"] = product(X, Y)
        for axis, name, line in ((0, "x", X), (1, "y", 5 * Y)):
            file[name] = line
            file[name].make_scale(name)
            file["phi"].dims[axis].attach_scale(file[name])
    found = asked(capsys, f"{tmp_path}/flow.nc:phi", "--periodic", "xy")
    assert found["spacing"] == pytest.approx([X[1] - X[0], 5 * (Y[1] - Y[0])])
    assert "coordinates in the file" in found["field"]
    assert asked(capsys, f"{tmp_path}/flow.nc:phi", "--spacing", "2")["spacing"] == [2, 2]


def image(path, array: np.ndarray, kind: str, times: int = 0) -> None:
    """An image of VTKHDF over x, y, z, with spacings 0.1, 0.2, 0.3 from an origin; later its negative."""
    shape = np.array(array.shape)
    with h5py.File(path, "w") as file:
        group = file.create_group("VTKHDF")
        ends = np.where(shape > 1, shape - (kind == "PointData"), 0)
        group.attrs.update(
            Version=[2, 0],
            Origin=[1.0, 2.0, 3.0],
            Spacing=[0.1, 0.2, 0.3],
            WholeExtent=[0, ends[0], 0, ends[1], 0, ends[2]],
        )
        group.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", 9))
        values = array.transpose()
        if times:
            group.create_group("Steps")["Values"] = np.arange(times) * 1e-9
            values = np.stack([values, *[-values] * (times - 1)])
        group[f"{kind}/phi"] = values
        group[f"{kind}/speed"] = np.zeros((*values.shape, 3))


def test_images_of_vtkhdf_are_read_with_their_grid(tmp_path, capsys):
    field = product(X, Y, Z) + 0.1 * np.cos(X)[:, None, None]
    own = nf.elements(field, (0.1, 0.2, 0.3), threads=1)
    for kind in ("PointData", "CellData"):
        image(tmp_path / "flow.vtkhdf", field, kind)
        for name in ("phi", f"{kind}/phi", f"VTKHDF/{kind}/phi"):
            found = asked(capsys, f"{tmp_path}/flow.vtkhdf:{name}")
            assert found["shape"] == [24, 20, 16] and found["spacing"] == pytest.approx([0.1, 0.2, 0.3])
            assert found["mean_length"] == pytest.approx(own.length.mean())
    image(tmp_path / "plane.vtkhdf", field[:, :1], "PointData", times=2)
    assert main(["elements", f"{tmp_path}/plane.vtkhdf:phi"]) == 2 and "say --at" in capsys.readouterr().err
    one, later = (asked(capsys, f"{tmp_path}/plane.vtkhdf:phi", "--at", at) for at in ("0", "8e-10"))
    assert one["shape"] == [24, 16] and (one["maxima"], one["minima"]) == (later["minima"], later["maxima"])
    assert one["mean_length"] == pytest.approx(later["mean_length"])


def test_field_files_of_runs_are_read(tmp_path, capsys):
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (12, 10, 8)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((4e-3, 5e-3, 3.5e-3), "z", nf.Gaussian(2e10), moment=1e-3)],
        monitors=[
            nf.Snapshot(
                "box", (0, 0, 0), (12e-3, 10e-3, 8e-3), every=20, file=nf.FieldFile(format="vtkhdf"), components=["Ez"]
            ),
        ],
        steps=60,
    )
    result = sim.run(threads=1, output=tmp_path / "result.h5")
    fields = result["box"].collocated()
    name = next(tmp_path.rglob("*.vtkhdf"))
    found = asked(capsys, f"{name}:Ez", "--at", str(float(fields.time[-1])))
    own = nf.elements(fields.Ez.isel(time=-1).values, 1e-3, threads=1)
    assert found["shape"] == [12, 10, 8] and found["elements"] == len(own)
    assert found["mean_length"] == pytest.approx(own.length.mean(), rel=1e-4)


def test_parts_of_complex_data_are_chosen(tmp_path, capsys):
    wave = np.exp(1j * X)[:, None] * (2 + np.cos(Y))
    with h5py.File(tmp_path / "wave.h5", "w") as file:
        file["wave"], file["real"] = wave, wave.real
    for quantity, values in (("magnitude", np.abs(wave)), ("real", wave.real), ("imaginary", wave.imag)):
        found = asked(capsys, f"{tmp_path}/wave.h5:wave", "--quantity", quantity, "--periodic", "xy")
        assert found["mean_difference"] == pytest.approx(nf.elements(values, 1.0, "xy", threads=1).difference.mean())
        assert quantity in found["field"]
    for given, options, words in (
        ("wave", (), "say --quantity: magnitude, real, imaginary"),
        ("wave", ("--quantity", "E"), "say --quantity: magnitude, real, imaginary"),
        ("real", ("--quantity", "magnitude"), "holds real values"),
        ("real", ("--at", "3"), "no times"),
        ("real", ("--at", "1:2"), "means over times"),
        ("real", ("--at", "soon"), "give a time"),
        ("real", ("--at", "2:1"), "later than"),
    ):
        assert main(["elements", f"{tmp_path}/wave.h5:{given}", *options]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.where(product(X, Y) > 0.9, np.nan, product(X, Y)), "not finite"),
        (np.where(product(X, Y) > 0.9, np.inf, product(X, Y)), "not finite"),
        (np.ones((8, 8)), "everywhere"),
        (np.ones((8, 1, 8)), "y has 1"),
        (np.zeros((4, 4, 4, 4)), "4 axes"),
        (np.array([b"a"] * 8), "real numbers"),
        (np.array(3.0), "0 axes"),
    ],
)
def test_bad_fields_are_one_message_and_nothing_is_written(tmp_path, values, words, capsys):
    with h5py.File(tmp_path / "field.h5", "w") as file:
        file["phi"] = values
    options = ["--output", f"{tmp_path}/out.h5", "--plots", f"{tmp_path}/plots"]
    assert main(["elements", f"{tmp_path}/field.h5:phi", *options]) == 2
    message = capsys.readouterr().err
    assert words in message and "Traceback" not in message
    assert [path.name for path in tmp_path.iterdir()] == ["field.h5"]


def test_other_types_of_vtkhdf_and_vectors_are_refused(tmp_path, capsys):
    image(tmp_path / "flow.vtkhdf", product(X, Y, Z), "PointData")
    assert main(["elements", f"{tmp_path}/flow.vtkhdf:speed"]) == 2
    assert "give a scalar field" in capsys.readouterr().err
    with h5py.File(tmp_path / "flow.vtkhdf", "a") as file:
        file["VTKHDF"].attrs["Type"] = b"PolyData"
    assert main(["elements", f"{tmp_path}/flow.vtkhdf:phi"]) == 2
    assert "PolyData" in capsys.readouterr().err


def test_fields_larger_than_memory_are_refused_before_they_are_read(tmp_path, capsys):
    with h5py.File(tmp_path / "huge.h5", "w") as file:  # no values are stored
        file.create_dataset("phi", (4096, 4096, 4096), np.float32, chunks=(64, 64, 64))
    assert main(["elements", f"{tmp_path}/huge.h5:phi"]) == 2
    message = capsys.readouterr().err
    assert "4096 x 4096 x 4096 points need" in message and "point along each axis" in message


PEAK = """
import sys
from pathlib import Path
import numpy as np
import nearfield as nf

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])  # KiB

x = np.arange(128, dtype=np.float32) * np.float32(np.pi / 32)
field = np.cos(x)[:, None, None] + np.cos(x)[:, None] + np.cos(x)  # without larger arrays on the way
nf.elements(field[:16, :16, :16], 1.0, threads=1)
Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
before = peak()
found = nf.elements(field, 1.0, "xyz", sys.argv[1], threads=1)
print((peak() - before) * 1024 / field.size)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from Linux's /proc")
@pytest.mark.parametrize(("method", "most"), [("discrete", 10), pytest.param("hybrid", 14, marks=pytest.mark.slow)])
def test_memory_beside_the_field_is_what_is_said(method, most):
    told = subprocess.run([sys.executable, "-c", PEAK, method], capture_output=True, text=True, check=True).stdout
    assert 0.5 * most < float(told) < most


def test_an_output_replaces_nothing_but_a_file_of_elements(tmp_path, capsys):
    wave = np.sin(np.arange(24) * np.pi / 6)
    file, found = tmp_path / "f.h5", tmp_path / "elements.h5"
    with h5py.File(file, "w") as made:
        made["d"] = wave
    before = file.read_bytes()
    for output in (file, tmp_path):
        assert main(["elements", f"{file}:d", "--output", str(output)]) == 2
        assert "is no file of elements" in capsys.readouterr().err
    assert file.read_bytes() == before
    for _ in range(2):
        assert main(["elements", f"{file}:d", "--periodic", "x", "--output", str(found)]) == 0
    assert main(["elements", f"{found}:elements/field", "--output", str(found)]) == 2
    assert "the field's own file" in capsys.readouterr().err
    with pytest.raises(nf.ModelError, match="not replaced"):
        nf.elements(wave, 1.0, "x").save(file)


@pytest.mark.parametrize("spacing", [1e308, 1e160, 1e-320, 1e-80])
def test_spacings_whose_powers_are_no_numbers_are_refused(spacing):
    with pytest.raises(nf.ModelError, match="in another unit"):
        nf.elements(np.sin(np.arange(24) * np.pi / 6), spacing, "x")


@pytest.mark.parametrize("quantity", ["S", "energy", "intensity"])
def test_powers_of_weak_fields_are_those_of_strong_ones(quantity):
    """In single precision the squares of fields of 1e-15 V/m vanish."""
    x = np.arange(16) * np.pi / 8
    names = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
    parts = {name: np.sin(x + n)[None, :].astype(np.complex64) for n, name in enumerate(names)}
    strong = scalar(parts, quantity)
    weak = scalar({name: part * np.complex64(1e-20) for name, part in parts.items()}, quantity)
    assert strong.dtype == np.float32 and weak.dtype == np.float64
    assert weak / weak.max() == pytest.approx(strong / strong.max(), rel=1e-5)


@pytest.mark.parametrize("scale", [1e300, 1e100, 1e-100])
def test_values_whose_powers_are_no_numbers_are_refused(scale):
    with pytest.raises(nf.ModelError, match="powers of such values or of their slopes are no numbers"):
        nf.elements(scale * np.sin(np.arange(24) * np.pi / 6), 1.0, "x")


FALLING = np.linspace(1, 0, 2000)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"spacing": "a"}, "spacing 'a' of x is no number"),
        ({"spacing": 1j}, "spacing 1j of x is no number"),
        ({"spacing": FALLING}, "coordinate 0 is 1 and the next one 0.9995"),
        ({"spacing": np.nan}, "spacing nan of x: distances"),
        ({"periodic": "xx"}, "names an axis twice"),
        ({"periodic": 5}, "periodic=5: give the letters"),
        ({"periodic": None}, "periodic=None: give the letters"),
        ({"threads": 1.5}, "threads=1.5: give 1 or more, a whole number"),
        ({"threads": "2"}, "threads='2': give 1 or more, a whole number"),
        ({"threads": 10**12}, "a whole number up to 4,096"),
        ({"method": ["hybrid"]}, "is unknown; allowed"),
        ({"persistence": True}, "persistence True: give a difference"),
        ({"persistence": "5%%"}, "persistence '5%%': give a difference"),
        ({"scratch": 5}, "scratch=5: give a folder"),
    ],
)
def test_arguments_of_another_kind_are_one_short_message(given, words):
    with pytest.raises(nf.ModelError) as refused:
        nf.elements(np.sin(np.arange(2000) * np.pi / 6), **given)
    assert words in str(refused.value) and len(str(refused.value)) < 260


def test_arguments_of_lines_are_one_message():
    found = nf.elements(np.sin(np.arange(24) * np.pi / 6), 1.0, "x")
    for wrong in (
        lambda: found.trajectories(2, threads=1.5),
        lambda: found.trajectories(2, 5),
        lambda: found.trajectories(True),
        lambda: found.arc_length("a"),
        lambda: found.arc_length(2, threads=0),
    ):
        with pytest.raises(nf.ModelError, match=r"give|are a number"):
            wrong()
    with pytest.raises(nf.ModelError, match="no array"):
        nf.elements([[1, 2], [3]])


def test_an_axis_named_twice_and_numbers_that_are_none_are_refused(tmp_path, capsys):
    np.save(tmp_path / "f.npy", np.sin(np.arange(24) * np.pi / 6))
    beside = ["--output", str(tmp_path / "found.h5")]
    for options in (["--periodic", "xx"], ["--chunk", "0"], ["--arc-length", "²", *beside]):
        assert main(["elements", str(tmp_path / "f.npy"), *options]) == 2
        assert options[0].strip("-") in capsys.readouterr().err


def cut(path: Path) -> Path:
    """The file without its second half, as a full disk or a broken copy leaves it."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def test_damaged_files_of_fields_are_refused_by_name(tmp_path, capsys):
    with h5py.File(tmp_path / "cut.h5", "w") as file:
        file["phi"] = product(X, Y, Z)
    given = f"{cut(tmp_path / 'cut.h5')}:phi"
    for options in ((), ("--quantity", "E"), ("--at", "1e-9")):
        assert main(["elements", given, *options]) == 2
        said = capsys.readouterr().err
        assert "cut.h5 is no HDF5 file that can be read" in said and "truncated" in said and "--output" not in said


def test_data_sets_without_values_are_refused_by_name(tmp_path, capsys):
    given = f"{tmp_path}/field.h5"
    with h5py.File(given, "w") as file:
        file["phi"], file["none"] = product(X, Y), h5py.Empty("f8")
    beside = ["--trajectories", "2", "--output", f"{tmp_path}/out.h5"]
    for options in (["none"], ["none", "--scratch", str(tmp_path)], ["phi", "--spacing", "none,none"]):
        assert main(["elements", f"{given}:{options[0]}", *options[1:]]) == 2
        assert "field.h5:none is empty" in capsys.readouterr().err
    assert main(["elements", f"{given}:phi", "--along", "none", *beside]) == 2
    assert "field.h5:none is empty" in capsys.readouterr().err
    image(tmp_path / "flow.vtkhdf", product(X, Y, Z), "PointData")
    with h5py.File(tmp_path / "flow.vtkhdf", "a") as file:
        file["VTKHDF/PointData/none"] = h5py.Empty("f8")
    assert main(["elements", f"{tmp_path}/flow.vtkhdf:none"]) == 2
    assert "flow.vtkhdf:none is empty" in capsys.readouterr().err


def test_data_sets_of_other_kinds_are_refused_with_scratch_as_without(tmp_path):
    with h5py.File(tmp_path / "field.h5", "w") as file:
        kinds = {"empty": h5py.Empty("f8"), "text": "text", "number": 3.0, "wave": np.exp(1j * X), "truth": X > 1}
        for name, values in kinds.items():
            file[name] = values
        for name in kinds:
            for scratch in (None, tmp_path):
                with pytest.raises(nf.ModelError, match=r"^the field (is empty|is complex|holds|has 0 axes)"):
                    nf.elements(file[name], scratch=scratch)


def test_a_scratch_folder_that_cannot_be_made_is_what_is_refused(tmp_path, capsys):
    np.save(tmp_path / "f.npy", product(X, Y))
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["phi"] = product(X, Y)
    (tmp_path / "file").write_text("")
    for given in ("f.npy", "f.h5:phi"):
        scratch = tmp_path / "file" / "x"
        assert main(["elements", f"{tmp_path}/{given}", "--memory", "1kB", "--scratch", str(scratch)]) == 2
        assert capsys.readouterr().err.startswith(f"error: {scratch}: files cannot be kept there")


def test_other_files_than_those_of_elements_are_refused_once(tmp_path):
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(nf.ModelError) as refused:
        nf.open_elements(tmp_path / "text.h5")
    assert str(refused.value).count("text.h5") == 1 and "does not begin like one" in str(refused.value)
