"""Closed surfaces for tests, and the slow way to ask them."""

from __future__ import annotations

import numpy as np

from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.grid import Grid
from nearfield.media.materials import Medium

SEED = 31
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ]
)


def icosphere(times: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners on the unit sphere, and 20 x 4^times triangles, which face outwards."""
    t = (1 + 5**0.5) / 2
    corners = [
        [-1, t, 0],
        [1, t, 0],
        [-1, -t, 0],
        [1, -t, 0],
        [0, -1, t],
        [0, 1, t],
        [0, -1, -t],
        [0, 1, -t],
        [t, 0, -1],
        [t, 0, 1],
        [-t, 0, -1],
        [-t, 0, 1],
    ]
    faces = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ]
    points, triangles = np.array(corners, float), np.array(faces)
    for _ in range(times):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, number = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = (number.reshape(-1, 3) + len(points)).T
        points = np.concatenate((points, points[unique].mean(axis=1)))
        a, b, c = triangles.T
        triangles = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return points / np.linalg.norm(points, axis=1)[:, None], triangles


def winding_number(corners: np.ndarray, triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The solid angle of the surface over 4 pi at points (n, 3): van Oosterom and Strackee, IEEE TBME 30, 125, 1983."""
    total = np.zeros(len(points))
    for triangle in triangles:
        a, b, c = (corners[n] - points for n in triangle)
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        over = np.einsum("ij,ij->i", a, np.cross(b, c))
        dots = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
        total += 2 * np.arctan2(over, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return total / (4 * np.pi)


def coefficients(structures, grid):
    made = Coefficients(grid, filled_shapes(structures), Medium(), Boundaries(all="pec"), 1e-13)
    return [part for component in range(6) for part in made.dense(component)]


def uniform(cells, size):
    return Grid.uniform(size, (cells,) * 3).resolve()


def nested():
    """A ball with a cavity, a second ball that overlaps it, and one ball twice in the same place."""
    points, triangles = icosphere(1)
    shells = [
        (1.0, (0, 0, 0), 1),
        (0.5, (0.1, 0, 0), -1),
        (0.8, (1.1, 0.2, 0.1), 1),
        (0.4, (-0.9, 1.2, 0), 1),
        (0.4, (-0.9, 1.2, 0), 1),
    ]
    corners = np.concatenate([size * points + place for size, place, _ in shells])
    return corners, np.concatenate([triangles[:, ::way] + n * len(points) for n, (*_, way) in enumerate(shells)])


def write(path, corners, triangles):
    import trimesh

    trimesh.Trimesh(corners, triangles, process=False).export(path)
    return str(path)
