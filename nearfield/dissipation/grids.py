"""Scalar fields and the lines of their grids, as users give them and as the analysis takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.messages import shown
from nearfield.entry.wording import counted

AXES = "xyz"
LEAST_POINTS = 4  # along an axis: those of the interpolant
MOST_POINTS = 2**32 - 2  # labels have 32 bits
NARROWEST = 1e-75  # its fourth power is a number
SAME = 1e-9  # relative difference of widths that is the rounding of coordinates


def kind_of(dtype: np.dtype) -> np.dtype:
    """The type of values of this one as they are analysed."""
    return np.dtype(np.float32 if dtype in (np.float16, np.float32) else np.float64)


def field_of(array: Any) -> np.ndarray:
    """The values as float32 or float64, contiguous. Error: see `elements`."""
    refuse_empty(array, "the field")
    unmasked("the field", array)
    try:
        field = np.asarray(array)
    except ValueError:  # lists of unlike lengths
        raise ModelError("the field is no array; give as many values in each row as in the others") from None
    refuse_kind(field.dtype, field.shape)
    if field.size > MOST_POINTS:
        raise ModelError(f"the field has {field.size:,} points, labels can number {MOST_POINTS:,}; give a part of it")
    field = np.ascontiguousarray(field, kind_of(field.dtype))
    lowest, highest = field.min(), field.max()  # not finite where one value is not
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        wrong = np.argwhere(~np.isfinite(field))
        where = ", ".join(map(str, wrong[0]))
        raise ModelError(
            f"the field has {counted(len(wrong), 'value')} not finite, the first at ({where}); fill or cut them"
        )
    if lowest == highest:
        raise ModelError(f"the field is {lowest:g} everywhere; it has no gradient, and so no elements")
    return field


def refuse_empty(array: Any, label: str) -> None:
    """Error: a data set of HDF5 that has a type and no shape, and so no values (`h5py.Empty`)."""
    if getattr(array, "shape", ()) is None:
        raise ModelError(f"{label} is empty: its data set holds no values, not even a shape; give one that has some")


def refuse_kind(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """Error: values that are no real numbers, axes that no field has."""
    if dtype.kind == "c":
        raise ModelError("the field is complex, only real values have maxima; give abs(array) or array.real")
    if dtype.kind not in "fiu":
        raise ModelError(f"the field holds {dtype}; give real numbers")
    if not 1 <= len(shape) <= 3:
        raise ModelError(f"the field has {len(shape)} axes; give one, two or three")
    short = [f"{axis} has {count}" for axis, count in zip(AXES, shape) if count < LEAST_POINTS]
    if short:
        raise ModelError(
            f"every axis needs {LEAST_POINTS} points or more, {', '.join(short)}; an axis of one point is left out as "
            "in array[:, :, 0], which leaves a field of two axes"
        )


def widths_of(
    given: Any, shape: tuple[int, ...], periodic: tuple[bool, ...]
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Positions of the first points, and distances from point to point along each axis.

    `given`: as in `elements`. Error: another number of them, distances that are not positive.
    """
    axes = len(shape)
    entries = list(given) if np.iterable(given) else [given] * axes
    if axes > 1 and len(entries) == 1:
        entries = entries * axes
    if axes == 1 and len(entries) > 1:
        entries = [entries]
    if len(entries) != axes:
        raise ModelError(f"spacing has {len(entries)} entries: give one number, or {axes} for this field")
    first, widths = np.zeros(axes), []
    for axis, (entry, count, closed) in enumerate(zip(entries, shape, periodic)):
        values = numbers_of(entry, axis)
        if values.ndim == 0:
            made = np.full(count if closed else count - 1, float(values))
        else:
            wanted = count + closed
            if values.shape != (wanted,):
                end = ", the last one a period after the first" if closed else ""
                raise ModelError(
                    f"spacing of {AXES[axis]} holds {values.size} coordinates; with {count} points give {wanted}{end}"
                )
            made, first[axis] = np.diff(values), values[0]
        if not (np.isfinite(made).all() and (made > 0).all()):
            raise ModelError(wrong_distance(values, made, axis))
        if made.min() < NARROWEST or made.max() > 1 / NARROWEST:
            raise ModelError(
                f"spacing {made.min():.3g} to {made.max():.3g} along {AXES[axis]}: volumes and squares of such lengths "
                f"are no numbers; give distances between {NARROWEST:g} and {1 / NARROWEST:g} in another unit"
            )
        if np.ptp(made) <= SAME * made.mean():
            made = np.full(len(made), made.mean())
        widths.append(made)
    return first, tuple(widths)


def numbers_of(entry: Any, axis: int) -> np.ndarray:
    """A spacing or coordinates of an axis as real numbers. Error: they are none."""
    unmasked(f"spacing of {AXES[axis]}", entry)
    try:
        values = np.asarray(entry)
    except ValueError:  # lists of unlike lengths
        values = np.empty(0, object)
    if values.dtype.kind not in "fiu":
        raise ModelError(
            f"spacing {shown(entry)} of {AXES[axis]} is no number; give the distance between points, or coordinates"
        )
    return values.astype(float)


def wrong_distance(values: np.ndarray, made: np.ndarray, axis: int) -> str:
    """What is wrong with a spacing, or with the first pair of coordinates that do not rise."""
    need = "distances between points are positive numbers, coordinates rise"
    if values.ndim == 0:
        return f"spacing {values:g} of {AXES[axis]}: {need}"
    at = int(np.argmin(np.isfinite(made) & (made > 0)))
    return f"spacing of {AXES[axis]}: coordinate {at} is {values[at]:g} and the next one {values[at + 1]:g}; {need}"


def refuse_sizes(field: np.ndarray, widths: tuple[np.ndarray, ...]) -> None:
    """Error: values or slopes so large or so small that their powers are no numbers."""
    low, high = float(field.min()), float(field.max())
    if not powers_are_numbers(low, high, widths):
        narrowest, widest = ends_of(widths)
        raise ModelError(
            f"the field lies between {low:.6g} and {high:.6g} on spacings of {narrowest:.3g} to {widest:.3g}: powers "
            f"of such values or of their slopes are no numbers; give values and lengths in units in which values, "
            f"differences and slopes lie between {NARROWEST:g} and {1 / NARROWEST:g}"
        )


def powers_are_numbers(low: float, high: float, widths: Sequence[np.ndarray]) -> bool:
    """Whether a field between these values, with points this far apart, can be analysed; none that is infinite."""
    narrowest, widest = ends_of(widths)
    largest, least = max(-low, high) * max(1.0, 1 / narrowest), (high - low) * min(1.0, 1 / widest)
    return largest <= 1 / NARROWEST and least >= NARROWEST


def ends_of(widths: Sequence[np.ndarray]) -> tuple[float, float]:
    """The narrowest and the widest distance of points."""
    return min(float(each.min()) for each in widths), max(float(each.max()) for each in widths)


def middles(widths: np.ndarray, periodic: bool) -> np.ndarray:
    """Length around each point of an axis: half the distances to its neighbours; at ends the same on both sides."""
    before = np.roll(widths, 1) if periodic else np.append(widths[0], widths)
    after = widths if periodic else np.append(widths, widths[-1])
    return (before + after) / 2


def periods_of(given: str | Iterable[bool] | bool, axes: int) -> tuple[bool, ...]:
    """Whether each axis closes on itself. Error: letters of axes that the field has not, another number of values."""
    if isinstance(given, str):
        refuse_letters(given, AXES[:axes])
        return tuple(axis in given for axis in AXES[:axes])
    alike = isinstance(given, bool | np.bool_)
    values = (given,) * axes if alike else tuple(given) if np.iterable(given) else (given,)
    if not all(isinstance(value, bool | np.bool_ | int | np.integer) and value in (0, 1) for value in values):
        raise ModelError(
            f"periodic={shown(given)}: give the letters of axes such as 'xz', one truth value for all, or one each"
        )
    if len(values) != axes:
        raise ModelError(f"periodic has {len(values)} values; give one for each of the {axes} axes")
    return tuple(map(bool, values))


def refuse_letters(given: str, names: Iterable[str]) -> None:
    """Error: letters of axes that a field has not, or one twice."""
    if set(given) - set(names):
        raise ModelError(f"periodic {shown(given)}: this field has the axes {', '.join(names)}")
    if len(set(given)) < len(given):
        raise ModelError(f"periodic {shown(given)} names an axis twice; give each axis that closes once")
