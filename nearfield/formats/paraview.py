"""Views for ParaView: a VTKHDF group for boxes of evenly spaced points, XDMF beside the HDF5 file for all others.

VTKHDF has no rectilinear grids, and for planes its reader wants arrays without their flat axis. Both refer to one set
of arrays (time, z, y, x); nothing is stored twice. ParaView reads zlib, not the filters of hdf5plugin.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import h5py
import numpy as np

from nearfield.entry.whole_file import write_whole
from nearfield.formats.description import FieldDescription
from nearfield.formats.reading import StoredFields, stored_fields

VTKHDF_VERSION = (2, 0)  # the first with images over time
EVEN = 1e-6  # relative difference of spacings below which a mesh is even


def even_spacing(description: FieldDescription) -> tuple[np.ndarray, np.ndarray] | None:
    """Origin and spacing (m) along x, y, z; None on a graded mesh and of a plane or line."""
    origin, spacing = np.zeros(3), np.ones(3)
    for axis, dim in enumerate(description.first.dims[1:]):
        line = np.asarray(description.coordinates[dim], float)
        if line.size < 2:
            return None
        origin[axis], spacing[axis] = line[0], (line[-1] - line[0]) / (line.size - 1)
        if np.abs(np.diff(line) - spacing[axis]).max() > EVEN * spacing[axis]:
            return None
    return origin, spacing


def write_vtkhdf_group(file: h5py.File, description: FieldDescription) -> None:
    """The group `VTKHDF` of a temporal image, its arrays hard links to those of the file."""
    even = even_spacing(description)
    if even is None:
        return
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(VTKHDF_VERSION, np.int64)
    root.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", 9))
    root.attrs["WholeExtent"] = np.array([end for n in description.first.shape for end in (0, n - 1)], np.int64)
    root.attrs["Origin"], root.attrs["Spacing"] = even
    root.attrs["Direction"] = np.eye(3).ravel()
    points = root.create_group("PointData")
    for name in description.components:
        points[name] = file[name]
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(0)
    steps["Values"] = file[description.first.dims[0]]


def write_xdmf(path: Path) -> Path | None:
    """The XDMF file beside a field file of format vtkhdf; None where the file holds a VTKHDF group.

    `close` writes it; call this for a file whose writer was killed.
    """
    stored = stored_fields(path)
    if even_spacing(stored.description) is not None:
        return None
    beside = path.with_suffix(".xdmf")
    write_whole(beside, xdmf(stored, path.name))
    return beside


def xdmf(stored: StoredFields, name: str) -> str:
    """XDMF of a rectilinear mesh over time, pointing into the HDF5 file `name` beside it."""
    description, place = stored.description, escape(name)
    extent, size = " ".join(map(str, description.first.shape[::-1])), description.dtype.itemsize
    lengths = {dim: len(description.coordinates[dim]) for dim in description.first.dims[1:]}
    geometry = "".join(
        f'<DataItem Dimensions="{count}" NumberType="Float" Precision="8" Format="HDF">{place}:/{dim}</DataItem>'
        for dim, count in lengths.items()
    )
    total = {key: f"{array_length(stored, key)} {extent}" for key in description.components}
    grids = []
    for number, time in enumerate(stored.times[description.time_dims[0]]):
        attributes = "".join(
            f'<Attribute Name={quoteattr(key)} AttributeType="Scalar" Center="Node">'
            f'<DataItem ItemType="HyperSlab" Dimensions="{extent}" Type="HyperSlab">'
            f'<DataItem Dimensions="3 4" Format="XML">{number} 0 0 0 1 1 1 1 1 {extent}</DataItem>'
            f'<DataItem Dimensions="{total[key]}" NumberType="Float" Precision="{size}" Format="HDF">'
            f"{place}:/{key}</DataItem></DataItem></Attribute>"
            for key in description.components
        )
        grids.append(
            f'<Grid Name="step {stored.steps[number]}" GridType="Uniform"><Time Value="{float(time)!r}"/>'
            f'<Topology TopologyType="3DRectMesh" Dimensions="{extent}"/>'
            f'<Geometry GeometryType="VXVYVZ">{geometry}</Geometry>{attributes}</Grid>\n'
        )
    return (
        '<?xml version="1.0"?>\n<Xdmf Version="2.0"><Domain>'
        '<Grid Name="fields" GridType="Collection" CollectionType="Temporal">\n'
        f"{''.join(grids)}</Grid></Domain></Xdmf>\n"
    )


def array_length(stored: StoredFields, name: str) -> int:
    """Snapshots for which the array has room in the file, committed or not."""
    with h5py.File(stored.path, "r") as file:
        return file[name].shape[0]
