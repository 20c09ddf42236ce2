"""What a result puts on its model in three dimensions: patterns as surfaces, fields and currents on planes.

Levels are bytes: 0 is nothing (off the metal), 1 to 255 the range of dB below the largest, of a plane at each
frequency, of a pattern at all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.sheet_currents import SheetCurrents, sheet_currents
from nearfield.entry.levels import decibels
from nearfield.entry.wording import quantity
from nearfield.media.surface_media import is_metal
from nearfield.pictures import style
from nearfield.pictures.cuts import patterns
from nearfield.pictures.pattern import DYNAMIC_RANGE, ceiling_of
from nearfield.pictures.planes import FIELD_RANGE, Flat, flat, plane_at
from nearfield.report.sections import media_of, section
from nearfield.viewer.scene import SIZE, Frame, packed

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.results import Result

MOST_FREQUENCIES = 24  # of a monitor, evenly chosen
MOST_PIXELS = 220  # along a side of a plane
MOST_ITEMS = 6  # of a kind


def results_of(result: Result, model: Model) -> dict[str, Any]:
    """Everything that the page draws on the model, of the first excitation; `items` is empty where nothing fits."""
    items: list[dict[str, Any]] = []
    if result.excitations:
        excitation, frame = result.excitation(), Frame.of(result.grid)
        for name, monitor in excitation.record.monitors.items():
            if monitor.kind == "far-field":
                items += pattern_item(name, excitation[name], frame, result)
            elif monitor.kind == "field-dft":
                items += field_items(name, excitation[name], frame, result, model)
    return {"items": fewest(items), "colours": {name: colours(name) for name in {each["colours"] for each in items}}}


def fewest(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first of each kind, as many as the page's list takes."""
    kinds = dict.fromkeys(each["kind"] for each in items)
    return [each for kind in kinds for each in [item for item in items if item["kind"] == kind][:MOST_ITEMS]]


def colours(name: str) -> dict[str, str]:
    """A colour map as 256 times red, green, blue."""
    import matplotlib

    return packed(matplotlib.colormaps[name](np.arange(256), bytes=True)[:, :3], "u1")


def levels(dbi: np.ndarray, top: float, span: float) -> np.ndarray:
    """dB as bytes, 1 for `span` below the top and what is less or not finite."""
    part = np.nan_to_num((dbi - top) / span + 1.0, nan=0.0, neginf=0.0, posinf=1.0)
    return np.round(1 + 254 * np.clip(part, 0.0, 1.0)).astype(np.uint8)


def pattern_item(name: str, far_field: Any, frame: Frame, result: Result) -> list[dict[str, Any]]:
    """A far field as a surface about the middle of the grid, its radius the directivity in dB."""
    every = patterns(far_field)
    shown = [every[number] for number in style.picked(len(every), MOST_FREQUENCIES)]
    if not shown or shown[0].theta.size < 2 or shown[0].phi.size < 3:
        return []
    top = ceiling_of(shown)
    middle = [0.5 * float(line[0] + line[-1]) for line in result.grid.lines]
    return [
        {
            "kind": "pattern",
            "name": name,
            "colours": style.PATTERN_MAP,
            "labels": [f"{quantity(p.frequency, 'Hz')}, {style.signed(p.maximum, 2)} dBi" for p in shown],
            "theta": packed(shown[0].theta, "f4"),
            "phi": packed(shown[0].phi, "f4"),
            "levels": [packed(levels(pattern.dbi, top, DYNAMIC_RANGE), "u1") for pattern in shown],
            "centre": frame.place(middle).tolist(),
            "radius": 0.4 * SIZE,
            "scale": f"{top - DYNAMIC_RANGE:g} to {top:g} dBi",
        }
    ]


def field_items(name: str, field: Any, frame: Frame, result: Result, model: Model) -> list[dict[str, Any]]:
    """A spectrum on its plane, and the currents on metal there where both tangential H were recorded."""
    found = []
    on = flat(field.pictured(), None, {})
    if on is not None and on.leading == "frequency":
        found.append(field_item(name, on, frame))
    currents = sheet_currents(field)
    if currents is not None:
        found += current_item(name, currents, field["H" + "xyz"[(currents.axis + 1) % 3]], frame, result, model)
    return found


def field_item(name: str, on: Flat, frame: Frame) -> dict[str, Any]:
    """abs(E), or abs(H), on a plane at each frequency."""
    frequencies = next(iter(on.parts.values()))["frequency"].values
    shown = style.picked(frequencies.size, MOST_FREQUENCIES)
    planes = [plane_at(name, on, number) for number in shown]
    part = planes[0].label.split(" at ")[0]
    where = on.axis, on.position, planes[0].across, planes[0].up
    labels = [quantity(float(frequencies[number]), "Hz") for number in shown]
    return plane_item("field", f"{name}: {part}", where, [plane.values for plane in planes], labels, frame)


def current_item(
    name: str, currents: SheetCurrents, like: Any, frame: Frame, result: Result, model: Model
) -> list[dict[str, Any]]:
    """The currents on the metal of a plane; nothing where there is none."""
    cut = section(model, result.grid, currents.axis, currents.position, *(a for a in range(3) if a != currents.axis))
    metal = [number for number, medium in enumerate(media_of(model).values()) if is_metal(medium)]
    rows, columns = (
        np.clip(np.searchsorted(pixels, places), 0, pixels.size - 1)
        for pixels, places in ((cut.rows, currents.up), (cut.columns, currents.across))
    )
    there = np.isin(cut.index[np.ix_(rows, columns)], metal).T
    if not there.any():
        return []
    frequencies = like["frequency"].values
    shown = style.picked(frequencies.size, MOST_FREQUENCIES)
    labels = [quantity(float(frequencies[number]), "Hz") for number in shown]
    values = [np.where(there, currents.values[number], np.nan) for number in shown]
    where = currents.axis, currents.position, currents.across, currents.up
    return [plane_item("current", f"{name}: surface current", where, values, labels, frame)]


def plane_item(
    kind: str,
    name: str,
    where: tuple[int, float, np.ndarray, np.ndarray],
    values: list[np.ndarray],
    labels: list[str],
    frame: Frame,
) -> dict[str, Any]:
    """Values (across, up) at several frequencies as pictures on a plane, in dB of the largest at each; NaN: nothing."""
    axis, position, across, up = where
    counts = [int(min(MOST_PIXELS, side.size * 4)) for side in (across, up)]
    pixels = [np.linspace(side[0], side[-1], count) for side, count in zip((across, up), counts)]
    nearest = [np.abs(side[None, :] - at[:, None]).argmin(axis=1) for side, at in zip((across, up), pixels)]
    pictures = []
    for each in values:
        resampled = each[np.ix_(*nearest)]
        largest = float(np.nanmax(np.abs(resampled), initial=0.0))
        bytes_ = levels(decibels(np.maximum(np.abs(resampled), 1e-30) / max(largest, 1e-30)), 0.0, FIELD_RANGE)
        pictures.append(packed(np.where(np.isnan(resampled), 0, bytes_).T, "u1"))  # across runs fastest
    ends = np.zeros((2, 3))
    ends[:, axis] = position
    for side, pixel in zip((a for a in range(3) if a != axis), pixels):
        ends[:, side] = pixel[0], pixel[-1]
    lower, upper = frame.place(ends).tolist()
    return {
        "kind": kind,
        "name": name,
        "colours": style.MAGNITUDE_MAP,
        "labels": labels,
        "axis": axis,
        "lower": lower,
        "upper": upper,
        "shape": counts,
        "levels": pictures,
        "scale": f"{FIELD_RANGE:g} dB below the largest at each frequency",
    }
