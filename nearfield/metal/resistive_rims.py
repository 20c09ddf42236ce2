"""Rims of resistive sheets where they are drawn, for E across them.

Near enough to its rim a sheet of any resistance R acts on E across the rim as a perfect conductor does, as charge has a
resistance of R against 1/(w eps0 r) to cross the distance r. On whole edges it acts past its last node by the part

    delta = 0.252 sqrt(1 + (dn/d)^2)        of the cell d across the rim, dn being the dual length along the normal

(static fields of strips on lattices). The edge in which it ends at the part s counts instead as the capacitor that is
left of it: without the sheet's conductivity, eps and sigma of the media multiplied by

    (1 + 1.48 (d/dn)^1.15 (s - delta))/(1 + delta - s),        delta <= s < 1 + delta,

which is 1 where the nodes behind act far enough; for smaller s the edge before is that one. The square of the current
goes as r: the next edge behind, with (1 + m)^2/(1 + 2 m) times the resistance, also loses for the length m d left out
(not so with an inductance). Only eps becomes larger, and the time step stays. What ends at metal, circuits, media that
conduct as well or other sheets, or has less than three edges, counts as covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import DriveFactors

PAST, ACROSS, POWER = 0.252, 1.48, 1.15
FLATTEST, TALLEST = 0.2, 3.0  # dual length along the normal over the cell, between which both formulas are known
LARGEST = 50.0  # factor of eps, above which the edge's own resistance counts
ALIKE = 1e-6  # part of an edge

Meets = Callable[[np.ndarray, int], np.ndarray]  # whether at nodes (n, 3) something meets a sheet across an axis


class Ends(NamedTuple):
    """Edges about the ends of sheets: component, numbers (n, 3), factors of eps and of the sheet's conductivity."""

    component: int
    samples: np.ndarray
    factor: np.ndarray
    conducts: np.ndarray


def shares_past(part: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(delta, factor of eps) of edges of which a part is covered; `ratio`: dual length along the normal over theirs."""
    delta = PAST * np.sqrt(1.0 + ratio**2)
    factor = (1.0 + ACROSS * ratio**-POWER * (part - delta)) / np.maximum(1.0 + delta - part, 1.0 / LARGEST)
    return delta, np.clip(factor, 1.0, LARGEST)


def ends_of_sheet(
    grid: YeeGrid, normal: int, node: int, component: int, start: Sequence[int], covered: np.ndarray, meets: Meets
) -> Iterator[Ends]:
    """Ends of the sheets in a plane for edges of one component; `covered` (one sample thick): parts of their dual
    rectangles, from sample `start` on."""
    across = 3 - normal - component
    cells, closed = grid.cells[component], grid.closed(component)
    part = np.moveaxis(covered, (component, across, normal), (0, 1, 2))[:, :, 0]
    rows = np.zeros((cells, part.shape[1]))
    rows[start[component] : start[component] + len(part)] = part
    for way in (1, -1):
        after, whole, behind = (_shifted(rows, way * by, closed) for by in (1, -1, -2))
        ends = (rows > ALIKE) & (after <= ALIKE) & (whole > ALIKE) & (np.abs(whole - behind) <= ALIKE * whole)
        number, column = np.nonzero(ends)
        nodes = np.empty((number.size, 3), dtype=np.int64)
        nodes[:, component], nodes[:, across], nodes[:, normal] = number + (way == 1), column + start[across], node
        nodes[:, component] %= cells if closed else cells + 1
        ratio = grid.dual(normal)[node] / grid.primary(component)[number]
        free = (ratio > FLATTEST) & (ratio < TALLEST)
        free &= closed | ((nodes[:, component] > 0) & (nodes[:, component] < cells))
        free[free] = ~meets(nodes[free], normal)
        index, ratio = nodes[free], ratio[free]
        index[:, component] = number[free]
        share = np.minimum(rows[ends] / whole[ends], 1.0)[free]
        delta, factor = shares_past(share, ratio)
        short = share < delta  # ends so near the node behind that the edge before holds what is left
        before = [index.copy(), index.copy()]
        for by, each in enumerate(before):
            each[:, component] = (each[:, component] - way * (by + 1)) % cells
        yield Ends(component, index, factor, np.zeros(len(index)))
        factor = np.where(short, shares_past(1.0 + share, ratio)[1], 1.0)
        yield Ends(component, before[0], factor, np.where(short, 0.0, _left(share)))
        yield Ends(component, before[1][short], np.ones(short.sum()), _left(1.0 + share[short]))


def _left(share: np.ndarray) -> np.ndarray:
    """Conductivity of the edge behind those of a length (in cells) that do not conduct, over what it had."""
    return (1.0 + 2.0 * share) / (1.0 + share) ** 2


def _shifted(rows: np.ndarray, by: int, closed: bool) -> np.ndarray:
    """The rows so many samples further on; past the ends of an axis nothing, unless it closes."""
    found = np.roll(rows, -by, axis=0)
    if not closed:
        found[-by if by > 0 else 0 : None if by > 0 else -by] = 0.0
    return found


def rim_factors(found: Sequence[Ends]) -> DriveFactors | None:
    """The ends of all sheets as factors of Cb; None where there are none."""
    if not any(each.factor.size for each in found):
        return None
    component = np.concatenate([np.full(len(each.samples), each.component) for each in found])
    index, factor = (np.concatenate([each[n] for each in found]) for n in (1, 2))
    large = factor > 1.0
    return DriveFactors(component[large], list(index[large].T), 1.0 / factor[large])
