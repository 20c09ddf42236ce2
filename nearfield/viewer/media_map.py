"""Which medium is where, on a lattice of cells of the grid, for cuts at any place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.shapes import Wire

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

MOST = 96  # cells along each axis of the lattice; of finer grids every so many
BACKGROUND = "background"
MOST_MEDIA = 255


@dataclass(frozen=True)
class MediaMap:
    """Numbers of media (x, y, z) at places (m), their names, cell lengths (m) there, and one in how many cells."""

    media: np.ndarray
    names: list[str]
    places: list[np.ndarray]
    cells: list[np.ndarray]
    every: list[int]


def media_map(model: Model, grid: YeeGrid) -> MediaMap:
    """The media in the middles of cells; bodies without thickness and wires are not in it."""
    every = [max(1, -(-cells // MOST)) for cells in grid.cells]
    middles = [0.5 * (line[1:] + line[:-1])[step // 2 :: step] for line, step in zip(grid.lines, every)]
    lengths = [grid.primary(axis)[step // 2 :: step] for axis, step in enumerate(every)]
    names = [BACKGROUND]
    media = np.zeros([len(at) for at in middles], dtype=np.uint8)
    for body in model._bodies:
        lower, upper = body.shape.bounds()
        if isinstance(body.shape, Wire) or any(low == high for low, high in zip(lower, upper)):
            continue
        if body.medium_name not in names and len(names) < MOST_MEDIA:
            names.append(body.medium_name)
        window = tuple(slice(*np.searchsorted(at, (low, high))) for at, low, high in zip(middles, lower, upper))
        part = media[window]
        if part.size:
            x, y, z = (at[own] for at, own in zip(middles, window))
            inside = body.shape.contains(x[:, None, None], y[None, :, None], z[None, None, :])
            part[np.broadcast_to(inside, part.shape)] = names.index(body.medium_name)
    return MediaMap(media, names, middles, lengths, every)
