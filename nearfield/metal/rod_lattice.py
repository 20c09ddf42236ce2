"""A rod of metal as nodes of the lattice across it: which of them are metal, and what their edges count with.

On the lattice across the rod (wire_lattice.py) charges on some nodes, and on those beside them, have from afar the
potential of the rod's cross-section: sum, middle and second moments of the charge are the rod's (cross_sections.py).
Let the nodes be metal at the rod's potential phi_a = -ln(a)/(2 pi). A node k beside them, at phi_k, passes the flux F_k
on to its other neighbours, and gets it over its edges from the metal, of conductances g, when these count with

    m_k = F_k/(sum of g (phi_a - phi_k))

so that all the rest of the lattice has the rod's field. Many sets of nodes will do. Each has errors of second order
where fields change along the rod's own size: its dipole moment in a field (`_polarizability`) is another than the
rod's, and edges beside it that count with m > 1 hold energy (thin_wires.py). The set with the least of both is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.cross_sections import Section
from nearfield.metal.patches import next_axes, pair
from nearfield.metal.wire_lattice import DIGITS, REACH, Factors, cells_about, lattice_of, shortest_cell

Node = tuple[int, int]
Pair = tuple[float, float]
Sides = tuple[bytes, ...]
WINDOW = 6  # nodes to each side of the one nearest to a rod's middle at which potentials are known
BEYOND = 1.0  # shortest cells past the surface at which nodes may be metal
BESIDE = 0.5  # weight of charges on nodes beside the metal, of those on it
WAYS = ((0, -1), (0, 1), (1, -1), (1, 1))  # axis across and way of the edges of a node
USABLE, ALONE = (1.0 / 6.0, 6.0), (0.05, 4.0)  # least and largest factor, of a rod and of a wire beside its line
FAR = 5.0  # cells from a rod where its field is that of what drives it
HELD = 3.0  # weight of the energy in edges beside a rod, of its dipole moment: |S| of posts in a guide is then closest


class RodNodes(NamedTuple):
    """Nodes across a rod that are metal, and the factors of the edges and faces about each; 1 between two of them."""

    nodes: tuple[Node, ...]
    factors: tuple[Factors, ...]


def rod_nodes(grid: YeeGrid, axis: int, section: Section, distance: np.ndarray, first: Node) -> RodNodes | None:
    """The nodes that stand for a rod along an axis; None where no set of nodes has usable factors.

    `distance`: of the nodes from `first` on from the rod's surface (m), negative inside, of shape (n, m).
    """
    across = next_axes(axis)
    base = pair(grid.nearest_node(a, at) for a, at in zip(across, section.middle))
    sides = tuple(side.tobytes() for side in cells_about(grid, axis, base))
    origin = [float(grid.lines[a][n]) for a, n in zip(across, base)]
    about = section._replace(middle=pair(at - zero for at, zero in zip(section.middle, origin)))
    start = pair(low - zero for low, zero in zip(first, base))
    level = np.round(distance / shortest_cell(grid, axis, base), 6)
    found = _best(sides, about, level.tobytes(), level.shape, start)
    return found and RodNodes(tuple(pair(n + zero for n, zero in zip(node, base)) for node in found[0]), found[1])


def line_factors(grid: YeeGrid, axis: int, section: Section, node: Node) -> Factors | None:
    """The factors of the edges about one node that stands alone for a rod beside it; None where these are unusable."""
    sides = tuple(side.tobytes() for side in cells_about(grid, axis, node))
    off = pair(at - float(grid.lines[a][n]) for a, n, at in zip(next_axes(axis), node, section.middle))
    found = _lattice(sides).factors([(0, 0)], section._replace(middle=off), ALONE)
    return found and found[1].factors[0]


@lru_cache(maxsize=4096)
def _best(sides: Sides, section: Section, distance: bytes, shape: tuple[int, int], first: Node) -> RodNodes | None:
    """`rod_nodes` about the node nearest to the rod's middle, `distance` in shortest cells."""
    lattice, level = _lattice(sides), np.frombuffer(distance).reshape(shape)
    found = []
    for most in np.unique(level[level <= max(BEYOND, level.min())]):
        nodes = [pair(int(n) + zero for n, zero in zip(at, first)) for at in np.argwhere(level <= most)]
        if all(abs(n) < WINDOW - 1 for node in nodes for n in node) and (one := lattice.factors(nodes, section)):
            found.append(one)
    return min(found, key=lambda one: one[0])[1] if found else None


class _Lattice:
    """The lattice about a node, which is (0, 0), out to `REACH` cells on each side, in units of its shortest cell."""

    def __init__(self, sides: Sides) -> None:
        from scipy.sparse.linalg import splu

        lengths = [np.frombuffer(side) for side in sides]
        self.unit = min(float(side[0]) for side in lengths)
        self._line, self._cell, self._dual, self._rim, laplace = lattice_of([side / self.unit for side in lengths])
        free, rim = np.flatnonzero(~self._rim), np.flatnonzero(self._rim)
        from_rim, solve = -laplace[free][:, rim], splu(laplace[free][:, free]).solve
        near = np.zeros(self._rim.shape, dtype=bool)
        near[REACH - WINDOW : REACH + WINDOW + 1, REACH - WINDOW : REACH + WINDOW + 1] = True
        rows = np.flatnonzero(near.ravel()[free])
        unit = np.zeros((free.size, rows.size))
        unit[rows, np.arange(rows.size)] = 1.0
        field = solve(unit)
        self._green = field[rows]  # potentials of the nodes of the window, of a charge on each of them
        self._shown = from_rim.T @ field  # the same, of potentials on the rim

    def factors(self, metal: Sequence[Node], section: Section, usable: Pair = USABLE) -> tuple[float, RodNodes] | None:
        """The error and the factors of some nodes as metal; None if a factor is not within `usable`."""
        beside = sorted({self._edge(node, *way)[0] for node in metal for way in WAYS} - set(metal))
        middle = [at / self.unit for at in section.middle]
        x, y = (self._line[a][[REACH + node[a] for node in (*metal, *beside)]] - middle[a] for a in range(2))
        charge, missed = self._charges(len(metal), x, y, section)
        numbers = [self._number(node) for node in (*metal, *beside)]
        line = np.hypot(*np.meshgrid(*(line - at for line, at in zip(self._line, middle)), indexing="ij"))
        potential = self._green[:, numbers] @ charge - np.log(line[self._rim]) @ self._shown / (2.0 * np.pi)
        level, inside = -np.log(section.radius / self.unit) / (2.0 * np.pi), set(metal)
        found, links, held = {node: np.ones((2, 2)) for node in metal}, np.zeros(len(beside)), 0.0
        for row, node in enumerate(beside):
            drop, flux, own, edges = level - potential[self._number(node)], 0.0, 0.0, []
            for axis, way in WAYS:
                other, conductance = self._edge(node, axis, way)
                if other in inside:
                    own += conductance
                    edges.append((other, axis, int(way < 0)))
                else:
                    flux += conductance * float(potential[self._number(node)] - potential[self._number(other)])
            if not (flux > 0.0 and drop > 0.0 and usable[0] < flux / (own * drop) < usable[1]):
                return None
            factor = round(flux / (own * drop), DIGITS)
            for other, axis, side in edges:
                found[other][axis, side] = factor
            links[row] = (factor - 1.0) * own
            held += HELD * max(0.0, factor - 1.0) * len(edges) * (drop / (level + np.log(FAR) / (2.0 * np.pi))) ** 2
        moment = self._polarizability(numbers, links, x, y)
        wanted = 2.0 * np.pi * (section.radius / self.unit) ** 2 * np.eye(2)
        error = float(np.abs(moment - wanted).max()) + held + missed
        rows = [pair(pair(row) for row in each.tolist()) for each in found.values()]
        return round(error, 6), RodNodes(tuple(metal), tuple(rows))

    def _number(self, node: Node) -> int:
        """The place of a node in the window."""
        return (node[0] + WINDOW) * (2 * WINDOW + 1) + node[1] + WINDOW

    def _edge(self, node: Node, axis: int, way: int) -> tuple[Node, float]:
        """The node at the other end of an edge, and its conductance."""
        other = (node[0] + way, node[1]) if axis == 0 else (node[0], node[1] + way)
        cell = self._cell[axis][REACH + min(node[axis], other[axis])]
        return other, float(self._dual[1 - axis][REACH + node[1 - axis]] / cell)

    def _charges(self, metal: int, x: np.ndarray, y: np.ndarray, section: Section) -> tuple[np.ndarray, float]:
        """Charges on nodes, the first of which are metal, with the sum 1 and the moments of a section, and by how much
        these are missed: a node and the four beside it have no product. There both squares are those of a line."""
        squares, product = section.squares / self.unit**2, section.product / self.unit**2
        rows, wanted = [np.ones(x.size), x, y, x * x - y * y], [1.0, 0.0, 0.0, squares]
        if metal == 1:
            rows, wanted = [*rows, x * x + y * y], [*wanted, abs(squares)]
        else:
            rows, wanted = [*rows, x * y], [*wanted, product]
        weight = np.where(np.arange(x.size) < metal, 1.0, BESIDE)
        charge = weight * np.linalg.lstsq(np.array(rows) * weight, np.array(wanted), rcond=1e-9)[0]
        missed = [*(np.array(rows) @ charge - wanted), (x * y) @ charge - product]
        return charge, float(np.abs(missed).max())

    def _polarizability(self, numbers: Sequence[int], links: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The dipole moment of metal nodes without a charge in fields of 1 along both axes, (2, 2).

        `links`: what conductances from the metal to the nodes beside it, which come after it, have more than 1.
        """
        count, metal = len(numbers), len(numbers) - len(links)
        green = self._green[np.ix_(numbers, numbers)]
        system, given = np.zeros((count + 1, count + 1)), np.zeros((count + 1, 2))
        system[:metal, :count], system[:metal, count] = green[:metal], -1.0  # the metal at one potential
        given[:metal] = -np.stack((x, y), axis=1)[:metal]
        extra = slice(metal, count)  # nodes beside it: the charge that the added links bring
        system[extra, :count] = np.eye(count)[extra] + links[:, None] * green[extra]
        system[extra, count], given[extra] = -links, -links[:, None] * np.stack((x, y), axis=1)[extra]
        system[count, :count] = 1.0  # no charge in all
        moved = np.linalg.solve(system, given)[:count]
        return -np.stack((x, y)) @ moved


@lru_cache(maxsize=64)
def _lattice(sides: Sides) -> _Lattice:
    return _Lattice(sides)
