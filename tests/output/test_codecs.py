"""Codecs: what leaves a compressor is what HDF5's own filters undo, and an error bound holds for every number."""

from __future__ import annotations

import subprocess
import sys

import h5py
import numpy as np
import pytest
from fields_made import at_points, blocks, bytes_of, storage, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.errors import ModelError
from nearfield.formats.bounds import SMALLEST, Bound
from nearfield.formats.codecs import Codec
from nearfield.formats.opening import open_field_file

CODECS = ("none", "zlib", "zstd", "zstd:9", "lz4", "bitshuffle")
TYPES = ("f2", "f4", "f8")


def written(path, description, values, threads=1):
    with open_field_file(path, description, threads) as file:
        for block in blocks(description, values):
            file.write(block)
    return path


@pytest.mark.parametrize("precision", ["half", "single", "double"])
@pytest.mark.parametrize("codec", CODECS)
def test_hdf5_itself_reads_every_codec_back_to_the_bit(codec, precision, tmp_path):
    import hdf5plugin  # noqa: F401  - its filters are what a reader has

    description = at_points(**storage("hdf5", codec, precision=precision))
    values = values_of(description)
    with h5py.File(written(tmp_path / "fields.h5", description, values, threads=2)) as file:
        for name, wanted in values.items():
            assert file[name].dtype == wanted.dtype and np.array_equal(file[name][()], wanted)


def test_zlib_needs_no_plugin_to_write_or_read(tmp_path):
    code = "import sys; sys.modules['hdf5plugin'] = None; from fields_made import *; import h5py; "
    code += "from test_codecs import written; d = at_points(**storage('hdf5', 'zlib')); v = values_of(d); "
    code += f"f = h5py.File(written({str(tmp_path / 'fields.h5')!r}, d, v)); assert (f['Ez'][()] == v['Ez']).all()"
    done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rsplit("/", 1)[0], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("codec", ["zstd", "lz4", "bitshuffle"])
def test_a_codec_that_is_not_installed_is_refused_before_anything_is_written(codec, tmp_path):
    code = f"""
import sys; sys.modules['hdf5plugin'] = None
from fields_made import *
from nearfield.entry.errors import ModelError
from nearfield.formats.opening import open_field_file
from nearfield.entry.constants import VACUUM_IMPEDANCE
try:
    open_field_file({str(tmp_path / "new" / "fields.h5")!r}, at_points(**storage('hdf5', {codec!r})))
except ModelError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rsplit("/", 1)[0], capture_output=True, text=True)
    assert "hdf5plugin" in done.stdout and "nearfield[codecs]" in done.stdout, done.stderr
    assert not (tmp_path / "new").exists()


def test_a_codec_that_is_not_installed_is_named_by_who_reads(tmp_path):
    description = at_points(**storage("hdf5", "zstd"))
    path = written(tmp_path / "fields.h5", description, values_of(description))
    code = f"""
import sys; sys.modules['hdf5plugin'] = None
from nearfield.formats.reading import open_fields
open_fields({str(path)!r})["Ez"].values
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "codec 'zstd' needs hdf5plugin; install it" in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("text", ["gzip", "zlib:0", "zlib:10", "zstd:x", "zstd:23", "lz4:1", "none:1", "zlib:", ""])
def test_codecs_and_levels_that_are_not_there_are_refused(text):
    with pytest.raises(ModelError, match="codec"):
        Codec.parse(text)


@pytest.mark.parametrize("text", ["none", "zlib:4", "zstd:3", "lz4", "bitshuffle"])
def test_a_codec_is_written_as_it_is_read(text):
    assert str(Codec.parse(text)) == text


@pytest.mark.parametrize("type_", TYPES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_number_moves_by_more_than_the_absolute_bound(type_, data):
    values = data.draw(arrays(type_.replace("f", "u"), 8)).view(type_)  # every pattern of bits is a number or none
    bound = data.draw(st.floats(SMALLEST, 1e6))
    found = Bound(absolute=bound).applied(values)
    assert found.dtype == values.dtype
    finite = np.isfinite(values)
    assert np.array_equal(found[~finite], values[~finite], equal_nan=True)
    assert (np.abs(found[finite].astype("f8") - values[finite].astype("f8")) <= bound).all()


@pytest.mark.parametrize("type_", TYPES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_number_moves_by_more_than_the_relative_bound(type_, data):
    values = data.draw(arrays(type_.replace("f", "u"), 8)).view(type_)  # every pattern of bits is a number or none
    bound = data.draw(st.floats(1e-12, 0.49))
    found = Bound(relative=bound).applied(values)
    assert found.dtype == values.dtype
    finite = np.isfinite(values)
    assert np.array_equal(found[~finite], values[~finite], equal_nan=True)
    wide = np.longdouble  # the bound times the smallest doubles vanishes in double precision
    found, values = found[finite].astype(wide), values[finite].astype(wide)
    assert (np.abs(found - values) <= wide(bound) * np.abs(values)).all()


@pytest.mark.parametrize("bound", [Bound(absolute=1e-3), Bound(relative=1e-3)], ids=str)
def test_a_bound_makes_the_file_smaller_and_is_kept_in_it(bound, tmp_path):
    whole = at_points(shape=(20, 20, 20), **storage("hdf5", "zlib"))
    rounded = at_points(shape=(20, 20, 20), **storage("hdf5", "zlib", bound=bound))
    values = values_of(whole)
    exact, lossy = (written(tmp_path / f"{n}.h5", d, values) for n, d in enumerate((whole, rounded)))
    assert bytes_of(lossy) < 0.8 * bytes_of(exact)  # at most 18 of 23 mantissa bits are left, 9 with a relative one
    with h5py.File(lossy) as file:
        kind = "absolute" if bound.absolute else "relative"
        assert file["Ez"].attrs[f"{kind}_error_bound"] == 1e-3
        for name, allowed in (("Ez", 1e-3), ("Hx", 1e-3 / VACUUM_IMPEDANCE)):
            error = np.abs(file[name][()] - values[name])
            assert 0 < error.max() and (error <= (allowed if bound.absolute else 1e-3 * np.abs(values[name]))).all()


@pytest.mark.parametrize(
    "given", [{}, {"absolute": 1.0, "relative": 0.1}, {"absolute": 0.0}, {"relative": 0.5}, {"absolute": float("nan")}]
)
def test_bounds_that_mean_nothing_are_refused(given):
    with pytest.raises(ModelError, match="error bound"):
        Bound(**given)
