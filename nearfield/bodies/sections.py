"""What a plane across an axis cuts out of a shape, drawn out along the axis: holes that bodies make in flat metal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.closed_surface import merged
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.outlined import Surface, area, placed, prism, rings
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Box, Cylinder, Extruded, Polygon, Rectangular, Sheet, Solid, Sphere
from nearfield.bodies.voxels import Voxels

AXES = "xyz"
SIDES = 128  # of the polygon that stands for a circle, with its area
ASIDE = 1e-9  # of a surface's extent, from one of its flat ends: where a plane on this is taken to cut it
ROUNDED = 1e-14  # of a span, by which its middle may lie beside it
BEYOND = 2  # boxes without a body that voxels keep on each side
LEAST = 1e-12  # of the square of an extent; smaller outlines are none


def sections(part: Solid, normal: int, span: tuple[float, float]) -> list[Solid] | None:
    """Shapes from end to end of a span (m) along an axis, across which the part is as the plane in the middle cuts it;
    none where it does not. None: of such shapes no outline is known."""
    height = 0.5 * (span[0] + span[1])
    low, high = (end[normal] for end in part.bounds())
    tiny = ROUNDED * (span[1] - span[0])
    if not low - tiny <= height <= high + tiny:
        return []
    if part.kind == "difference":
        return _left([sections(each, normal, span) for each in (part.body, *part.minus)])  # type: ignore[attr-defined]
    if part._constant_along(normal):
        drawn = stretched(part, normal, span)
        return None if drawn is None else [drawn]
    if isinstance(part, Sphere):
        return _disc(part, normal, span, height)
    if isinstance(part, Voxels):
        return _nested(_blocks(part, normal, height), normal, span)
    surface = _surface(part)
    if surface is None:
        return None
    size = float(np.ptp(surface[0], axis=0).max())
    inwards = 1.0 if height < 0.5 * (low + high) else -1.0
    return _nested(_loops(*merged(*surface), normal, height + inwards * ASIDE * size), normal, span)


def _left(parts: Sequence[list[Solid] | None]) -> list[Solid] | None:
    """What all parts but the first leave of it."""
    from nearfield.bodies.combined import less

    whole, *others = parts
    if whole is None or any(other is None for other in others):
        return None
    minus = [each for other in others if other for each in other]
    return [less(each, minus) if minus else each for each in whole]


def stretched(part: Solid, axis: int, ends: tuple[float, float]) -> Solid | None:
    """A shape with other flat ends along an axis; None of those that have none of their own."""
    if isinstance(part, Extruded):
        return part.model_copy(update={"lower": ends[0], "upper": ends[1]})
    if not isinstance(part, Rectangular | Cylinder):
        return None
    names = ("lower", "upper") if isinstance(part, Rectangular) else ("start", "end")
    corners = [list(getattr(part, name)) for name in names]
    back = corners[0][axis] > corners[1][axis]
    for corner, end in zip(corners, ends[::-1] if back else ends):
        corner[axis] = end
    if isinstance(part, Sheet) and part._normal == axis:
        return Box(tuple(corners[0]), tuple(corners[1]))
    return part.model_copy(update=dict(zip(names, map(tuple, corners))))


def _disc(ball: Sphere, normal: int, span: tuple[float, float], height: float) -> list[Solid]:
    square = ball.radius**2 - (height - ball.center[normal]) ** 2
    if square <= LEAST * ball.radius**2:
        return []
    ends = [tuple(end if a == normal else q for a, q in enumerate(ball.center)) for end in span]
    return [Cylinder(ends[0], ends[1], float(square**0.5))]


def _surface(part: Solid) -> Surface | None:
    """The surface of a shape as triangles, with polygons of their area for circles."""
    round_ = (2.0 * np.pi / SIDES / np.sin(2.0 * np.pi / SIDES)) ** 0.5
    if isinstance(part, Mesh):
        return part._surface.corners + np.array(part.offset), part._surface.triangles
    if isinstance(part, Cylinder):
        radii, along = np.array([0.0, 1.0, 1.0, 0.0]) * part.radius, np.array([0.0, 0.0, 1.0, 1.0]) * part.length
        return placed(rings(radii * round_, along, SIDES, False), part.start, part.direction)
    if isinstance(part, Revolved):
        radii, along = np.array(part.profile).T
        return placed(rings(radii * round_, along, SIDES, True), part.center, np.eye(3)[AXES.index(part.axis)])
    if isinstance(part, Polygon):
        return prism(part._normal, np.array(part.vertices, dtype=float), (part.lower, part.upper))
    return None


def _loops(corners: np.ndarray, triangles: np.ndarray, axis: int, height: float) -> list[np.ndarray]:
    """Closed outlines (n, 2), along the two axes after another one, in which a plane cuts a closed surface."""
    above = corners[:, axis] >= height
    crossed = triangles[np.ptp(above[triangles].astype(np.int8), axis=1) > 0]
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for corner in crossed.tolist():
        ends = {}
        for a, b in zip(corner, (*corner[1:], corner[0])):
            if above[a] != above[b]:
                ends[bool(above[a])] = (min(a, b), max(a, b))
        following.setdefault(ends[True], []).append(ends[False])
    across = [(axis + 1) % 3, (axis + 2) % 3]
    found = []
    for edges in _rounds(following):
        start, end = (corners[np.array(edges)[:, n]] for n in (0, 1))
        part = (height - start[:, axis]) / (end[:, axis] - start[:, axis])
        found.append((start + part[:, None] * (end - start))[:, across])
    return found


def _blocks(part: Voxels, normal: int, height: float) -> list[np.ndarray]:
    """The outlines of the boxes in a plane, those above it where it lies on their faces."""
    place = np.floor((height - part.lower[normal]) / part.spacing[normal])
    inside = np.moveaxis(part._mask, (normal, (normal + 1) % 3, (normal + 2) % 3), (0, 1, 2))
    layer = inside[int(np.clip(place + BEYOND, 0, len(inside) - 1))].astype(np.int8)
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for axis in range(2):  # sides along the other axis, with the body on their left
        for i, j in np.argwhere(np.diff(layer, axis=axis)).tolist():
            low, high = ((i + 1, j), (i + 1, j + 1)) if axis == 0 else ((i, j + 1), (i + 1, j + 1))
            up = bool(layer[i, j]) == (axis == 0)
            following.setdefault(low if up else high, []).append(high if up else low)
    across = [(normal + 1) % 3, (normal + 2) % 3]
    origin, size = (np.array(each)[across] for each in (part.lower, part.spacing))
    return [origin + size * (np.array(nodes) - BEYOND) for nodes in _rounds(following)]


def _rounds(following: dict[tuple[int, int], list[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """Closed ways from key to key, in which each follower is taken once."""
    found = []
    while following:
        first = at = next(iter(following))
        way: list[tuple[int, int]] = []
        while at in following:
            way.append(at)
            to = following[at].pop()
            if not following[at]:
                del following[at]
            at = to
            if at == first:
                break
        found.append(way)
    return found


def _nested(loops: Sequence[np.ndarray], normal: int, span: tuple[float, float]) -> list[Solid]:
    """Outlines as polygons without those that lie in them, these as polygons of their own where others lie in them."""
    from nearfield.bodies.combined import less

    size = max((float(np.ptp(loop, axis=0).max()) for loop in loops), default=0.0)
    loops = [kept for loop in loops if len(kept := _corners(loop)) > 2 and abs(area(kept)) > LEAST * size**2]
    shapes = [Polygon(AXES[normal], list(map(tuple, loop.tolist())), *span) for loop in loops]  # type: ignore[arg-type]
    within = np.zeros((len(loops), len(loops)), dtype=bool)  # (inner, outer)
    for outer, shape in enumerate(shapes):
        for inner, loop in enumerate(loops):
            at = 0.5 * (loop[0] + loop[1])
            within[inner, outer] = inner != outer and shape._flat_distance(at[:1], at[1:])[0] < 0.0
    depth = within.sum(axis=1)
    found: list[Solid] = []
    for number in np.flatnonzero(depth % 2 == 0).tolist():
        holes = [shapes[n] for n in np.flatnonzero(within[:, number] & (depth == depth[number] + 1)).tolist()]
        found.append(less(shapes[number], holes) if holes else shapes[number])
    return found


def _corners(loop: np.ndarray) -> np.ndarray:
    """The corners of an outline at which it turns."""
    loop = loop[np.abs(loop - np.roll(loop, 1, axis=0)).max(axis=1) > 0.0]
    before, after = loop - np.roll(loop, 1, axis=0), np.roll(loop, -1, axis=0) - loop
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return loop[np.abs(turn) > LEAST * np.hypot(*before.T) * np.hypot(*after.T)]
