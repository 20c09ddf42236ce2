"""Shares of samples about a point from one side of a face at which the component jumps.

Across a face the normal E and, at metal, the tangential H jump. Both are sampled half a cell to either side of a face
on a grid line, so that a point within half a cell of it lies between a sample of its own side and one of the other.

- At metal both are even about the face: the share of the sample in the metal, or behind a sheet, goes to its image, the
  sample on the point's side. The other components are zero on metal, and their samples there are right.
- At a face between media the normal E goes on linearly from the two samples on the point's side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.triples import Point, Triple, triple
from nearfield.grid.yee import SAMPLE_TOLERANCE

if TYPE_CHECKING:
    from nearfield.lowering.context import Context

Shares = dict[Triple, float]
ALIKE = 1e-9  # relative difference of coefficients of one medium


def parting(component: int, axis: int, above: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(component, index) of the edges of E on the plane below samples `above`, (3, n), that part them from those there.

    A sample of H has one, which its curl crosses; one of E the four that meet at its lower node.
    """
    if component >= 3:
        return [(3 - axis - component % 3, above)]
    others = [a for a in range(3) if a != axis]
    return [(a, above - back * np.eye(3, dtype=int)[:, [a]]) for a in others for back in (0, 1)]


def in_metal(context: Context, component: int, index: np.ndarray, beyond: bool = False) -> np.ndarray:
    """Which samples (3, n) lie in metal; `beyond`: whether those past a wall count."""
    wrapped = np.stack(np.broadcast_arrays(*context.grid.in_cell(index)))
    shape = np.array(context.grid.component_shape(component))[:, None]
    inside = ((wrapped >= 0) & (wrapped < shape)).all(axis=0)
    i, j, k = np.where(inside, wrapped, 0)
    held: np.ndarray = np.asarray(context.coefficients.is_metal(component, i, j, k)).astype(bool)
    return np.where(inside, held, beyond)


def silent(context: Context, component: int, index: np.ndarray) -> np.ndarray:
    """Which samples (3, n) of a component stay zero: E in metal, H with metal on all edges about it, or in PMC."""
    found = in_metal(context, component, index)
    if component < 3:
        return found
    around = [axis for axis in range(3) if axis != component - 3]
    edges = [
        (other, index + up * np.eye(3, dtype=int)[:, [axis]]) for axis, other in (around, around[::-1]) for up in (0, 1)
    ]
    enclosed = [in_metal(context, edge, at, beyond=True) for edge, at in edges]
    return np.asarray(np.logical_or(found, np.all(enclosed, axis=0)))


def one_sided(context: Context, component: int, position: Point, axis: int, shares: Shares) -> Shares:
    """The shares of pairs of samples along an axis; to the point's side where the component jumps between them."""
    numbers = sorted({index[axis] for index in shares})
    if len(numbers) != 2:
        return shares
    lows = list(dict.fromkeys(_at(index, axis, numbers[0]) for index in shares))
    found: Shares = {}
    for low, own in zip(lows, _own_sides(context, component, position, axis, np.array(lows).T)):
        pair = {index: shares.get(index, 0.0) for index in (low, _at(low, axis, numbers[1]))}
        whole = sum(pair.values())
        for sample, share in pair.items() if own is None else [(sample, part * whole) for sample, part in own]:
            found[sample] = found.get(sample, 0.0) + share
    return {sample: share for sample, share in found.items() if share}


def _at(index: Triple, axis: int, number: int) -> Triple:
    return triple(number if a == axis else n for a, n in enumerate(index))


def _own_sides(
    context: Context, component: int, position: Point, axis: int, lows: np.ndarray
) -> Iterator[list[tuple[Triple, float]] | None]:
    """For samples `lows` (3, n) and the next ones along an axis, which lie to either side of a point: the samples, with
    their parts, on the point's side of a face between the two; None where there is no face."""
    highs = lows + (np.arange(3) == axis)[:, None]
    plane = context.grid.lines[axis][highs[axis, 0]]
    spare = SAMPLE_TOLERANCE * float(context.grid.primary(axis).min())
    near = [side for side, on in ((1, position[axis] >= plane - spare), (0, position[axis] <= plane + spare)) if on]
    edges = parting(component, axis, highs)
    parted = np.all([in_metal(context, edge, index, beyond=True) for edge, index in edges], axis=0)
    dead = np.stack([silent(context, component, side) for side in (lows, highs)])
    for n in range(lows.shape[1]):
        pair = [triple(int(part) for part in side[:, n]) for side in (lows, highs)]
        if parted[n] or dead[:, n].any():
            yield [(pair[next((side for side in near if not dead[side, n]), near[0])], 1.0)]
        else:
            yield None if component >= 3 else _in_one_medium(context, component, position, axis, pair[0], near[0] == 1)


def _in_one_medium(
    context: Context, component: int, position: Point, axis: int, low: Triple, upwards: bool
) -> list[tuple[Triple, float]] | None:
    """Linear from the first two samples on the point's side of a face that lie wholly in its medium.

    `low`: the sample below the point; `upwards`: it lies above the line between that and the next one. A sample whose
    edge crosses the face holds a mean of both sides; one wholly in a medium agrees with the next one beyond.
    """
    first, last = low[axis], low[axis] + 1
    row = _row(context, component, axis, low)

    def agree(one: int, other: int) -> bool:
        return one in row and other in row and bool(np.allclose(row[one], row[other], rtol=ALIKE, atol=0.0))

    if agree(first, last):
        return None
    pure = agree(first, first - 1), agree(last, last + 1)
    start, step = (last, 1) if upwards else (first, -1)
    if not all(pure):  # an edge crosses the face, or a layer is thin
        fills = [n for n in (start, start - step, start + step) if n in row and _alike(context, position, axis, n)]
        if not fills:
            return None
        start = next((n for n in fills if agree(n, n + 1) or agree(n, n - 1)), fills[0])
        step = 1 if agree(start, start + 1) else -1
    if not agree(start, start + step):
        return [(_at(low, axis, start), 1.0)]
    here, beyond = (_centre(context, axis, number) for number in (start, start + step))
    part = (position[axis] - here) / (beyond - here)
    return [(_at(low, axis, start), 1.0 - part), (_at(low, axis, start + step), part)]


def _alike(context: Context, position: Point, axis: int, number: int) -> bool:
    """Whether the middle of a cell along an axis lies in the medium of a point."""
    centre = _centre(context, axis, number)
    medium_at, other = context.coefficients.medium_at, [centre if a == axis else p for a, p in enumerate(position)]
    return bool(medium_at(*position) == medium_at(*other))


def _row(context: Context, component: int, axis: int, low: Triple) -> dict[int, np.ndarray]:
    """Coefficients of the six samples about a face along an axis, by number, without those past walls."""
    count, closed = context.grid.cells[axis], context.grid.closed(axis)
    numbers = [n for n in range(low[axis] - 2, low[axis] + 4) if closed or 0 <= n < count]
    index = [np.array(numbers) if a == axis else np.full(len(numbers), n) for a, n in enumerate(low)]
    pairs = context.coefficients.media_at(component, *context.grid.in_cell(index))
    return dict(zip(numbers, np.stack(pairs, axis=1)))


def _centre(context: Context, axis: int, number: int) -> float:
    """Middle (m) of a cell, past the seam of a closed axis too."""
    line, turn = context.grid.lines[axis], number // context.grid.cells[axis]
    return float(context.grid.centres(axis)[number % context.grid.cells[axis]] + turn * (line[-1] - line[0]))
