"""Free right-angled corners of flat metal and of openings in it, and the factors of samples about them.

docs/method.md, Rims of sheets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.cell_bound import ELSEWHERE
from nearfield.metal.half_lattice import HalfLattice
from nearfield.metal.outlines import BESIDE, FlatMetal, past_ends
from nearfield.metal.patches import next_axes
from nearfield.metal.rim_factors import Factors
from nearfield.metal.rim_points import UPRIGHT
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.vertex_field import edge_factors, face_factors, vertex

WITHIN = 1.5  # cells of metal and of space at least, along both axes: in narrower gaps rims face each other
BOX = 2  # nodes on each side of the nearest one that are looked at
NEAR = 1.5 - 1e-6  # cells from a corner up to which its edges lie among them; less, so that mirror images agree
ON_CORNER = 1e-9  # cells from a corner within which nodes lie on it
SAME = 12  # digits of places (cells) that make two corners the same
CLOSEST = 0.3  # cells from a corner, nearer than which the energy in an edge does not grow
KEPT = 4096  # corners whose factors are remembered


def corner_factors(
    flat: FlatMetal, samples: SampleNumbers, lattices: Sequence[HalfLattice], node: int, height: float
) -> tuple[list[Factors], list[Factors]]:
    """Factors of edges about corners of the flat metal of one plane, and of faces about those of openings in it.

    They are nearer than all rims. Faces count in full, edges as the bound of their cells lets them: their `share` is
    the energy of the field in them. Along outlines along the axes alone, where metal fills one quarter
    of the plane, or all but one, and nothing else touches it.
    """
    axes = (*next_axes(flat.normal), flat.normal)
    found: tuple[list[Factors], list[Factors]] = [], []
    for place, signs, opening in _corners(flat, lattices, height):
        at = (*place, float(samples.grid.lines[flat.normal][node]))
        numbers, lines = zip(*(_about(samples.grid, axis, q, sign) for axis, q, sign in zip(axes, at, (*signs, 1.0))))
        if all((line[1:-1] > 0.0).any() and (line[1:-1] <= 0.0).any() for line in lines):
            found[opening].extend(_samples(samples, axes, numbers, lines, opening))
    return found


def _corners(
    flat: FlatMetal, lattices: Sequence[HalfLattice], height: float
) -> Iterator[tuple[np.ndarray, tuple[float, float], bool]]:
    """(place (m), signs of the directions along both axes that lead away from the odd quarter, whether it is open)."""
    places = _upright_corners(flat)
    quarters = np.array(list(product((-1.0, 1.0), repeat=2)))
    cells = np.stack([_cells_at(lattice, places[:, a]) for a, lattice in enumerate(lattices)], axis=1)

    def metal_at(distance: float | np.ndarray) -> np.ndarray:
        """(n, 4): in which quarters there is metal so far along both axes."""
        return flat.holds((places[:, None] + distance * quarters).reshape(-1, 2)).reshape(-1, len(quarters))

    close = BESIDE * flat.shortest
    metal = metal_at(close)
    ends = [lattice.end for lattice in lattices]
    outside = past_ends((places[:, None] + close * quarters).reshape(-1, 2), ends, flat.margin)
    free = np.isin(metal.sum(axis=1), (1, 3)) & ~outside.reshape(metal.shape).any(axis=1)
    free &= (metal_at(WITHIN * cells[:, None]) == metal).all(axis=1) & ~flat.touches_others(places, height)
    for place, filled in zip(places[free], metal[free]):
        opening = bool(filled.sum() == 3)
        away = -quarters[np.argmax(filled != opening)]
        yield place, (float(away[0]), float(away[1])), opening


def _cells_at(lattice: HalfLattice, places: np.ndarray) -> np.ndarray:
    """Lengths (m) of the cells at some places."""
    after = np.clip(np.searchsorted(lattice.place, places), 1, lattice.place.size - 1)
    nearer = places - lattice.place[after - 1] < lattice.place[after] - places
    return lattice.cell[after - nearer]


def _upright_corners(flat: FlatMetal) -> np.ndarray:
    """Places (n, 2), each once, where sides of outlines along both axes meet or cross, and none along no axis ends."""
    none = np.empty((0, 2))
    sides = [flat.rims(number) for number in flat.inside]
    start, end = (np.concatenate([none, *(side[n] for side in sides)]) for n in (0, 1))
    way = np.abs(end - start)
    slants = way.min(axis=1) > UPRIGHT * np.hypot(*way.T)
    by_u = way[:, 0] > way[:, 1]
    crossed = _crossings(*(np.stack((start[own], end[own])) for own in (by_u & ~slants, ~by_u & ~slants)))
    corners, bad = np.concatenate((start, end, crossed)), np.concatenate((start[slants], end[slants]))
    for column, axis in enumerate(flat.across):
        if flat.grid.closed(axis):  # corners that repeat are those within the period, at its beginning for its end
            low, high = flat.grid.lines[axis][[0, -1]]
            for part in (corners, bad):
                beyond = (part[:, column] < low - flat.margin) | (part[:, column] > high - flat.margin)
                place = low + (part[beyond, column] - low) % (high - low)
                part[beyond, column] = np.where(place > high - flat.margin, low, place)
    keys, bad = (np.rint(places / flat.margin).astype(np.int64) for places in (corners, bad))
    keys, first = np.unique(keys, axis=0, return_index=True)
    known = set(map(tuple, bad.tolist()))
    return corners[first][[tuple(key) not in known for key in keys.tolist()]]


def _crossings(along: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Places (n, 2) where sides (2 ends, m, 2) along the first axis cross or touch those along the second."""
    low, high = along[..., 0].min(axis=0), along[..., 0].max(axis=0)
    found = [np.empty((0, 2))]
    for first, last in across.swapaxes(0, 1):
        bottom, top = sorted((first[1], last[1]))
        own = (low <= first[0]) & (first[0] <= high) & (bottom <= along[0, :, 1]) & (along[0, :, 1] <= top)
        found.append(np.stack((np.full(own.sum(), first[0]), along[0, own, 1]), axis=1))
    return np.concatenate(found)


def _about(grid: YeeGrid, axis: int, place: float, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and places (m) of the nodes about a corner, from it along `sign`; fewer where the grid ends."""
    line, count = grid.lines[axis], grid.cells[axis]
    nearest = int(np.argmin(np.abs(line - place)))
    number = np.arange(nearest - BOX, nearest + BOX + 1)
    if grid.closed(axis):
        number = number if count >= number.size else number[:0]
        places = line[number % count] + number // count * (line[-1] - line[0])
    else:
        number = number[(number >= 0) & (number <= count)]
        places = line[number]
    places = sign * (places - place)
    if sign < 0.0:
        number, places = number[::-1], places[::-1]
    places[np.abs(places) < ON_CORNER * np.diff(places).max(initial=0.0)] = 0.0
    return number, places


def _samples(
    samples: SampleNumbers, axes: Sequence[int], numbers: Sequence[np.ndarray], lines: Sequence[np.ndarray], faces: bool
) -> Iterator[Factors]:
    """Factors of the edges, or of the faces, within reach of a corner, component by component."""
    *plane, height = [np.diff(line)[np.argmax(line > 0.0) - 1] for line in lines]
    below = np.diff(lines[2])[np.argmax(lines[2] > 0.0) - 2]
    cells = [float(cell) for cell in (*plane, 0.5 * (below + height))]
    unit = max(cells)
    factors = _factors(faces, *(tuple(np.round(line / unit, SAME).tolist()) for line in lines))
    for along, (axis, value) in enumerate(zip(axes, factors)):
        places, nodes = [], []
        for a, (line, number) in enumerate(zip(lines, numbers)):
            midway = (a == along) != faces
            places.append(0.5 * (line[1:] + line[:-1]) if midway else line[1:-1])
            nodes.append(np.minimum(number[1:], number[:-1]) if midway else number[1:-1])
        at, index = np.meshgrid(*places, indexing="ij"), np.meshgrid(*nodes, indexing="ij")
        near = np.sqrt(sum((q / cell) ** 2 for q, cell in zip(at, cells))) < NEAR
        near &= np.isfinite(value)
        which = np.empty((int(near.sum()), 3), dtype=np.int64)
        for a, part in zip(axes, index):
            which[:, a] = part[near]
        distance: np.ndarray = np.sqrt(sum(q[near] ** 2 for q in at))
        share = np.ones(distance.size)
        if not faces:  # energy of the field, over that at one cell from the corner
            power = 2.0 * vertex().exponent - 2.0
            share = value[near] * np.maximum(distance / unit, CLOSEST) ** power + ELSEWHERE
        number = samples.number(axis + 3 * faces, which)
        yield Factors(number, distance - 2.0 * NEAR * unit, value[near], share, np.zeros(distance.size))


@lru_cache(KEPT)
def _factors(faces: bool, *lines: tuple[float, ...]) -> list[np.ndarray]:
    return (face_factors if faces else edge_factors)([np.array(line) for line in lines])
