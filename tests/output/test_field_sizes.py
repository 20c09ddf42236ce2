"""Sizes are known before the run: to the byte where nothing is compressed, and never too small where something is."""

from __future__ import annotations

import numpy as np
import pytest
from fields_made import at_points, blocks, bytes_of, staggered, storage

from nearfield.entry.errors import ModelError
from nearfield.formats import description as described
from nearfield.formats import sizes
from nearfield.formats.bounds import Bound
from nearfield.formats.description import of_points
from nearfield.formats.opening import open_field_file
from nearfield.formats.sizes import PredictedSize, free_bytes, predicted_size, readable, refuse_full_disk


def size_of(tmp_path, description, flush_every: int = 1) -> int:
    """Bytes of the file when it is filled with numbers that no codec makes smaller."""
    rng = np.random.default_rng(3)
    word = np.dtype(f"i{description.dtype.itemsize}")
    values = {
        name: rng.integers(
            np.iinfo(word).min, np.iinfo(word).max, (description.snapshots, *item.shape), word, endpoint=True
        ).view(description.dtype)
        for name, item in description.components.items()
    }
    with open_field_file(tmp_path / "fields", description) as file:
        for number, block in enumerate(blocks(description, values)):
            file.write(block)
            if number % flush_every == 0:
                file.flush()
    return bytes_of(tmp_path / "fields")


@pytest.mark.parametrize("snapshots", [0, 1, 37])
@pytest.mark.parametrize("precision", ["half", "single", "double"])
@pytest.mark.parametrize("format", ["hdf5", "vtkhdf", "binary", "ascii"])
def test_the_size_of_an_uncompressed_file_is_known_to_the_byte(format, precision, snapshots, tmp_path):
    if (format, precision) == ("vtkhdf", "half"):
        return
    description = at_points(snapshots, **storage(format, precision=precision, title="box"))
    predicted = predicted_size(description)
    assert predicted.exact
    assert predicted.bytes == size_of(tmp_path, description, flush_every=1) == size_of(tmp_path, description, 1000)


def test_chunks_that_are_padded_count_too(tmp_path, monkeypatch):
    monkeypatch.setattr(described, "PLAIN_CHUNK_BYTES", 1 << 20)
    description = of_points((np.arange(23.0), np.arange(120.0), np.arange(130.0)), 2, ("Ez", "Hx"))
    assert description.chunk("Ez")[0] * 2 == 24  # two chunks, the second one plane short
    assert predicted_size(description) == PredictedSize(size_of(tmp_path, description), True)


@pytest.mark.slow
def test_the_size_of_a_long_file_is_known_to_the_byte(tmp_path):
    description = at_points(3000, (3, 2, 2))  # so many chunks that their index has blocks of blocks
    assert predicted_size(description) == PredictedSize(size_of(tmp_path, description, 5000), True)


def test_staggered_components_count_too(tmp_path):
    description, _ = staggered(5)
    assert predicted_size(description) == PredictedSize(size_of(tmp_path, description), True)


@pytest.mark.parametrize("codec", ["zlib", "zlib:9", "zstd", "zstd:19", "lz4", "bitshuffle"])
@pytest.mark.parametrize("precision", ["half", "single", "double"])
def test_a_compressed_file_is_never_larger_than_said(precision, codec, tmp_path):
    for shape, snapshots in (((5, 4, 6), 40), ((40, 40, 41), 2)):
        description = at_points(snapshots, shape, **storage("hdf5", codec, precision=precision))
        predicted = predicted_size(description)
        assert not predicted.exact and size_of(tmp_path, description) <= predicted.bytes
    assert predicted.bytes < 1.1 * 40 * 40 * 41 * 2 * 6 * description.dtype.itemsize


def test_an_error_bound_has_an_upper_bound_too(tmp_path):
    description = at_points(3, **storage("hdf5", bound=Bound(relative=1e-2)))
    assert not predicted_size(description).exact and size_of(tmp_path, description) <= predicted_size(description).bytes


def test_long_files_have_an_upper_bound_that_is_near(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "COUNTED_CHUNKS", 60)
    description = at_points(150)
    predicted, taken = predicted_size(description), size_of(tmp_path, description)
    assert not predicted.exact and taken <= predicted.bytes < taken + 150_000  # 40 bytes a chunk, moments


def test_a_disk_that_is_too_small_is_named_with_what_is_needed_and_free(tmp_path):
    free = free_bytes(tmp_path)
    refuse_full_disk(tmp_path, [PredictedSize(free // 4, True), PredictedSize(free // 4, False)])
    with pytest.raises(ModelError) as told:
        refuse_full_disk(tmp_path / "not" / "there", [PredictedSize(10 * free, True)], advice=", or --anyway")
    assert readable(10 * free) in str(told.value) and readable(free)[:2] in str(told.value)
    assert str(told.value).endswith("--output, or --anyway")


@pytest.mark.parametrize(
    "count, text",
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (12_345_678, "12.3 MB"),
        (10**12, "1 TB"),
        (10**19, "1e+04 PB"),
    ],
)
def test_sizes_are_told_in_powers_of_1000(count, text):
    assert readable(count) == text
