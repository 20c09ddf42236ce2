"""The radius of a chain of metal edges: the static field of a line charge on the grid across it (docs/method.md).

With the potential phi0 of the node of a charge 1, phi' of the next one and phi_a = -ln(a)/(2 pi) at the radius a, the
four edges of the node carry the flux of a round wire when they count with

    m = (phi0 - phi')/(phi_a - phi')

A flat strip of width w acts as a round wire of radius w/4 about its middle. The next nodes across it take parts q' of
the charge, so that its mean place, and the mean of the square of that, are the strip's. What they take comes over the
edges to them, of the conductance g of the lattice:

    m = (phi0 - phi' + q'/g)/(phi_a - phi')
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import next_axes

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

REACH = 24  # cells on each side; the radius is then within 5e-5 of that of the endless lattice
DIGITS = 10  # decimals of m, so that ranks on unlike processors have equal ones


Factors = tuple[tuple[float, float], tuple[float, float]]  # (2 axes across in cyclic order, below and above along them)


class Charge(NamedTuple):
    """Where the charge of a wire lies: on edges along the axis `along` beside them along the axis `across`, with the
    mean distance (m) and the mean of its square (m^2).

    A line of a rod's edges has its `factors` as they are (rod_lattice.py); `alone`: the rod has no other line, and its
    middle lies `off` this one (m).
    """

    along: int
    across: int = -1
    mean: float = 0.0
    square: float = 0.0
    factors: Factors | None = None
    alone: bool = True
    off: tuple[float, float] = (0.0, 0.0)  # along the two axes across, in cyclic order


ON_LINE = Charge(-1)  # of round wires


def edge_factors(
    grid: YeeGrid, axis: int, node: tuple[int, int], radius: float, charge: Charge = ON_LINE
) -> np.ndarray:
    """m about a wire's node: (2 axes across `axis` in cyclic order, below and above along them)."""
    sides = cells_about(grid, axis, node)
    if charge.along != axis:
        beside, turned = (0.0, 0.0), False
    else:
        turned = charge.across == next_axes(axis)[1]
        sides = sides[2:] + sides[:2] if turned else sides
        below, above = (float(side[0]) for side in sides[:2])
        beside = (
            (charge.square - charge.mean * above) / (below * (below + above)),
            (charge.square + charge.mean * below) / (above * (below + above)),
        )
    own, *others = _potentials(*(side.tobytes() for side in sides), charge.mean if any(beside) else 0.0, beside)
    besides = [2.0 * q * side[0] / (sides[2][0] + sides[3][0]) for q, side in zip(beside, sides)] + [0.0, 0.0]
    potential = -np.log(radius) / (2.0 * np.pi)
    found = (own - np.array(others) + besides) / (potential - np.array(others))
    return np.round(found, DIGITS).reshape(2, 2)[:: -1 if turned else 1]


def shortest_cell(grid: YeeGrid, axis: int, node: tuple[int, int]) -> float:
    """The shortest (m) of the four cells across a wire's node."""
    return min(float(side[0]) for side in cells_about(grid, axis, node))


def edge_radius(grid: YeeGrid, axis: int, node: tuple[int, int]) -> float:
    """Radius (m) of which bare metal edges along `axis` act."""
    sides = (side.tobytes() for side in cells_about(grid, axis, node))
    return float(np.exp(-2.0 * np.pi * _potentials(*sides, 0.0, (0.0, 0.0))[0]))


def cells_about(grid: YeeGrid, axis: int, node: tuple[int, int]) -> list[np.ndarray]:
    """Lengths (m) of the cells below and above a node along both axes across, the nearest first; those past a wall
    mirrored."""
    found = []
    for a, n in zip(next_axes(axis), node):
        length = np.pad(grid.primary(a), REACH, mode="wrap" if grid.closed(a) else "symmetric")
        found += [length[n : n + REACH][::-1], length[n + REACH : n + 2 * REACH]]
    return found


class LatticeAbout(NamedTuple):
    """The lattice about a node along both axes across: lines, cells and dual cells, which nodes lie on its rim, and the
    matrix of fluxes out of the nodes over their potentials."""

    lines: list[np.ndarray]
    cells: list[np.ndarray]
    duals: list[np.ndarray]
    rim: np.ndarray
    laplace: csc_matrix


def lattice_of(sides: Sequence[np.ndarray]) -> LatticeAbout:
    """That of cells below and above a node along both axes, the nearest first."""
    from scipy.sparse import csc_matrix, diags, kron

    lines, cells, duals, conduct, mass = [], [], [], [], []
    for before, after in (sides[:2], sides[2:]):
        cell = np.concatenate((before[::-1], after))
        lines.append(np.concatenate((-np.cumsum(before)[::-1], [0.0], np.cumsum(after))))
        difference = diags([-1.0, 1.0], [0, 1], shape=(cell.size, cell.size + 1))
        conduct.append(difference.T @ diags(1.0 / cell) @ difference)
        cells.append(cell)
        duals.append(0.5 * (np.append(cell, 0.0) + np.append(0.0, cell)))
        mass.append(diags(duals[-1]))
    rim = np.ones([line.size for line in lines], dtype=bool)
    rim[1:-1, 1:-1] = False
    laplace = csc_matrix(kron(conduct[0], mass[1]) + kron(mass[0], conduct[1]))
    return LatticeAbout(lines, cells, duals, rim, laplace)


@lru_cache(maxsize=256)
def _potentials(
    below: bytes, above: bytes, under: bytes, over: bytes, middle: float, beside: tuple[float, float]
) -> tuple[float, ...]:
    """Potentials, for a line charge 1, of a node and of the next below and above it along two axes.

    `beside`: the parts of the charge on the next nodes along the first of them; `middle`: its mean place there (m).
    """
    from scipy.sparse.linalg import spsolve

    about = lattice_of([np.frombuffer(side) for side in (below, above, under, over)])
    (along, across), rim, laplace = about.lines, about.rim, about.laplace
    radius = np.hypot(*np.meshgrid(along - middle, across, indexing="ij"))
    potential = np.where(rim, -np.log(np.where(rim, radius, 1.0)) / (2.0 * np.pi), 0.0)
    charge = np.zeros(radius.shape)
    charge[REACH - 1 : REACH + 2, REACH] = beside[0], 1.0 - sum(beside), beside[1]
    free = np.flatnonzero(~rim)
    rest = (charge.ravel() - laplace @ potential.ravel())[free]
    potential.ravel()[free] = spsolve(laplace[free][:, free], rest)
    near = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]
    return tuple(float(potential[REACH + i, REACH + j]) for i, j in near)
