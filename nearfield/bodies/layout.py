"""Polygons of a layer of a GDS file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.bodies.closed_surface import ClosedSurface
from nearfield.bodies.files import package, readable
from nearfield.bodies.shapes import Axis, Extruded, Polygon, shifted
from nearfield.entry.file_trial import refuse_unreadable
from nearfield.entry.quantities import FileName, Length, PositiveNumber, Read, Whole, several
from nearfield.entry.schema import tag

SUFFIXES = (".gds", ".gds2", ".gdsii")
Tag = Annotated[Whole, Field(ge=0, le=65535)]


class Layout(Extruded):
    """All polygons of one layer of a GDS file (`nearfield[photonics]`) together, extruded from `lower` to `upper`.

    Metal may have lower equal to upper (flat plates). References and paths become polygons; polygons may touch and
    overlap. x and y of the file lie along the two axes after `axis`, in the file's own unit. See also `gds`.
    """

    kind: Literal["layout"] = tag("layout")
    file: FileName
    """GDSII file; in a model file it counts from that file's folder."""
    layer: Tag
    """Number of the layer."""
    lower: Length
    """Start of the extrusion (m)."""
    upper: Length
    """End of the extrusion (m)."""
    datatype: Tag = 0
    """Number of the datatype in the layer."""
    cell: str | None = None
    """Name of the cell; left out, the only one that no other refers to."""
    axis: Axis = "z"
    """Direction of the extrusion."""
    offset: Annotated[Read[tuple[Length, Length]], BeforeValidator(several)] = (0.0, 0.0)
    """Where the file's origin goes (m), along the two axes after `axis`."""
    scale: PositiveNumber = 1.0
    """Factor on the file's lengths."""
    checksum: str | None = None
    """SHA-256 of the file; given, another file is refused."""

    @model_validator(mode="after")
    def _has_polygons(self) -> Layout:
        if self.lower > self.upper:
            raise ValueError(f"upper ({self.upper:.9g} m) lies below lower ({self.lower:.9g} m); exchange them")
        self._outlines  # noqa: B018 (read and checked)
        return self

    @cached_property
    def _outlines(self) -> list[np.ndarray]:
        """Corners (n, 2) of each polygon (m) before `offset`, counter-clockwise."""
        path = readable(self.file, SUFFIXES, "layouts", self.checksum)
        return [outline * self.scale for outline in read_polygons(str(path), self.layer, self.datatype, self.cell)]

    def polygons(self) -> tuple[Polygon, ...]:
        """The layer as single `Polygon` shapes."""
        ends: dict[str, Any] = {"axis": self.axis, "lower": self.lower, "upper": self.upper}
        return tuple(Polygon(vertices=(outline + self.offset).tolist(), **ends) for outline in self._outlines)

    def _shifted(self, by: Sequence[float]) -> Layout:
        along, *across = (by[(self._normal + n) % 3] for n in range(3))
        offset = shifted(self.offset, across)
        return self.model_copy(update={"offset": offset, "lower": self.lower + along, "upper": self.upper + along})

    def _flat_bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        corners = np.concatenate(self._outlines) + self.offset
        return tuple(corners.min(axis=0).tolist()), tuple(corners.max(axis=0).tolist())

    def _levels(self, axis: int) -> list[float]:
        if axis == self._normal:
            return []
        column = (axis - self._normal - 1) % 3
        places = [o[o[:, column] == np.roll(o[:, column], -1), column] for o in self._outlines]
        return (np.unique(np.concatenate(places)) + self.offset[column]).tolist()

    def _flat_distance(self, u: Any, v: Any) -> np.ndarray:
        u, v = (np.asarray(q, dtype=float) - o for q, o in zip((u, v), self.offset))
        return self._walls.distance(u, v, 0.0)

    @cached_property
    def _walls(self) -> ClosedSurface:
        """The outlines as tubes about the plane of zero height: there their distance is that of the outlines."""
        height = float(np.ptp(np.concatenate(self._outlines), axis=0).max())
        corners, triangles, count = [], [], 0
        for outline in self._outlines:
            size, here = len(outline), np.arange(len(outline))
            corners += [np.insert(outline, 2, end, axis=1) for end in (-height, height)]
            a, b = count + here, count + (here + 1) % size
            triangles += [np.stack((a, b, b + size), axis=1), np.stack((a, b + size, a + size), axis=1)]
            count += 2 * size
        return ClosedSurface(np.concatenate(corners), np.concatenate(triangles), closed=(True, True, False))


def gds(
    file: str,
    layer: int,
    lower: float | str,
    upper: float | str,
    datatype: int = 0,
    cell: str | None = None,
    axis: str = "z",
    offset: tuple = (0.0, 0.0),
    scale: float = 1.0,
) -> tuple[Polygon, ...]:
    """The polygons of a layer of a GDS file as `Polygon` shapes, extruded from `lower` to `upper` (m).

    The arguments are those of `Layout`, which holds the same polygons as one shape. Errors: ModelError for a
    file that is none, a cell or layer that is not in it, and without the package gdstk (`nearfield[photonics]`).
    """
    return Layout(**locals()).polygons()


def read_polygons(file: str, layer: int, datatype: int, cell: str | None) -> list[np.ndarray]:
    """Corners (n, 2) of each polygon in metres, counter-clockwise; ValueError where there is none."""
    gdstk = package("gdstk", "photonics", "reading GDS files")
    refuse_unreadable(file, "gds", "export it again")
    try:
        library = gdstk.read_gds(file)
        cells = {each.name: each for each in library.cells if hasattr(each, "get_polygons")}
        top = [each.name for each in library.top_level() if each.name in cells]
    except Exception as error:  # a broken file raises errors of many kinds, names that are no text later than the rest
        raise ValueError(f"file {file!r} cannot be read as GDSII ({error}); export it again") from None
    if cell is None and len(top) != 1:
        raise ValueError(
            f"file {file!r} has {len(top)} cells that no other refers to; name one of them as `cell`: "
            f"{', '.join(top[:20]) or 'there is none'}"
        )
    if cell is not None and cell not in cells:
        raise ValueError(f"file {file!r} has no cell {cell!r}; it has: {', '.join(list(cells)[:20])}")
    drawn = cells[cell or top[0]].get_polygons()
    per_metre = 1.0 / library.unit
    per_metre = round(per_metre) if abs(per_metre - round(per_metre)) < 1e-9 * per_metre else per_metre
    outlines = (ordered(each.points / per_metre) for each in drawn if (each.layer, each.datatype) == (layer, datatype))
    found = [outline for outline in outlines if outline is not None]
    if not found:
        layers = sorted({(each.layer, each.datatype) for each in drawn})
        raise ValueError(
            f"file {file!r} has no polygon on layer {layer}, datatype {datatype} of cell {cell or top[0]!r}; "
            f"there are (layer, datatype): {', '.join(map(str, layers[:20])) or 'none'}"
        )
    return found


def ordered(outline: np.ndarray) -> np.ndarray | None:
    """The outline counter-clockwise; None if it has no area."""
    u, v = (outline - outline.mean(axis=0)).T
    area = 0.5 * float(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1)))
    if not abs(area) > 1e-12 * float(np.ptp(outline, axis=0).max()) ** 2:
        return None
    return outline if area > 0.0 else outline[::-1]
