"""Elements as labelled arrays, and in an HDF5 file that xarray, h5py, NetCDF readers and `open_elements` open."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.dissipation.extrema import Extrema
from nearfield.dissipation.geometry import nearest
from nearfield.dissipation.grids import AXES, widths_of
from nearfield.dissipation.memory import refuse_saving
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import replacing_hdf5, unwritable

if TYPE_CHECKING:
    import xarray

    from nearfield.dissipation.partition import Elements

STORED = ("field", "label", "kind", "position", "value", "point", "maximum", "minimum", "shift", "points", "period")
NO_FACTS: Mapping[str, str] = MappingProxyType({})


def dataset_of(found: Elements) -> xarray.Dataset:
    """All that is known of the elements: per point, per extremum, per element, per pair of neighbours.

    Extrema are the maxima, then the minima (`kind` 1 and -1); `maximum` and `minimum` of an element count in this list.
    """
    import xarray

    refuse_saving(len(found))
    axes = AXES[: found.labels.ndim]
    both = (found.maxima, found.minima)
    table = {
        "field": (tuple(axes), found.field),
        "label": (tuple(axes), found.labels),
        "kind": ("extremum", np.repeat(np.array([1, -1], np.int8), [len(found.maxima), len(found.minima)])),
        "position": (("extremum", "axis"), np.concatenate([one.position for one in both])),
        "value": ("extremum", np.concatenate([one.value for one in both])),
        "point": ("extremum", np.concatenate([one.index for one in both])),
        "maximum": ("element", found.maximum),
        "minimum": ("element", found.minimum + len(found.maxima)),
        "shift": (("element", "axis"), found.shift),
        "points": ("element", found.points),
        "volume": ("element", found.volume),
        "bounding_box": (("element", "axis", "end"), found.bounding_boxes),
        "length": ("element", found.length),
        "difference": ("element", found.difference),
        "neighbours": (("pair", "side"), found.neighbours),
        "period": (
            "axis",
            [widths.sum() if closed else np.nan for widths, closed in zip(found.widths, found.periodic)],
        ),
    }
    facts = {
        "method": found.method,
        "periodic": "".join(axis for axis, closed in zip(axes, found.periodic) if closed),
        "gradient_lines": found.traced,
        "unresolved_lines": found.unresolved,
        "seconds": found.seconds,
        "persistence": found.persistence,
        "simplified_extrema": found.simplified,
    }
    return xarray.Dataset(table, dict(zip(axes, found.coordinates)) | {"axis": list(axes)}, facts)


def hot_spots(found: Elements) -> xarray.Dataset:
    """The maxima, the highest first: see `Elements.hot_spots`."""
    import xarray

    maxima, count = found.maxima, len(found.maxima)
    volume, points, contrast = (
        np.bincount(found.maximum, weights, minlength=count)
        for weights in (found.volume, found.points, found.points * found.difference)
    )
    order = np.lexsort((maxima.index, -maxima.value))
    table = {
        "position": (("spot", "axis"), maxima.position[order]),
        "value": ("spot", maxima.value[order]),
        "volume": ("spot", volume[order]),
        "elements": ("spot", np.bincount(found.maximum, minlength=count)[order]),
        "contrast": ("spot", (contrast / np.maximum(points, 1))[order]),
        "spacing": ("spot", nearest(maxima.position, found.periods)[order]),
    }
    return xarray.Dataset(table, {"axis": list(AXES[: found.labels.ndim])})


def save(
    found: Elements,
    path: str | Path,
    facts: Mapping[str, str] = NO_FACTS,
    trajectories: xarray.Dataset | None = None,
    arcs: xarray.Dataset | None = None,
) -> Path:
    """Write `dataset_of`, statistics and hot spots as groups of an HDF5 file, whole or not at all.

    `facts` become attributes of the group `elements`, `trajectories` a group, `arcs` variables of
    `elements` and attributes and a density of `statistics`.
    """
    path = Path(path)
    refuse_other(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing_hdf5(path) as file:
            groups = {"elements": dataset_of(found), "statistics": found.statistics(), "hot_spots": found.hot_spots()}
            groups |= {} if trajectories is None else {"trajectories": trajectories}
            if arcs is not None:
                groups["elements"] = groups["elements"].assign(arcs.drop_dims("arc"))
                groups["statistics"] = (
                    groups["statistics"]
                    .merge(arcs.drop_dims("element"))
                    .assign_attrs(groups["statistics"].attrs | arcs.attrs)
                )
            for name, dataset in groups.items():
                write_dataset(file.create_group(name), dataset)
            file["elements"].attrs.update(facts)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def refuse_other(path: Path) -> None:
    """Error: something stands there that is no file of elements, such as the field's own file or a run's result."""
    if path.exists():
        try:
            with group_of(path):
                pass
        except ModelError:
            raise ModelError(f"{path} exists and is no file of elements, so it is not replaced; name another") from None


def write_dataset(group: Any, dataset: xarray.Dataset) -> None:
    """Variables with their dims and attributes, coordinates as scales."""
    import h5py

    group.attrs.update(dataset.attrs)
    for name, variable in dataset.variables.items():
        text = variable.dtype.kind in "UO"
        values = variable.values.astype(object) if text else variable.values
        made = group.create_dataset(str(name), data=values, dtype=h5py.string_dtype() if text else None)
        made.attrs.update(variable.attrs)
        for axis, dim in enumerate(variable.dims):
            made.dims[axis].label = str(dim)
    for name in dataset.coords:
        group[name].make_scale(str(name))
    for name, variable in dataset.variables.items():
        for axis, dim in enumerate(variable.dims):
            if dim in dataset.coords and dim != name:
                group[name].dims[axis].attach_scale(group[dim])


def open_elements(path: str | Path) -> Elements:
    """The elements of a file that `Elements.save` or `nearfield elements --output` wrote.

    Error (ModelError): the file is none of these.

    >>> found = nf.elements(np.sin(np.arange(24) * np.pi / 6), np.pi / 6, periodic="x")
    >>> len(nf.open_elements(found.save("out/waves.h5")))
    4
    """
    with group_of(path) as group:
        table = {name: group[name][()] for name in STORED}
        lines = [group[axis][()] for axis in AXES[: table["label"].ndim]]
        return restored(table, lines, dict(group.attrs))


def source_of(path: str | Path) -> dict[str, str]:
    """What a file of elements says about its field: `source`, `run`. Error: as `open_elements`."""
    with group_of(path) as group:
        return {name: str(group.attrs.get(name, "")) for name in ("source", "run")}


@contextlib.contextmanager
def group_of(path: str | Path) -> Iterator[Any]:
    """The group of a file of elements. Error: as `open_elements`."""
    from nearfield.entry.hdf5_checksums import opened

    what = "give a file that `nearfield elements --output` wrote"
    if not Path(path).is_file():
        raise ModelError(f"{path}: no such file; {what}")
    try:
        with opened(Path(path), what) as file:
            yield file["elements"]
    except ModelError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, IndexError) as error:  # h5py raises all of these at damage
        raise ModelError(f"{path} holds no elements ({error}); {what}") from None


def restored(table: Mapping[str, np.ndarray], lines: Sequence[np.ndarray], facts: Mapping[str, Any]) -> Elements:
    """The elements of what `dataset_of` laid down."""
    from nearfield.dissipation.partition import Elements

    high, low = (
        Extrema(*(table[name][table["kind"] == kind] for name in ("point", "position", "value"))) for kind in (1, -1)
    )
    periodic = tuple(bool(np.isfinite(period)) for period in table["period"])
    ends = [
        np.append(line, line[0] + period) if closed else line
        for line, period, closed in zip(lines, table["period"], periodic)
    ]
    first, widths = widths_of(ends, table["label"].shape, periodic)
    return Elements(
        field=table["field"],
        labels=table["label"],
        maxima=high,
        minima=low,
        maximum=table["maximum"],
        minimum=table["minimum"] - len(high),
        shift=table["shift"],
        points=table["points"],
        first=first,
        widths=widths,
        periodic=periodic,
        method=str(facts["method"]),
        traced=int(facts["gradient_lines"]),
        unresolved=int(facts["unresolved_lines"]),
        seconds=float(facts["seconds"]),
        persistence=float(facts["persistence"]),
        simplified=int(facts["simplified_extrema"]),
    )
