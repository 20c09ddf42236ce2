"""What is written past the page cache is what was given, wherever it begins and ends, and in its order."""

from __future__ import annotations

import mmap
import os

import numpy as np
import pytest

from nearfield.formats import direct
from nearfield.formats.direct import PAGE, DirectWriter, write_all
from nearfield.formats.pieced import Pieced


@pytest.fixture
def file(tmp_path):
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def written(file: int, writes: list[tuple[int, memoryview]]) -> bytes:
    writer, expected = DirectWriter(file), bytearray(max(at + len(content) for at, content in writes))
    for at, content in writes:
        if not writer.write(at, content):
            write_all(file, at, content)
        expected[at : at + len(content)] = content
    writer.flush()
    writer.close()
    assert os.pread(file, len(expected) + 1, 0) == bytes(expected)
    return bytes(expected)


def test_runs_of_any_lengths_come_out_as_they_went_in(file, monkeypatch):
    monkeypatch.setattr(direct, "PART", 2 * PAGE)
    monkeypatch.setattr(direct, "LEAST", 100)
    rng = np.random.default_rng(3)
    at, writes = 0, []
    for _ in range(200):
        content = rng.integers(0, 256, int(rng.choice([1, 99, 100, 4096, 5000, 30_000])), np.uint8)
        at = int(rng.choice([at, at, at, at + 3, at // 2]))  # most follow each other, some skip or overwrite
        writes.append((at, memoryview(content)))
        at += len(content)
    written(file, writes)


def test_memory_and_file_that_begin_at_pages_need_no_copy(file):
    memory = mmap.mmap(-1, 3 * direct.PART)
    np.frombuffer(memory, np.uint8)[:] = np.arange(3 * direct.PART) % 251
    assert direct.starts_page(memoryview(memory)) and not direct.starts_page(memoryview(memory)[8:])
    written(file, [(2 * PAGE, memoryview(memory)[:-5]), (3 * direct.PART + 2 * PAGE - 5, memoryview(memory)[-5:])])


def test_an_error_of_the_disk_comes_with_a_later_call(file, monkeypatch):
    monkeypatch.setattr(direct, "direct_descriptor", lambda descriptor: None)
    reading = os.open(f"/proc/self/fd/{file}", os.O_RDONLY)
    writer = DirectWriter(reading)
    content = memoryview(bytearray(direct.LEAST))
    assert writer.write(0, content)
    with pytest.raises(OSError):
        writer.flush()
    writer.flush()  # what was gathered is gone
    writer.close()
    os.close(reading)


def test_pieces_make_up_their_box_with_zeros_where_there_are_none():
    whole = np.arange(6 * 5 * 4, dtype=np.float32).reshape(6, 5, 4)
    pieces = [((0, 0, 0), whole[:2], 1), ((2, 0, 0), whole[2:, :3], 1), ((2, 3, 0), -whole[2:, 3:], -1)]
    found = Pieced(pieces, (7, 5, 4), whole.dtype)
    expected = np.concatenate((whole, np.zeros((1, 5, 4), np.float32)))
    np.testing.assert_array_equal(np.asarray(found), expected)
    np.testing.assert_array_equal(np.asarray(found[1:7, 2:4, 1:]), expected[1:7, 2:4, 1:])
    np.testing.assert_array_equal(np.asarray(found[1:7, 1:4, :][1:3, 1:, 1:3]), expected[2:4, 2:4, 1:3])


def test_a_box_within_one_piece_is_a_view_of_it():
    whole = np.ones((4, 3, 2))
    assert np.shares_memory(np.asarray(Pieced([((0, 0, 0), whole, 1)], (4, 3, 2), whole.dtype)[1:3, :, :]), whole)
