"""All metal of a model on its grid: on whole cells, edges and walls, or followed through cells."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Solid, Wire
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.metal.cell_bound import apart, bounded_by_cell
from nearfield.metal.circuit_ends import bridges
from nearfield.metal.conductors import Conductors
from nearfield.metal.conformal import followed, open_parts
from nearfield.metal.corner_lines import vertices
from nearfield.metal.corner_loss import CornerLoss
from nearfield.metal.drawn_metal import DrawnMetal, Part
from nearfield.metal.metal import Body, Owned
from nearfield.metal.narrow_strips import NarrowStrip, samples_about
from nearfield.metal.patches import DriveFactors, Patch, at_samples, margin_of, pair
from nearfield.metal.rim_factors import Factors, RimFactors, apart_from
from nearfield.metal.rods import Rod
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.sheet_rims import SheetRims, plane_of
from nearfield.metal.skin import SkinSurface, skin_surfaces
from nearfield.metal.solid_corners import SolidCorners
from nearfield.metal.wire_ends import Edges


class GridMetal:
    """Conductors among bodies, and conducting walls; `conformal`: metal may cut cells; `light`: see `OpenParts`.

    `followed`: numbers of the bodies that cut cells; `beads`, `strips`, `rods`, `chains`, `slanting`, `gaps`: see
    `DrawnMetal`; `openings`: by axis, none where nothing can be cut; `idle`: numbers of the structures whose metal has
    no cell and no edge.
    """

    def __init__(
        self,
        grid: YeeGrid,
        boundaries: Boundaries,
        bodies: Sequence[FilledShape],
        conformal: bool,
        light: float,
        gaps: Sequence[Edges] = (),
    ) -> None:
        self.grid, self._boundaries, self._light = grid, boundaries, light
        drawn = DrawnMetal(grid, boundaries, bodies, conformal, gaps)
        self.beads, self.strips, self.rods = drawn.beads, drawn.strips, drawn.rods
        self.chains, self.slanting = drawn.chains, drawn.slanting
        owned = [part.owned for part in drawn.parts]
        taken = followed([body for body, _ in owned], grid) if conformal else [False] * len(owned)
        self.followed = {part.number for part, one in zip(drawn.parts, taken) if one}
        standing = {*self.followed, *self.strips, *self.rods}
        self._numbers = {id(body.shape): number for number, body in enumerate(bodies)}
        self._shapes: list[Solid] = [bodies[number].shape for number in sorted(standing)]
        self._rimmed: list[tuple[Solid, tuple[int, int] | None, int]] = []
        self._stepped: list[Owned] = []
        self._cutting: list[Owned] = []
        self.sheets = self._about_sheets([body for body, _ in owned], gaps, taken) if conformal else None
        if self.sheets:
            owned = [(self._followed_flat(number, body), medium) for number, (body, medium) in enumerate(owned)]
            self._rimmed = [
                (drawn.parts[number].shape, plane_of(owned[number][0]), number) for number in sorted(self.sheets.taken)
            ]
            self._shapes += [shape for shape, *_ in self._rimmed]
        rimmed = self.sheets.taken if self.sheets else ()
        free = [line[[low, high]] for line, (low, high) in zip(grid.lines, boundaries.interior(grid))]
        self.idle = _without_edges(drawn.parts, [body for body, _ in owned], rimmed, free)
        for (body, medium), one in zip(owned, taken):
            self._stepped.append((replace(body, solid=False, edges=()) if one else body, medium))
            if one or body.opens:
                self._cutting.append((body, medium))
        self._conductors = Conductors(grid, boundaries, [body for body, _ in self._stepped])
        self.openings = open_parts(grid, boundaries, [body for body, _ in self._cutting], light)
        if conformal:
            self._join(gaps)
        self._lost: Factors | None = None  # of conductors, at corners
        self.vertices: list[int] = []  # cells of the shortest edge at each corner of solids where three meet
        self.rims = self._about_rims([body for body, _ in owned], taken) if conformal else None

    def _join(self, circuits: Sequence[Edges]) -> None:
        """Join circuits to the metal that they are drawn to end at."""
        samples, bodies = SampleNumbers(self.grid), [body for body, _ in self._stepped]
        metal = _Samples(self, samples, np.empty(0, dtype=np.int64))  # what edges of bodies do not hold is none yet
        joining = bridges(samples, circuits, metal, bodies)
        if joining:
            body = next(body for body in bodies if body.kind == "pec")
            self._stepped.append((replace(body, solid=False, edges=tuple(joining)), "pec"))
            self._conductors = Conductors(self.grid, self._boundaries, [each for each, _ in self._stepped])

    def _about_sheets(self, bodies: Sequence[Body], gaps: Sequence[Edges], followed: Sequence[bool]) -> SheetRims:
        """The rims of flat metal, which narrow strips meet where they touch it alone."""
        wires = {id(strip.wire) for strip in self.strips.values()}
        bodies = [replace(body, edges=()) if id(body.shape) in wires else body for body in bodies]
        touched = [
            (box.component, *np.indices(box.drawn.shape).reshape(3, -1) + np.reshape(box.lower, (3, 1)))
            for strip in self.strips.values()
            for box in strip.touched
        ]
        return SheetRims(self.grid, self._boundaries, bodies, [*gaps, *touched], followed)

    def _about_rims(self, bodies: Sequence[Body], followed: Sequence[bool]) -> DriveFactors:
        """The factors about rims of sheets and corners of solids."""
        assert self.sheets is not None
        sheets, samples = self.sheets, SampleNumbers(self.grid)
        kept = [number for number, body in enumerate(bodies) if not isinstance(body.shape, Wire)]
        drawn = [followed[number] or bodies[number].kind == "medium" for number in kept]
        metal = _Samples(self, samples, sheets.metal)
        corners = SolidCorners(self.grid, self._boundaries, [bodies[number] for number in kept], drawn, metal)
        self._lost = corners.lost
        self.vertices = list(vertices(self.grid, self._boundaries, corners.lines))
        edges, faces = sheets.edges + corners.edges, sheets.faces + corners.faces
        by_cell = pair([*own, *other] for own, other in zip(sheets.by_cell, corners.by_cell))
        if self.strips:  # what has a strip's field has no other
            taken = samples_about(samples, self.strips.values())
            edges, faces = (apart_from(taken, parts) for parts in (edges, faces))
            by_cell = pair(apart_from(taken, parts) for parts in by_cell)
        if not any(part.number.size for parts in by_cell for part in parts):
            return RimFactors(samples, edges, faces, metal, self._light)
        pairs = [apart(own, other) for own, other in zip((edges, faces), by_cell)]
        upright = RimFactors(samples, [pairs[0][0]], [pairs[1][0]], metal, self._light)
        return bounded_by_cell(upright, pairs[0][1], pairs[1][1], metal, self._light)

    def number_of(self, shape: Solid) -> int | None:
        """The number of the body of this very shape, by which `followed`, `beads`, `strips` and `rods` count."""
        return self._numbers.get(id(shape))

    def follows(self, shape: Solid) -> bool:
        """Whether a body's faces act where they are drawn."""
        return any(shape is own for own in self._shapes)

    def wall_at(self, axis: int, side: str) -> bool:
        """Whether the grid's "low" or "high" face is a wall of metal."""
        return bool(self._boundaries.face(axis, side) == "pec")

    def follows_at(self, place: Sequence[float]) -> bool:
        """Whether a point (m) lies in metal that is followed through cells, or on its surface."""
        x, y, z = (np.array([at]) for at in place)
        margin = margin_of(self.grid)
        return any(body.kind == "pec" and bool(body.shape.contains(x, y, z, margin)[0]) for body, _ in self._cutting)

    def strip_of(self, shape: Solid) -> NarrowStrip | None:
        """What stands for a body as a strip narrower than a cell, if it acts as one."""
        return next((strip for strip in self.strips.values() if strip.shape is shape), None)

    def rod_of(self, shape: Solid) -> Rod | None:
        """What stands for a body as a thin rod, if it acts as one."""
        return next((rod for rod in self.rods.values() if rod.shape is shape), None)

    def rimmed_plane(self, shape: Solid) -> tuple[int, int] | None:
        """(normal, node) of the plane of flat metal whose rims are followed; None for all other bodies."""
        return next((plane for own, plane, _ in self._rimmed if own is shape), None)

    def rims_of(self, shape: Solid) -> tuple[np.ndarray, np.ndarray]:
        """Starts and ends (n, 2) (m) of the rims of flat metal along the axes after its normal."""
        number = next((number for own, _, number in self._rimmed if own is shape), None)
        rims = self.sheets.rims(number) if self.sheets and number is not None else None
        return (rims.start, rims.end) if rims else (np.empty((0, 2)), np.empty((0, 2)))

    def _followed_flat(self, number: int, body: Body) -> Body:
        """A body with the edges of its metal as its rims leave them."""
        if self.sheets is None or number not in self.sheets.taken:
            return body
        return replace(body, edges=tuple(self.sheets.edges_of(box) for box in body.edges))

    def surfaces(self, band: tuple[float, float]) -> list[SkinSurface]:
        """The surfaces of good conductors; `band` (Hz): see `fit_band`."""
        metal = self._stepped, self._cutting, self.openings
        flat = [(shape, plane) for shape, plane, _ in self._rimmed if plane]
        corners = CornerLoss(SampleNumbers(self.grid), self._lost, self.factor) if self._lost else None
        return skin_surfaces(self.grid, self._boundaries, *metal, self._light, band, flat, corners)

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` where the metal is the same."""
        opened = (parts.signature(plane) for parts in self.openings[axis : axis + 1])
        rims = self.rims and self.rims.signature(axis, plane)
        return self._conductors.signature(axis, plane), rims, *opened

    def fraction(self, patch: Patch) -> np.ndarray | None:
        """Open fraction of samples (`OpenParts`); None where it is 1."""
        return self.openings[patch.axis].fraction(patch) if self.openings else None

    def factor(self, patch: Patch) -> np.ndarray | None:
        """Factor of Cb or Db; None where it is 1."""
        cut = self.openings[patch.axis].factor(patch) if self.openings else None
        rims = self.rims.factor(patch) if self.rims else None
        return rims if cut is None else cut if rims is None else cut * rims

    def conducts(self, patch: Patch) -> np.ndarray:
        """Mask of the samples that conductors keep at zero."""
        taken, opened = self._conductors.take(patch), None if patch.magnetic else self.fraction(patch)
        return taken if opened is None else taken | (opened == 0.0)

    def missing(self, patch: Patch) -> np.ndarray:
        """Mask of the samples that conductors keep at zero or that lie past the end of the grid."""
        return self.conducts(patch) | self._conductors.absent(patch)

    def holds(self, component: int, i, j, k) -> np.ndarray:
        """Whether E samples lie in metal or on a conducting wall, or H samples in PMC."""
        found = at_samples(self.grid, (i, j, k), lambda *where: [self.conducts(Patch(component, *where))])
        return found[0] > 0


def _without_edges(
    parts: Sequence[Part], bodies: Sequence[Body], rimmed: Container[int], free: Sequence[np.ndarray]
) -> set[int]:
    """Numbers of the structures of metal of which no part takes a cell or an edge, or has rims, in the space between
    `free` ends along each axis (m): in a CPML metal may end without any."""

    def reaches(body: Body) -> bool:
        return all(a <= end[1] and b >= end[0] for a, b, end in zip(body.lower, body.upper, free))

    metal = [number for number, body in enumerate(bodies) if body.kind == "pec" and reaches(body)]
    acting = (
        parts[number].body.number
        for number in metal
        if number in rimmed or bodies[number].solid or parts[number].ends or bodies[number].edges
    )
    return {parts[number].body.number for number in metal}.difference(acting)


class _Samples:
    """`MetalSamples` of a model, with the edges in sheets besides."""

    def __init__(self, metal: GridMetal, samples: SampleNumbers, sheets: np.ndarray) -> None:
        self._metal, self._samples, self._sheets = metal, samples, sheets
        self._known = np.empty(0, dtype=np.int64), np.empty(0)  # numbers and open fractions, found once

    def conducts(self, numbers: np.ndarray) -> np.ndarray:
        """Which edges metal keeps at zero."""
        found = self._values(numbers, lambda patch: self._metal.conducts(patch)) > 0
        return (found & (numbers >= 0)) | np.isin(numbers, self._sheets)

    def opened(self, numbers: np.ndarray) -> np.ndarray:
        """Open fractions of edges and faces."""

        def fraction(patch: Patch) -> np.ndarray:
            found = self._metal.fraction(patch)
            return np.ones(patch.shape) if found is None else found

        if not self._metal.openings:
            return np.ones(numbers.shape)
        asked = np.unique(numbers[numbers >= 0])
        fresh = np.setdiff1d(asked, self._known[0], assume_unique=True)
        if fresh.size:
            number = np.append(self._known[0], fresh)
            order = np.argsort(number)
            self._known = number[order], np.append(self._known[1], self._values(fresh, fraction))[order]
        found = np.ones(numbers.shape)
        inside = numbers >= 0
        found[inside] = self._known[1][np.searchsorted(self._known[0], numbers[inside])]
        return found

    def _values(self, numbers: np.ndarray, evaluate: Callable[[Patch], np.ndarray]) -> np.ndarray:
        """What patches say of samples, 1 for those that lie outside."""
        found = np.ones(numbers.size)
        component, index = self._samples.place(np.maximum(numbers, 0).ravel())
        for kind in range(6):
            own = (component == kind) & (numbers.ravel() >= 0)
            if own.any():
                at = partial(Patch, kind)
                found[own] = at_samples(self._metal.grid, index[own].T, lambda *where, at=at: [evaluate(at(*where))])[0]
        return found.reshape(numbers.shape)
