"""Symmetry planes: the upper half of the model is stepped, and whatever is recorded tells of the whole.

A plane lies in the middle of the grid along an axis. On an electric plane tangential E is zero, as on a perfect
electric conductor: it is odd there, so is normal H, and the other components are even. On a magnetic plane it is the
other way round. Features are lowered on the whole grid; here their terms are folded onto the half (sample i below the
plane is the mirrored one above, times its parity), and what was recorded is unfolded again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.coupling import gathered
from nearfield.grid.folds import Fold, planes
from nearfield.grid.symmetry import Kind
from nearfield.grid.yee import YeeGrid
from nearfield.plan.cuts import chosen_samples, cut_profile
from nearfield.plan.plan import AxisProfile, CouplingTerm, Functional, Plan, Term
from nearfield.plan.planes import PlaneCoefficients

if TYPE_CHECKING:
    pass


def folded_plan(plan: Plan, grid: YeeGrid) -> Plan:
    """The plan of the half, quarter or eighth above the planes."""
    if not planes(grid):
        return plan
    start = grid.stepped_from
    profiles = [
        folded_profile(profile, first, last, kind) if kind else profile
        for profile, first, last, kind in zip(plan.profiles, start, plan.active, grid.mirrors)
    ]
    terms = [folded_term(term, plan, grid) for term in plan.terms]
    return replace(
        plan,
        cells=tuple(n - first for n, first in zip(plan.cells, start)),
        active=tuple(n - first for n, first in zip(plan.active, start)),
        cpml=tuple((0 if kind else low, high) for (low, high), kind in zip(plan.cpml, grid.mirrors)),
        profiles=tuple(profiles),
        coefficients=FoldedCoefficients(plan.coefficients, grid, start, plan.active),
        terms=tuple(term for term in terms if term is not None),
        coupling=plan.coupling and folded_coupling(plan.coupling, plan, grid),
    )


def folded_profile(profile: AxisProfile, first: int, last: int, kind: Kind) -> AxisProfile:
    """What the update needs above a plane; half a cell at a magnetic one, behind which the curl's H is as large."""
    found = cut_profile(profile, slice(first, last))
    if kind == "electric":
        return found
    inverse = found.inverse_dual.copy()
    inverse[0] *= 2
    return replace(found, inverse_dual=inverse)


def folded_term(term: Term, plan: Plan, grid: YeeGrid) -> Term | None:
    """A term of the half: recorders fold all their samples, what acts keeps to its own; None where that is nothing."""
    if hasattr(term, "lower"):
        lower, upper = list(term.lower), list(term.upper)
        for axis in planes(grid):
            fold = Fold.of(grid, term.component, axis, plan.active[axis])
            lower[axis], upper[axis] = fold.span(lower[axis], upper[axis])
        return replace(term, lower=tuple(lower), upper=tuple(upper))
    if isinstance(term, Functional):
        return folded_sum(term, plan, grid)
    index, here = [np.asarray(part) for part in (term.i, term.j, term.k)], np.ones(np.shape(term.i), bool)
    number = np.asarray(term.component) % 6
    for axis in planes(grid):
        middle = grid.cells[axis] // 2
        dead = (number < 3) & (number != axis) & (grid.mirrors[axis] == "electric")
        here &= index[axis] >= middle + dead
        index[axis] = index[axis] - middle
    if not here.any():
        return None
    return chosen_samples(term, np.flatnonzero(here), [part[here] for part in index])


def folded_sum(term: Functional, plan: Plan, grid: YeeGrid) -> Functional:
    """A weighted sum over samples of the half alone."""
    index, weight = [np.array(part) for part in (term.i, term.j, term.k)], np.array(term.weight, dtype=float)
    component = np.broadcast_to(term.component, weight.shape)
    for axis in planes(grid):
        for number in np.unique(component):
            fold, chosen = Fold.of(grid, int(number), axis, plan.active[axis]), component == number
            weight[chosen] *= fold.sign(index[axis][chosen])
            index[axis][chosen] = np.minimum(fold.folded(index[axis][chosen]), fold.end - 1)
    return replace(term, i=index[0], j=index[1], k=index[2], weight=weight)


def folded_coupling(coupling: CouplingTerm, plan: Plan, grid: YeeGrid) -> CouplingTerm | None:
    """What is coupled in the half: its samples of E, sums over its samples of H."""
    gets = np.stack((coupling.component, *coupling.at.T)).repeat(np.diff(coupling.first), axis=1)
    taps, weight = np.stack((coupling.tap_component, *coupling.tap_at.T)), coupling.weight.copy()
    here = np.ones(weight.size, dtype=bool)
    for axis in planes(grid):
        dead = (gets[0] != axis) & (grid.mirrors[axis] == "electric")
        here &= gets[1 + axis] >= grid.cells[axis] // 2 + dead
        gets[1 + axis] -= grid.cells[axis] // 2
        for number in range(3, 6):
            fold, chosen = Fold.of(grid, number, axis, plan.active[axis]), taps[0] == number
            weight[chosen] *= fold.sign(taps[1 + axis][chosen])
            taps[1 + axis][chosen] = fold.folded(taps[1 + axis][chosen])
    return gathered(gets[:, here], taps[:, here], weight[here]) if here.any() else None


class FoldedCoefficients:
    """The coefficients above the planes, by the interface of `Coefficients` that engines use."""

    def __init__(self, whole: Coefficients, grid: YeeGrid, start: tuple, active: tuple) -> None:
        self._whole, self._start, self._active = whole, start, active
        self._dead = [axis for axis in range(3) if grid.mirrors[axis] == "electric"]

    def planes(self, axis: int, lower: tuple | None = None, upper: tuple | None = None) -> Iterator[PlaneCoefficients]:
        """Planes along an axis in order, which count from `lower`; samples x, y, z from the planes of symmetry."""
        low = lower or (0, 0, 0)
        high = upper or tuple(n - first for n, first in zip(self._active, self._start))
        low_there, high_there = (tuple(n + o for n, o in zip(end, self._start)) for end in (low, high))
        for found in self._whole.planes(axis, low_there, high_there):
            across = [a for a in self._dead if a != axis and low[a] == 0]
            yield from self._held(found, axis, across, axis in self._dead and low[axis] == 0 and found.start == 0)

    def at(self, component: int, i, j, k) -> tuple[np.ndarray, np.ndarray]:
        """Those of single samples, but for E on electric planes."""
        return self._whole.at(component, *(np.asarray(n) + first for n, first in zip((i, j, k), self._start)))

    def kept_numbers(self, *index) -> np.ndarray:
        """What poles keep in a lattice of cells."""
        return self._whole.kept_numbers(*(np.asarray(n) + first for n, first in zip(index, self._start)))

    def _held(self, found: PlaneCoefficients, axis: int, across: list[int], first: bool) -> Iterator[PlaneCoefficients]:
        electric = found.electric
        if across or first:
            electric = electric.copy()
        for a in across:
            rows = [slice(None)] * 2
            rows[(a - axis - 1) % 3] = 0
            for component in (c for c in range(3) if c != a):
                electric[component, :, *rows] = 0.0
        if first:
            on_plane = electric.copy()
            for component in (c for c in range(3) if c != axis):
                on_plane[component] = 0.0
            yield replace(found, stop=found.start + 1, electric=on_plane)
        if found.stop > found.start + first:
            yield replace(found, start=found.start + first, electric=electric)
