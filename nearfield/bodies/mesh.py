"""Bodies bounded by triangles, from CAD files."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from nearfield.bodies.closed_surface import CLOSE, ClosedSurface, hole, merged, volume
from nearfield.bodies.files import package, readable
from nearfield.bodies.shapes import Solid
from nearfield.entry.quantities import Angle, FileName, Position, PositiveNumber, Read, refuse_degrees, shown, three
from nearfield.entry.schema import tag
from nearfield.entry.triples import Point, triple

# how many of a unit make a metre
UNITS = {"m": 1, "cm": 100, "mm": 1000, "um": 10**6, "nm": 10**9, "in": 1 / 25.4e-3, "mil": 1 / 25.4e-6}
SUFFIXES = (".stl", ".ply", ".obj")
FLAT = 0.02  # part of the bounds' cross-section; faces normal to an axis that are larger get a grid line
EVEN = 2.0**-40  # of a surface's extent: triangles no thicker along an axis lie across it
REPAIR = (
    "Close it in the CAD program and export it again, or repair it: mesh = trimesh.load_mesh(file); "
    "mesh.merge_vertices(); mesh.update_faces(mesh.unique_faces()); trimesh.repair.fill_holes(mesh, use_fan=True); "
    "trimesh.repair.fix_normals(mesh); mesh.export(file)"
)
HEADER, RECORD = 84, 50  # bytes before the triangles of a binary STL file, and of each triangle


def _table(kind: type) -> Any:
    """A validator of rows of three numbers."""

    def rows(given: Any) -> Any:
        try:
            values = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim != 2 or values.shape[1] != 3 or not np.isfinite(values).all():
            raise ValueError(f"given {shown(given)}; needs rows of three finite numbers")
        return tuple(map(tuple, values.astype(kind).tolist()))

    return BeforeValidator(rows)


class Mesh(Solid):
    """A solid bounded by triangles: from an STL, PLY or OBJ file (`nearfield[cad]`), or from vertices and triangles.

    The surface must be closed and its triangles must agree on which side is outside. Shells may be nested, overlap or
    touch: inside is where the winding number is not zero, so a shell that faces inwards is a cavity. Points on the
    surface belong to one of its two sides. Lengths of the file are multiplied by `unit` and `scale`, then turned about
    x, y and z in this order, then moved.

    >>> import nearfield as nf
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> corner = nf.Mesh(vertices=corners, triangles=[(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], unit="mm")
    >>> print(corner.contains([2e-4, 9e-4], 2e-4, 2e-4))
    [ True False]
    """

    _corners: ClassVar[tuple[str, ...]] = ("offset",)
    kind: Literal["mesh"] = tag("mesh")
    file: FileName | None = None
    """STL, PLY or OBJ file; in a model file it counts from that file's folder."""
    unit: Literal["m", "cm", "mm", "um", "nm", "in", "mil"] | None = None
    """Unit of the coordinates; files do not say it, so that it must be given with a file. Of vertices: left out, m."""
    offset: Position = (0.0, 0.0, 0.0)
    """Where the origin of the coordinates goes (m)."""
    scale: PositiveNumber = 1.0
    """Factor on all lengths."""
    rotation: Annotated[Read[tuple[Angle, Angle, Angle]], BeforeValidator(three)] = (0.0, 0.0, 0.0)
    """Angles (rad, or with a unit) by which to turn about the x, then the y, then the z axis, right-handed."""
    vertices: Annotated[Read[tuple[tuple[float, float, float], ...]], _table(float)] | None = None
    """Corners (x, y, z) in `unit`, in place of a file."""
    triangles: Annotated[Read[tuple[tuple[int, int, int], ...]], _table(int)] | None = None
    """Three numbers of vertices each, from 0, counter-clockwise seen from outside."""
    checksum: str | None = None
    """SHA-256 of the file; given, another file is refused."""

    @model_validator(mode="after")
    def _encloses(self) -> Mesh:
        if {self.vertices is None, self.triangles is None} != {self.file is not None}:
            raise ValueError("needs either `file`, or both `vertices` and `triangles`")
        if self.file is not None and self.unit is None:
            raise ValueError(
                f"`unit` is missing: file {self.file!r} does not say whether it counts in mm or in; "
                f"allowed: {', '.join(UNITS)}"
            )
        for axis, angle in zip("xyz", self.rotation):
            refuse_degrees(f"rotation about {axis}", angle)
        self._surface  # noqa: B018 (read and checked)
        return self

    @cached_property
    def _surface(self) -> ClosedSurface:
        """The surface before it is moved by `offset`."""
        corners, triangles, name = self._given()
        if not len(triangles):
            raise ValueError(f"{name} holds no triangles; export the surface of the body as triangles")
        if not np.isfinite(corners).all():
            raise ValueError(f"{name} has corners that are no finite numbers; export it again")
        if triangles.min() < 0 or triangles.max() >= len(corners):
            raise ValueError(
                f"{name} has a triangle with the corner {triangles.max()} (or a negative one), where only "
                f"0 to {len(corners) - 1} exist; mend it, or export it again"
            )
        unit = self.unit or "m"
        found = merged(corners, triangles)
        wrong = hole(*found, unit) if len(found[1]) else "has no triangle with an area"
        if wrong:
            extent = float(np.ptp(corners, axis=0).max())
            closer = merged(corners, triangles, CLOSE * extent) if extent > 0.0 else found
            if not len(closer[1]) or hole(*closer, unit):
                raise ValueError(f"{name} {wrong}, so nothing is inside or outside. {REPAIR}")
            found = closer
        size = np.prod(np.ptp(found[0], axis=0))
        if not abs(volume(*found)) > 1e-9 * size:
            raise ValueError(
                f"{name} encloses no volume: its triangles lie on one another; give a solid body, or a "
                "Sheet or Polygon for metal without thickness"
            )
        return ClosedSurface(found[0] * self.scale / UNITS[unit] @ turned(self.rotation).T, found[1])

    def _given(self) -> tuple[np.ndarray, np.ndarray, str]:
        """Corners in `unit`, triangles, and what to call them."""
        if self.file is None:
            return np.array(self.vertices, dtype=float), np.array(self.triangles, dtype=np.int64), "the surface"
        return *read_triangles(readable(self.file, SUFFIXES, "triangles", self.checksum)), f"file {self.file!r}"

    def bounds(self) -> tuple[Point, Point]:
        lower, upper = self._surface.bounds
        return triple(np.add(lower, self.offset).tolist()), triple(np.add(upper, self.offset).tolist())

    def _inside(self, x: Any, y: Any, z: Any) -> np.ndarray:
        return self._surface.inside(*self._moved_back(x, y, z))

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        return self._surface.distance(*self._moved_back(x, y, z))

    def _levels(self, axis: int) -> list[float]:
        corners, flat = self._surface.corners[self._surface.triangles], self._flat_across(axis)
        u, v = (corners[flat][:, :, other] for other in ((axis + 1) % 3, (axis + 2) % 3))
        area = 0.5 * np.abs((u[:, 1] - u[:, 0]) * (v[:, 2] - v[:, 0]) - (u[:, 2] - u[:, 0]) * (v[:, 1] - v[:, 0]))
        places, number = np.unique(corners[flat][:, 0, axis], return_inverse=True)
        whole = np.prod(np.delete(np.ptp(self._surface.corners, axis=0), axis))
        large = np.bincount(number.reshape(-1), area, places.size) >= FLAT * whole
        return (places[large] + self.offset[axis]).tolist()

    def _flat_across(self, axis: int) -> np.ndarray:
        """Which triangles lie across an axis."""
        along = self._surface.corners[self._surface.triangles, axis]
        return np.asarray(np.ptp(along, axis=1) <= EVEN * np.ptp(self._surface.corners, axis=0).max())

    def _moved_back(self, *at: Any) -> list[np.ndarray]:
        return [np.asarray(q, dtype=float) - o for q, o in zip(at, self.offset)]


def turned(angles: tuple[float, float, float]) -> np.ndarray:
    """The matrix of rotations about x, y and z in this order; quarter turns are exact."""
    matrix = np.eye(3)
    for axis, angle in enumerate(angles):
        cosine, sine = np.cos(angle), np.sin(angle)
        turn, u, v = np.eye(3), (axis + 1) % 3, (axis + 2) % 3
        turn[u, u] = turn[v, v] = cosine
        turn[v, u], turn[u, v] = sine, -sine
        matrix = np.where(np.abs(turn - np.round(turn)) < 1e-15, np.round(turn), turn) @ matrix
    return matrix


def read_triangles(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) in the file's unit and triangles (m, 3) of an STL, PLY or OBJ file, as they stand there."""
    trimesh = package("trimesh", "cad", f"reading {path.suffix} files")
    if path.suffix.lower() == ".stl":
        refuse_cut_short(path)
    options = {"skip_materials": True} if path.suffix.lower() == ".obj" else {}
    try:
        mesh = trimesh.load_mesh(str(path), process=False, **options)
        corners, triangles = np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # a broken file raises errors of many kinds
        raise ValueError(
            f"file {str(path)!r} cannot be read as {path.suffix[1:].upper()} ({error}); export it again"
        ) from None
    return as_written(corners.reshape(-1, 3)), triangles.reshape(-1, 3)


def refuse_cut_short(path: Path) -> None:
    """ValueError for a binary STL file that is not as long as its triangles."""
    with open(path, "rb") as file:
        start = file.read(HEADER)
    size, count = path.stat().st_size, int.from_bytes(start[-4:], "little")
    binary = len(start) == HEADER and b"\0" in start
    if binary and size != HEADER + RECORD * count:
        raise ValueError(
            f"file {str(path)!r} says that it holds {count} triangles, {HEADER + RECORD * count} bytes, "
            f"but has {size} bytes: it was cut short or changed; export it again"
        )


def as_written(values: np.ndarray) -> np.ndarray:
    """Numbers in single precision as the shortest decimals that give them: 12.45, not 12.449999809."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not (single == values).all():
        return values
    found, number = np.unique(single, return_inverse=True)
    return np.array([float(str(value)) for value in found])[number.reshape(values.shape)]
