"""Statistics of dissipation elements that a monitor's fields become, in the process beside the solver."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.discretization.discretization import Discretization
from nearfield.dissipation.elements import elements
from nearfield.dissipation.grids import powers_are_numbers
from nearfield.dissipation.quantities import components_of, scalar
from nearfield.entry import hdf5_checksums as checksums
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.wording import duration
from nearfield.formats.files import COMPLETE, RUNNING, interrupted, too_short
from nearfield.records.records import HALF, Variable

if TYPE_CHECKING:
    import xarray

SECONDS_A_POINT = {"discrete": 0.085e-6, "trace": 1.66e-6, "hybrid": 0.63e-6}  # of a core, see docs/elements.md
UNITS = {"time": "s", "mean_length": "m", "seconds": "s"}
NUMBERS = ("elements", "pairs", "maxima", "minima", "mean_length", "mean_difference", "seconds")
COLUMNS = (*NUMBERS, "highest", "lowest", "time")


def analyses(setup: Discretization) -> dict[str, tuple[int, int, float]]:
    """Of each monitor that finds elements: analyses of all excitations, points of each, seconds of a core for all."""
    found = {}
    for name, feature in setup.lowered[2].items():
        if not hasattr(feature.item, "_analysis"):
            continue
        first, last = feature.item._corners(setup.context)
        points = int(np.prod([max(1, high - low) for low, high in zip(first, last)]))
        times = len(feature.item._steps(setup.context)) * len(setup.excitations)
        found[name] = times, points, times * points * SECONDS_A_POINT[feature.item.method]
    return found


def cost(setup: Discretization) -> str:
    """What all analyses of a run cost, in words; empty where there is none."""
    return "; ".join(
        f"elements of {name!r}: {times} times {points:,} points, some {duration(seconds)} of a core beside the run"
        for name, (times, points, seconds) in analyses(setup).items()
    )


def slows(setup: Discretization, seconds: float, shared: int) -> str:
    """A warning where analyses slow a run of so many seconds: they take longer than it, or no processor is free.

    `shared`: processors on which the run and its analyses take turns; 0: one is free for these.
    """
    work = sum(each for _, _, each in analyses(setup).values())
    if not work:
        return ""
    if work > seconds:
        return f"{cost(setup)}: longer than the {duration(seconds)} of its steps, which will wait; raise `every`"
    remedy = "give fewer --threads" if shared > 1 else "raise `every`"
    return f"{cost(setup)}, on the run's own processors, as none is left; {remedy}" if shared else ""


class ElementFile:
    """Takes snapshots, one after the other, and keeps a row of numbers of each; every commit is a whole file.

    `keep`: rows of an earlier run that stay.
    """

    def __init__(self, task: Mapping[str, Any], threads: int) -> None:
        self.path, self.plan, self.threads = Path(task["path"]), dict(task["analysis"]), threads
        self.periods: dict[str, float] = self.plan.pop("periods", {})
        self.rows: list[dict[str, float]] = self._kept(task["keep"]) if task["keep"] else []
        self.committed = len(self.rows)

    def _kept(self, count: int) -> list[dict[str, float]]:
        columns = statistics_in(self.path)
        there = columns.sizes["time"]
        if there < count or set(COLUMNS) - set(columns.variables):
            raise too_short(self.path, there, count, "rows")
        return [{name: float(columns[name].values[row]) for name in COLUMNS} for row in range(count)]

    def take(
        self, fields: Mapping[str, np.ndarray], positions: Mapping[str, Variable], times: Mapping[str, float]
    ) -> None:
        """Find the elements of a snapshot whose components lie at the cell centres."""
        begun = time.perf_counter()
        quantity = self.plan["quantity"]
        parts = {name: np.asarray(fields[name])[np.newaxis] for name in components_of(quantity)}
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverges
            values = scalar(parts, quantity)
        half = "H" == components_of(quantity)[0][0]
        row = dict.fromkeys(NUMBERS, 0.0) | self._found(values, positions)
        row |= {"highest": float(values.max()), "lowest": float(values.min()), "time": times["time" + HALF * half]}
        self.rows.append(row | {"seconds": time.perf_counter() - begun})

    def _found(self, values: np.ndarray, positions: Mapping[str, Variable]) -> dict[str, float]:
        """Numbers of the elements; none of a field that is the same everywhere, as it is before a pulse comes, or so
        weak or so strong that its slopes have no powers, as of what runs ahead of the pulse, or of a run that diverges.
        """
        low, high = float(values.min()), float(values.max())
        if not low < high:
            return {}
        lines: list[np.ndarray] = []
        periodic = ""
        for axis in (axis for axis, count in zip("xyz", values.shape) if count > 1):
            line = positions[axis + HALF].array
            if axis in self.periods:  # up to where the next period begins
                periodic += "xyz"[len(lines)]
                line = np.append(line, line[0] + self.periods[axis])
            lines.append(line)
        if not powers_are_numbers(low, high, [np.diff(line) for line in lines]):
            return {}
        found = elements(values.squeeze(), lines, periodic, self.plan["method"], self.threads)
        return {name: float(value) for name, value in found.summary().items() if name in NUMBERS}

    def flush(self) -> None:
        """Put all rows into the file. Error: `RunFailed`, the disk refuses."""
        self._write(RUNNING)

    def _write(self, status: str) -> None:
        try:
            with checksums.written(self.path) as file:
                file.attrs.update(self.plan, periodic="".join(self.periods), status=status)
                for name in COLUMNS:
                    made = file.create_dataset(name, data=np.array([row[name] for row in self.rows], float))
                    made.attrs["units"] = UNITS.get(name, "")
        except OSError as error:
            raise RunFailed(f"{self.path} could not be written: {error}; free some space or change --output") from error
        self.committed = len(self.rows)

    def settle(self) -> None:
        """Do nothing: every commit is a file that the disk has."""

    def close(self, complete: bool, reason: str = "") -> None:
        """Put what is left into the file, and how it ended."""
        self._write(COMPLETE if complete else interrupted(reason))


def statistics_in(path: Path | None) -> xarray.Dataset:
    """What a file holds over time. Error: it is missing, or damaged."""
    import xarray

    if path is None or not path.is_file():
        raise ModelError(f"the file of element statistics, {path}, is missing; it lies beside result.h5")
    try:
        with checksums.opened(path, "run its model again") as file:
            columns = {
                name: ("time", checksums.verified(file[name])[()], {"units": file[name].attrs["units"]})
                for name in file
            }
            said = {name: value for name, value in file.attrs.items() if name != checksums.ATTRIBUTE}
            return xarray.Dataset(columns, attrs=said).set_coords("time")
    except (OSError, RuntimeError, KeyError, ValueError) as error:  # h5py and xarray raise all of these at damage
        raise ModelError(f"the file of element statistics, {path}, is damaged ({error}); run its model again") from None
