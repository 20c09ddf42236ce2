"""Small descriptions and fields that the tests of field files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nearfield.formats.codecs import Codec
from nearfield.formats.description import Block, FieldDescription, of_points, of_regions
from nearfield.formats.opening import open_field_file
from nearfield.grid.grid import Grid
from nearfield.grid.yee import COMPONENTS
from nearfield.records.regions import Region

TIME_STEP = 1e-12


def storage(format: str = "hdf5", codec: str = "none", **more) -> dict:
    return {"format": format, "codec": Codec.parse(codec), **more}


def staggered(snapshots: int = 4, names: tuple[str, ...] = COMPONENTS, **stored) -> tuple[FieldDescription, dict]:
    """Components on their own Yee positions, and their regions."""
    grid = Grid(x=[0, 1e-3, 3e-3, 4e-3, 7e-3], y=[0, 1e-3, 2e-3, 3e-3], z=[0, 2e-3, 3e-3, 5e-3, 6e-3, 7e-3]).resolve()
    regions = {name: Region.between(grid, COMPONENTS.index(name), (1, 0, 0), (4, 3, 5)) for name in names}
    return of_regions(grid, regions, snapshots, **stored), regions


def at_points(snapshots: int = 4, shape: tuple[int, int, int] = (5, 4, 6), **stored) -> FieldDescription:
    """The full record: all six components at common points, evenly spaced."""
    return of_points(tuple(1e-3 * np.arange(n) for n in shape), snapshots, **stored)


def values_of(description: FieldDescription, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Numbers for every sample (time, x, y, z), in the precision of the file."""
    rng = np.random.default_rng(5)
    return {
        name: (scale * rng.standard_normal((description.snapshots, *item.shape))).astype(description.dtype)
        for name, item in description.components.items()
    }


def blocks(
    description: FieldDescription, values: dict[str, np.ndarray], cut: int = 2, first: int = 0
) -> Iterator[Block]:
    """Each component of each snapshot in two blocks, cut along x."""
    for snapshot in range(first, description.snapshots):
        for name, item in description.components.items():
            time = (snapshot + 0.5 * (item.dims[0] == "time_half")) * TIME_STEP
            for begin, end in ((0, cut), (cut, item.shape[0])):
                yield Block(name, snapshot, 10 * snapshot, time, values[name][snapshot, begin:end], (begin, 0, 0))


def left_by_a_killed_writer(path: Path, description: FieldDescription, flushed: int) -> None:
    """A file whose writer wrote all, flushed so many snapshots, and vanished as after kill -9."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    file = open_field_file(path, description)
    for block in blocks(description, values_of(description)):
        file.write(block)
        if block.snapshot < flushed:
            file.flush()
    os._exit(0)


def bytes_of(path: Path) -> int:
    return path.stat().st_size
