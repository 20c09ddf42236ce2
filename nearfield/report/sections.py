"""Plane cuts through a model as shapes to draw: which medium is where, metal without thickness as strokes and dots."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.run.media_names import OF_BACKGROUND, distinct
from nearfield.viewer.objects import corners

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

PIXELS = 1000  # along the longer side of a cut
BACKGROUND = -1
Stroke = tuple[tuple[float, float], tuple[float, float], int]


@dataclass(frozen=True)
class Section:
    """A cut across `axis` at `position` (m): media over the axes `across` (to the right) and `up`.

    `index` holds for each pixel (row along `up`, column along `across`) the position in `media_of`, or BACKGROUND.
    `strokes`, from one place to another, are sheets seen edge-on and wires, `dots` wires that pierce the cut; both end
    with the position of their medium.
    """

    axis: int
    position: float
    across: int
    up: int
    columns: np.ndarray
    rows: np.ndarray
    index: np.ndarray
    strokes: list[Stroke] = field(default_factory=list)
    dots: list[tuple[float, float, int]] = field(default_factory=list)


def media_of(simulation: Model) -> dict[str, Any]:
    """Every medium of the bodies once, by its name as a reader knows it."""
    return dict(zip(names_of_bodies(simulation), (body.medium for body in simulation._bodies)))


def names_of_bodies(simulation: Model) -> list[str]:
    """The name of each body's medium; different media of one name, the background's among them, are numbered."""
    background = simulation.background.name or OF_BACKGROUND, simulation.background
    return distinct([background, *((medium_name(body), body.medium) for body in simulation._bodies)])[1:]


def medium_name(body: FilledShape) -> str:
    """The medium as a reader knows it: "PEC", its name, or its numbers."""
    medium: Any = body.medium
    if isinstance(medium, str):
        return medium.upper()
    return body.key if body.key and medium.name in (None, body.key) else medium.label()


def section(simulation: Model, grid: YeeGrid, axis: int, position: float, across: int, up: int) -> Section:
    """The cut of a model on its grid; sheets and wires lie where the grid puts them."""
    spans = [grid.lines[side][-1] - grid.lines[side][0] for side in (across, up)]
    counts = [max(80, int(PIXELS * span / max(spans))) for span in spans]
    columns, rows = (
        grid.lines[side][0] + (np.arange(count) + 0.5) * span / count
        for side, count, span in zip((across, up), counts, spans)
    )
    cut = Section(axis, position, across, up, columns, rows, np.full((rows.size, columns.size), BACKGROUND))
    names = names_of_bodies(simulation)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    for body, name in zip(simulation._bodies, names):
        if body.shape.kind == "wire":
            _add_wire(cut, body.shape, grid, numbers[name])
        elif (flat := flat_axis(body.shape)) is None or flat == axis:
            _fill(cut, body.shape, grid, numbers[name], flat)
        else:
            _add_sheet(cut, body.shape, grid, numbers[name], flat)
    return cut


def flat_axis(shape: Any) -> int | None:
    """The axis along which a shape has no extent, None for a solid."""
    lower, upper = shape.bounds()
    return next((axis for axis in range(3) if lower[axis] == upper[axis]), None)


def snapped(grid: YeeGrid, axis: int, coordinate: float) -> float:
    """The grid line nearest to a coordinate."""
    return float(grid.lines[axis][grid.nearest_node(axis, coordinate)])


def _near(cut: Section, grid: YeeGrid, coordinate: float) -> bool:
    """Whether the cut shows what lies on the grid plane nearest to the coordinate."""
    return grid.nearest_node(cut.axis, coordinate) == grid.nearest_node(cut.axis, cut.position)


def _fill(cut: Section, shape: Any, grid: YeeGrid, number: int, flat: int | None) -> None:
    """Give the pixels inside the shape its medium; only those within its bounds are tested."""
    lower, upper = shape.bounds()
    height = cut.position
    if flat is not None:
        if not _near(cut, grid, lower[flat]):
            return
        height = lower[flat]
    elif not lower[cut.axis] <= height <= upper[cut.axis]:
        return
    sides = ((cut.rows, cut.up), (cut.columns, cut.across))
    window = tuple(slice(*np.searchsorted(samples, (lower[side], upper[side]))) for samples, side in sides)
    place: list[Any] = [height] * 3
    place[cut.across] = cut.columns[None, window[1]]
    place[cut.up] = cut.rows[window[0], None]
    if cut.index[window].size:
        cut.index[window][np.broadcast_to(shape.contains(*place), cut.index[window].shape)] = number


def _add_sheet(cut: Section, shape: Any, grid: YeeGrid, number: int, flat: int) -> None:
    """A sheet without thickness, cut across: strokes along the runs of pixels that lie on it."""
    along, samples = (cut.up, cut.rows) if flat == cut.across else (cut.across, cut.columns)
    lower, upper = shape.bounds()
    place: list[Any] = [0.0] * 3
    place[flat], place[along] = lower[flat], np.clip(samples, lower[along], upper[along])
    place[cut.axis] = cut.position
    pitch = samples[1] - samples[0]
    inside = shape.contains(*place) & (samples > lower[along] - pitch) & (samples < upper[along] + pitch)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False]))))
    level = snapped(grid, flat, lower[flat])
    for start, stop in zip(edges[::2], edges[1::2]):
        ends = [max(samples[start] - pitch / 2, lower[along]), min(samples[stop - 1] + pitch / 2, upper[along])]
        points = [(level, end) if along == cut.up else (end, level) for end in ends]
        cut.strokes.append((points[0], points[1], number))


def _add_wire(cut: Section, shape: Any, grid: YeeGrid, number: int) -> None:
    for start, end in pairwise(shape.points):
        ends = [tuple(snapped(grid, axis, point[axis]) for axis in range(3)) for point in (start, end)]
        flat = [(point[cut.across], point[cut.up]) for point in ends]
        low, high = sorted(point[cut.axis] for point in ends)
        if low == high and _near(cut, grid, low):
            cut.strokes.append((flat[0], flat[1], number))
        elif low < high and low <= cut.position <= high:
            cut.dots.append((*flat[0], number))


def cut_positions(simulation: Model, grid: YeeGrid) -> tuple[float, float, float]:
    """Positions of three cuts: at the largest metal sheet across an axis, else through the first feed."""
    first, second, third = (_cut_position(simulation, grid, axis) for axis in range(3))
    return first, second, third


def _cut_position(simulation: Model, grid: YeeGrid, axis: int) -> float:
    low, high = simulation.boundaries.cpml_cells(axis)  # not counted where they would fill the axis
    inner = grid.lines[axis][[low, -1 - high] if low + high < grid.cells[axis] else [0, -1]]
    wanted = _largest_sheet(simulation, axis, inner)
    if wanted is None:
        feed = next((corners(item) for item in (*simulation.ports, *simulation.sources)), None)
        wanted = 0.5 * (feed[0][axis] + feed[1][axis]) if feed else _middle(simulation, axis, inner)
    return snapped(grid, axis, float(np.clip(wanted, *inner)))


def _largest_sheet(simulation: Model, axis: int, inner: np.ndarray) -> float | None:
    best, found = 0.0, None
    for structure in simulation.structures:
        if structure.shape.kind in ("sheet", "polygon") and flat_axis(structure.shape) == axis:
            lower, upper = structure.shape.bounds()
            area = float(np.prod([upper[side] - lower[side] for side in range(3) if side != axis]))
            if inner[0] < lower[axis] < inner[1] and area > best:
                best, found = area, lower[axis]
    return found


def _middle(simulation: Model, axis: int, inner: np.ndarray) -> float:
    bounds = [structure.shape.bounds() for structure in simulation.structures]
    low = max(min((lower[axis] for lower, _ in bounds), default=inner[0]), inner[0])
    high = min(max((upper[axis] for _, upper in bounds), default=inner[1]), inner[1])
    return float(0.5 * (low + high) if low < high else np.mean(inner))
