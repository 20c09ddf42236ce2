"""One HDF5 file for each result, written beside its place and renamed: under its name there is always a whole file.

Layout (format 1); every data set has the attributes `units` and `dims`, and HDF5 dimension scales where it has axes:

    /                         attributes nearfield_version, format_version, status, title, conventions
    /model, /facts            the model as TOML text, the run facts as JSON text
    /grid/{x,y,z}             grid lines (m); attributes phases and mirrors of the axes as JSON text
    /media/<name>             attributes permittivity, permeability, conductivity ...
    /excitations/<name>       attribute source_end (s): when the last source is off
    /excitations/<name>/energy, /waveform, /ports/<port>, /monitors/<monitor>    groups of data sets
    /sparameters              sparameters (frequency, to, source) and its axes

Behind it lie checksums of every byte (`entry/hdf5_checksums.py`): damage is refused with the name of what was damaged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

import nearfield
from nearfield.entry import hdf5_checksums as checksums
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.json_data import json_data
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.records.records import ExcitationRecord, MonitorRecord, RunRecord, Variable, Variables

T = TypeVar("T")
FORMAT_VERSION = 1
ENDS = ("phases", "mirrors")  # of a grid: how its axes end
ADVICE = "give a result.h5 of Nearfield"
CONVENTIONS = (
    "SI units; exp(+j w t); F(f) = integral F(t) exp(-j 2 pi f t) dt of the run; theta from +z, phi from +x; "
    "a dim ending in _half lies midway between grid lines or time steps"
)


@dataclass(frozen=True)
class StoredArray:
    """An array in a result file: its shape and type now, its values when it is indexed."""

    path: str
    name: str
    shape: tuple[int, ...]
    dtype: Any

    def __getitem__(self, key: Any) -> np.ndarray:
        try:
            with checksums.opened(self.path, ADVICE) as file:
                data = checksums.verified(file[self.name])
                return (data.asstr() if h5py.check_string_dtype(data.dtype) else data)[key]
        except ModelError:
            raise
        except Exception as error:  # a damaged file makes h5py raise every kind
            raise ModelError(f"{self.path} is damaged at {self.name} ({error}); run its model again") from error

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self[()]
        values = values.astype(str) if values.dtype == object else values
        return values if dtype is None else values.astype(dtype)


def write_result(path: str | Path, record: RunRecord) -> Path:
    """Write a record as the file `path`, whole or not at all, and return the path.

    The file is written beside its place, flushed to the disk and renamed, so a run may call this after every
    excitation: the last whole state stays readable. Error: `RunFailed` when the disk refuses.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with checksums.written(path, track_order=True) as file:
            _write_record(file, record, path.parent.absolute())
    except (OSError, RuntimeError) as error:
        earlier = "an earlier file of this name is unchanged" if path.is_file() else "there is no file of this name"
        raise RunFailed(
            f"the result could not be written to {path}: {error}; {earlier}. Free some space or choose "
            "another folder with --output"
        ) from error
    return path


def _write_record(file: h5py.File, record: RunRecord, folder: Path) -> None:
    versions = {"nearfield_version": nearfield.__version__, "format_version": FORMAT_VERSION}
    file.attrs.update(versions, status=record.status, title=record.title, conventions=CONVENTIONS)
    for name, text in (("model", record.model_text), ("facts", json.dumps(json_data(record.facts), indent=1))):
        file[name] = text
        file[name].attrs.update(units="", dims="[]")
    lines = {axis: Variable((axis,), line, {"units": "m"}) for axis, line in zip(AXES, record.grid.lines)}
    _write_group(file, "grid", lines)
    file["grid"].attrs.update({name: json.dumps(getattr(record.grid, name)) for name in ENDS})
    media = file.create_group("media", track_order=True)
    for name, medium in record.media.items():
        _named_group(media, name).attrs.update({key: value for key, value in medium.items() if value is not None})
    excitations = file.create_group("excitations", track_order=True)
    for name, excitation in record.excitations.items():
        _write_excitation(_named_group(excitations, name), excitation, folder)
    if record.sparameters:
        _write_group(file, "sparameters", record.sparameters)


def _named_group(parent: h5py.Group, name: str) -> h5py.Group:
    """A group for an entry, without slashes in its name; the attribute `entry_name` is the full name."""
    free = name.replace("/", "|").strip(".") or "_"
    while free in parent:
        free += "_"
    group = parent.create_group(free, track_order=True)
    group.attrs["entry_name"] = name
    return group


def _entries(parent: h5py.Group) -> Iterator[tuple[str, h5py.Group]]:
    """Full name and group of each entry."""
    for group in parent.values():
        yield str(group.attrs["entry_name"]), group


def _write_excitation(group: h5py.Group, excitation: ExcitationRecord, folder: Path) -> None:
    _write_group(group, "energy", excitation.energy)
    if excitation.waveform:
        _write_group(group, "waveform", excitation.waveform)
    if excitation.source_end is not None:
        group.attrs["source_end"] = excitation.source_end
    for kind in ("ports", "monitors"):
        group.create_group(kind, track_order=True)
    for name, variables in excitation.ports.items():
        _write_variables(_named_group(group["ports"], name), variables)
    for name, monitor in excitation.monitors.items():
        own = _named_group(group["monitors"], name)
        own.attrs.update(kind=monitor.kind, entry=json.dumps(json_data(monitor.entry)))
        if monitor.file is not None:
            own.attrs["file"] = os.path.relpath(monitor.file, folder)
        _write_variables(own, monitor.variables)


def _write_group(parent: h5py.Group, name: str, variables: Variables) -> None:
    _write_variables(parent.create_group(name, track_order=True), variables)


def _write_variables(group: h5py.Group, variables: Variables) -> None:
    for name, variable in variables.items():
        values = variable.array
        text = {"data": values.astype(object), "dtype": h5py.string_dtype()} if values.dtype.kind in "UO" else None
        group.create_dataset(name, **(text or {"data": values}))
        group[name].attrs.update({"units": "", **variable.attributes, "dims": json.dumps(list(variable.dims))})
    for name, variable in variables.items():
        if variable.dims == (name,):
            group[name].make_scale(name)
    for name, variable in variables.items():
        for position, dim in enumerate(variable.dims):
            group[name].dims[position].label = dim
            if dim != name and dim in variables and variables[dim].dims == (dim,):
                group[name].dims[position].attach_scale(group[dim])


def read_record(path: str | Path) -> RunRecord:
    """The record in a result file; arrays stay in the file until they are indexed."""
    return _read(path, _read_record)


def read_status(path: str | Path) -> str:
    """How the run of a result file ended; its arrays are neither read nor verified."""
    return _read(path, _read_status)


def _read(path: str | Path, read: Callable[[h5py.File], T]) -> T:
    """What `read` takes from a result file. Error: `ModelError`, it is damaged, or none."""
    path = Path(path)
    if not path.is_file():
        wrong = "is not an ordinary file" if path.exists() else "does not exist"
        raise ModelError(f"result file {path} {wrong}; give the path of a result.h5 that `nearfield run` wrote")
    try:
        with checksums.opened(path, ADVICE) as file:
            checksums.refuse_links(file)
            return read(file)
    except ModelError:
        raise
    except Exception as error:  # a damaged file makes h5py raise every kind
        raise ModelError(f"{path} cannot be read as a result of Nearfield ({error}); {ADVICE}") from error


def _read_status(file: h5py.File) -> str:
    _refuse_other_version(file)
    return str(file.attrs["status"])


def _refuse_other_version(file: h5py.File) -> None:
    version = int(file.attrs.get("format_version", 0))
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{file.filename} has format_version {version or 'none'}, this Nearfield reads {FORMAT_VERSION}; "
            "give a result.h5 of this version, or install the Nearfield that wrote it"
        )


def _read_record(file: h5py.File) -> RunRecord:
    _refuse_other_version(file)
    return RunRecord(
        model_text=file["model"].asstr()[()],
        grid=_read_grid(file["grid"]),
        media={name: _attributes(group, ("entry_name",)) for name, group in _entries(file["media"])},
        facts=json.loads(file["facts"].asstr()[()]),
        status=str(file.attrs["status"]),
        excitations={name: _read_excitation(group) for name, group in _entries(file["excitations"])},
        sparameters=_read_variables(file["sparameters"]) if "sparameters" in file else None,
        title=str(file.attrs["title"]),
    )


def _read_grid(group: h5py.Group) -> YeeGrid:
    """The grid; files of earlier versions have the lines alone."""
    lines = triple(checksums.verified(group[axis])[()] for axis in AXES)
    return YeeGrid(lines, **{name: triple(json.loads(group.attrs[name])) for name in ENDS if name in group.attrs})


def _read_excitation(group: h5py.Group) -> ExcitationRecord:
    return ExcitationRecord(
        energy=_read_variables(group["energy"]),
        ports={name: _read_variables(port) for name, port in _entries(group["ports"])},
        monitors={
            name: MonitorRecord(item.attrs["kind"], json.loads(item.attrs["entry"]), _read_variables(item), _file(item))
            for name, item in _entries(group["monitors"])
        },
        waveform=_read_variables(group["waveform"]) if "waveform" in group else None,
        source_end=float(group.attrs["source_end"]) if "source_end" in group.attrs else None,
    )


def _file(monitor: h5py.Group) -> Path | None:
    """The file of a monitor's fields, if it has one; its name is relative to the folder of the result."""
    return Path(monitor.file.filename).parent / monitor.attrs["file"] if "file" in monitor.attrs else None


HDF5_OWN = ("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", "dims")


def _read_variables(group: h5py.Group) -> Variables:
    variables = {}
    for name, data in group.items():
        stored = StoredArray(data.file.filename, data.name, data.shape, data.dtype)
        variables[name] = Variable(tuple(json.loads(data.attrs["dims"])), stored, _attributes(data, HDF5_OWN))
    return variables


def _attributes(item: h5py.Group | h5py.Dataset, without: Sequence[str]) -> dict[str, Any]:
    return {key: item.attrs[key] for key in item.attrs if key not in without}
