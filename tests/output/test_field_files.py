"""Field files give back what was written, tell the truth about how they stand, and have one writer."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import tempfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from fields_made import TIME_STEP, at_points, blocks, bytes_of, left_by_a_killed_writer, staggered, storage, values_of

from nearfield.analysis.fields import FieldResult
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats import description as described
from nearfield.formats.ascii import NUMBERS
from nearfield.formats.description import Block, FieldDescription, of_points
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import ABANDONED, open_fields, stored_fields

EVERY = [("hdf5", "none"), ("hdf5", "zlib"), ("vtkhdf", "none"), ("binary", "none"), ("ascii", "none")]
PRECISIONS = ["half", "single", "double"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("format, codec", EVERY)
def test_every_format_gives_back_every_sample(format, codec, precision, tmp_path):
    if (format, precision) == ("vtkhdf", "half"):
        with pytest.raises(ModelError, match="half"):
            at_points(**storage(format, codec, precision=precision))
        return
    description = at_points(**storage(format, codec, precision=precision, attributes={"monitor": "box"}))
    values = values_of(description)
    with open_field_file(tmp_path / "fields", description, threads=2) as file:
        for block in blocks(description, values):
            file.write(block)
    found = open_fields(tmp_path / "fields")
    assert found.status == "complete" and found.monitor == "box" and found.committed == found.planned == 4
    assert list(found.step) == [0, 10, 20, 30] and np.allclose(found.time_half - found.time.values, TIME_STEP / 2)
    for name, wanted in values.items():
        assert found[name].dtype == wanted.dtype and found[name].dims[1:] == ("x", "y", "z")
        assert np.array_equal(found[name], wanted)
        assert np.array_equal(found[name][1:3, ::-2, 2, -1], wanted[1:3, ::-2, 2, -1])
        assert np.array_equal(found[name][-1, :, 1:2], wanted[-1, :, 1:2])
    assert found.x.units == "m" and found.time.units == "s" and found.Ex.units == "V/m" and found.Hx.units == "A/m"


@pytest.mark.parametrize("format", ["hdf5", "binary"])
def test_components_on_their_own_positions_come_back_as_a_field_result(format, tmp_path):
    description, regions = staggered(**storage(format))
    values = values_of(description)
    with open_field_file(tmp_path / "fields", description) as file:
        for block in blocks(description, values):
            file.write(block)
    field = FieldResult(stored_fields(tmp_path / "fields").variables())
    assert np.array_equal(field["Ex"], values["Ex"]) and field["Ex"].shape[1:] == regions["Ex"].shape
    assert np.allclose(field["Ex"].x, [2e-3, 3.5e-3, 5.5e-3])  # midway between the grid's lines
    assert field.collocated()["Hz"].shape == (4, 3, 3, 5)


@pytest.mark.parametrize("format", ["ascii", "vtkhdf"])
def test_tables_refuse_components_on_their_own_positions(format):
    with pytest.raises(ModelError, match="same points"):
        staggered(**storage(format))


@pytest.mark.parametrize("format", ["hdf5", "vtkhdf", "binary", "ascii"])
def test_blocks_of_any_cut_fill_chunks_of_any_cut(format, tmp_path, monkeypatch):
    monkeypatch.setattr(described, "PLAIN_CHUNK_BYTES", 200)  # chunks of two rows and less, which blocks cut
    description = at_points(1, shape=(5, 9, 6), **storage(format))
    values = values_of(description)
    cuts = ((0, 3, 5), (0, 1, 4, 9), (0, 5, 6))
    boxes = list(itertools.product(*(itertools.pairwise(cut) for cut in cuts)))
    np.random.default_rng(2).shuffle(boxes)
    with open_field_file(tmp_path / "fields", description, threads=2) as file:
        for name in description.components:
            for box in boxes:
                part = values[name][(0, *(slice(*span) for span in box))]
                file.write(Block(name, 0, 0, 0.0, part, tuple(first for first, _ in box)))
    found = open_fields(tmp_path / "fields")
    assert found.status == "complete"
    assert all(np.array_equal(found[name], wanted) for name, wanted in values.items())


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_running_file_can_be_read_and_says_that_it_runs(format, codec, tmp_path):
    path, description = tmp_path / "fields", at_points(**storage(format, codec))
    values = values_of(description)
    file = open_field_file(path, description)
    assert open_fields(path).status == "running" and open_fields(path).sizes["time"] == 0
    for number, block in enumerate(blocks(description, values)):
        file.write(block)
        if number == 2 * len(values):  # the first of the second snapshot
            assert file.flush() == 1
            assert open_fields(path).sizes["time"] == 1 and np.array_equal(open_fields(path).Hz[0], values["Hz"][0])
    assert open_fields(path).sizes["time"] == 1 and open_fields(path).status == "running"
    file.close()
    assert open_fields(path).sizes["time"] == 4 and open_fields(path).status == "complete"


def test_a_reader_never_stumbles_over_a_writer_at_work(tmp_path):
    path, description = tmp_path / "fields", at_points(300, **storage())
    values = values_of(description)

    def write() -> None:
        with open_field_file(path, description) as file:
            for block in blocks(description, values):
                file.write(block)
                file.flush()

    writer = multiprocessing.get_context("fork").Process(target=write)
    writer.start()
    read = 0
    while writer.is_alive():
        if path.exists() and path.stat().st_size and (found := stored_fields(path)).steps.size:
            read += 1
            assert np.array_equal(found.arrays["Hz"][len(found.steps) - 1], values["Hz"][len(found.steps) - 1])
    assert writer.exitcode == 0 and read and len(stored_fields(path).steps) == 300


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_run_that_ends_early_leaves_whole_snapshots_and_says_why(format, codec, tmp_path):
    path, description = tmp_path / "fields", at_points(**storage(format, codec))
    values, whole = values_of(description), 12 * 2
    with pytest.raises(KeyboardInterrupt), open_field_file(path, description) as file:
        for number, block in enumerate(blocks(description, values)):
            file.write(block)
            if number == whole:
                raise KeyboardInterrupt
    found = open_fields(path)
    assert found.status == "interrupted: KeyboardInterrupt" and found.sizes["time"] == 2
    assert np.array_equal(found.Hz, values["Hz"][:2])


@pytest.mark.parametrize("kind", ["hdf5", "binary", "ascii"])
def test_indices_may_run_backwards(kind, tmp_path):
    description = at_points(5, **storage(kind))
    path, values = tmp_path / kind, values_of(description)["Ez"]
    with open_field_file(path, description) as file:
        for block in blocks(description, values_of(description)):
            file.write(block)
    found, back = stored_fields(path).arrays["Ez"], slice(None, None, -1)
    for key in (back, (0, back, 1, slice(3, 0, -2)), (slice(3, 3, -1), back), (slice(-1, -9, -2), 2)):
        assert np.array_equal(found[key], values[key])


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_file_that_lacks_samples_is_never_complete(format, codec, tmp_path):
    description = at_points(1, **storage(format, codec))
    file = open_field_file(tmp_path / "fields", description)
    file.write(next(blocks(description, values_of(description))))
    file.close()
    assert open_fields(tmp_path / "fields").status == "interrupted: snapshot 0 lacks samples"


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_resumed_file_keeps_its_first_snapshots_and_equals_one_written_at_once(format, codec, tmp_path):
    path, description = tmp_path / "fields", at_points(6, **storage(format, codec))
    values = values_of(description)
    other = {name: np.concatenate([wanted[:2], 2 * wanted[2:]]) for name, wanted in values.items()}
    file = open_field_file(path, description)
    for block in blocks(description, other):
        file.write(block)
        if block.snapshot == 4:
            break
    file.close(complete=False)
    assert open_fields(path).sizes["time"] == 4
    with open_field_file(path, description, keep=2) as file:
        assert open_fields(path).sizes["time"] == 2 and open_fields(path).status == "running"
        for block in blocks(description, values, first=2):
            file.write(block)
            file.flush()
    found = open_fields(path)
    assert found.status == "complete" and list(found.step) == [0, 10, 20, 30, 40, 50]
    assert all(np.array_equal(found[name], wanted) for name, wanted in values.items())


def test_a_file_of_other_fields_is_not_gone_on_with(tmp_path):
    open_field_file(tmp_path / "fields", at_points()).close(complete=False)
    with pytest.raises(ModelError, match="other fields"):
        open_field_file(tmp_path / "fields", at_points(shape=(5, 4, 7)), keep=0)


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_second_writer_is_refused_and_disturbs_nothing(format, codec, tmp_path):
    path, description = tmp_path / "fields", at_points(1, **storage(format, codec))
    values = values_of(description)
    with open_field_file(path, description) as file:
        for keep in (None, 0):
            with pytest.raises(ModelError, match="being written by another run"):
                open_field_file(path, description, keep=keep)
        for block in blocks(description, values):
            file.write(block)
    assert open_fields(path).status == "complete" and np.array_equal(open_fields(path).Ex, values["Ex"])
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == ["fields"]


def test_an_old_file_is_replaced_only_when_the_new_one_can_be_opened(tmp_path):
    path, description = tmp_path / "fields", at_points(1)
    for scale in (1.0, 3.0):
        values = values_of(description, scale)
        with open_field_file(path, description) as file:
            for block in blocks(description, values):
                file.write(block)
        assert np.array_equal(open_fields(path).Ex, values["Ex"])


def test_a_folder_that_cannot_be_written_is_refused_at_once():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)  # root writes anywhere
            with pytest.raises(ModelError, match="cannot be written"):
                open_field_file(Path(folder) / "fields", at_points())
        finally:
            os.seteuid(user)
            os.chmod(folder, 0o755)


@pytest.mark.parametrize("format, codec", EVERY)
def test_a_writer_that_vanished_is_told_from_one_that_lives(format, codec, tmp_path):
    path, description = tmp_path / "fields", at_points(**storage(format, codec))
    left_by_a_killed_writer(path, description, flushed=2)
    found = open_fields(path)
    assert found.status == ABANDONED and found.sizes["time"] == 2
    assert np.array_equal(found.Hz, values_of(description)["Hz"][:2])


def test_half_precision_tells_what_is_too_large_by_infinity(tmp_path):
    description = at_points(1, **storage("binary", precision="half"))
    with open_field_file(tmp_path / "fields", description) as file:
        for name, component in description.components.items():
            file.write(Block(name, 0, 0, 0.0, np.full(component.shape, 1e6)))
    assert np.isinf(open_fields(tmp_path / "fields").Ex).all()


def test_text_has_a_line_a_point_with_coordinates_and_all_components(tmp_path):
    description = of_points((np.array([1e-3, 2e-3]), np.array([0.5]), np.array([0.0, 1.0 / 3])), 2, format="ascii")
    values = values_of(description)
    with open_field_file(tmp_path / "fields.txt", description) as file:
        for block in blocks(description, values, cut=1):
            file.write(block)
    table = np.loadtxt(tmp_path / "fields.txt")
    assert table.shape == (2 * 4, 9)
    places = [[1e-3, 0.5, 0], [1e-3, 0.5, 1 / 3], [2e-3, 0.5, 0], [2e-3, 0.5, 1 / 3]]
    assert np.allclose(table[:4, :3], places, rtol=1e-8)
    for column, name in enumerate(description.components, start=3):
        assert np.array_equal(table[:, column].astype("f4"), values[name].ravel())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_number_of_a_precision_fits_its_column_with_a_blank(precision):
    width, digits = NUMBERS[precision]
    type_ = {"half": np.float16, "single": np.float32, "double": np.float64}[precision]
    worst = [-np.finfo(type_).max, -np.finfo(type_).smallest_subnormal, np.nan, -np.inf]
    texts = [f"{float(number):{width}.{digits}e}" for number in worst]
    assert all(len(text) == width and text[0] == " " for text in texts)
    assert [type_(float(text)) for text in texts[:2]] == worst[:2]


def test_numpy_reads_a_binary_file_with_its_header_alone(tmp_path):
    import json

    description = at_points(**storage("binary"))
    values = values_of(description)
    with open_field_file(tmp_path / "fields.bin", description) as file:
        for block in blocks(description, values):
            file.write(block)
    content = (tmp_path / "fields.bin").read_bytes()
    begin, count = np.frombuffer(content, "<u4", 1, 12)[0], np.frombuffer(content, "<u8", 1, 16)[0]
    told = json.loads(content[224:begin])
    record = np.dtype([tuple(tuple(p) if isinstance(p, list) else p for p in field) for field in told["record"]])
    table = np.frombuffer(content, record, count, begin)
    assert np.array_equal(table["Hy"], values["Hy"]) and list(table["step"]) == [0, 10, 20, 30]


def test_plain_hdf5_finds_names_dims_and_units(tmp_path):
    description, _ = staggered(**storage("hdf5", "zlib"))
    with open_field_file(tmp_path / "fields.h5", description) as file:
        for block in blocks(description, values_of(description)):
            file.write(block)
    with h5py.File(tmp_path / "fields.h5") as file:
        assert file.attrs["status"] == "complete" and file.attrs["fields_version"] == 1
        assert [dim.label for dim in file["Hx"].dims] == ["time_half", "x", "y_half", "z_half"]
        assert np.array_equal(file["Hx"].dims[1][0], description.coordinates["x"])
        assert file["Hx"].attrs["units"] == "A/m"


@pytest.mark.parametrize(
    "wrong",
    [
        {"component": "Q"},
        {"offset": (4, 0, 0)},
        {"offset": (-1, 0, 0)},
        {"snapshot": 4},
        {"snapshot": -1},
    ],
)
def test_blocks_that_do_not_fit_are_refused(wrong, tmp_path):
    description = at_points()
    block = next(blocks(description, values_of(description)))
    with pytest.raises(ValueError), open_field_file(tmp_path / "fields", description) as file:
        file.write(Block(**{**vars(block), **wrong}))


def test_a_description_survives_its_json():
    description, _ = staggered(**storage("hdf5", "zstd:7", precision="double", title="box"))
    again = FieldDescription.from_json(description.to_json())
    assert again.to_json() == description.to_json()
    assert np.array_equal(again.coordinates["x"], description.coordinates["x"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text\n",
        b"NFFIELDS",
        b"# nearfield fields 1\n",
        b"\x89HDF\r\n\x1a\n\0",
        b'{"nearfield_field_parts": 1',
    ],
)
def test_what_is_no_field_file_is_refused_in_one_message(content, tmp_path):
    (tmp_path / "fields").write_bytes(content)
    with pytest.raises(ModelError, match="fields cannot be read"):
        stored_fields(tmp_path / "fields")
    with pytest.raises(ModelError, match="cannot be read"):
        stored_fields(tmp_path / "absent")


def test_what_is_left_of_a_failed_write_is_not_written_to_again(tmp_path):
    file = open_field_file(tmp_path / "fields", at_points())
    file.close(complete=False)
    with pytest.raises(ValueError, match="closed"):
        file.flush()
    assert bytes_of(tmp_path / "fields") > 0 and not isinstance(RunFailed("x"), ModelError)
