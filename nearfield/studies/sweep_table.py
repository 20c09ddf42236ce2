"""The results of a sweep as one dataset with a dimension for each parameter, and as an HDF5 file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import DamagedError, ModelError
from nearfield.entry.whole_file import replacing_hdf5
from nearfield.studies.quantities import Quantity
from nearfield.studies.sweep_values import Axis

if TYPE_CHECKING:
    import xarray

    from nearfield.results import Result
    from nearfield.studies.sweep import Point

FILE = "sweep.h5"
FORMAT = "nearfield sweep 1"
DIRECTIVITY = " directivity"  # after the name of a far field: the variable of its peaks


def table_of(axes: Sequence[Axis], points: Sequence[Point], wanted: Sequence[Quantity], home: Path) -> xarray.Dataset:
    """One dataset of all points; what a result lacks or has on other axes is NaN, and named in `attrs["left_out"]`,
    a line each."""
    import xarray

    names, shape = [axis.name for axis in axes], [len(axis.values) for axis in axes]
    attempts = Attempts(lambda text: None)
    base: dict[str, xarray.DataArray] = {}  # the first result's, whose axes are those of all
    rows: list[dict[str, xarray.DataArray]] = []
    for number, point in enumerate(points):
        row = _row(point, wanted, base, attempts, number) if point.status == "done" else {}
        rows.append(row)
        for name, values in row.items():
            base.setdefault(name, values)
    base = with_own_axes(base)
    found: dict[str, Any] = {}
    for name, like in base.items():
        if set(like.dims) & set(names) or name in names:
            attempts.warnings.append(f"{name}: has the name of a parameter, or one of its axes has")
            continue
        stacked = np.stack([_values(row.get(name), like) for row in rows]).reshape(*shape, *like.shape)
        found[name] = ((*names, *like.dims), stacked, like.attrs)
    for name in ("status", "message"):
        found[name] = (names, np.array([getattr(point, name) for point in points], dtype=object).reshape(shape))
    folders = ["" if point.folder is None else str(point.folder.relative_to(home.absolute())) for point in points]
    found["folder"] = (names, np.array(folders, dtype=object).reshape(shape))
    coordinates: dict[str, Any] = {axis.name: (axis.name, axis.coordinates, {"units": axis.unit}) for axis in axes}
    for like in base.values():
        coordinates |= {str(dim): like.coords[dim] for dim in like.dims if dim in like.coords and dim not in names}
    return xarray.Dataset(found, coordinates, {"left_out": "\n".join(dict.fromkeys(attempts.warnings))})


def with_own_axes(arrays: Mapping[str, xarray.DataArray]) -> dict[str, xarray.DataArray]:
    """The arrays, an axis that differs from another array's of its name called after its own: `pattern frequency`."""
    known: dict[Any, np.ndarray] = {}
    found = {}
    for name, array in arrays.items():
        for dim in array.dims:
            places = array.coords[dim].values if dim in array.coords else np.arange(array.sizes[dim])
            if not np.array_equal(known.setdefault(dim, places), places):
                array = array.rename({dim: f"{name.removesuffix(DIRECTIVITY)} {dim}"})
        found[name] = array
    return found


def _row(
    point: Point, wanted: Sequence[Quantity], base: dict[str, Any], attempts: Attempts, number: int
) -> dict[str, xarray.DataArray]:
    """What is kept of one result, by name."""
    from nearfield.results import open_result
    from nearfield.studies.sweep_point import RESULT

    assert point.folder is not None
    result = open_result(point.folder / RESULT)
    row: dict[str, xarray.DataArray] = {}
    reads = recorded(result, base)
    for quantity in wanted:
        reads[f"quantity {quantity.text}" if quantity.text in reads else quantity.text] = partial(
            _read, quantity, result
        )
    for name, read in reads.items():
        values = attempts.at(f"{name} of point {number} ({point.parameters})", read, None)
        if values is not None:
            row[name] = values
    for name in [name for name in row if name in base and not _alike(row[name], base[name])]:
        attempts.warnings.append(
            f"{name} of point {number} ({point.parameters}): its axes or its unit are others than the first's"
        )
        del row[name]
    return row


def recorded(result: Result, base: Mapping[str, xarray.DataArray]) -> dict[str, Callable[[], xarray.DataArray]]:
    """How S-parameters, fluxes and peaks of far fields are read from a result, by the names of their variables."""
    reads: dict[str, Callable[[], xarray.DataArray]] = {}
    if result.record.sparameters:
        reads["sparameters"] = partial(_scattering, result, base.get("sparameters"))
    for name in result.monitors:
        kind = result.excitation().record.monitors[name].kind
        if kind == "flux":
            reads[name] = partial(_flux, result, name)
        elif kind == "far-field":
            reads[name + DIRECTIVITY] = partial(_of_runs, result, partial(_directivity, name))
    return reads


def _flux(result: Result, name: str) -> xarray.DataArray:
    """The power of a source of amplitude 1; where no spectrum of the source exists, that of the run (W s^2)."""
    try:
        return _of_runs(result, lambda run: run.per_source()[name])
    except DamagedError:
        raise
    except ModelError:  # sources of unlike waveforms, or one that is still on
        return _of_runs(result, lambda run: run[name])


def _directivity(name: str, run: Any) -> xarray.DataArray:
    return run[name].directivity.max(("theta", "phi"))


def _of_runs(result: Result, read: Callable[[Any], xarray.DataArray]) -> xarray.DataArray:
    """What is read from each run; over `source`, where there are several."""
    import xarray

    runs = [read(result.excitation(run)).load() for run in result.excitations]
    sources = xarray.DataArray(list(result.excitations), dims="source", name="source")
    return runs[0] if len(runs) == 1 else xarray.concat(runs, sources)


def _read(quantity: Quantity, result: Result) -> xarray.DataArray:
    import xarray

    return xarray.DataArray(quantity.read(result), attrs={"units": quantity.unit})


def _scattering(result: Result, like: xarray.DataArray | None) -> xarray.DataArray:
    """S-parameters at the frequencies of the first result."""
    own = result.sparameters
    if like is None or np.array_equal(own.frequency.values, like.frequency.values):
        return own.load()
    wanted = like.frequency.values
    return result.sparameters_at(wanted[wanted > 0]).reindex(frequency=wanted)


def _alike(values: xarray.DataArray, like: xarray.DataArray) -> bool:
    same = values.dims == like.dims and values.shape == like.shape
    same = same and values.attrs.get("units") == like.attrs.get("units")
    return same and all(np.array_equal(values.coords[dim], like.coords[dim]) for dim in like.dims if dim in like.coords)


def _values(values: xarray.DataArray | None, like: xarray.DataArray) -> np.ndarray:
    return np.full(like.shape, np.nan, np.result_type(like.dtype, np.float32)) if values is None else values.values


def save_sweep(table: xarray.Dataset, path: Path) -> None:
    """Write the dataset as HDF5: a data set a variable with its dims, units and scales; whole or not at all."""
    with replacing_hdf5(path, track_order=True) as file:
        file.attrs.update(format=FORMAT, **{name: str(value) for name, value in table.attrs.items()})
        for name, variable in table.variables.items():
            values = variable.values
            text = values.dtype.kind in "UO"
            place = str(name).replace("/", "|")
            data = file.create_dataset(place, data=values.astype(object) if text else values, **_kind(text))
            data.attrs.update(name=str(name), dims=json.dumps(list(variable.dims)))
            data.attrs["units"] = str(variable.attrs.get("units", ""))


def _kind(text: bool) -> dict[str, Any]:
    import h5py

    return {"dtype": h5py.string_dtype()} if text else {}


def open_sweep(path: str | Path) -> xarray.Dataset:
    """The dataset of a sweep from its folder, or from the `sweep.h5` in it. Error: `ModelError` for any other file.

    >>> import nearfield as nf
    >>> def empty(size):
    ...     return nf.Simulation(nf.Grid.uniform(1e-3, (size, 8, 8)), boundaries=nf.Boundaries(all=nf.PEC), steps=5)
    >>> _ = nf.sweep(empty, {"size": [8]}, output="out/empty boxes")
    >>> nf.open_sweep("out/empty boxes").status.values.tolist()
    ['done']
    """
    import h5py
    import xarray

    file = Path(path) / FILE if Path(path).is_dir() else Path(path)
    try:
        with h5py.File(file, "r") as stored:
            if stored.attrs.get("format") != FORMAT:
                raise ModelError(f"{file} is not a sweep of this version; give the folder of a `nearfield sweep`")
            variables = {str(data.attrs["name"]): _variable(data) for data in stored.values()}
            attributes = {name: str(stored.attrs.get(name, "")) for name in ("left_out", "notes", "parameters")}
    except (OSError, KeyError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        why = "does not exist" if not file.exists() else f"cannot be read as a sweep ({error})"
        raise ModelError(f"{file} {why}; give the folder of a `nearfield sweep`") from None
    coordinates = {name: each for name, each in variables.items() if each[0] == (name,)}
    rest = {name: each for name, each in variables.items() if name not in coordinates}
    return xarray.Dataset(rest, coordinates, attributes)


def _variable(data: Any) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    import h5py

    values = data.asstr()[()] if h5py.check_string_dtype(data.dtype) else data[()]
    return tuple(json.loads(data.attrs["dims"])), np.asarray(values), {"units": str(data.attrs["units"])}
