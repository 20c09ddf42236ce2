"""Scalar fields of a run's monitors: components, magnitudes, energies, brought to the cells' centres."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.commands.show import opened
from nearfield.dissipation.grids import AXES
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    import xarray

QUANTITIES = "E or H (magnitude), energy (of E and H in vacuum, J/m^3), S (magnitude of E x H, W/m^2), or one component"


def monitor_named(given: str) -> tuple[Path, str] | None:
    """The result and the monitor of `RESULT:monitor`, a folder or its result.h5; None where a data set is meant."""
    import h5py

    name, _, monitor = given.rpartition(":")
    path = Path(name or monitor)
    if path.is_dir():
        return path, monitor if name else ""
    if not name or not h5py.is_hdf5(path):
        return None
    with h5py.File(path) as file:
        ours = "nearfield_version" in file.attrs and "excitations" in file
        return (path, monitor) if ours and monitor not in file else None


def field_of_monitor(
    path: Path, name: str, quantity: str | None, at: float | None, periodic: str
) -> tuple[np.ndarray, list[np.ndarray], str]:
    """Values at the cell centres, their coordinates along each axis of more than one cell, and what they are in words.

    Spectra give magnitudes, and means over a period of energy and S. `at` is the time (s) of a snapshot or the
    frequency (Hz) of a spectrum, the nearest one is taken; of several one must be named.

    Error: another monitor or quantity.
    """
    result = opened(path)[1]
    fields = result[name]
    if not isinstance(fields, Mapping) or not hasattr(fields, "collocated"):
        raise ModelError(f"monitor '{name}' holds no fields; give a snapshot or field-dft monitor of {path}")
    if quantity is None:
        raise ModelError(f"{path}:{name} holds components, some complex or several; say --quantity: {QUANTITIES}")
    moments = fields.collocated()
    leading = str(next(iter(moments.values())).dims[0])
    if at is None and moments.sizes[leading] > 1:
        listed = ", ".join(f"{value:.6g}" for value in moments[leading].values[:6])
        raise ModelError(f"{path}:{name} holds {moments.sizes[leading]} values of {leading} ({listed}...); say --at")
    one = moments.isel({leading: 0}) if at is None else moments.sel({leading: at}, method="nearest")
    flat = [axis for axis in "xyz" if one.sizes[axis] == 1]
    values = scalar(one, quantity).squeeze()
    lines: list[np.ndarray] = []
    for axis, nodes in zip("xyz", result.grid.lines):
        line = one[axis].values
        if axis in flat:
            continue
        if AXES[len(lines)] in periodic:  # letters count the axes that are left
            if line.size != nodes.size - 1:
                raise ModelError(f"{path}:{name} covers a part of {axis} only, which then is not periodic")
            line = np.append(line, line[0] + nodes[-1] - nodes[0])
        lines.append(line)
    shown = f"{quantity} (constants of vacuum)" if quantity == "energy" else quantity
    return values, lines, f"{shown} at {leading} {float(one[leading]):.6g} {one[leading].attrs.get('units', '')}"


def scalar(fields: xarray.Dataset, quantity: str) -> np.ndarray:
    """The values of a quantity. Error: it is unknown, or needs components that were not recorded."""
    needed = {"E": "E", "H": "H", "energy": "EH", "S": "EH"}.get(quantity)
    names = [quantity] if needed is None else [kind + axis for kind in needed for axis in "xyz"]
    missing = [name for name in names if name not in fields]
    if missing:
        known = f"recorded are {', '.join(map(str, fields))}"
        raise ModelError(f"quantity '{quantity}' needs {', '.join(missing)}; {known}; quantities: {QUANTITIES}")
    parts: dict[str, Any] = {name: fields[name].values for name in names}
    spectral = any(part.dtype.kind == "c" for part in parts.values())
    if needed is None:
        return np.abs(parts[quantity]) if spectral else parts[quantity]
    if quantity == "S":
        electric, magnetic = (np.stack([parts[kind + axis] for axis in "xyz"], axis=-1) for kind in "EH")
        power = np.cross(electric, magnetic.conj()).real * (0.5 if spectral else 1.0)
        return np.linalg.norm(power, axis=-1)
    squares = {kind: sum(np.abs(parts[kind + axis]) ** 2 for axis in "xyz") for kind in needed}
    if quantity == "energy":
        energy = 0.5 * (VACUUM_PERMITTIVITY * squares["E"] + VACUUM_PERMEABILITY * squares["H"])
        return energy * (0.5 if spectral else 1.0)
    return np.sqrt(squares[quantity])
