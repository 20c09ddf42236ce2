"""Symmetry planes: the upper half of the model is stepped, and whatever is recorded tells of the whole.

A plane lies in the middle of the grid along an axis. On an electric plane tangential E is zero, as on a perfect
electric conductor: it is odd there, so is normal H, and the other components are even. On a magnetic plane it is the
other way round. Features are lowered on the whole grid; here their terms are folded onto the half (sample i below the
plane is the mirrored one above, times its parity), and what was recorded is unfolded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nearfield.coefficients.coupling import gathered
from nearfield.entry.triples import Triple, triple
from nearfield.grid.folds import Folds
from nearfield.grid.yee import YeeGrid
from nearfield.plan.coupling_term import CouplingTerm
from nearfield.plan.plan import AxisProfile, Plan
from nearfield.plan.planes import Coefficients, PlaneCoefficients


def folded_plan(plan: Plan, grid: YeeGrid) -> Plan:
    """The plan of the half, quarter or eighth above the planes."""
    folds, start = Folds(grid, plan.active), grid.stepped_from
    if not folds.axes:
        return plan
    profiles = (
        folded_profile(profile, first, last, kind) if kind else profile
        for profile, first, last, kind in zip(plan.profiles, start, plan.active, grid.mirrors)
    )
    terms = (term.folded(folds) for term in plan.terms)
    return replace(
        plan,
        cells=triple(n - first for n, first in zip(plan.cells, start)),
        active=triple(n - first for n, first in zip(plan.active, start)),
        cpml=tuple((0 if kind else low, high) for (low, high), kind in zip(plan.cpml, grid.mirrors)),
        profiles=triple(profiles),
        coefficients=FoldedCoefficients(plan.coefficients, grid, plan.active),
        terms=tuple(term for term in terms if term is not None),
        coupling=plan.coupling and folded_coupling(plan.coupling, folds),
    )


def folded_profile(profile: AxisProfile, first: int, last: int, kind: str) -> AxisProfile:
    """The profile above a plane; half a cell at a magnetic one, behind which the curl's H is as large."""
    cut = profile.cut(slice(first, last))
    if kind == "electric":
        return cut
    inverse = cut.inverse_dual.copy()
    inverse[0] *= 2
    return replace(cut, inverse_dual=inverse)


def folded_coupling(coupling: CouplingTerm, folds: Folds) -> CouplingTerm | None:
    """The coupling above the planes: its samples of E, sums over its samples of H."""
    gets = np.stack((coupling.component, *coupling.at.T)).repeat(np.diff(coupling.first), axis=1)
    taps, weight = np.stack((coupling.tap_component, *coupling.tap_at.T)), coupling.weight.copy()
    here = np.ones(weight.size, dtype=bool)
    for axis in folds.axes:
        here &= folds.acts(gets[0], axis, gets[1 + axis])
        gets[1 + axis] -= folds.start[axis]
        for number in range(3, 6):
            fold, chosen = folds.of(number, axis), taps[0] == number
            weight[chosen] *= fold.sign(taps[1 + axis][chosen])
            taps[1 + axis][chosen] = fold.folded(taps[1 + axis][chosen])
    return gathered(gets[:, here], taps[:, here], weight[here]) if here.any() else None


class FoldedCoefficients:
    """The `Coefficients` above the planes; E on electric ones is zero."""

    def __init__(self, whole: Coefficients, grid: YeeGrid, active: Triple) -> None:
        self._whole, self._start = whole, grid.stepped_from
        self._shape = triple(n - first for n, first in zip(active, self._start))
        self._electric = [axis for axis in range(3) if grid.mirrors[axis] == "electric"]

    def _there(self, index: Iterable[Any]) -> tuple[Any, Any, Any]:
        """Indices of the whole grid."""
        return triple(n + first for n, first in zip(index, self._start))

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """Planes along an axis in order, which count from `lower`; samples x, y, z from the planes of symmetry."""
        lower, upper = lower or (0, 0, 0), upper or self._shape
        on_plane = [a for a in self._electric if lower[a] == 0]
        for planes in self._whole.planes(axis, self._there(lower), self._there(upper)):
            electric = planes.electric.copy() if on_plane else planes.electric
            for a in on_plane:
                if a != axis:
                    edge = electric[:, :, 0] if a == (axis + 1) % 3 else electric[..., 0]
                    edge[[c for c in range(3) if c != a]] = 0.0
            first = axis in on_plane and planes.start == 0
            if first:
                tangential = np.arange(3) != axis
                zeroed = np.where(tangential[:, None, None, None], 0.0, electric)
                yield replace(planes, stop=1, electric=zeroed)
            if planes.stop > planes.start + first:
                yield replace(planes, start=planes.start + first, electric=electric)

    def at(self, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of single samples; not valid for E on an electric plane of symmetry."""
        return self._whole.at(component, *self._there(map(np.asarray, (i, j, k))))

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Numbers that poles keep in each cell of a lattice."""
        return self._whole.kept_numbers(*self._there(map(np.asarray, (i, j, k))))
