"""One dissipation element in three dimensions: its points, gradient lines and extrema, the field on cuts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.pictures import style
from nearfield.viewer.page import open_page, page_of_scene, written
from nearfield.viewer.scene import SIZE, Frame, packed
from nearfield.viewer.triangles import MOST_FACES, block_faces, joined, surface_of, tubes

if TYPE_CHECKING:
    from nearfield.bodies.outlined import Surface
    from nearfield.dissipation.partition import Elements

BLUE, ORANGE, GREEN, GREY = "#6FA8D0", "#D55E00", "#0072B2", "#52606D"
LINES = 24  # gradient lines through points of the element, drawn by random numbers
THICKNESS = 0.02  # radius of a line, in units of the scene
BALL = 0.1  # radius of an extremum, in units of the scene
MOST_CELLS = 96  # of the field on cuts along each axis; of finer grids every so many


@dataclass(frozen=True)
class Region:
    """The part of a grid around an element: of each axis the points' numbers, past a period where it goes on there."""

    numbers: tuple[np.ndarray, ...]
    coordinates: tuple[np.ndarray, ...]
    edges: tuple[np.ndarray, ...]
    inside: np.ndarray
    "Whether a point belongs to the element; none at the ends of an axis does."
    places: np.ndarray
    "Numbers of the element's points in the region, (points, axes)."
    values: np.ndarray
    "The field."


def show_element(found: Elements, element: int | str = "largest", output: str | Path | None = None) -> Path:
    """Write one element as an HTML page in three dimensions, and open it where there is a screen; the file.

    The page needs no network. It turns, zooms and cuts: the element as the blocks around its points, gradient lines
    through some of them from minimum to maximum, both extrema, and on cuts the field.

    - `element`: its number, "largest" (of most points) or "longest"
    - `output`: the file, which is then not opened; left out, `out/element.html`

    Error (ModelError): a field of fewer than three axes, no such element, a file that cannot be written.

    >>> x = np.arange(24) * np.pi / 6
    >>> field = np.sin(x)[:, None, None] * np.sin(x)[:, None] * np.sin(x)
    >>> nf.show_element(nf.elements(field, np.pi / 6, "xyz"), "largest", "out/element.html").name
    'element.html'
    """
    page = written(page_of_scene(element_scene(found, chosen(found, element))), Path(output or "out/element.html"))
    if output is None:
        open_page(page)
    return page


def chosen(found: Elements, element: int | str) -> int:
    """The number of an element. Error: there is none of that name or number, or the field is flat."""
    if found.labels.ndim != 3:
        axes = found.labels.ndim
        raise ModelError(
            f"a field of {axes} axes has no element in three dimensions; `found.plot()` draws its elements"
        )
    if element in ("largest", "longest"):
        return int(np.argmax(found.points if element == "largest" else found.length))
    number = -1
    if isinstance(element, int | np.integer) or (isinstance(element, str) and element.isdecimal()):
        number = int(element)
    if not 0 <= number < len(found):
        raise ModelError(f"element {element}: give largest, longest, or a number from 0 to {len(found) - 1}")
    return number


def element_scene(found: Elements, element: int) -> dict[str, Any]:
    """What the viewer's page draws of an element: `nearfield.viewer.scene.scene_of` says how."""
    own = planes_of(found, element)
    low, high = extrema_of(found, element, own)
    region = region_of(found, element, np.array([low, high]), own)
    ends = np.array([(line[0], line[-1]) for line in region.edges])
    frame = Frame(ends.mean(axis=1), float(np.ptp(ends, axis=1).max()) / SIZE)
    lines = lines_of(found, element, region)
    title = f"Element {element:,} of {len(found):,}"
    bodies = [
        body(title, "element", BLUE, blocks(region), f"{found.points[element]:,} points", frame, plain=True),
        *line_bodies(lines, frame),
        body("maximum", "maximum", ORANGE, ball(high, frame), f"value {value_at(found, element)[0]:.6g}", frame),
        body("minimum", "minimum", GREEN, ball(low, frame), f"value {value_at(found, element)[1]:.6g}", frame),
    ]
    colours = {"element": BLUE, "gradient lines": GREY, "maximum": ORANGE, "minimum": GREEN}
    shown = {each["medium"] for each in bodies}
    return {
        "title": title,
        "size": SIZE,
        "metres_a_unit": frame.metres,
        "metric": False,
        "problem": "",
        "facts": facts_of(found, element, (low, high), lines),
        "warnings": [],
        "moved": [],
        "moved_more": 0,
        "media": [{"name": name, "colour": colour, "text": ""} for name, colour in colours.items() if name in shown],
        "bodies": bodies,
        "objects": [],
        "grid": [
            packed((line - middle) / frame.metres, "f4") for line, middle in zip(region.coordinates, frame.centre)
        ],
        "origin": frame.centre.tolist(),
        "layers": [],
        "planes": [],
        "map": field_map(region, frame),
        "words": {"bodies-head": "Element", "things-head": "Box"},
        "cuts": {"media": "field", "none": "nothing"},
    }


def region_of(found: Elements, element: int, ends: np.ndarray, own: list[np.ndarray]) -> Region:
    """The points around an element and its extrema, one more on each side; `own`: numbers of its points' planes."""
    numbers, coordinates, edges, index = [], [], [], []
    for axis, (line, period) in enumerate(zip(found.coordinates, found.periods)):
        first, last = int(own[axis][0]) - 1, int(own[axis][-1]) + 1

        def place(number: int, axis: int = axis) -> float:
            return float(unfolded(found, axis, np.array([number]))[0])

        while place(first) > ends[:, axis].min() and (period is not None or first >= 0):
            first -= 1
        while place(last) < ends[:, axis].max() and (period is not None or last < line.size):
            last += 1
        at = np.arange(first, last + 1)
        where = unfolded(found, axis, at)
        middle = 0.5 * (where[1:] + where[:-1])
        numbers.append(at)
        coordinates.append(where)
        edges.append(np.concatenate(([2 * where[0] - middle[0]], middle, [2 * where[-1] - middle[-1]])))
        index.append(at % line.size if period is not None else np.clip(at, 0, line.size - 1))
    inside = found.labels[np.ix_(*index)] == element
    for axis in range(3):  # what the ends repeat, of the far side of a period or of the last point
        beyond = (numbers[axis] < own[axis][0]) | (numbers[axis] > own[axis][-1])
        inside[(slice(None),) * axis + (beyond,)] = False
    values = found.field[np.ix_(*index)].astype(float)
    return Region(tuple(numbers), tuple(coordinates), tuple(edges), inside, np.argwhere(inside), values)


def planes_of(found: Elements, element: int) -> list[np.ndarray]:
    """Of each axis the numbers of the planes with points of an element, past the end of a period where it goes on."""
    labels = found.labels == element
    planes = []
    for axis, (count, closed) in enumerate(zip(labels.shape, found.periodic)):
        own = np.flatnonzero(labels.any(axis=tuple({0, 1, 2} - {axis})))
        if closed and own.size < count:  # begins after the longest part without points
            gaps = np.diff(np.append(own, own[0] + count))
            own = np.roll(own, -1 - int(np.argmax(gaps)))
            own = np.where(own < own[0], own + count, own)
        planes.append(own)
    return planes


def unfolded(found: Elements, axis: int, at: np.ndarray) -> np.ndarray:
    """Coordinates of points by their numbers, also before and after the ends of an axis."""
    line, widths, period = found.coordinates[axis], found.widths[axis], found.periods[axis]
    if period is not None:
        return line[at % line.size] + period * (at // line.size)
    inner = line[np.clip(at, 0, line.size - 1)]
    return inner + np.where(at < 0, -widths[0], 0.0) + np.where(at >= line.size, widths[-1], 0.0)


def extrema_of(found: Elements, element: int, own: list[np.ndarray]) -> np.ndarray:
    """The places of minimum and maximum in the period in which they lie nearest to the element's points."""
    low = found.minima.position[found.minimum[element]].copy()
    vector = found.difference_vector[element]
    for axis, period in enumerate(found.periods):
        if period is not None:
            middle = unfolded(found, axis, own[axis]).mean()
            low[axis] += period * np.round((middle - low[axis] - 0.5 * vector[axis]) / period)
    return np.array([low, low + vector])


def lines_of(found: Elements, element: int, region: Region) -> list[np.ndarray]:
    """Gradient lines through some of the element's points, where they lie beside it; those that end elsewhere not."""
    some = region.places[np.random.default_rng(0).permutation(len(region.places))[:LINES]]
    numbers = np.column_stack([at[column] for at, column in zip(region.numbers, some.T)])
    folded = numbers % found.labels.shape
    periods = np.array([period or 0.0 for period in found.periods])
    shift = (numbers // found.labels.shape) * periods
    points = np.ravel_multi_index(tuple(folded.T), found.labels.shape)
    order = np.argsort(points)
    lines = found.trajectories(points[order])
    kept = (lines.maximum.values == found.maximum[element]) & (
        lines.minimum.values == found.minimum[element] + len(found.maxima)
    )
    places = np.split(lines.position.values, np.cumsum(lines.row_size.values)[:-1])
    return [place + move for place, move, keep in zip(places, shift[order], kept) if keep]


def blocks(region: Region) -> Surface:
    """The surface of the blocks around the points, out to half the way to their neighbours. Error: too fine."""
    faces = sum(np.count_nonzero(np.diff(region.inside, axis=axis)) for axis in range(3))
    if faces > MOST_FACES:
        raise ModelError(f"the element has {faces:,} faces, a page takes {MOST_FACES:,}; show one of fewer points")
    return block_faces(region.inside, region.edges)


def ball(at: np.ndarray, frame: Frame) -> Surface:
    """A small ball about an extremum."""
    from nearfield.bodies.shapes import Sphere

    corners, triangles = surface_of(Sphere(tuple(map(float, frame.place(at))), BALL), SIZE)
    return corners * frame.metres + frame.centre, triangles


def line_bodies(lines: list[np.ndarray], frame: Frame) -> list[dict[str, Any]]:
    """All lines as one body of tubes; nothing where no line was kept."""
    parts = []
    for line in lines:
        apart = np.append(True, np.linalg.norm(np.diff(line, axis=0), axis=1) > 0)
        if np.count_nonzero(apart) > 1:
            parts.append(tubes(line[apart], THICKNESS * frame.metres))
    if not parts:
        return []
    text = f"{len(parts)} lines through points of the element"
    return [body("gradient lines", "gradient lines", GREY, joined(parts), text, frame, plain=True)]


def body(
    name: str, medium: str, colour: str, surface: Surface, text: str, frame: Frame, plain: bool = False
) -> dict[str, Any]:
    """A body of the scene: all but the element itself are opaque; `plain`: without drawn edges."""
    corners, triangles = surface
    lower, upper = corners.min(axis=0), corners.max(axis=0)
    return {
        "name": name,
        "medium": medium,
        "colour": colour,
        "flat": False,
        "opaque": medium != "element",
        "plain": plain,
        "text": text,
        "from": ", ".join(f"{value:.4g}" for value in lower),
        "lower": frame.place(lower).tolist(),
        "upper": frame.place(upper).tolist(),
        "triangles": len(triangles),
        "corners": packed(frame.place(corners), "f4"),
        "index": packed(triangles, "u4"),
    }


def value_at(found: Elements, element: int) -> tuple[float, float]:
    """Values at its maximum and its minimum."""
    return float(found.maxima.value[found.maximum[element]]), float(found.minima.value[found.minimum[element]])


def facts_of(
    found: Elements, element: int, ends: tuple[np.ndarray, np.ndarray], lines: list[np.ndarray]
) -> list[list[str]]:
    """Rows of the table: the element's numbers."""
    high, low = value_at(found, element)
    where = [", ".join(f"{value:.4g}" for value in place) for place in ends]
    beside = int(np.count_nonzero((found.neighbours == element).any(axis=1)))
    arcs = [float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()) for line in lines]
    return [
        ["points", f"{found.points[element]:,}"],
        ["volume", f"{found.volume[element]:.6g}"],
        ["length", f"{found.length[element]:.6g}"],
        ["difference", f"{found.difference[element]:.6g}"],
        ["maximum", f"{high:.6g} at {where[1]}"],
        ["minimum", f"{low:.6g} at {where[0]}"],
        ["neighbours", f"{beside:,}"],
        *([["lines", f"{len(arcs)}, {np.mean(arcs):.4g} long on average"]] if arcs else []),
    ]


def field_map(region: Region, frame: Frame) -> dict[str, Any]:
    """The field in the region as bytes, with a colour for each."""
    import matplotlib

    every = [max(1, -(-at.size // MOST_CELLS)) for at in region.numbers]
    kept = tuple(slice(step // 2, None, step) for step in every)
    places = [line[part] for line, part in zip(region.coordinates, kept)]
    values = region.values[kept]
    lowest, highest = values.min(), values.max()
    levels = np.round(255 * (values - lowest) / max(highest - lowest, np.finfo(float).tiny))
    colours = matplotlib.colormaps[style.MAGNITUDE_MAP](np.arange(256), bytes=True)[:, :3]
    return {
        "shape": list(values.shape),
        "media": packed(levels.transpose(2, 1, 0), "u1"),  # x runs fastest
        "places": [packed((at - middle) / frame.metres, "f4") for at, middle in zip(places, frame.centre)],
        "cells": [packed(np.ones(at.size), "f4") for at in places],
        "names": [],
        "colours": ["#" + bytes(colour).hex() for colour in colours],
        "wavelengths": [],
        "frequency": "",
        "every": every,
    }
