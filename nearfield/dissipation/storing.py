"""Elements as labelled arrays, and in an HDF5 file that xarray, h5py and NetCDF readers open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.dissipation.grids import AXES
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import replacing

if TYPE_CHECKING:
    import xarray

    from nearfield.dissipation.elements import Elements


def dataset_of(found: Elements) -> xarray.Dataset:
    """All that is known of the elements: per point, per extremum, per element, per pair of neighbours.

    Extrema are the maxima, then the minima (`kind` 1 and -1); `maximum` and `minimum` of an element count in this list.
    """
    import xarray

    axes = AXES[: found.labels.ndim]
    both = (found.maxima, found.minima)
    table = {
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
    }
    facts = {
        "method": found.method,
        "periodic": "".join(axis for axis, closed in zip(axes, found.periodic) if closed),
        "gradient_lines": found.traced,
        "unresolved_lines": found.unresolved,
    }
    return xarray.Dataset(table, dict(zip(axes, found.coordinates)) | {"axis": list(axes)}, facts)


def save(found: Elements, path: str | Path) -> Path:
    """Write `dataset_of` as the groups `elements` and `statistics` of an HDF5 file, whole or not at all."""
    import h5py

    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part, h5py.File(part, "w") as file:
            for name, dataset in (("elements", dataset_of(found)), ("statistics", found.statistics())):
                write_dataset(file.create_group(name), dataset)
    except OSError as error:
        raise ModelError(f"{path}: the elements cannot be written there ({error}); choose another file") from None
    return path


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
