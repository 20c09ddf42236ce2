"""The HDF5 file that joins the files of several domains by virtual datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.committed import CommittedFile
from nearfield.formats.description import FieldDescription
from nearfield.formats.hdf5 import CREATED, EXTENDED, write_component_labels, write_heading


def write_joined(
    file: ClaimedFile, description: FieldDescription, parts: list[dict[str, Any]], status: str, length: int | None
) -> None:
    """Write into an empty file what joins the parts: of fixed length, or (None) growing with them."""
    raw = CommittedFile(file)
    h5py.File(raw, "w", **CREATED).close()
    with h5py.File(raw, "r+", **EXTENDED) as joined:
        write_heading(joined, description, status)
        joined["parts"] = json.dumps(parts)
        folder = file.path.parent
        for name in ("step", *description.time_dims):
            holds = [part for part in parts if name == "step" or name in description.part(part["boxes"]).time_dims]
            _join_moments(joined, name, folder, holds[0], length)
        for dim in (*description.coordinates, *description.time_dims):
            joined[dim].make_scale(dim)
        for name in description.components:
            _join_component(joined, description, name, parts, length)
            write_component_labels(joined, description, name)
        if description.format == "vtkhdf":
            from nearfield.formats.paraview import write_vtkhdf_group

            write_vtkhdf_group(joined, description)
            if "VTKHDF" in joined and length is not None:
                joined["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(length))
    raw.commit()


def _join_moments(joined: h5py.File, name: str, folder: Path, part: dict[str, Any], length: int | None) -> None:
    """Steps or times: those of a part that has them."""
    kind, units = ("i8", "") if name == "step" else ("f8", "s")
    if length is not None:
        with h5py.File(folder / part["file"], "r") as one:
            joined.create_dataset(name, data=one[name][:length])
    else:
        layout = h5py.VirtualLayout((1,), kind, (None,))
        source = h5py.VirtualSource(part["file"], name, (1,), kind, (None,))
        layout[0 : h5py.h5s.UNLIMITED] = source[0 : h5py.h5s.UNLIMITED]
        joined.create_virtual_dataset(name, layout)
    joined[name].attrs.update(units=units, dims=json.dumps([name]))


def _join_component(
    joined: h5py.File, description: FieldDescription, name: str, parts: list[dict[str, Any]], length: int | None
) -> None:
    order = -1 if description.format == "vtkhdf" else 1
    shape = description.components[name].shape[::order]
    growing = length is None
    count, end = (1, h5py.h5s.UNLIMITED) if growing else (length, length)  # a growing one takes its parts' length
    layout = h5py.VirtualLayout((count, *shape), description.dtype, (None, *shape) if growing else None)
    for part in parts:
        if name not in part["boxes"] or length == 0:
            continue
        offset, extent = (tuple(values[::order]) for values in part["boxes"][name])
        source = h5py.VirtualSource(
            part["file"], name, (count, *extent), description.dtype, (None, *extent) if growing else None
        )
        box = tuple(slice(first, first + count) for first, count in zip(offset, extent))
        layout[(slice(0, end), *box)] = source[(slice(0, end), *(slice(0, count) for count in extent))]
    joined.create_virtual_dataset(name, layout, fillvalue=np.nan)
