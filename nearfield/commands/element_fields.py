"""Scalar fields of a run's monitors: components, magnitudes, energies, brought to the cells' centres."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nearfield.commands.show import opened
from nearfield.dissipation.grids import AXES
from nearfield.dissipation.quantities import components_of
from nearfield.dissipation.quantities import scalar as scalar_of
from nearfield.dissipation.reading import opened_fields
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    import xarray

QUANTITIES = (
    "E or H (magnitude), intensity (square of E, V^2/m^2), energy (of E and H in vacuum, J/m^3), S (magnitude of E x H,"
    " W/m^2), or one component"
)


def monitor_named(given: str) -> tuple[Path, str] | None:
    """The result and the monitor of `RESULT:monitor`, a folder or its result.h5; None where a data set is meant.

    Error: an HDF5 file that is damaged.
    """
    import h5py

    name, _, monitor = given.rpartition(":")
    if not given.strip(" :"):
        return None
    path = Path(name or monitor)
    if path.is_dir():
        return path, monitor if name else ""
    if not name or not h5py.is_hdf5(path):
        return None
    with opened_fields(path) as file:
        ours = "nearfield_version" in file.attrs and "excitations" in file
        return (path, monitor) if ours and monitor not in file else None


def times_of(at: str | None) -> tuple[float | None, float | None]:
    """`T` as (T, T), `T1:T2` as (T1, T2). Error: no numbers, or the later one first."""
    if at is None:
        return None, None
    first, _, last = at.partition(":")
    try:
        pair = float(first), float(last or first)
    except ValueError:
        raise ModelError(f"--at {at}: give a time (s) or frequency (Hz), or two times as 1e-9:2e-9") from None
    if not all(map(math.isfinite, pair)):
        raise ModelError(f"--at {at}: give a time (s) or frequency (Hz), or two times as 1e-9:2e-9")
    if not pair[0] <= pair[1]:
        raise ModelError(f"--at {at}: the first time is later than the second")
    return pair


def field_of_monitor(
    path: Path, name: str, quantity: str | None, at: str | None, periodic: str, excitation: str | None = None
) -> tuple[np.ndarray, list[np.ndarray], str, str]:
    """Values at the cell centres, their coordinates along each axis of more than one cell, what they are in words, and
    when their run started.

    Spectra give magnitudes, and means over a period of energy, intensity and S. `at` is the time (s) of a snapshot or
    the frequency (Hz) of a spectrum, the nearest one is taken; of several one must be named, or two times of snapshots
    over which the mean is taken.

    `excitation`: which one's fields; left out, the first.

    Error: another monitor, quantity or excitation.
    """
    result = opened(path)[1]
    fields = result.excitation(excitation)[name]
    if not isinstance(fields, Mapping) or not hasattr(fields, "collocated"):
        raise ModelError(f"monitor '{name}' holds no fields; give a snapshot or field-dft monitor of {path}")
    if quantity is None:
        raise ModelError(f"{path}:{name} holds components, some complex or several; say --quantity: {QUANTITIES}")
    chosen, when = chosen_moments(fields.collocated(), at, f"{path}:{name}")
    flat = [axis for axis in "xyz" if chosen.sizes[axis] == 1]
    values = scalar(chosen, quantity).squeeze()
    lines: list[np.ndarray] = []
    for axis, nodes in zip("xyz", result.grid.lines):
        line = chosen[axis].values
        if axis in flat:
            continue
        if AXES[len(lines)] in periodic:  # letters count the axes that are left
            if line.size != nodes.size - 1:
                raise ModelError(f"{path}:{name} covers a part of {axis} only, which then is not periodic")
            line = np.append(line, line[0] + nodes[-1] - nodes[0])
        lines.append(line)
    shown = f"{quantity} (constants of vacuum)" if quantity == "energy" else quantity
    of = f" of excitation '{excitation}'" if excitation is not None else ""
    return values, lines, f"{shown} {when}{of}", str(result.facts.get("started", ""))


def chosen_moments(moments: xarray.Dataset, at: str | None, label: str) -> tuple[xarray.Dataset, str]:
    """The fields at one time or frequency, or those between two times, and which they are in words."""
    leading = str(next(iter(moments.values())).dims[0])
    moments = moments.transpose(leading, *"xyz")
    first, last = times_of(at)
    if at is None and moments.sizes[leading] > 1:
        listed = ", ".join(f"{value:.6g}" for value in moments[leading].values[:6])
        raise ModelError(f"{label} holds {moments.sizes[leading]} values of {leading} ({listed}...); say --at")
    unit = moments[leading].attrs.get("units", "")
    if first == last:
        one = moments.isel({leading: [0]}) if first is None else moments.sel({leading: [first]}, method="nearest")
        return one, f"at {leading} {float(one[leading][0]):.6g} {unit}"
    if leading != "time":
        raise ModelError(f"--at {at}: means are over times of snapshots; {label} holds a spectrum, name one frequency")
    some = moments.sel({leading: slice(first, last)})
    if some.sizes[leading] < 2:
        held = moments[leading].values
        raise ModelError(
            f"--at {at}: {label} holds {some.sizes[leading]} snapshots between these times, a mean takes two or more;"
            f" it has {len(held)} from {held[0]:.6g} to {held[-1]:.6g} {unit}"
        )
    return some, f"averaged over {some.sizes[leading]} snapshots from {first:.6g} to {last:.6g} {unit}"


def scalar(fields: xarray.Dataset, quantity: str) -> np.ndarray:
    """The values of a quantity, averaged over times where there are several: powers and S as vectors as they are, roots
    of the mean squares of fields. Error: it is unknown, or needs components that were not recorded.
    """
    names = components_of(quantity)
    missing = [name for name in names if name not in fields]
    if missing:
        known = f"recorded are {', '.join(map(str, fields))}"
        raise ModelError(f"quantity '{quantity}' needs {', '.join(missing)}; {known}; quantities: {QUANTITIES}")
    return scalar_of({name: fields[name].values for name in names}, quantity)
