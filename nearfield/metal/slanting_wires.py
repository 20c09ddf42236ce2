"""Factors of eps and 1/mu of the samples about a wire along no axis: the static field of its chain of edges on the grid.

A chain of edges along a slanting wire is longer than it and has more nodes, so that bare it has more inductance than
capacitance takes away: waves on it are some 8 % slow at 45 degrees. The lattice's field of the wire's own charge and
current is that of its chain; a wire of radius a has another potential on its surface. With one charge a metre of wire, shared
out among the nodes, a node is D too high over the wire's potential; with one current, an edge's vector potential has
the flux D too much. Edges of the node count with p eps, faces about the edge with q/mu,

    p = F/(F - n D),     F: the sum of differences of potential to its n neighbours along an axis
    q = h/(h - D),       h: circulation of the vector potential round the face, D of its metal edges

so that the field elsewhere stays as it is. D is averaged along the chain: charge and current share themselves out, and
the energy is stationary there (docs/method.md, Thin wires).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.lattice_potential import mean_cell, potentials, tables
from nearfield.metal.patches import pair
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.wire_path import WirePath

REACH = 30  # edges on each side whose charge and current count; further ones are those of the wire itself
SMOOTH = 6  # edges over which the excess is averaged, falling off linearly
LEAST, MOST = 0.1, 8.0  # of p and q; a chain that turns sharply could ask for any
DIGITS = 10  # decimals, so that ranks on unlike processors have equal ones


Pairs = tuple[np.ndarray, np.ndarray]


class Chain(NamedTuple):
    """A path drawn on past its ends: nodes and places of nodes (n, 3), points of the wire where its share of each begins
    and ends (n, 2, 3; m), its length (n; m); axis, way and length (m) of each edge; numbers of the real nodes."""

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
    samples: SampleNumbers, path: WirePath, radius: float, goes_on: Sequence[bool]
) -> tuple[Pairs, Pairs]:
    """Edges that meet a wire of a radius (m) with p, and faces about it with q: numbers and factors, one for each place.

    `goes_on`: whether something continues the wire at its start and at its end.
    """
    chain = _chain(samples.grid, path, goes_on)
    return _edges(samples, chain, radius), _faces(samples, chain, radius)


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
    """Potential (..., 1/m times m) at points (..., 3; m) of pieces (..., 2, 3; m) with a charge 1 a metre on their axis, at
    the distance `radius` besides."""
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
    wire = (_of_wire(chain.at[chain.real][:, None], chain.share[near], radius) * there).sum(axis=1)
    share = chain.charge[chain.real]
    excess = _averaged((own - wire) * share, share)
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


def _faces(samples: SampleNumbers, chain: Chain, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Faces about the edges of the wire, and q."""
    first, count = chain.real.start, chain.real.stop - chain.real.start - 1
    edges, axis = np.minimum(chain.nodes[1:], chain.nodes[:-1]), chain.axis
    own, own_axis = edges[first : first + count], axis[first : first + count]
    near, there = _window(first, count, len(edges))
    middle, at = 0.5 * (chain.places[1:] + chain.places[:-1]), 0.5 * (chain.at[1:] + chain.at[:-1])
    cells = 0.5 * (_cells(samples.grid, own) + _cells(samples.grid, own + UNIT[own_axis]))
    cells[np.arange(count), own_axis] = chain.length[first : first + count]
    (table, kind), mean = tables(cells), mean_cell(cells)
    current = np.where(there, (chain.way * chain.length)[near], 0.0)

    def vector(component: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The vector potential along samples near each edge."""
        steps = index[:, None] - edges[near]
        away = (index - own + 0.5 * (UNIT[component] - UNIT[own_axis])) * cells
        apart = np.linalg.norm((middle[first : first + count] + away)[:, None] - middle[near], axis=-1)
        found = potentials(table, kind[:, None], mean[:, None], steps, np.maximum(apart, 1e-3 * mean[:, None]))
        return (found * current * (axis[near] == component[:, None])).sum(axis=1)

    along = np.diff(chain.at, axis=0)
    size = np.linalg.norm(along, axis=1)
    unit = along / np.where(size > 0.0, size, 1.0)[:, None]
    pieces = np.stack((chain.at[:-1], chain.at[1:]), axis=1)
    wire = _of_wire(at[first : first + count][:, None], pieces[near], radius) * there
    shares = (wire[:, :, None] * unit[near]).sum(axis=1)
    length, way = chain.length[first : first + count], chain.way[first : first + count]
    excess = way * vector(own_axis, own) * length - (shares * along[first : first + count]).sum(axis=1)
    excess = way * length * _averaged(excess, length)
    numbers = samples.number(own_axis, own)
    order = np.argsort(numbers)

    def of_edges(number: np.ndarray) -> np.ndarray:
        at = order[np.minimum(np.searchsorted(numbers[order], number), count - 1)]
        return np.where(numbers[at] == number, excess[at], 0.0)

    found: list[tuple[np.ndarray, np.ndarray]] = []
    for turn in (1, 2):
        across = (own_axis + turn) % 3
        for back in (0, 1):
            corner = own - back * UNIT[across]
            sides = (own_axis, corner, 1), (across, corner + UNIT[own_axis], 1)
            sides += (own_axis, corner + UNIT[across], -1), (across, corner, -1)
            whole, less = np.zeros(count), np.zeros(count)
            for component, index, sign in sides:
                size = np.where(component == own_axis, length, cells[np.arange(count), component])
                whole += sign * vector(component, index) * size
                less += sign * of_edges(samples.number(component, index))
            part = (whole - less) / np.where(whole == 0.0, 1.0, whole)
            value = np.clip(1.0 / np.maximum(part, 1.0 / MOST), LEAST, MOST)
            normal = 3 - own_axis - across
            found.append((samples.number(3 + normal, corner), np.round(value, DIGITS)))
    number, value = pair(np.concatenate(each) for each in zip(*found))
    return number[number >= 0], value[number >= 0]
