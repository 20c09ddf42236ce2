"""Models of boxes that carry numbers, such as bodies from tomography."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from nearfield.bodies.files import readable
from nearfield.bodies.shapes import Solid
from nearfield.entry.numpy_file import read_array
from nearfield.entry.quantities import FileName, Position, Read, Spacing, Whole, several, shown
from nearfield.entry.schema import tag
from nearfield.entry.triples import Point, triple

SUFFIXES = (".npy", ".h5", ".hdf5")
LARGEST_LIST = 10**6  # numbers that a model file may hold itself
NAMED = 10  # ids that a message lists


def _numbers(given: Any) -> Any:
    values = np.asarray(given)
    if values.ndim != 3 or not values.size or values.dtype.kind not in "biu":
        raise ValueError(f"given {shown(given)}; needs whole numbers over x, y and z: nested lists or an array")
    if values.size > LARGEST_LIST:
        raise ValueError(
            f"given {values.size} numbers; at most {LARGEST_LIST} may stand in the model itself: write "
            "them with numpy.save and give `file`"
        )
    return tuple(tuple(map(tuple, plane)) for plane in values.astype(np.int64).tolist())


class Voxels(Solid):
    """The boxes of a voxel model that carry certain numbers: from an HDF5 data set, a NumPy file, or an array.

    As the shape of a structure whose medium is a table {number: medium} it is the whole model; numbers of the model
    that the table does not name are refused, `"none"` leaves boxes as they are. Media are cut at the boxes' faces, so
    that averages are exact whatever the grid. Points on a face belong to the box above it.

    >>> import nearfield as nf
    >>> head = nf.Voxels(array=[[[0, 3], [3, 3]]], spacing="2 mm")
    >>> parts = nf.Structure(head, {0: "none", 3: nf.Medium(41.0, conductivity=0.9)}, name="head").parts()
    >>> print([part.name for part in parts], parts[0].shape.contains(1e-3, 1e-3, [1e-3, 3e-3]))
    ['head: 3'] [False  True]
    """

    _corners: ClassVar[tuple[str, ...]] = ("lower",)
    kind: Literal["voxels"] = tag("voxels")
    file: FileName | None = None
    """HDF5 or .npy file of whole numbers over [x][y][z]; in a model file it counts from that file's folder."""
    spacing: Annotated[Read[Spacing], BeforeValidator(lambda given: given if np.ndim(given) == 1 else (given,) * 3)]  # type: ignore[misc]
    """Size of a box along x, y and z (m); one length for cubes."""
    lower: Position = (0.0, 0.0, 0.0)
    """Lower corner of the box [0][0][0] (m)."""
    dataset: str | None = None
    """Name of the data set in an HDF5 file; left out, the only one over three axes."""
    array: Annotated[Read[tuple[tuple[tuple[int, ...], ...], ...]], BeforeValidator(_numbers)] | None = None
    """The numbers themselves, in place of a file."""
    ids: Annotated[Read[tuple[Whole, ...]], BeforeValidator(several)] | None = None
    """The numbers whose boxes make this body; left out, all but 0."""
    checksum: str | None = None
    """SHA-256 of the file; given, another file is refused."""

    @model_validator(mode="after")
    def _has_boxes(self) -> Voxels:
        if (self.file is None) == (self.array is None):
            raise ValueError("needs either `file` or `array`")
        if missing := set(self.ids or ()) - set(self._counts):
            raise ValueError(f"no box carries {_listed(missing)}; there are {_listed(self._counts)}")
        if self.ids is None and not self._mask.any():
            raise ValueError("all numbers are 0: there is no body")
        return self

    @cached_property
    def _box_numbers(self) -> np.ndarray:
        """The number of each box, [x][y][z]."""
        if self.file is None:
            return np.array(self.array)
        path = readable(self.file, SUFFIXES, "voxels", self.checksum)
        status = path.stat()
        return read_numbers(str(path), self.dataset, status.st_mtime_ns, status.st_size)

    @cached_property
    def _counts(self) -> dict[int, int]:
        """Number of boxes that carry each number."""
        return dict(zip(*(part.tolist() for part in np.unique(self._box_numbers, return_counts=True))))

    @cached_property
    def _mask(self) -> np.ndarray:
        """Which boxes belong to the body, with two more on each side."""
        own = self._box_numbers != 0 if self.ids is None else np.isin(self._box_numbers, self.ids)
        return np.pad(own, 2)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """First and past the last box of the body along each axis."""
        owned = [np.flatnonzero(self._mask.any(axis=tuple({0, 1, 2} - {axis}))) - 2 for axis in range(3)]
        return [(int(own[0]), int(own[-1]) + 1) for own in owned]

    @property
    def _blocks(self) -> bool:
        return True

    def bounds(self) -> tuple[Point, Point]:
        first, last = zip(*self._spans)
        return triple(map(self._face, range(3), first)), triple(map(self._face, range(3), last))

    def _faces(self, axis: int) -> list[float]:
        first, last = self._spans[axis]
        return [self._face(axis, number) for number in range(first, last + 1)]

    def _face(self, axis: int, number: int) -> float:
        return self.lower[axis] + number * self.spacing[axis]

    def _inside(self, x: Any, y: Any, z: Any) -> np.ndarray:
        return self._mask[tuple(index for index, _ in self._places(x, y, z))]

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        places = self._places(x, y, z)
        index = [number for number, _ in places]
        own = self._mask[tuple(index)]
        square = np.full(own.shape, min(self.spacing) ** 2)
        for shift in product((0, -1, 1), repeat=3):
            there = tuple(np.clip(n + step, 0, size - 1) for n, step, size in zip(index, shift, self._mask.shape))
            way = sum(
                0.0 if not step else ((above if step > 0 else size - above) ** 2)
                for step, (_, above), size in zip(shift, places, self.spacing)
            )
            square = np.where(self._mask[there] != own, np.minimum(square, way), square)
        return np.where(own, -1.0, 1.0) * np.sqrt(square)

    def _places(self, *at: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each axis the numbers of the boxes in `_mask` that hold points, and how far (m) their upper face is.

        Points outside the model count as in the outer one of the two boxes beside it.
        """
        found = []
        for q, start, size, count in zip(at, self.lower, self.spacing, self._box_numbers.shape):
            part = (np.asarray(q, dtype=float) - start) / size
            whole = np.clip(np.floor(part), -2, count + 1)
            found.append((whole.astype(np.int64) + 2, np.clip(whole + 1 - part, 0.0, 1.0) * size))
        return found

    def _refuse_unnamed(self, table: dict[int, Any]) -> None:
        """ValueError if the model has numbers without an entry in the table."""
        missing = {number: count for number, count in self._counts.items() if number not in table}
        if missing:
            listed = ", ".join(f"{n} ({count} boxes)" for n, count in list(missing.items())[:NAMED])
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            raise ValueError(
                f"the voxel model has numbers without a medium: {listed}{more}; name each in the table, "
                '"none" where the boxes shall stay as they are'
            )

    def _by_number(self, table: dict[int, Any]) -> Iterator[tuple[int, Voxels, Any]]:
        """(number, its boxes, its medium) for each number of the table that the model has."""
        for number, medium in table.items():
            if number in self._counts and medium != "none":
                shape = self.model_copy(update={"ids": (number,)})
                for name in ("_mask", "_spans"):
                    shape.__dict__.pop(name, None)
                yield number, shape, medium


def _listed(numbers: Any) -> str:
    numbers = sorted(numbers)
    return ", ".join(map(str, numbers[:NAMED])) + (" and more" if len(numbers) > NAMED else "")


@lru_cache(maxsize=2)
def read_numbers(file: str, dataset: str | None, changed: int, size: int) -> np.ndarray:
    """The numbers in a file; `changed` and `size` tell apart what it held at other times."""
    try:
        values = read_array(file) if Path(file).suffix.lower() == ".npy" else _read_hdf5(file, dataset)
    except (OSError, RuntimeError, KeyError) as error:  # h5py raises all of these at damage
        raise ValueError(f"file {file!r} cannot be read ({error}); give whole numbers over x, y and z") from None
    except ValueError as error:  # NumPy's, of a file that is none of its own, holds objects, or was cut short
        if file in str(error):
            raise
        raise ValueError(
            f"file {file!r} is broken or no array of whole numbers ({str(error).rstrip('.')}); "
            "write it again with numpy.save"
        ) from None
    if values.ndim != 3 or not values.size or values.dtype.kind not in "biu":
        raise ValueError(
            f"file {file!r} holds {values.dtype} of shape {values.shape}; voxels are whole numbers over "
            "three axes, x, y and z; convert it with array.astype(int)"
        )
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _read_hdf5(file: str, dataset: str | None) -> np.ndarray:
    import h5py

    from nearfield.entry.hdf5_checksums import opened, verified

    with opened(file, "give whole numbers over x, y and z") as whole:
        found: list[str] = []
        whole.visititems(
            lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None
        )
        names = ", ".join(found[:NAMED]) or "none"
        if dataset is None and len(found) != 1:
            number = len(found)
            raise ValueError(f"file {file!r} has {number} data sets over three axes; name one as `dataset`: {names}")
        if dataset is not None and dataset.strip("/") not in found:
            raise ValueError(f"file {file!r} has no data set {dataset!r} over three axes; it has: {names}")
        return verified(whole[dataset or found[0]])[...]
