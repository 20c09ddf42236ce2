"""Which medium is where, on a lattice of cells of the grid, for cuts at any place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.run.media_names import OF_BACKGROUND, distinct

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

MOST = 96  # cells along each axis of the lattice; of finer grids every so many


@dataclass(frozen=True)
class MediaMap:
    """Numbers (x, y, z) at places (m) of the media `fills`, cell lengths (m) there, and one in how many cells.

    The first medium is the background.
    """

    media: np.ndarray
    names: list[str]
    fills: list[Any]
    places: list[np.ndarray]
    cells: list[np.ndarray]
    every: list[int]


def names_of_media(model: Model) -> tuple[str, list[str]]:
    """The names of the background and of each body's medium; different media of one name are numbered."""
    named = [(body.medium_name, body.medium) for body in model._bodies]
    background, *others = distinct([(model.background.name or OF_BACKGROUND, model.background), *named])
    return background, others


def media_map(model: Model, grid: YeeGrid) -> MediaMap:
    """The media in the middles of cells; bodies without thickness and wires are not in it."""
    every = [max(1, -(-cells // MOST)) for cells in grid.cells]
    middles = [0.5 * (line[1:] + line[:-1])[step // 2 :: step] for line, step in zip(grid.lines, every)]
    lengths = [grid.primary(axis)[step // 2 :: step] for axis, step in enumerate(every)]
    background, names = names_of_media(model)
    solids = [(body, name) for body, name in zip(model._bodies, names) if not is_thin(body)]
    fills = {name: body.medium for body, name in solids}
    numbers = {name: number for number, name in enumerate(fills, 1)}
    media = np.zeros([len(at) for at in middles], dtype=np.min_scalar_type(len(fills)))
    for body, name in solids:
        lower, upper = body.shape.bounds()
        window = tuple(slice(*np.searchsorted(at, (low, high))) for at, low, high in zip(middles, lower, upper))
        part = media[window]
        if part.size:
            x, y, z = (at[own] for at, own in zip(middles, window))
            inside = body.shape.contains(x[:, None, None], y[None, :, None], z[None, None, :])
            part[np.broadcast_to(inside, part.shape)] = numbers[name]
    return MediaMap(media, [background, *fills], [model.background, *fills.values()], middles, lengths, every)


def is_thin(body: FilledShape) -> bool:
    """Whether it is a wire, or has no thickness."""
    return isinstance(body.shape, Wire) or any(low == high for low, high in zip(*body.shape.bounds()))
