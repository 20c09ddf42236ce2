"""The HDF5 file that joins the files of several domains by virtual data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.committed import CommittedFile
from nearfield.formats.description import FieldDescription
from nearfield.formats.hdf5 import CREATED, EXTENDED, write_arrays, write_heading
from nearfield.formats.hdf5_checks import write_text
from nearfield.formats.pieced import box_at


def write_joined(
    file: ClaimedFile, description: FieldDescription, parts: list[dict[str, Any]], status: str, length: int | None
) -> None:
    """Write virtual arrays over the parts into an empty file: of fixed length, or (None) growing with them."""

    def add_moments(name: str, kind: str) -> None:
        part = next(p for p in parts if name == "step" or name in description.part(p["boxes"]).time_dims)
        _join_moments(joined, name, kind, file.path.parent, part["file"], length)

    raw = CommittedFile(file)
    h5py.File(raw, "w", **CREATED).close()
    with h5py.File(raw, "r+", **EXTENDED) as joined:
        write_heading(joined, description, status)
        write_text(joined, "parts", json.dumps(parts))
        write_arrays(
            joined, description, add_moments, lambda name: _join_component(joined, description, name, parts, length)
        )
        if "VTKHDF" in joined and length is not None:
            joined["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(length))
    raw.commit()


def _join_moments(joined: h5py.File, name: str, kind: str, folder: Path, part: str, length: int | None) -> None:
    """Take steps or times from a part that has them."""
    if length is not None:
        with h5py.File(folder / part, "r") as one:
            joined.create_dataset(name, data=one[name][:length])
    else:
        layout = h5py.VirtualLayout((1,), kind, (None,))
        source = h5py.VirtualSource(part, name, (1,), kind, (None,))
        layout[0 : h5py.h5s.UNLIMITED] = source[0 : h5py.h5s.UNLIMITED]
        joined.create_virtual_dataset(name, layout)


def _join_component(
    joined: h5py.File, description: FieldDescription, name: str, parts: list[dict[str, Any]], length: int | None
) -> None:
    order, dtype = description.order, description.dtype
    shape = description.components[name].shape[::order]
    growing = length is None
    count, end = (1, h5py.h5s.UNLIMITED) if growing else (length, length)  # a growing one takes its parts' length
    layout = h5py.VirtualLayout((count, *shape), dtype, (None, *shape) if growing else None)
    for part in parts:
        if name not in part["boxes"] or length == 0:
            continue
        offset, extent = (tuple(values[::order]) for values in part["boxes"][name])
        most = (None, *extent) if growing else None
        source = h5py.VirtualSource(part["file"], name, (count, *extent), dtype, most)
        layout[(slice(0, end), *box_at(offset, extent).slices())] = source[(slice(0, end), *map(slice, extent))]
    joined.create_virtual_dataset(name, layout, fillvalue=np.nan)
