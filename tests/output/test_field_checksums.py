"""Numbers of a damaged field file are refused: none is shown that was not written."""

from __future__ import annotations

import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from fields_made import at_points, blocks, staggered, storage, values_of

from nearfield import _core
from nearfield.entry.errors import ModelError
from nearfield.formats import binary
from nearfield.formats.checked_pieces import PIECE, Gathered, piece_checksums, runs_of, sealed, unsealed
from nearfield.formats.description import Block, FieldDescription, of_points
from nearfield.formats.hdf5_checks import CHECKSUMS, OF_TEXT
from nearfield.formats.layout import DomainFiles, part_path
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import stored_fields

KINDS = [("hdf5", "none"), ("hdf5", "zlib"), ("vtkhdf", "none"), ("binary", "none"), ("ascii", "none")]
Everything = tuple[dict[str, np.ndarray], np.ndarray, dict[str, np.ndarray]]


def written(path: Path, description: FieldDescription) -> Everything:
    with open_field_file(path, description) as file:
        for block in blocks(description, values_of(description)):
            file.write(block)
            file.flush()
    return everything(path)


def everything(path: Path) -> Everything:
    """All numbers of a file. Error: `ModelError`."""
    stored = stored_fields(path)
    return {name: np.array(array[:]) for name, array in stored.arrays.items()}, stored.steps, stored.times


def equal(one: Everything, other: Everything) -> bool:
    pairs = [(one[0], other[0]), ({"": one[1]}, {"": other[1]}), (one[2], other[2])]
    return all(a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a) for a, b in pairs)


@pytest.mark.parametrize("kind, codec", KINDS)
def test_a_changed_bit_anywhere_changes_no_number_that_is_shown(kind, codec, tmp_path):
    path, draw = tmp_path / "fields", random.Random(3)
    wanted = written(path, at_points(3, **storage(kind, codec)))
    whole, refused = path.read_bytes(), 0
    for place in draw.sample(range(len(whole)), 80):
        content = bytearray(whole)
        content[place] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        try:
            found = everything(path)
        except ModelError:
            refused += 1
        else:
            assert equal(found, wanted), f"byte {place} of {len(whole)}"
    assert refused > 10


@pytest.mark.parametrize("place", [0, 4, 8, 16])
@pytest.mark.parametrize("count", [8, 64])
def test_a_damaged_heap_of_texts_is_refused_at_once(place, count, tmp_path):
    """It has no checksum of HDF5's, which read it without end where sizes of objects in it were zero."""
    path = tmp_path / "fields"
    written(path, at_points(3, **storage("hdf5")))
    content = bytearray(path.read_bytes())
    at = content.index(b"GCOL") + place
    content[at : at + count] = bytes(count)
    path.write_bytes(content)
    with pytest.raises(ModelError, match="damaged at its description"):
        everything(path)


@pytest.mark.parametrize("kind", ["hdf5", "binary"])
def test_a_part_is_verified_by_itself(kind, tmp_path):
    """A run of 64 KiB is what a small part takes: damage elsewhere is found by who reads there."""
    lines = tuple(np.arange(n) * 1e-3 for n in (40, 30, 80))
    description = of_points(lines, 2, ("Ez",), **storage(kind))
    path, values = tmp_path / "fields", values_of(description)
    written(path, description)
    content, sample = path.read_bytes(), values["Ez"][1, 35, 20, 70]
    assert content.count(sample.tobytes()) == 1
    place = content.index(sample.tobytes())
    path.write_bytes(content[:place] + b"\0\0\0\0" + content[place + 4 :])
    ez = stored_fields(path).arrays["Ez"]
    assert np.array_equal(ez[0], values["Ez"][0]) and np.array_equal(ez[1, :20, :, ::2], values["Ez"][1, :20, :, ::2])
    for key in (1, (1, 35, 20, 70), (slice(None), slice(None, None, 5), 20, 3)):
        with pytest.raises(ModelError, match=r"is damaged at Ez of snapshot 1: .*their checksum differs"):
            ez[key]


@pytest.mark.parametrize("kind, codec", [("hdf5", "none"), ("hdf5", "zlib"), ("binary", "none")])
def test_files_of_domains_are_verified_through_the_one_that_joins_them(kind, codec, tmp_path):
    description, _ = staggered(3, **storage(kind, codec))
    whole = {name: item.shape for name, item in description.components.items()}
    parts = [
        {n: ((0, 0, 0), (2, *shape[1:])) for n, shape in whole.items()},
        {n: ((2, 0, 0), (shape[0] - 2, *shape[1:])) for n, shape in whole.items()},
    ]
    path, values = tmp_path / "fields.h5", values_of(description)
    with DomainFiles(path, description, parts) as file:
        for block in blocks(description, values, cut=1):
            file.write(block)
    assert np.array_equal(stored_fields(path).arrays["Hy"][:], values["Hy"])
    part = part_path(path, 1)
    wanted, content = values["Hy"][2, 2:], part.read_bytes()
    if codec == "none":
        place = content.index(np.ascontiguousarray(wanted).tobytes())
    else:
        with h5py.File(part) as one:
            place = one["Hy"].id.get_chunk_info_by_coord((2, 0, 0, 0)).byte_offset + 30
    part.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert np.array_equal(stored_fields(path).arrays["Hy"][:2], values["Hy"][:2])
    with pytest.raises(ModelError, match=r"fields\.d1\.h5 is damaged at Hy of snapshot 2"):
        stored_fields(path).arrays["Hy"][2]


def test_a_file_that_is_gone_on_with_is_verified_as_a_whole(tmp_path):
    description = at_points(5)
    values = values_of(description)
    for kind in ("hdf5", "binary", "ascii"):
        path, told = tmp_path / kind, at_points(5, **storage(kind))
        written(path, told)
        with open_field_file(path, told, keep=2) as file:
            for block in blocks(told, values, first=2):
                file.write(block)
        assert all(np.array_equal(stored_fields(path).arrays[name][:], values[name]) for name in values)


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        *(("hdf5", mark) for mark in (b"\x89HDF", b"nearfield", b"GCOL", b'"components"')),
        ("binary", b'"components"'),
        ("ascii", b'"components"'),
    ],
)
def test_a_damaged_file_that_is_to_be_gone_on_with_is_refused_in_words(kind, mark, tmp_path):
    """Read through HDF5, a damaged description was a traceback, or a loop without end."""
    path, description = tmp_path / kind, at_points(3, **storage(kind))
    written(path, description)
    content = path.read_bytes()
    path.write_bytes(content.replace(mark, b"\xff\0\0\0" + mark[4:], 1))
    with pytest.raises(ModelError, match=r"damaged|no field file|cannot be read"):
        open_field_file(path, description, keep=2)
    assert path.read_bytes() == content.replace(mark, b"\xff\0\0\0" + mark[4:], 1)


def test_damage_behind_the_snapshots_that_are_kept_does_not_keep_a_run_from_going_on(tmp_path):
    """After a power cut the last commits that nobody settled may hold anything."""
    path, description = tmp_path / "fields.h5", at_points(4)
    wanted = written(path, description)
    with h5py.File(path, "r+", libver=("v110", "latest")) as file:
        file["step"][2:] = 77
    with pytest.raises(ModelError, match="damaged at step and time of snapshot 2"):
        open_field_file(path, description, keep=3)
    with open_field_file(path, description, keep=2) as file:
        for block in blocks(description, values_of(description), first=2):
            file.write(block)
    assert equal(everything(path), wanted)


def test_files_without_checksums_are_read_and_gone_on_with(tmp_path):
    path, description = tmp_path / "fields.h5", at_points(3)
    wanted = written(path, description)
    with h5py.File(path, "r+", libver=("v110", "latest")) as file:
        del file[CHECKSUMS], file["description"].attrs[OF_TEXT]
    assert equal(everything(path), wanted)
    with open_field_file(path, description, keep=1) as file:
        for block in blocks(description, values_of(description), first=1):
            file.write(block)
    assert equal(everything(path), wanted)


def test_binary_files_of_version_1_are_read_and_not_gone_on_with(tmp_path):
    path, description = tmp_path / "fields.bin", at_points(2, format="binary")
    wanted = written(path, description)
    record, begin = binary.record_type(description), binary.read_header(path)[3]
    table = np.memmap(path, record, "r", begin, (2,))
    old = np.zeros(2, binary.record_type(description, binary.UNCHECKED))
    for name in old.dtype.names:
        old[name] = table[name]
    head = bytearray(path.read_bytes()[:begin])
    head[8] = binary.UNCHECKED
    path.write_bytes(bytes(head) + old.tobytes())
    assert equal(everything(path), wanted)
    with pytest.raises(ModelError, match="wrote no checksums; run from the start"):
        open_field_file(path, description, keep=1)


def test_checksums_of_pieces_are_those_of_each_piece():
    draw = np.random.default_rng(2)
    for count in (1, 7, 8, PIECE, 4 * PIECE, 4 * PIECE + 5, 9 * PIECE - 3):
        data = draw.integers(0, 256, count).astype(np.uint8)
        wanted = [_core.stream.crc32c(data[at : at + PIECE]) for at in range(0, count, PIECE)]
        assert piece_checksums(data).tolist() == wanted
        made, at = Gathered(count), 0
        while at < count:
            some = int(draw.integers(1, 2 * PIECE))
            made.add(data[at : at + some])
            at += some
        assert made.found.tolist() == wanted
    with pytest.raises(ValueError, match="a multiple of 8"):
        piece_checksums(np.zeros(8, np.uint8), 12)


def test_runs_of_pieces_hold_all_wanted_samples_and_few_others():
    shape, wanted = (9, 50, 300), [np.arange(2, 6), np.arange(10, 12), np.arange(0, 300, 7)]
    flat = ((wanted[0][:, None, None] * 50 + wanted[1][:, None]) * 300 + wanted[2]).ravel() * 4
    inside = {piece for first, last in runs_of(shape, 4, wanted) for piece in range(first, last)}
    assert inside == set((flat // PIECE).tolist())


def test_a_sealed_text_is_json_of_the_same_and_refused_when_changed():
    text = '{"a": [1, 2.5], "b": {"c": 3}}'
    assert unsealed(sealed(text) + "   ") == text == unsealed(text)
    with pytest.raises(ValueError, match="checksum"):
        unsealed(sealed(text).replace("2.5", "2.6"))


def test_a_status_that_no_writer_writes_is_refused(tmp_path):
    path = tmp_path / "fields.bin"
    with open_field_file(path, at_points(1, format="binary")) as file:
        file.write(Block("Ex", 0, 0, 0.0, np.zeros((5, 4, 6), np.float32)))
        with pytest.raises(ValueError):
            file.write(Block("Ex", 7, 0, 0.0, np.zeros((5, 4, 6), np.float32)))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"interrupted", b"interrubted", 1))
    with pytest.raises(ModelError, match="is damaged at its status"):
        stored_fields(path)
