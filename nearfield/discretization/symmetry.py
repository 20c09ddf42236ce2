"""Symmetry planes: the upper half of the model is stepped, and whatever is recorded tells of the whole.

A plane lies in the middle of the grid along an axis. On an electric plane tangential E is zero, as on a perfect
electric conductor: it is odd there, so is normal H, and the other components are even. On a magnetic plane it is the
other way round. Features are lowered on the whole grid; here their terms are folded onto the half (sample i below the
plane is the mirrored one above, times its parity), and what was recorded is unfolded again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from nearfield.coefficients.coefficients import Coefficients, PlaneCoefficients
from nearfield.coefficients.coupling import gathered
from nearfield.entry.errors import ModelError
from nearfield.entry.schema import Schema
from nearfield.grid.grid import AXES, AutoGrid, YeeGrid, is_half
from nearfield.parallel.part import chosen_samples, cut_profile
from nearfield.plan.plan import AxisProfile, CouplingTerm, Functional, Plan, Term

if TYPE_CHECKING:
    from nearfield.grid.boundaries import Boundaries
    from nearfield.monitors.regions import Region
    from nearfield.simulation import Simulation

Kind = Literal["electric", "magnetic"]
ALIKE = 1e-6  # of a cell: lines on both sides of a plane may differ by so much


class Symmetry(Schema):
    """Planes in the middle of the grid, across x, y or z, about which fields are symmetric: "electric" or "magnetic".

    Give the whole model; the half above each plane is stepped, at half the cost, and monitors, their files, ports and
    far field report the whole. A plane must be a grid line, with the same lines and the same boundary on both sides.
    Bodies, sources and ports below the plane are taken to mirror those above; a plane wave must be its own image. On an
    electric plane tangential E is zero: it may cut a dipole across its axis; a magnetic one may cut it lengthwise.

    >>> import nearfield as nf
    >>> nf.Symmetry(x="electric", y="magnetic").kinds
    ('electric', 'magnetic', None)
    """

    x: Kind | None = None
    """The plane across x."""
    y: Kind | None = None
    """The plane across y."""
    z: Kind | None = None
    """The plane across z."""

    @property
    def kinds(self) -> tuple[Kind | None, Kind | None, Kind | None]:
        """Those of x, y, z."""
        return self.x, self.y, self.z

    def __bool__(self) -> bool:
        return any(self.kinds)


def symmetric_grid(grid: YeeGrid, simulation: Simulation) -> YeeGrid:
    """The grid with its planes. Errors: a plane that is no grid line, or whose sides are not alike."""
    kinds = simulation.symmetry.kinds
    if not any(kinds):
        return grid
    lines = list(grid.lines)
    for axis in (axis for axis in range(3) if kinds[axis]):
        refuse_faces(simulation.boundaries, axis)
        middle = 0.5 * (lines[axis][0] + lines[axis][-1])
        if isinstance(simulation.grid, AutoGrid):  # its lines need not be alike
            upper = lines[axis][lines[axis] > middle + ALIKE * grid.primary(axis).min()]
            lines[axis] = np.concatenate((2 * middle - upper[::-1], [middle], upper))
        refuse_lines(lines[axis], axis)
    return replace(grid, lines=tuple(lines), mirrors=kinds)


def refuse_faces(boundaries: Boundaries, axis: int) -> None:
    """Refuse different boundaries on the two sides of a plane, or ones that repeat."""
    low, high = boundaries.face(axis, "low"), boundaries.face(axis, "high")
    name = AXES[axis]
    if boundaries.repeat(axis):
        raise ModelError(
            f'symmetry: {name} has a plane and fields that repeat; give the half cell with "pec" or "pmc" on both of '
            f"its {name} faces instead, which a periodic cell's planes of symmetry are"
        )
    if low != high:
        raise ModelError(
            f"symmetry: {name}_low and {name}_high differ, so the model is not symmetric about the middle of {name}; "
            f"give the same boundary to both, or leave the {name} plane out"
        )


def refuse_lines(line: np.ndarray, axis: int) -> None:
    """Refuse lines that a plane in their middle does not mirror onto each other."""
    mirrored = line[0] + line[-1] - line[::-1]
    if line.size % 2 == 0 or np.abs(mirrored - line).max() > ALIKE * np.diff(line).min():
        raise ModelError(
            f"symmetry: the {line.size} grid lines along {AXES[axis]} are not symmetric about a line at their middle, "
            f"{0.5 * (line[0] + line[-1]):.9g} m; give an even number of cells, the same on both sides of the plane"
        )


@dataclass(frozen=True)
class Fold:
    """How samples of a component lie along one axis: those below node `middle` are mirrored, times `parity`."""

    middle: int
    half: bool  # midway between grid lines
    parity: int
    end: int  # samples that the half holds

    @classmethod
    def of(cls, grid: YeeGrid, component: int, axis: int, active: int) -> Fold:
        """That of a component; `active` samples the whole holds along the axis."""
        kind, middle = grid.mirrors[axis], grid.cells[axis] // 2
        normal, electric = component % 3 == axis, component % 6 < 3
        even = (normal == electric) == (kind == "electric")
        return cls(middle, is_half(component % 6, axis), 1 if even else -1, active - middle)

    def folded(self, index) -> np.ndarray:
        """Sample numbers of the half, from 0 at the plane."""
        index = np.asarray(index)
        return np.where(index >= self.middle, index - self.middle, self.middle - self.half - index)

    def sign(self, index) -> np.ndarray:
        """What a sample is of the one that it is folded onto: 1, -1, or 0 where the half holds none."""
        below = np.asarray(index) < self.middle
        return np.where(self.folded(index) < self.end, np.where(below, self.parity, 1), 0)

    def span(self, lower: int, upper: int) -> tuple[int, int]:
        """The samples of the half that those from `lower` to `upper` are folded onto; one at least."""
        places = self.folded(np.arange(lower, upper))
        low = min(int(places.min()), self.end - 1)
        return low, max(low + 1, min(int(places.max()) + 1, self.end))

    def unfolded(self, values: np.ndarray, lower: int, upper: int, axis: int) -> np.ndarray:
        """The samples from `lower` to `upper` of those that `span` recorded, along an axis of an array."""
        index = np.arange(lower, upper)
        low, high = self.span(lower, upper)
        taken = np.take(values, np.clip(self.folded(index), low, high - 1) - low, axis)
        shape = [1] * values.ndim
        shape[axis] = -1
        return taken * self.sign(index).reshape(shape).astype(values.real.dtype)


def planes(grid: YeeGrid) -> list[int]:
    """The axes that have a plane across them."""
    return [axis for axis in range(3) if grid.mirrors[axis]]


def unfolded(values: np.ndarray, region: Region, grid: YeeGrid, active: tuple[int, int, int]) -> np.ndarray:
    """What was recorded of a region, (leading, x, y, z), with what lies below the planes."""
    for axis in planes(grid):
        fold = Fold.of(grid, region.component, axis, active[axis])
        values = fold.unfolded(values, region.lower[axis], region.upper[axis], 1 + axis)
    return values


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
