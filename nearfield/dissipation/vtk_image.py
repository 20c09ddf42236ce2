"""Scalar fields of images in VTKHDF files, which ParaView and this program write; z comes first in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.dissipation.grids import refuse_empty
from nearfield.dissipation.memory import refuse_memory
from nearfield.entry.errors import ModelError

KINDS = {"PointData": 1, "CellData": 0}  # points along an axis, less its cells


def image_of(group: Any, name: str, at: float | None, label: str) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """Values with axes x, y, z, those of one point left out, and coordinates; None where the group has no such array.

    Error: another type of data, a vector, no or needless time.
    """
    name = name.removeprefix("VTKHDF/")
    paths = [name] if "/" in name else [f"{kind}/{name}" for kind in KINDS]
    path = next((path for path in paths if path.partition("/")[0] in KINDS and path in group), None)
    if path is None:
        return None
    kind = group.attrs.get("Type", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind != "ImageData":
        raise ModelError(f"{label} is {kind or 'without a type'}; elements need the regular grid of VTKHDF's ImageData")
    array = group[path]
    refuse_empty(array, label)
    extent = np.asarray(group.attrs["WholeExtent"]).reshape(3, 2)
    points = np.maximum(extent[:, 1] - extent[:, 0] + KINDS[path.partition("/")[0]], 1)
    shape = tuple(int(count) for count in points[::-1] if count > 1)
    times = np.asarray(group["Steps/Values"][()]) if "Steps" in group else None
    refuse_memory(shape or (1,), array.dtype, "hybrid", to_read=True)
    values = np.squeeze(array[()] if times is None else array[moment(times, at, label)])
    if times is None and at is not None:
        raise ModelError(f"--at {at:g}: {label} holds one field and no times; leave it out")
    if values.shape != shape:
        held, wanted = (" x ".join(map(str, sizes)) for sizes in (values.shape, shape))
        raise ModelError(f"{label} holds {held} values where its image has {wanted} (z, y, x); give a scalar field")
    origin, spacing = (np.asarray(group.attrs[key], float) for key in ("Origin", "Spacing"))
    first = extent[:, 0] + 0.5 * (1 - KINDS[path.partition("/")[0]])
    lines = [origin[axis] + spacing[axis] * (first[axis] + np.arange(points[axis])) for axis in range(3)]
    return values.transpose(), [line for line in lines if line.size > 1]


def moment(times: np.ndarray, at: float | None, label: str) -> int:
    """Number of the time nearest to `at`. Error: several times and none named."""
    if at is None and len(times) > 1:
        shown = ", ".join(f"{time:.6g}" for time in times[:6])
        raise ModelError(f"{label} holds {len(times)} times ({shown}...); say --at")
    return 0 if at is None else int(np.abs(times - at).argmin())
