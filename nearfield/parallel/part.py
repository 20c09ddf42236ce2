"""What one rank holds of a plan: its own box and its halos, in coordinates of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nearfield.incident.term import IncidentTerm
from nearfield.parallel.decomposition import Box
from nearfield.plan import AxisProfile, CircuitTerm, CurrentTerm, DFTBox, Functional, Plan, RecordingTerm, SnapshotBox
from nearfield.prediction import LANES

EDGE_ARRAYS = ("i", "j", "k", "admittance", "voltage_factor", "feedback", "inverse", "drive", "output", "input",
               "transition")  # fmt: skip


def held_box(own: Box, depth: int, plan: Plan) -> Box:
    """A rank's box with its halos: `depth` layers, along the rows whole blocks of 16."""
    rows = -(-depth // LANES) * LANES
    layers = [(rows, rows) if axis == plan.unit_axis else (depth, depth) for axis in range(3)]
    return own.grown(layers, Box((0, 0, 0), plan.active))


@dataclass(frozen=True)
class PlanPart:
    """A plan cut down to what a rank holds. Sources and circuits act in halos too; recorders keep to the own box."""

    whole: Plan
    own: Box
    held: Box

    @property
    def own_here(self) -> Box:
        """The own box in the part's coordinates."""
        return self.here(self.own)

    def here(self, box: Box) -> Box:
        """A box in the part's coordinates."""
        shift = self.held.lower
        return Box(*(tuple(n - o for n, o in zip(end, shift)) for end in (box.lower, box.upper)))

    @cached_property
    def plan(self) -> Plan:
        """The plan of the held box."""
        whole, held = self.whole, self.held
        return replace(
            whole, active=held.shape, cpml=tuple(self._slabs(axis) for axis in range(3)),
            profiles=tuple(cut_profile(p, *ends) for p, *ends in zip(whole.profiles, held.lower, held.upper)),
            coefficients=CoefficientsPart(whole.coefficients, held), rows_axis=whole.unit_axis,
            blocks_axis=whole.weighed_axis,
            terms=tuple(term for _, term in self._terms),
        )  # fmt: skip

    def _slabs(self, axis: int) -> tuple[int, int]:
        low, high = self.whole.cpml[axis]
        begin, end = self.held.lower[axis], self.held.upper[axis]
        in_low = max(0, min(low, end) - begin)
        return in_low, max(0, end - max(self.whole.active[axis] - high, begin + in_low))

    @cached_property
    def _terms(self) -> list[tuple[int, object]]:
        """(number among the plan's terms, what of it is here), where there is anything."""
        parts = ((number, self._part(term)) for number, term in enumerate(self.whole.terms))
        return [(number, part) for number, part in parts if part is not None]

    @cached_property
    def recorders(self) -> list[int]:
        """The number among all recorders of the plan of each recorder of the part."""
        numbers = [n for n, term in enumerate(self.whole.terms) if isinstance(term, RecordingTerm)]
        return [numbers.index(n) for n, term in self._terms if isinstance(term, RecordingTerm)]

    def _part(self, term):
        if isinstance(term, DFTBox | SnapshotBox):
            box = self.own.intersection(Box(tuple(term.lower), tuple(term.upper)))
            return box and replace(term, lower=self.here(box).lower, upper=self.here(box).upper)
        box = self.own if isinstance(term, Functional) else self.held
        inside = np.ones(np.shape(term.i), bool)
        for index, low, high in zip((term.i, term.j, term.k), box.lower, box.upper):
            inside &= (np.asarray(index) >= low) & (np.asarray(index) < high)
        if not inside.any():
            return None
        at = dict(zip("ijk", (np.asarray(n)[inside] - o for n, o in zip((term.i, term.j, term.k), self.held.lower))))
        if isinstance(term, CurrentTerm):
            return replace(term, **at, weight=np.broadcast_to(term.weight, inside.shape)[inside])
        if isinstance(term, CircuitTerm):
            return replace(term, **{name: per_edge(getattr(term, name), inside) for name in EDGE_ARRAYS} | at)
        if isinstance(term, IncidentTerm):
            arrays = ("component", "weight", "column", "share")
            return replace(term, **at, **{name: getattr(term, name)[inside] for name in arrays})
        component, weight = (np.broadcast_to(values, inside.shape)[inside] for values in (term.component, term.weight))
        place = np.flatnonzero(inside)
        return replace(term, **at, component=component, weight=weight, place=place, terms=inside.size)


def per_edge(values, chosen: np.ndarray) -> np.ndarray:
    """The values of the chosen edges, (chosen, ...), of one for each edge or one for all."""
    values = np.asarray(values)
    one_each = values.shape[:1] == chosen.shape
    return values[chosen] if one_each else np.broadcast_to(values, (chosen.sum(), *values.shape))


def cut_profile(profile: AxisProfile, first: int, last: int) -> AxisProfile:
    """Samples [first, last) of a profile."""
    return AxisProfile(**{name: values[first:last] for name, values in vars(profile).items()})


class CoefficientsPart:
    """The coefficients of a box, by the interface of `nearfield.coefficients.Coefficients` that engines use."""

    def __init__(self, whole, box: Box) -> None:
        self._whole, self._box = whole, box

    def kept_numbers(self, *index):
        """What poles keep in a lattice of cells of the box."""
        return self._whole.kept_numbers(*(n + low for n, low in zip(index, self._box.lower)))

    def planes(self, axis: int):
        """Planes of the box, which count from its own first one."""
        return self._whole.planes(axis, self._box.lower, self._box.upper)
