"""Factors of eps and 1/mu of the samples about a wire along no axis: the static field of its chain of edges.

A chain of edges along a slanting wire is longer than it and has more nodes, so that bare it has more inductance than
capacitance takes away: waves on it are some 8 % slow at 45 degrees. The lattice's field of the wire's own charge and
current is that of its chain; a wire of radius a has another potential on its surface. With one charge a metre of wire,
shared out among the nodes, a node is D too high over the wire's potential; with one current, an edge's vector potential
has the flux D too much. Edges of the node count with p eps, faces about the edge with q/mu,

    p = F/(F - n D),     F: the sum of differences of potential to its n neighbours along an axis
    q = h/(h - D),       h: circulation of the vector potential round the face, D of its metal edges

so that the field elsewhere stays as it is. The flux D is averaged along the chain, since the current is the same there
and its energy is stationary (docs/method.md, Thin wires).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.lattice_potential import mean_cell, potentials, tables
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.wire_path import WirePath

REACH = 30  # edges on each side whose charge and current count; further ones are those of the wire itself
SMOOTH = 6  # edges over which the excess is averaged, falling off linearly
LEAST, MOST = 0.1, 8.0  # of p and q; a chain that turns sharply could ask for any
AT_ONCE = 4096  # edges whose windows are held in memory together
DIGITS = 10  # decimals, so that ranks on unlike processors have equal ones


Pairs = tuple[np.ndarray, np.ndarray]


class Chain(NamedTuple):
    """A path drawn on past its ends: nodes and their places (n, 3), points of the wire where the share of each begins
    and ends (n, 2, 3; m), its length (n; m), nearest points; axis, way, length (m) of edges; which nodes are real."""

    nodes: np.ndarray
    places: np.ndarray
    share: np.ndarray
    charge: np.ndarray
    at: np.ndarray
    axis: np.ndarray
    way: np.ndarray
    length: np.ndarray
    real: slice


def slanting_factors(
    samples: SampleNumbers, path: WirePath, radius: float, goes_on: Sequence[bool], slack: float
) -> tuple[Pairs, Pairs]:
    """Edges that meet a wire of a radius (m) with p, and faces about it with q: numbers and factors, each by place.

    `goes_on`: whether something continues the wire at its start and at its end; q may be `slack` times p.
    """
    chain = _chain(samples.grid, path, goes_on)
    edges = _edges(samples, chain, radius)
    return edges, _faces(samples, chain, radius, edges, slack)


def _chain(grid: YeeGrid, path: WirePath, goes_on: Sequence[bool]) -> Chain:
    """The path, at ends that something continues drawn on by its image in the end."""
    count = len(path.nodes)
    before, after = (min(REACH, count - 1) if on else 0 for on in goes_on)
    places = np.stack([grid.lines[a][path.nodes[:, a]] for a in range(3)], axis=1)

    def drawn_on(values: np.ndarray) -> np.ndarray:
        first = 2 * values[0] - values[1 : before + 1][::-1]
        last = 2 * values[-1] - values[count - 1 - after : count - 1][::-1]
        return np.concatenate((first, values, last))

    nodes, places, at, along = (drawn_on(each) for each in (path.nodes, places, path.at, path.along))
    between, middle = 0.5 * (at[1:] + at[:-1]), 0.5 * (along[1:] + along[:-1])
    start = (at[0], along[0]) if goes_on[0] else (path.ends[0], 0.0)
    end = (at[-1], along[-1]) if goes_on[1] else (path.ends[1], path.length)
    points = np.concatenate((start[0][None], between, end[0][None]))
    charge = np.diff(np.concatenate(([start[1]], middle, [end[1]])))
    steps = np.diff(nodes, axis=0)
    return Chain(
        nodes,
        places,
        np.stack((points[:-1], points[1:]), axis=1),
        charge,
        at,
        np.abs(steps).argmax(axis=1),
        steps.sum(axis=1),
        np.linalg.norm(np.diff(places, axis=0), axis=1),
        slice(before, before + count),
    )


def _window(first: int, count: int, total: int) -> tuple[np.ndarray, np.ndarray]:
    """(numbers (count, window) of what lies about each of `count` from `first` on, whether it is there)."""
    found = np.arange(first, first + count)[:, None] + np.arange(-REACH, REACH + 1)
    return np.clip(found, 0, total - 1), (found >= 0) & (found < total)


def _cells(grid: YeeGrid, nodes: np.ndarray) -> np.ndarray:
    """Means (n, 3; m) of the cells before and after nodes."""
    found = []
    for axis in range(3):
        cell, n = grid.primary(axis), np.mod(nodes[:, axis], grid.cells[axis]) if grid.closed(axis) else nodes[:, axis]
        found.append(0.5 * (cell[np.clip(n - 1, 0, cell.size - 1)] + cell[np.clip(n, 0, cell.size - 1)]))
    return np.stack(found, axis=1)


def _of_wire(at: np.ndarray, pieces: np.ndarray, radius: float) -> np.ndarray:
    """Potential (...) at points (..., 3; m), set off by `radius`, of pieces (..., 2, 3; m) with a charge 1 a metre."""
    along = pieces[..., 1, :] - pieces[..., 0, :]
    size = np.linalg.norm(along, axis=-1)
    unit = along / np.where(size > 0.0, size, 1.0)[..., None]
    offset = pieces[..., 0, :] - at
    low = (offset * unit).sum(axis=-1)
    distance = np.sqrt(np.maximum((offset**2).sum(axis=-1) - low**2, 0.0) + radius**2)
    return (np.arcsinh((low + size) / distance) - np.arcsinh(low / distance)) / (4.0 * np.pi)


def _averaged(excess: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Excess a weight, averaged along the chain."""
    kernel = np.maximum(0.0, 1.0 - np.abs(np.arange(-SMOOTH, SMOOTH + 1)) / SMOOTH)
    parts = (np.convolve(np.pad(part, SMOOTH), kernel, "valid") for part in (excess, weight))
    total, weights = parts
    return total / weights


def _edges(samples: SampleNumbers, chain: Chain, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Edges that meet the nodes of the wire, and p."""
    nodes = chain.nodes[chain.real]
    near, there = _window(chain.real.start, len(nodes), len(chain.nodes))
    table, kind = tables(cells := _cells(samples.grid, nodes))
    mean, charge = mean_cell(cells), np.where(there, chain.charge[near], 0.0)

    def potential(step: np.ndarray) -> np.ndarray:
        steps = (nodes + step)[:, None] - chain.nodes[near]
        apart = np.linalg.norm((chain.places[chain.real] + step * cells)[:, None] - chain.places[near], axis=-1)
        return (potentials(table, kind[:, None], mean[:, None], steps, apart) * charge).sum(axis=1)

    own = potential(np.zeros(3, dtype=np.int64))
    middle = chain.share[chain.real].mean(axis=1)
    wire = (_of_wire(middle[:, None], chain.share[near], radius) * there).sum(axis=1)
    excess = own - wire
    beside = np.stack([[potential(way * UNIT[a]) for way in (-1, 1)] for a in range(3)]).transpose(2, 0, 1)
    free = np.ones(beside.shape, dtype=bool)  # node, axis, before and after: edges that are not the wire's
    for edge in range(chain.real.start - 1, chain.real.stop):
        if 0 <= edge < len(chain.axis):
            for node, forwards in ((edge, True), (edge + 1, False)):
                if chain.real.start <= node < chain.real.stop:
                    after = int(forwards == (chain.way[edge] > 0))
                    free[node - chain.real.start, chain.axis[edge], after] = False
    flux = ((own[:, None, None] - beside) * free).sum(axis=2)
    rest = flux - free.sum(axis=2) * excess[:, None]
    flux = np.where(free.any(axis=2), flux, rest)  # no edge, no factor
    factor = np.clip(flux / np.where(rest > 0.0, rest, np.inf), LEAST, MOST)
    factor = np.where(rest > 0.0, factor, MOST)
    number = samples.edges_at(samples.node(nodes))
    number = np.where(free, number, -1)
    value = np.broadcast_to(np.round(factor, DIGITS)[:, :, None], number.shape)
    return number[number >= 0], value[number >= 0]


class _Vectors:
    """The vector potential of a current 1 in the chain, near its real edges."""

    def __init__(self, grid: YeeGrid, chain: Chain) -> None:
        first, count = chain.real.start, chain.real.stop - chain.real.start - 1
        own = slice(first, first + count)
        self.edges, self._axes = np.minimum(chain.nodes[1:], chain.nodes[:-1]), chain.axis
        self.own, self.axis, self.length, self.way = self.edges[own], chain.axis[own], chain.length[own], chain.way[own]
        self.near, self.there = _window(first, count, len(self.edges))
        self._middle = 0.5 * (chain.places[1:] + chain.places[:-1])
        self._own_middle = self._middle[own]
        self.cells = 0.5 * (_cells(grid, self.own) + _cells(grid, self.own + UNIT[self.axis]))
        self.cells[np.arange(count), self.axis] = self.length
        (self._table, self._kind), self._mean = tables(self.cells), mean_cell(self.cells)
        self._current = np.where(self.there, (chain.way * chain.length)[self.near], 0.0)

    def along(self, row: np.ndarray, component: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Along edges (n,) of components and indices (n, 3), each near the real edge `row`."""
        parts = (slice(first, first + AT_ONCE) for first in range(0, len(row), AT_ONCE))
        return np.concatenate([self._along(row[part], component[part], index[part]) for part in parts])

    def _along(self, row: np.ndarray, component: np.ndarray, index: np.ndarray) -> np.ndarray:
        near, mean = self.near[row], self._mean[row][:, None]
        away = (index - self.own[row] + 0.5 * (UNIT[component] - UNIT[self.axis[row]])) * self.cells[row]
        apart = np.linalg.norm((self._own_middle[row] + away)[:, None] - self._middle[near], axis=-1)
        steps = index[:, None] - self.edges[near]
        found = potentials(self._table, self._kind[row][:, None], mean, steps, np.maximum(apart, 1e-3 * mean))
        return (found * self._current[row] * (self._axes[near] == component[:, None])).sum(axis=1)

    def round(self, row: np.ndarray, normal: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Circulation (m) round faces (n,) across axes `normal`, of indices (n, 3), each near the real edge `row`."""
        sides = sides_of(normal, index)
        every = np.concatenate([np.column_stack((component, at)) for component, at, _ in sides])
        _, first, back = np.unique(every, axis=0, return_index=True, return_inverse=True)
        found = self.along(np.tile(row, len(sides))[first], every[first, 0], every[first, 1:])
        values = found[back.reshape(-1)].reshape(len(sides), -1)
        signed = (sign * value * self.cells[row, side] for value, (side, _, sign) in zip(values, sides))
        return sum(signed, np.zeros(len(row)))


def sides_of(normal: np.ndarray, index: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """(component, index, sign) of the four edges round faces, right-handed about their normals."""
    u, v = (normal + 1) % 3, (normal + 2) % 3
    return [(u, index, 1), (v, index + UNIT[u], 1), (u, index + UNIT[v], -1), (v, index, -1)]


def _faces(samples: SampleNumbers, chain: Chain, radius: float, edges: Pairs, slack: float) -> Pairs:
    """Faces about the edges of the wire, and q; `edges`: those that meet it, and p."""
    vectors = _Vectors(samples.grid, chain)
    count, first = len(vectors.own), chain.real.start
    at = 0.5 * (chain.at[1:] + chain.at[:-1])
    along = np.diff(chain.at, axis=0)
    size = np.linalg.norm(along, axis=1)
    unit = along / np.where(size > 0.0, size, 1.0)[:, None]
    pieces = np.stack((chain.at[:-1], chain.at[1:]), axis=1)
    wire = _of_wire(at[first : first + count][:, None], pieces[vectors.near], radius) * vectors.there
    shares = (wire[:, :, None] * unit[vectors.near]).sum(axis=1)
    rows = np.arange(count)
    excess = vectors.way * vectors.along(rows, vectors.axis, vectors.own) * vectors.length
    excess -= (shares * along[first : first + count]).sum(axis=1)
    numbers = samples.number(vectors.axis, vectors.own)
    about = samples.faces_about(numbers).reshape(count, 4)
    excess += _crossed(samples, chain, vectors, about, edges, slack)
    excess = vectors.way * vectors.length * _averaged(excess, vectors.length)
    order = np.argsort(numbers)
    row, number = np.repeat(rows, 4)[about.ravel() >= 0], about[about >= 0]
    component, index = samples.place(number)
    index = _beside(samples.grid, index, vectors.own[row])
    whole, less = vectors.round(row, component - 3, index), np.zeros(number.size)
    for axis, place, sign in sides_of(component - 3, index):
        side = samples.number(axis, place)
        found = order[np.minimum(np.searchsorted(numbers[order], side), count - 1)]
        less += sign * np.where(numbers[found] == side, excess[found], 0.0)
    part = (whole - less) / np.where(whole == 0.0, 1.0, whole)
    return number, np.round(np.clip(1.0 / np.maximum(part, 1.0 / MOST), LEAST, MOST), DIGITS)


def _crossed(
    samples: SampleNumbers, chain: Chain, vectors: _Vectors, about: np.ndarray, edges: Pairs, slack: float
) -> np.ndarray:
    """By how much faces that the wire's edges of small p are on, but not it, have too much flux (m, for each edge).

    They too must count with no more than `slack` times the least p of their edges, and field of the wire crosses them.
    """
    order = np.argsort(edges[0], kind="stable")
    number, start = np.unique(edges[0][order], return_index=True)
    least = np.minimum.reduceat(edges[1][order], start)
    nodes = chain.nodes[chain.real]
    row = np.minimum(np.arange(len(nodes)), len(vectors.own) - 1)
    faces, rows, places = [], [], []
    for across in range(3):
        u, v = (across + 1) % 3, (across + 2) % 3
        for back in (0 * UNIT[u], UNIT[u], UNIT[v], UNIT[u] + UNIT[v]):
            faces.append(samples.number(3 + across, nodes - back))
            rows.append(row)
            places.append(nodes - back)
    face, one = np.unique(np.concatenate(faces), return_index=True)
    new = (face >= 0) & ~np.isin(face, about)
    face, one = face[new], one[new]
    row, index, normal = np.concatenate(rows)[one], np.concatenate(places)[one], one // (4 * len(nodes))
    round_it = samples.edges_round(face)
    at = np.minimum(np.searchsorted(number, round_it), number.size - 1)
    factor = np.where(number[at] == round_it, least[at], 1.0).min(axis=1)
    factor = np.minimum(1.0, slack * factor)
    cells, n = vectors.cells[row], np.arange(face.size)
    area = cells[n, (normal + 1) % 3] * cells[n, (normal + 2) % 3]
    flux = vectors.round(row, normal, index)
    total = np.zeros(len(vectors.own))
    np.add.at(total, row, 0.5 * (1.0 / factor - factor) * flux**2 * cells[n, normal] / area)
    return total


def _beside(grid: YeeGrid, index: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Indices on closed axes as they go on from neighbours."""
    found = index.copy()
    for axis, cells in enumerate(grid.cells):
        if grid.closed(axis):
            found[:, axis] += cells * np.round((near[:, axis] - index[:, axis]) / cells).astype(np.int64)
    return found
