"""What a field file will hold, said before its first byte is written; and the blocks that fill it.

A snapshot is every component over its whole box at one step. Blocks are boxes of one component; a snapshot counts as
taken when all of its samples have come.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.errors import ModelError
from nearfield.formats.bounds import Bound
from nearfield.formats.codecs import NO_CODEC, Codec
from nearfield.grid.yee import COMPONENTS
from nearfield.records.records import HALF

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid
    from nearfield.records.regions import Region

Shape = tuple[int, int, int]
FORMATS = ("hdf5", "vtkhdf", "binary", "ascii")
PRECISIONS = {"half": np.dtype("<f2"), "single": np.dtype("<f4"), "double": np.dtype("<f8")}
PLAIN_CHUNK_BYTES = 1 << 26  # without a codec: readers then take of a chunk what they need
CHUNK_BYTES = 1 << 20  # what a reader's chunk cache holds (HDF5's default), and some ms of a compressor


@dataclass(frozen=True)
class Component:
    """One component of the field: its samples lie at (`time`, x, y, z) or midway, as `dims` say (`x_half`)."""

    dims: tuple[str, str, str, str]
    shape: Shape
    units: str

    @property
    def samples(self) -> int:
        """Samples in one snapshot."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Block:
    """A box of one component at one step: `values` (nx, ny, nz) begin at `offset` in the component's own box.

    They may be anything that has a shape, can be sliced and becomes an array (`Pieced`). `snapshot` counts from 0;
    `time` (s) is that of the component's samples, half a step later for H.
    """

    component: str
    snapshot: int
    step: int
    time: float
    values: np.ndarray
    offset: Shape = (0, 0, 0)


@dataclass(frozen=True)
class FieldDescription:
    """Components, coordinates (m), the number of snapshots planned, and how they are stored.

    `format` is hdf5, vtkhdf (HDF5 that ParaView opens), binary or ascii; `codec` and `bound` (an error bound) are for
    the first two. An absolute bound is in V/m, that of H follows by the impedance of vacuum. `attributes` are plain
    JSON data kept with the fields. Errors: `ModelError`.
    """

    components: Mapping[str, Component]
    coordinates: Mapping[str, np.ndarray]
    snapshots: int
    format: str = "hdf5"
    precision: str = "single"
    codec: Codec = NO_CODEC
    bound: Bound | None = None
    title: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse_unknown("format", self.format, FORMATS)
        refuse_unknown("precision", self.precision, tuple(PRECISIONS))
        if self.is_table and len({(item.dims[1:], item.shape) for item in self.components.values()}) != 1:
            raise ModelError(
                f"format {self.format!r} needs all components at the same points, but they lie on their own Yee "
                "positions; record them at common points, or take format 'hdf5' or 'binary'"
            )
        if self.format == "vtkhdf" and self.precision == "half":
            raise ModelError("ParaView reads no half precision; with format 'vtkhdf' take precision 'single'")
        if not self.is_hdf5 and (self.codec != NO_CODEC or self.bound is not None):
            given = f"codec {self.codec.name!r}" if self.codec != NO_CODEC else "an error bound"
            raise ModelError(f"{given} was given for format {self.format!r}, which is never compressed; take 'hdf5'")

    @property
    def is_hdf5(self) -> bool:
        """Whether the file is an HDF5 file."""
        return self.format in ("hdf5", "vtkhdf")

    @property
    def is_table(self) -> bool:
        """Whether all components must lie at the same points."""
        return self.format in ("ascii", "vtkhdf")

    @property
    def dtype(self) -> np.dtype:
        """Type of a stored sample, little endian."""
        return PRECISIONS[self.precision]

    @property
    def time_dims(self) -> tuple[str, ...]:
        """`time`, `time_half` or both."""
        return tuple(dict.fromkeys(component.dims[0] for component in self.components.values()))

    @property
    def samples(self) -> int:
        """Samples of all components in one snapshot."""
        return sum(component.samples for component in self.components.values())

    def chunk(self, name: str) -> Shape:
        """Shape of the pieces in which a component is stored: slabs of x, cut in y if need be."""
        nx, ny, nz = self.components[name].shape
        most = PLAIN_CHUNK_BYTES if self.is_plain else CHUNK_BYTES
        plane = max(ny * nz * self.dtype.itemsize, 1)
        if plane <= most:
            return even_share(nx, most // plane), ny, nz
        row = nz * self.dtype.itemsize
        return 1, even_share(ny, max(most // row, 1)), nz

    @property
    def is_plain(self) -> bool:
        """Whether samples lie in the file as they are."""
        return self.codec.name == "none" and self.bound is None

    def bound_of(self, name: str) -> Bound | None:
        """The error bound of a component in its own unit; an absolute one is that of E, and of H divided by 377 ohm."""
        if self.bound is None or self.bound.absolute is None or name[0] == "E":
            return self.bound
        return Bound(absolute=self.bound.absolute / VACUUM_IMPEDANCE)

    def part(self, boxes: Mapping[str, tuple[Shape, Shape]]) -> FieldDescription:
        """The same for a part: of each component in `boxes` the box (offset, shape)."""
        components, coordinates = {}, {}
        for name, (offset, shape) in boxes.items():
            whole = self.components[name]
            components[name] = replace(whole, shape=tuple(shape))
            for dim, first, count in zip(whole.dims[1:], offset, shape):
                coordinates[dim] = self.coordinates[dim][first : first + count]
        return replace(self, components=components, coordinates=coordinates)

    def thinned(self, every: int) -> FieldDescription:
        """The same with every so many samples along each axis."""
        if every == 1:
            return self
        components = {
            name: replace(item, shape=tuple(-(-n // every) for n in item.shape))
            for name, item in self.components.items()
        }
        return replace(self, components=components, coordinates={d: x[::every] for d, x in self.coordinates.items()})

    def to_json(self) -> str:
        """Everything as JSON, coordinates with all their digits."""
        return json.dumps(
            {
                "format": self.format,
                "precision": self.precision,
                "codec": str(self.codec),
                "bound": None if self.bound is None else self.bound.to_json(),
                "title": self.title,
                "snapshots_planned": self.snapshots,
                "components": {
                    name: {"dims": item.dims, "shape": item.shape, "units": item.units}
                    for name, item in self.components.items()
                },
                "coordinates": {dim: np.asarray(line, float).tolist() for dim, line in self.coordinates.items()},
                "attributes": dict(self.attributes),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> FieldDescription:
        """What `to_json` wrote."""
        data = json.loads(text)
        return cls(
            components={
                name: Component(tuple(item["dims"]), tuple(item["shape"]), item["units"])
                for name, item in data["components"].items()
            },
            coordinates={dim: np.asarray(line, float) for dim, line in data["coordinates"].items()},
            snapshots=data["snapshots_planned"],
            format=data["format"],
            precision=data["precision"],
            codec=Codec.parse(data["codec"]),
            bound=None if data["bound"] is None else Bound(**data["bound"]),
            title=data["title"],
            attributes=data["attributes"],
        )


def of_regions(grid: YeeGrid, regions: Mapping[str, Region], snapshots: int, **storage: Any) -> FieldDescription:
    """The description of components on their own Yee positions, as a `Snapshot` records them."""
    from nearfield.records.regions import unit_of

    components, coordinates = {}, {}
    for name, region in regions.items():
        time = "time" + HALF * (region.component >= 3)
        components[name] = Component((time, *region.dims), region.shape, unit_of(region.component))
        coordinates |= {dim: line.array for dim, line in region.coordinates(grid).items()}
    return FieldDescription(components, coordinates, snapshots, **storage)


def of_points(
    lines: tuple[np.ndarray, np.ndarray, np.ndarray],
    snapshots: int,
    names: tuple[str, ...] = COMPONENTS,
    **storage: Any,
) -> FieldDescription:
    """The description of components at common points, x, y and z given along each axis (m).

    With all six components this is the full record: x, y, z, Ex, Ey, Ez, Hx, Hy, Hz of every point at every step.
    """
    shape = tuple(len(line) for line in lines)
    units = {"E": "V/m", "H": "A/m"}
    times = {"E": "time", "H": "time" + HALF if any(name[0] == "E" for name in names) else "time"}
    components = {name: Component((times[name[0]], "x", "y", "z"), shape, units[name[0]]) for name in names}
    return FieldDescription(components, dict(zip("xyz", map(np.asarray, lines))), snapshots, **storage)


class Tally:
    """Which snapshots have come whole, in order; refuses blocks that do not fit."""

    def __init__(self, description: FieldDescription, committed: int = 0) -> None:
        self.description = description
        self.complete = committed
        self._missing: dict[int, int] = {}

    def check(self, block: Block) -> None:
        """Refuse a block that lies outside the file, as a mistake of the caller."""
        component = self.description.components.get(block.component)
        if component is None:
            raise ValueError(f"component {block.component!r} is none of {', '.join(self.description.components)}")
        ends = [first + count for first, count in zip(block.offset, block.values.shape)]
        if block.values.ndim != 3 or min(block.offset) < 0 or any(e > n for e, n in zip(ends, component.shape)):
            raise ValueError(
                f"a block of {block.values.shape} at {block.offset} does not fit {block.component} of {component.shape}"
            )
        if not self.complete <= block.snapshot < self.description.snapshots:
            raise ValueError(
                f"snapshot {block.snapshot} is not among those to come, {self.complete} to "
                f"{self.description.snapshots - 1}"
            )

    def add(self, block: Block) -> bool:
        """Count a block that was written; whether its snapshot is now whole."""
        missing = self._missing.get(block.snapshot, self.description.samples) - block.values.size
        self._missing[block.snapshot] = missing
        while self._missing.get(self.complete, 1) <= 0:
            del self._missing[self.complete]
            self.complete += 1
        return missing <= 0


def even_share(count: int, most: int) -> int:
    """Parts of at most `most` out of `count`, as equal as can be."""
    return max(-(-count // max(-(-count // most), 1)), 1)


def refuse_unknown(what: str, given: str, allowed: tuple[str, ...]) -> None:
    """One message for a word that is none of those allowed."""
    if given not in allowed:
        raise ModelError(f"{what} is {given!r}; choose one of {', '.join(allowed)}")
