"""The radius of a chain of metal edges: the static field of a line charge on the grid across it (docs/method.md).

With the potential phi0 of the node of a charge 1, phi' of the next one and phi_a = -ln(a)/(2 pi) at the radius a, the
four edges of the node carry the flux of a round wire when they count with

    m = (phi0 - phi')/(phi_a - phi')
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import next_axes

REACH = 24  # cells on each side; the radius is then within 5e-5 of that of the endless lattice
DIGITS = 10  # decimals of m, so that ranks on unlike processors have equal ones


def edge_factors(grid: YeeGrid, axis: int, node: tuple[int, int], radius: float) -> np.ndarray:
    """m about a wire's node: (2 axes across `axis` in cyclic order, below and above along them)."""
    own, *others = _potentials(*(side.tobytes() for side in _cells(grid, axis, node)))
    potential = -np.log(radius) / (2.0 * np.pi)
    return np.round((own - np.array(others)) / (potential - np.array(others)), DIGITS).reshape(2, 2)


def shortest_cell(grid: YeeGrid, axis: int, node: tuple[int, int]) -> float:
    """The shortest (m) of the four cells across a wire's node."""
    return min(float(side[0]) for side in _cells(grid, axis, node))


def edge_radius(grid: YeeGrid, axis: int, node: tuple[int, int]) -> float:
    """Radius (m) of which bare metal edges along `axis` act."""
    return float(np.exp(-2.0 * np.pi * _potentials(*(side.tobytes() for side in _cells(grid, axis, node)))[0]))


def _cells(grid: YeeGrid, axis: int, node: tuple[int, int]) -> list[np.ndarray]:
    """Lengths (m) of the cells below and above a node along both axes across, the nearest first; those past a wall
    mirrored."""
    found = []
    for a, n in zip(next_axes(axis), node):
        length = np.pad(grid.primary(a), REACH, mode="wrap" if grid.closed(a) else "symmetric")
        found += [length[n : n + REACH][::-1], length[n + REACH : n + 2 * REACH]]
    return found


@lru_cache(maxsize=256)
def _potentials(*sides: bytes) -> tuple[float, ...]:
    """Potentials, for a line charge 1, of a node and of the next below and above it along two axes."""
    from scipy.sparse import csc_matrix, diags, kron
    from scipy.sparse.linalg import spsolve

    lengths = [np.frombuffer(side) for side in sides]
    lines, conduct, mass = [], [], []
    for below, above in (lengths[:2], lengths[2:]):
        cell = np.concatenate((below[::-1], above))
        lines.append(np.concatenate((-np.cumsum(below)[::-1], [0.0], np.cumsum(above))))
        difference = diags([-1.0, 1.0], [0, 1], shape=(cell.size, cell.size + 1))
        conduct.append(difference.T @ diags(1.0 / cell) @ difference)
        mass.append(diags(0.5 * (np.append(cell, 0.0) + np.append(0.0, cell))))
    laplace = csc_matrix(kron(conduct[0], mass[1]) + kron(mass[0], conduct[1]))
    radius = np.hypot(*np.meshgrid(*lines, indexing="ij"))
    rim = np.ones(radius.shape, dtype=bool)
    rim[1:-1, 1:-1] = False
    potential = np.where(rim, -np.log(np.where(rim, radius, 1.0)) / (2.0 * np.pi), 0.0)
    charge = np.zeros(radius.shape)
    charge[REACH, REACH] = 1.0
    free = np.flatnonzero(~rim)
    rest = (charge.ravel() - laplace @ potential.ravel())[free]
    potential.ravel()[free] = spsolve(laplace[free][:, free], rest)
    near = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]
    return tuple(float(potential[REACH + i, REACH + j]) for i, j in near)
