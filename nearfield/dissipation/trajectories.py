"""Gradient lines from minimum to maximum, with arc length and other fields along them, as ragged arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nearfield.dissipation.counts import threads_of
from nearfield.dissipation.grids import AXES, MOST_POINTS
from nearfield.entry.counts import count_of
from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.messages import shown
from nearfield.machine.compiled import core
from nearfield.machine.group_memory import free_memory

if TYPE_CHECKING:
    import xarray

    from nearfield.dissipation.extrema import Extrema

BYTES_A_SAMPLE = 200  # at the peak: places and values of both halves, of whole lines, and as arrays
OWN = (
    "position",
    "value",
    "arc_length",
    "row_size",
    "point",
    "start",
    "element",
    "maximum",
    "minimum",
    "sample",
    "line",
)


class OnGrid(NamedTuple):
    """A field, the coordinates of its first point, the distances between points, and which axes close."""

    field: np.ndarray
    first: np.ndarray
    widths: tuple[np.ndarray, ...]
    periodic: tuple[bool, ...]

    def with_three_axes(self) -> tuple[np.ndarray, list[list[float]], list[bool]]:
        """What the core takes: flat fields with axes of one point before their own."""
        missing = 3 - self.field.ndim
        widths = [[1.0]] * missing + [axis.tolist() for axis in self.widths]
        return solid(self.field), widths, [False] * missing + list(self.periodic)


def trajectories(
    grid: OnGrid, points: np.ndarray, along: Mapping[str, Any], extrema: tuple[Extrema, Extrema], threads: int | None
) -> xarray.Dataset:
    """See `Elements.trajectories`; without what needs the elements. `extrema`: maxima and minima."""
    import xarray

    if not isinstance(along, Mapping):
        raise ModelError(f"along={shown(along)}: give fields by name, as {{'T': array}}")
    others = {name: other_field(name, values, grid.field.shape) for name, values in along.items()}
    values, *box = grid.with_three_axes()
    lines = core().trajectories(values, *box, points.tolist(), threads_of(threads))
    sizes, starts, highest, lowest, unresolved = lines["lines"].T
    place = lines["place"]
    steps = np.linalg.norm(np.diff(place, axis=0, prepend=place[:1]), axis=1)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    steps[first] = 0.0
    arc = np.cumsum(steps)
    arc -= np.repeat(arc[first], sizes)
    minimum = number_of(extrema[1].index, lowest)
    table: dict[str, Any] = {
        "position": (("sample", "axis"), place[:, 3 - grid.field.ndim :] + grid.first),
        "value": ("sample", lines["value"][:, 0]),
        "arc_length": ("sample", arc),
        "row_size": ("line", sizes, {"sample_dimension": "sample"}),
        "point": ("line", points),
        "start": ("line", starts),
        "maximum": ("line", number_of(extrema[0].index, highest)),
        "minimum": ("line", np.where(minimum < 0, -1, minimum + len(extrema[0]))),
    }
    for name, parts in others.items():
        found = [core().interpolated(solid(part), *box, place)[:, 0] for part in parts]
        table[name] = ("sample", found[0] if len(found) == 1 else found[0] + 1j * found[1])
    facts = {"unresolved_ends": int(unresolved.sum()), "featureType": "trajectory"}
    return xarray.Dataset(table, {"axis": list(AXES[: grid.field.ndim])}, facts)


def arc_lengths(
    grid: OnGrid, labels: np.ndarray, count: int, each: int | None, threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """See `Elements.arc_length`: the mean of each of `count` elements, and the number of its lines."""
    if each is not None:
        each = count_of("lines an element, each", each, MOST_POINTS)
    chosen = np.empty(0, np.int64) if each is None else spread_points(labels, count, each)
    values, *box = grid.with_three_axes()
    found = core().arcs(values, *box, solid(np.ascontiguousarray(labels)), chosen.tolist(), count, threads_of(threads))
    total, lines = found.T
    return np.divide(total, lines, out=np.full(count, np.nan), where=lines > 0), lines.astype(np.int64)


def spread_points(labels: np.ndarray, count: int, each: int) -> np.ndarray:
    """Flat indices of so many points of each element, drawn by random numbers that are always the same."""
    flat = labels.reshape(-1)
    order = np.random.default_rng(0).permutation(flat.size)
    by_element = order[np.argsort(flat[order], kind="stable")]
    sizes = np.bincount(flat, minlength=count)
    place = np.arange(flat.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(by_element[place < each])


def chosen_points(points: int | Sequence[int] | np.ndarray, size: int) -> np.ndarray:
    """Flat indices of points, or so many of them by random numbers, always the same. Error: there are not as many."""
    if isinstance(points, int | np.integer) and not isinstance(points, bool):
        if not 1 <= points <= size:
            raise ModelError(f"trajectories through {points} points: the field has {size:,}; give 1 to as many")
        return np.sort(np.random.default_rng(0).choice(size, int(points), replace=False))
    chosen = np.asarray(unmasked("points of trajectories", points))
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not chosen.size:
        raise ModelError("points of trajectories are a number, or a list of flat indices as np.ravel_multi_index gives")
    if chosen.min() < 0 or chosen.max() >= size:
        raise ModelError(
            f"points of trajectories reach from {chosen.min()} to {chosen.max()}; allowed: 0 to {size - 1}"
        )
    return chosen.astype(np.int64)


def other_field(name: str, values: Any, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The real part, and of complex fields the imaginary one. Error: another shape, no numbers, a taken name."""
    array = np.asarray(unmasked(f"along: {name}", values))
    if name in OWN:
        raise ModelError(f"along: '{name}' is the name of an array that trajectories have; choose another")
    if array.shape != shape or array.dtype.kind not in "fiuc":
        what = " x ".join(map(str, array.shape)) or "no"
        raise ModelError(
            f"along '{name}' holds {what} values of {array.dtype}; give numbers at the field's points, {shape}"
        )
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    kind = np.float32 if array.dtype in (np.float16, np.float32, np.complex64) else np.float64
    return [np.ascontiguousarray(part, kind) for part in parts]


def refuse_lines(lines: int, length: float, width: float) -> None:
    """Error: lines of four times this mean length, by steps of half this width, need more memory than is free."""
    needed = lines * (4 * length / (0.5 * width) + 10) * BYTES_A_SAMPLE
    free = free_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"{lines:,} trajectories may need {needed / 2**30:.3g} GiB and {free / 2**30:.3g} are free; ask for fewer"
        )


def number_of(index: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Place of each end in a rising list of points; -1 of those that it lacks."""
    place = np.minimum(np.searchsorted(index, ends), len(index) - 1)
    return np.where(index[place] == ends, place, -1)


def solid(field: np.ndarray) -> np.ndarray:
    """The field with three axes."""
    return field.reshape((1,) * (3 - field.ndim) + field.shape)
