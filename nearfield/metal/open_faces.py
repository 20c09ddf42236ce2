"""The faces on planes across one axis that metal cuts: their open areas, and the metal's boundary in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.machine.schedule import kept_by_thread
from nearfield.metal.cut_faces import Corner, Side, corners_between, metal_length, open_area, rim
from nearfield.metal.edge_cuts import KEPT, EdgeCuts
from nearfield.metal.followed_metal import NEGLIGIBLE, FaceMetal, Interval
from nearfield.metal.patches import Window, next_axes, pair, shape_of
from nearfield.metal.thin_walls import doubtful, kept, parts_of, pieces_of

SLIVER = 2.0 * NEGLIGIBLE  # open part of a face below which its last open side is taken to lie in metal
ALIKE = 1e-6  # difference of the areas of two parts of a face below which they tie; the first one wins
FLATTEST = 0.2  # sine of the angle to the surface from which on a face counts as seeing it from the side
STRAIGHT = 1e-6  # one less than the largest part of a normal up to which a surface lies along an axis
SMOOTH = 0.9  # growth of the distance from a surface, a unit of way, below which an edge of it is near
STEP = 1e-3  # distance over which normals are differences, over the shorter side of a face
CORNERS = ((1, 0), (1, 1), (0, 1), (0, 0))  # (u, v) of the corners after the bottom, right, top and left side


class OpenFaces:
    """Faces on planes across one axis, one more on all sides of a window.

    `divided`: open areas (None where all are whole), and what faces give up of the pieces of their sides, (8, ...)
    (None where they give up nothing). `boundary`: the metal's length in cut faces over their area, corrected for their
    slope to the surface (1/m), -1 in others; None where nothing is cut. Both of a normal, a plane and a window.
    """

    def __init__(self, cuts: EdgeCuts) -> None:
        self._cuts = cuts
        keep = kept_by_thread(KEPT)
        self.divided, self.boundary = keep(self._draw_divided), keep(self._draw_boundary)

    def _draw_divided(self, normal: int, plane: int, window: Window) -> tuple[np.ndarray | None, np.ndarray | None]:
        at = normal, plane, window
        intervals = self._intervals(*at)
        if intervals is None:
            return None, None
        closed = np.logical_and.reduce([low == high for low, high in intervals])
        cut = ~closed & np.logical_or.reduce([high - low != 1.0 for low, high in intervals])
        area, given_up = np.where(closed, 0.0, 1.0), None
        doubt = cut.copy()
        doubt[cut] = doubtful(pieces_of(_some(intervals, cut)))
        if doubt.any():
            given_up = np.zeros((8, *cut.shape), dtype=bool)
            given_up[:, doubt] = smaller_parts(self._metal(*at, doubt), _some(intervals, doubt))
        if cut.any():
            lost = None if given_up is None else given_up[:, cut]
            area[cut] = open_area(*outline(self._metal(*at, cut), _some(intervals, cut), lost))
        sliver = cut & (area < SLIVER) & (np.sum([low != high for low, high in intervals], axis=0) == 1)
        if sliver.any():
            given_up = np.zeros((8, *cut.shape), dtype=bool) if given_up is None else given_up
            given_up[:, sliver] = True
        return area, given_up

    def _draw_boundary(self, normal: int, plane: int, window: Window) -> np.ndarray | None:
        """A face sees the metal's surface from the side: of an area S it cuts a length S sin(angle to the normal).

        Where a slanting surface passes through corners of a face it may cut none of its sides, but close some.
        """
        intervals, given_up = self._intervals(normal, plane, window), self.divided(normal, plane, window)[1]
        if intervals is None:
            return None
        cut = np.logical_or.reduce([(low != high) & (high - low != 1.0) for low, high in intervals])
        closed = np.sum([low == high for low, high in intervals], axis=0)
        own = cut | ((closed > 0) & (closed < 4))
        if not own.any():
            return None
        lengths = (self._cuts.lengths(a, plane, window, 2, a != self._cuts.axis) for a in next_axes(normal))
        u, v = (np.broadcast_to(length, own.shape)[own] for length in lengths)
        metal, lost = self._metal(normal, plane, window, own), None if given_up is None else given_up[:, own]
        length, middle = metal_length(*outline(metal, _some(intervals, own), lost), u, v)
        towards, slope = self._normals(metal.places(slice(None), middle), STEP * np.minimum(u, v), np.hypot(u, v))
        slants = (np.max(np.abs(towards), axis=0) < 1.0 - STRAIGHT) & (slope > SMOOTH)
        seen = length / (u * v * np.maximum(np.sqrt(1.0 - towards[normal] ** 2), FLATTEST))
        found = np.full(own.shape, -1.0)
        found[own] = np.where(cut[own] | slants, seen, -1.0)
        return found

    def _normals(
        self, at: Sequence[np.ndarray], step: np.ndarray, reach: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Unit normals of the surface nearest to each of some points, of bodies within a reach (m) of them; how fast
        the distance from it grows, below 1 at edges of bodies."""
        metal, nearest = self._cuts.metal, np.full(at[0].shape, np.inf)
        found = [np.zeros(at[0].shape) for _ in range(3)]
        at = [self._cuts.inward(a, places, 2.0 * step) for a, places in enumerate(at)]  # past what differences see
        ends = at[metal.axis] - reach, at[metal.axis] + reach
        for number in metal.present(float(ends[0].min()), float(ends[1].max())):
            distance, beside = metal.distances[number], metal.beside(number, at, at, reach)
            near = np.where(beside, np.abs(distance(*at)), np.inf)
            own = near < nearest
            nearest[own] = near[own]
            for a in range(3):
                high, low = (distance(*(q + by * step * (a == b) for b, q in enumerate(at))) for by in (1, -1))
                found[a][own] = (high - low)[own]
        size = np.maximum(np.sqrt(sum(part**2 for part in found)), np.finfo(float).tiny)
        return [part / size for part in found], size / (2.0 * step)

    def _intervals(self, normal: int, plane: int, window: Window) -> list[Interval] | None:
        """Open intervals of the sides of faces; None where all are whole."""
        rows, columns = (n + 2 for n in shape_of(window))
        sides: list[Interval] = []
        whole = np.zeros((rows, columns)), np.ones((rows, columns))
        for along, _, at, (i, j) in self._cuts.sides(normal, plane):
            found = self._cuts.surfaces(along, at, window)
            sides.append(whole if found is None else pair(end[i : i + rows, j : j + columns] for end in found))
        return None if all(side is whole for side in sides) else sides

    def _metal(self, normal: int, plane: int, window: Window, which: np.ndarray) -> FaceMetal:
        """The metal in some of these faces."""
        axis, across = self._cuts.axis, next_axes(self._cuts.axis)
        lines = {axis: np.full(np.count_nonzero(which), plane)}
        lines |= {a: n + start - 1 for a, n, (start, _) in zip(across, np.nonzero(which), window)}
        ends = [self._cuts.ends_of(a, lines[a], a != normal) for a in range(3)]
        return FaceMetal(self._cuts.metal, normal, [low for low, _ in ends], [high for _, high in ends])


def outline(
    metal: FaceMetal, sides: Sequence[Interval], lost: np.ndarray | None = None
) -> tuple[list[Side], list[Corner]]:
    """The sides of cut faces without the pieces that are `lost` (8, faces), and the corners between them.

    A corner between two closed sides is the rim's where the face is open beside it.
    """
    closed, held = [low == high for low, high in sides], []
    for number, corner in enumerate(CORNERS):
        both = closed[number] & closed[(number + 1) % 4]
        if both.any():
            both[both] = ~metal.holds(both, pair(np.array(abs(part - 2.0 * NEGLIGIBLE)) for part in corner))
        held.append(both)
    lost = np.zeros((8, closed[0].size), dtype=bool) if lost is None else lost
    found = rim([kept(ends, lost[2 * n : 2 * n + 2]) for n, ends in enumerate(sides)], held)
    return found, corners_between(found, metal)


def smaller_parts(metal: FaceMetal, sides: Sequence[Interval]) -> np.ndarray:
    """(8, faces) pieces of the sides of faces that metal in the face divides from its largest open part."""
    parts = parts_of(pieces_of(sides), metal.wall)
    largest, most = np.full(parts.shape[1], -1), np.full(parts.shape[1], -np.inf)
    for number in np.unique(parts[parts >= 0]):
        area = open_area(*outline(metal, sides, parts != number))
        larger = (parts == number).any(axis=0) & (area > most + ALIKE)
        largest[larger], most[larger] = number, area[larger]
    return (parts >= 0) & (parts != largest)


def _some(intervals: Sequence[Interval], which: np.ndarray) -> list[Interval]:
    return [(low[which], high[which]) for low, high in intervals]
