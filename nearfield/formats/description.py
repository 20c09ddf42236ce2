"""The description of a field file, complete before its first byte is written, and the blocks that fill the file.

A snapshot is every component over its whole box at one step. A block is a box of one component; a snapshot is whole
when blocks have brought all of its samples.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.entry.untrusted_file import plain_name
from nearfield.formats.bounds import Bound
from nearfield.formats.codecs import NO_CODEC, Codec
from nearfield.formats.pieced import Pieced, box_at
from nearfield.grid.yee import COMPONENTS
from nearfield.plan.boxes import Box
from nearfield.records.records import HALF
from nearfield.records.regions import Region, unit_of

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid

FORMATS = ("hdf5", "vtkhdf", "binary", "ascii")
PRECISIONS: dict[str, np.dtype] = {"half": np.dtype("<f2"), "single": np.dtype("<f4"), "double": np.dtype("<f8")}
PLAIN_CHUNK_BYTES = 1 << 26  # largest chunk without a codec: readers then read only the part they need
CHUNK_BYTES = 1 << 20  # largest chunk with a codec: HDF5's default chunk cache, some ms of compression


@dataclass(frozen=True)
class Component:
    """One component of the field: its samples lie at (`time`, x, y, z) or midway, as `dims` say (`x_half`)."""

    dims: tuple[str, str, str, str]
    shape: Triple
    units: str

    @property
    def samples(self) -> int:
        """Samples in one snapshot."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Block:
    """A box of one component at one step: `values` (nx, ny, nz) begin at `offset` in the component's own box.

    `values` may be anything that has a shape, can be sliced and becomes an array (`Pieced`). `snapshot` counts from 0;
    `time` (s) is the time of the component's samples, half a step later for H.
    """

    component: str
    snapshot: int
    step: int
    time: float
    values: np.ndarray | Pieced
    offset: Triple = (0, 0, 0)

    @property
    def box(self) -> Box:
        """The samples of the component that the block holds."""
        return box_at(self.offset, self.values.shape)

    def part(self, box: Box) -> np.ndarray | Pieced:
        """The values in a box that lies in the block."""
        return self.values[box.slices(self.offset)]


@dataclass(frozen=True)
class FieldDescription:
    """Components, coordinates (m), the number of snapshots planned, and how they are stored.

    `format` is hdf5, vtkhdf (HDF5 that ParaView opens), binary or ascii; `codec` and `bound` (an error bound) are for
    the first two. An absolute bound is in V/m; for H it is divided by the impedance of vacuum. `attributes` are plain
    JSON data stored with the fields. Errors: `ModelError`.
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

    @property
    def first(self) -> Component:
        """The first component; all components of a table have its points."""
        return next(iter(self.components.values()))

    @property
    def order(self) -> int:
        """Step through (x, y, z) that gives the order of axes in the file: -1 with vtkhdf, which stores (z, y, x)."""
        return -1 if self.format == "vtkhdf" else 1

    def chunk(self, name: str) -> Triple:
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
        """Whether samples are stored without a codec and an error bound."""
        return self.codec.name == "none" and self.bound is None

    def bound_of(self, name: str) -> Bound | None:
        """The error bound of a component in its own unit: an absolute one is in V/m, and divided by 377 ohm for H."""
        if self.bound is None or self.bound.absolute is None or name[0] == "E":
            return self.bound
        return Bound(absolute=self.bound.absolute / VACUUM_IMPEDANCE)

    def part(self, boxes: Mapping[str, tuple[Triple, Triple]]) -> FieldDescription:
        """The description of a part that holds the box (offset, shape) of each component in `boxes`."""
        components, coordinates = {}, {}
        for name, (offset, shape) in boxes.items():
            whole = self.components[name]
            components[name] = replace(whole, shape=triple(shape))
            for dim, first, count in zip(whole.dims[1:], offset, shape):
                coordinates[dim] = self.coordinates[dim][first : first + count]
        return replace(self, components=components, coordinates=coordinates)

    def thinned(self, every: int) -> FieldDescription:
        """The description with one sample in `every` along each axis."""
        if every == 1:
            return self
        shapes = {name: triple(-(-n // every) for n in item.shape) for name, item in self.components.items()}
        components = {name: replace(self.components[name], shape=shape) for name, shape in shapes.items()}
        return replace(self, components=components, coordinates={d: x[::every] for d, x in self.coordinates.items()})

    def to_json(self) -> str:
        """Everything as JSON, coordinates with all their digits."""
        bound = None if self.bound is None else asdict(self.bound)
        data: dict[str, Any] = {"format": self.format, "precision": self.precision, "codec": str(self.codec)}
        data |= {"bound": bound, "title": self.title, "snapshots_planned": self.snapshots}
        data["components"] = {name: asdict(item) for name, item in self.components.items()}
        data["coordinates"] = {dim: np.asarray(line, float).tolist() for dim, line in self.coordinates.items()}
        return json.dumps(data | {"attributes": dict(self.attributes)})

    @classmethod
    def from_json(cls, text: str) -> FieldDescription:
        """The description that `to_json` wrote."""
        data = json.loads(text)
        components = {
            plain_name(name): Component(four(item["dims"]), lengths(item["shape"]), str(item["units"]))
            for name, item in data["components"].items()
        }
        coordinates = {plain_name(dim): np.asarray(line, float) for dim, line in data["coordinates"].items()}
        for name, item in components.items():
            _, *space = item.dims
            if item.shape != tuple(len(coordinates[dim]) for dim in space):
                raise ValueError(f"{name} of shape {item.shape} does not fit its coordinates")
        codec, bound = Codec.parse(data["codec"]), None if data["bound"] is None else Bound(**data["bound"])
        alike = {name: data[name] for name in ("format", "precision", "title", "attributes")}
        return cls(components, coordinates, data["snapshots_planned"], codec=codec, bound=bound, **alike)


def of_regions(grid: YeeGrid, regions: Mapping[str, Region], snapshots: int, **storage: Any) -> FieldDescription:
    """The description of components on their own Yee positions, as a `Snapshot` records them."""
    components, coordinates = {}, dict[str, np.ndarray]()
    for name, region in regions.items():
        time = "time" + HALF * (region.component >= 3)
        components[name] = Component((time, *region.dims), region.shape, unit_of(region.component))
        coordinates |= {dim: line.array for dim, line in region.coordinates(grid).items()}
    return FieldDescription(components, coordinates, snapshots, **storage)


def of_points(
    lines: Sequence[np.ndarray], snapshots: int, names: tuple[str, ...] = COMPONENTS, **storage: Any
) -> FieldDescription:
    """The description of components at common points, x, y and z given along each axis (m).

    With all six components this is the full record: x, y, z, Ex, Ey, Ez, Hx, Hy, Hz of every point at every step.
    """
    shape = triple(map(len, lines))
    units = {"E": "V/m", "H": "A/m"}
    times = {"E": "time", "H": "time" + HALF if any(name[0] == "E" for name in names) else "time"}
    components = {name: Component((times[name[0]], "x", "y", "z"), shape, units[name[0]]) for name in names}
    return FieldDescription(components, dict(zip("xyz", map(np.asarray, lines))), snapshots, **storage)


class Tally:
    """The number of whole snapshots, in order; refuses blocks that do not fit."""

    def __init__(self, description: FieldDescription, committed: int = 0) -> None:
        self.description = description
        self.complete = committed
        self._missing: dict[int, int] = {}

    def check(self, block: Block) -> None:
        """Refuse a block that lies outside the file, as a mistake of the caller."""
        component = self.description.components.get(block.component)
        if component is None:
            raise ValueError(f"component {block.component!r} is none of {', '.join(self.description.components)}")
        outside = block.values.ndim != 3 or min(block.offset) < 0
        if outside or any(end > count for end, count in zip(block.box.upper, component.shape)):
            raise ValueError(
                f"a block of {block.values.shape} at {block.offset} does not fit {block.component} of {component.shape}"
            )
        if not self.complete <= block.snapshot < self.description.snapshots:
            raise ValueError(
                f"snapshot {block.snapshot} is not among those to come, {self.complete} to "
                f"{self.description.snapshots - 1}"
            )

    def add(self, block: Block) -> bool:
        """Count a block that was written, and return whether its snapshot is now whole."""
        missing = self._missing.get(block.snapshot, self.description.samples) - block.values.size
        self._missing[block.snapshot] = missing
        while self._missing.get(self.complete, 1) <= 0:
            del self._missing[self.complete]
            self.complete += 1
        return missing <= 0


def four(dims: Any) -> tuple[str, str, str, str]:
    """The names of four dims. Error: `ValueError` for anything else."""
    time, x, y, z = map(str, dims)
    return time, x, y, z


def lengths(shape: Any) -> Triple:
    """Three numbers of samples. Error: `ValueError` for anything else."""
    if len(shape) != 3 or not all(type(count) is int and count >= 0 for count in shape):
        raise ValueError(f"{str(shape)[:60]} is no shape of three axes")
    return triple(shape)


def even_share(count: int, most: int) -> int:
    """Size of parts of at most `most` out of `count`, as equal as can be."""
    return max(-(-count // max(-(-count // most), 1)), 1)


def refuse_unknown(what: str, given: str, allowed: tuple[str, ...]) -> None:
    """Raise `ModelError` for a word that is not among the allowed ones."""
    if given not in allowed:
        raise ModelError(f"{what} is {given!r}; choose one of {', '.join(allowed)}")
