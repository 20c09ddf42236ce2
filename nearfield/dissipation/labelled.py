"""Fields that know their own axes: arrays of xarray, and coordinates that lie beside a field in its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nearfield.dissipation.grids import AXES, SAME, periods_of, refuse_letters
from nearfield.entry.errors import ModelError


def unlabelled(array: Any, spacing: Any, periodic: str | Iterable[bool] | bool) -> tuple[Any, Any, Any]:
    """Values, spacing and periodic axes of an xarray DataArray as those of a plain array, which stays as it is.

    Dims named x, y, z come in this order, and letters of `periodic` are their names. Left out, the spacing is that of
    the coordinates, or 1. Error: a Dataset, coordinates of some dims only, or that are no rising numbers.
    """
    if hasattr(array, "data_vars"):
        known = ", ".join(map(str, array.data_vars)) or "none"
        raise ModelError(f"the field is a Dataset; give one of its variables: {known}")
    if not (hasattr(array, "dims") and hasattr(array, "coords")):
        return array, 1.0 if spacing is None else spacing, periodic
    names = tuple(map(str, array.dims))
    if set(names) <= set(AXES):
        names = tuple(sorted(names))
        array = array.transpose(*names)
        if isinstance(periodic, str):
            refuse_letters(periodic, names)
            periodic = tuple(name in periodic for name in names)
    if spacing is None:
        held = [name for name in names if name in array.coords]
        if held and len(held) < len(names):
            raise ModelError(
                f"the field has coordinates of {', '.join(held)} only, of {', '.join(names)}; give spacing"
            )
        lines = [coordinates(name, array.coords[name].values) for name in held]
        spacing = closed_lines(lines, periods_of(periodic, len(names))) if held else 1.0
    return array.values, spacing, periodic


def coordinates(name: str, values: np.ndarray) -> np.ndarray:
    """Coordinates as rising numbers. Error: they are none."""
    if values.dtype.kind not in "fiu" or not (np.diff(values.astype(float)) > 0).all():
        raise ModelError(f"the coordinates {name} are no rising numbers ({values.dtype}); give spacing")
    return values.astype(float)


def closed_lines(lines: Sequence[np.ndarray], periodic: Sequence[bool]) -> list[np.ndarray]:
    """Coordinates of points, and of the begin of the next period where an axis closes.

    Error: an axis closes whose points are not equally far apart, so that nobody knows where the next period begins.
    """
    closed = []
    for axis, line, ends in zip(AXES, lines, periodic):
        steps = np.diff(line)
        if ends and np.ptp(steps) > 1e3 * SAME * steps.mean():
            raise ModelError(
                f"axis {axis} is periodic and its coordinates are not equally far apart; give spacing as coordinates "
                "with one more, where the next period begins"
            )
        closed.append(np.append(line, line[-1] + steps.mean()) if ends else line)
    return closed
