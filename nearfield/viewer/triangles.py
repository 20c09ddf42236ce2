"""The surface of every shape as triangles: corners (n, 3) in m and numbers of corners (m, 3), outward where closed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.bodies.outlined import Surface, box_surface, placed, prism, rings
from nearfield.viewer.clipping import clipped

ROUND = 64  # flat sides of a circle: 0.12 % of its radius inside it
WIRE_SIDES = 12
THIN_WIRE = 2e-3  # radius of a wire without one, over the extent of the model
MOST_FACES = 400_000  # of a voxel model in the viewer; finer ones are drawn from larger boxes


def surface_of(shape: Any, extent: float, most_faces: float = math.inf) -> Surface:
    """The triangles of a shape.

    `extent` (m), that of the model, is what wires without a radius are drawn by. Voxel models of more than `most_faces`
    are coarsened.
    """
    if shape.kind == "wire":
        return tubes(shape.points, shape.radius or THIN_WIRE * extent)
    maker = MAKERS[shape.kind]
    return maker(shape, most_faces) if maker in (voxels, combined, difference) else maker(shape)


def joined(parts: list[Surface]) -> Surface:
    """Several surfaces as one."""
    if not parts:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    starts = np.cumsum([0, *(len(corners) for corners, _ in parts)])
    triangles = [triangles + start for (_, triangles), start in zip(parts, starts)]
    return np.concatenate([corners for corners, _ in parts]), np.concatenate(triangles)


def box(shape: Any) -> Surface:
    """A box, or a sheet where an extent is zero."""
    lower, upper = np.array(shape.bounds())
    flat = np.flatnonzero(lower == upper)
    if flat.size:
        axis = int(flat[0])
        u, v = (axis + 1) % 3, (axis + 2) % 3
        corners = np.tile(lower, (4, 1))
        corners[[1, 2], u], corners[[2, 3], v] = upper[u], upper[v]
        return corners, np.array([(0, 1, 2), (0, 2, 3)])
    return box_surface(lower, upper)


def sphere(shape: Any) -> Surface:
    """A sphere, from pole to pole."""
    polar = np.linspace(np.pi, 0.0, ROUND // 2 + 1)
    radii = shape.radius * np.where(np.isin(polar, (0.0, np.pi)), 0.0, np.sin(polar))
    corners, triangles = rings(radii, shape.radius * np.cos(polar), ROUND, False)
    return corners + np.asarray(shape.center), triangles


def cylinder(shape: Any) -> Surface:
    """A cylinder with its two ends."""
    radii, along = np.array([0.0, 1.0, 1.0, 0.0]) * shape.radius, np.array([0.0, 0.0, 1.0, 1.0]) * shape.length
    return placed(rings(radii, along, ROUND, False), shape.start, shape.direction)


def tubes(points: Any, radius: float) -> Surface:
    """A tube about each part of a polyline."""
    radii, parts = np.array([0.0, 1.0, 1.0, 0.0]) * radius, []
    for start, end in pairwise(np.asarray(points, dtype=float)):
        along = np.array([0.0, 0.0, 1.0, 1.0]) * np.linalg.norm(end - start)
        parts.append(placed(rings(radii, along, WIRE_SIDES, False), start, end - start))
    return joined(parts)


def revolved(shape: Any) -> Surface:
    """A closed profile turned about an axis."""
    radii, along = np.array(shape.profile).T
    following = np.roll(along, -1), np.roll(radii, -1)
    outward = float(np.sum(radii * following[0] - along * following[1])) > 0.0
    if not outward:
        radii, along = radii[::-1], along[::-1]
    direction = np.eye(3)["xyz".index(shape.axis)]
    return placed(rings(radii, along, ROUND, True), shape.center, direction)


def polygon(shape: Any) -> Surface:
    """An extruded polygon."""
    return prism("xyz".index(shape.axis), np.array(shape.vertices, dtype=float), (shape.lower, shape.upper))


def layout(shape: Any) -> Surface:
    """All polygons of a layer."""
    return joined([polygon(part) for part in shape.polygons()])


def mesh(shape: Any) -> Surface:
    """The triangles of a file, where they lie in the model."""
    return shape._surface.corners + np.asarray(shape.offset), shape._surface.triangles


def voxels(shape: Any, most_faces: float) -> Surface:
    """The faces between boxes of the body and others; of more than `most_faces`, those of larger boxes about them."""
    step, inside = 1, shape._mask
    while sum(np.count_nonzero(np.diff(inside, axis=axis)) for axis in range(3)) > most_faces:
        step += 1
        inside = in_blocks(shape._mask, step)
    spacing, origin = step * np.array(shape.spacing), np.array(shape.lower) - 2 * step * np.array(shape.spacing)
    edges = [start + size * np.arange(count + 1) for start, size, count in zip(origin, spacing, inside.shape)]
    return block_faces(inside, edges)


def in_blocks(mask: np.ndarray, step: int) -> np.ndarray:
    """Whether blocks of so many boxes along each axis hold one of the body; two at each end do not, as in the mask."""
    body = mask[2:-2, 2:-2, 2:-2]
    counts = [-(-size // step) for size in body.shape]
    whole = np.pad(body, [(0, step * count - size) for count, size in zip(counts, body.shape)])
    blocks = whole.reshape([size for count in counts for size in (count, step)]).any(axis=(1, 3, 5))
    return np.pad(blocks, 2)


def block_faces(inside: np.ndarray, edges: Sequence[np.ndarray]) -> Surface:
    """The faces between the blocks of a lattice that are `inside` and the others, outward; the outermost are outside.

    `edges`: of the blocks along each axis, one more than blocks.
    """
    parts = []
    for axis in range(3):
        places = np.argwhere(np.diff(inside.astype(np.int8), axis=axis))
        u, v = (axis + 1) % 3, (axis + 2) % 3
        base = places.copy()
        base[:, axis] += 1
        quad = np.zeros((4, 3), dtype=np.int64)
        quad[[1, 2], u], quad[[2, 3], v] = 1, 1
        numbers = (base[:, None, :] + quad).reshape(-1, 3)
        corners = np.column_stack([line[number] for line, number in zip(edges, numbers.T)])
        first = 4 * np.arange(len(places))[:, None]
        leaves = inside[tuple(places.T)][:, None]  # the body is below the face, which then looks up
        up = np.concatenate([first + np.array(half) for half in ((0, 1, 2), (0, 2, 3))])
        down = np.concatenate([first + np.array(half) for half in ((0, 2, 1), (0, 3, 2))])
        parts.append((corners, np.where(np.tile(leaves, (2, 1)), up, down)))
    return joined(parts)


def combined(shape: Any, most_faces: float) -> Surface:
    """The surfaces of the simple shapes that a body consists of."""
    return joined([surface_of(part, 0.0, most_faces) for part in shape._simple])


def difference(shape: Any, most_faces: float) -> Surface:
    """What is left of a body's surface, and the surfaces in it of what is cut out, turned inside out."""
    if not shape._whole:
        return combined(shape, most_faces)
    size = float(np.subtract(*shape.bounds()[::-1]).max())
    parts = [clipped(surface_of(shape.body, size, most_faces), shape.minus, True, size)]
    for part in shape.minus:
        others = [other for other in shape.minus if other is not part]
        corners, triangles = clipped(surface_of(part, size, most_faces), [shape.body], False, size)
        parts.append(clipped((corners, triangles[:, ::-1]), others, True, size))
    return joined(parts)


MAKERS: dict[str, Callable[..., Surface]] = {
    "box": box,
    "sheet": box,
    "sphere": sphere,
    "cylinder": cylinder,
    "polygon": polygon,
    "revolved": revolved,
    "layout": layout,
    "mesh": mesh,
    "voxels": voxels,
    "difference": difference,
    "union": combined,
    "transformed": combined,
}
