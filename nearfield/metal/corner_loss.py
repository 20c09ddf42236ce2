"""Loss of good conductors at right-angled corners, where the current crowds nearer to the edge than the samples of H.

On the faces beside a free corner H goes as (2/3) r^(-1/3) with the distance r from it (corner_field.py), so that the
square of H over a piece of the face from r1 to r2 is

    W = (4/3) (r2^(1/3) - r1^(1/3)),        while its sample holds H' = (change of psi along the dual link)/(its length)

A surface's part of this sample is set so that it loses W: to M W/(H'^2 d w), d and w being the lengths of the cell
across the face of the metal and of the dual link, M the factor of Db, by which the energy and the loss of H are less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nearfield.metal.corner_field import POWER, Lattice, flux_at_centres
from nearfield.metal.patches import Patch, SamplesByPlane, next_axes
from nearfield.metal.rim_factors import Factors
from nearfield.metal.sample_numbers import SampleNumbers

FARTHEST = 3.1  # cells from a corner up to which pieces of its faces count by its field; the fourth is right to 1 %


class CornerLoss(SamplesByPlane):
    """What samples of H beside corners of solid metal count with as surfaces of conductors.

    `pieces`: `value` as `pieces_beside` has it; `factor`: of Db, by patch; None where it is 1.
    """

    def __init__(self, samples: SampleNumbers, pieces: Factors, factor: Callable[[Patch], np.ndarray | None]) -> None:
        component, index = samples.place(pieces.number)
        super().__init__(component, list(index.T))
        self._value, self._factor = pieces.value, factor

    def signature(self, axis: int, plane: int) -> tuple | None:
        """Equal for planes across `axis` with the same values at the same places."""
        rows = self.rows(axis, plane)
        columns = self.component, *(self.index[a] for a in next_axes(axis)), self._value
        return tuple(column[rows].tobytes() for column in columns) if rows.size else None

    def corrected(self, part: np.ndarray | float, patch: Patch) -> np.ndarray | float:
        """l/A of a surface (1/m), of which the samples beside corners lose what the corner's field does."""
        rows, at = self.inside(patch)
        if not rows.size or not np.any(part):
            return part
        factor = self._factor(patch)
        found = np.array(np.broadcast_to(part, patch.shape))
        value = self._value[rows] * (1.0 if factor is None else factor[at])
        found[at] = np.where(found[at] > 0.0, value, found[at])
        return found


def pieces_beside(
    lattices: tuple[Lattice, Lattice], n: int, margin: float
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Of the links along axis `n` across the face of metal beside a corner: (places along both axes, distances of the
    corner (m), W/(H'^2 d w) (1/m))."""
    along, beside = lattices[n], lattices[1 - n]
    length, dual = np.abs(np.diff(along.nodes)), np.abs(np.diff(beside.centres))
    inside, depth = beside.nodes <= margin, -beside.centres
    low, high = np.minimum(depth[1:], depth[:-1]), np.maximum(depth[1:], depth[:-1])
    outermost = inside & (beside.nodes >= beside.nodes[inside].max() - margin)  # its piece goes up to the corner
    low = np.where(outermost, 0.0, np.maximum(low, 0.0))
    power = 2.0 * POWER - 1.0
    lost = POWER**2 / power * (np.maximum(high, 0.0) ** power - low**power)
    field = np.diff(flux_at_centres(lattices[0], lattices[1], margin).swapaxes(0, n)[1:-1], axis=1) / dual
    crossing = (np.maximum(along.nodes[1:], along.nodes[:-1]) > margin) & (
        np.minimum(along.nodes[1:], along.nodes[:-1]) < length - margin
    )
    at = np.nonzero(np.logical_and.outer(crossing, inside & (-beside.nodes < FARTHEST * dual)))
    value = lost[at[1]] / (field[at] ** 2 * dual[at[1]] * length[at[0]])
    distance = np.hypot(0.5 * (along.nodes[1:] + along.nodes[:-1])[at[0]], beside.nodes[at[1]])
    return at if n == 0 else at[::-1], distance, value
