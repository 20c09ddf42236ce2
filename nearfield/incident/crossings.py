"""Updates that read across the faces of a total-field box, and what of the incident field they lack.

Low face at node n of axis q, (p, q, r) cyclic or not, s = +1 or -1. Tangential E on the face and all inside is total:

    Ep[n]       += -s Cb c dt/dual[n]        Hr_inc[n - 1/2]      its update read the scattered Hr outside
    Hr[n - 1/2] += -s Db c dt/cell[n - 1/2]  Ep_inc[n]            its update read the total Ep

and with the other sign, and Hr[n + 1/2], at a high face. Source: Taflove and Hagness, Computational Electrodynamics,
3rd ed., section 5.6.

Faces are described, not listed: samples are drawn for the part of a box that somebody asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.grid.yee import AXES
from nearfield.incident.box import Beam
from nearfield.lowering.context import Context
from nearfield.media.surface_media import is_metal
from nearfield.plan.boxes import Box

AT_ONCE = 100_000  # samples of a face that are looked at together, some 200 bytes each
ALIKE = 1e-9  # difference of coefficients that counts as none


@dataclass(frozen=True)
class Crossing:
    """Samples of one component, in a box one sample thick along `axis`, whose update reads another across a face.

    `read`: the component that they read, in the plane number `source`; `factor`: +-c dt/length, to be multiplied by Cb
    or Db.
    """

    component: int
    box: Box
    read: int
    axis: int
    source: int
    factor: float

    def reads(self, box: Box | None = None) -> Reads:
        """The samples, or those in a box. They come with x slowest and z fastest."""
        part = self.box if box is None else self.box.intersection(box)
        lower, shape = (part.lower, part.shape) if part else ((0, 0, 0), (0, 0, 0))
        index = np.indices(shape).reshape(3, -1) + np.array(lower)[:, None]
        source = index.copy()
        source[self.axis] = self.source
        return Reads(self, index, source)

    def slabs(self) -> Iterator[Box]:
        """The box in pieces of some `AT_ONCE` samples, in the order of `reads`."""
        axis = next((a for a in range(3) if self.box.shape[a] > 1), 2)
        layers = max(1, AT_ONCE * self.box.shape[axis] // self.box.size)
        ends = list(zip(self.box.lower, self.box.upper))
        low, high = ends[axis]
        for span in pairwise([*range(low, high, layers), high]):
            ends[axis] = span
            yield Box.between(ends)


@dataclass(frozen=True)
class Reads:
    """Some samples of a crossing: `index`, and the `source` of the incident field that each lacks; (3, samples)."""

    crossing: Crossing
    index: np.ndarray
    source: np.ndarray

    def weighted(self, context: Context) -> tuple[Reads, np.ndarray, np.ndarray]:
        """(reads, Ca or Da, Cb or Db) of the samples that are alive; those in metal need nothing."""
        stay, drive = context.coefficients.at(self.crossing.component, *self.index)
        alive = drive != 0.0
        kept = replace(self, index=self.index[:, alive], source=self.source[:, alive])
        return kept, stay[alive], drive[alive]


def crossings(context: Context, beam: Beam, faces: list[tuple[int, str]], magnetic: bool) -> list[Crossing]:
    """All updates of E, or of H, that read across the given faces of the box, face by face."""
    grid, found = context.grid, []
    for q, side in faces:
        node, sign = (beam.first[q], -1.0) if side == "low" else (beam.last[q], 1.0)
        beyond = node - (side == "low")  # number of the half node outside
        length = grid.primary(q)[beyond] if magnetic else grid.dual(q)[node]
        for p, r in permutations([axis for axis in range(3) if axis != q]):
            cyclic = 1.0 if (q - p) % 3 == 1 else -1.0
            upper = [high + (a == r and not grid.closed(a)) for a, high in enumerate(beam.last)]
            ends = list(zip(beam.first, upper))
            plane, source = (beyond, node) if magnetic else (node, beyond)
            ends[q] = (plane, plane + 1)
            component, read = (3 + r, p) if magnetic else (p, 3 + r)
            factor = sign * cyclic * VACUUM_SPEED * context.time_step / length
            found.append(Crossing(component, Box.between(ends), read, q, source, float(factor)))
    return found


def refuse_crossing(context: Context, beam: Beam, found: Sequence[Crossing]) -> None:
    """Refuse matter that crosses the faces, but for layers across the axis that the wave travels along.

    Coefficients of equal component and, with layers, equal place along the axis must be equal.
    """
    for component in sorted({each.component for each in found}):
        own = [each for each in found if each.component == component]
        lowest = 0 if beam.along is None else min(each.box.lower[beam.along] for each in own)
        known: dict[int, np.ndarray] = {}  # the parts of the first sample of each place that lies on no wall
        for each in own:
            for slab in each.slabs():
                _refuse_unlike(context, beam, each, each.reads(slab).index, lowest, known)


def _refuse_unlike(
    context: Context, beam: Beam, crossing: Crossing, index: np.ndarray, lowest: int, known: dict[int, np.ndarray]
) -> None:
    """Refuse samples unlike those `known`, which those that are the first of their place join."""
    component, along = crossing.component, beam.along
    values = context.coefficients.parts_at(component, *index)
    if component < 3:
        values[1] = _without_rims(context, crossing, index, values[1])
    place = np.zeros(index.shape[1], int) if along is None else index[along] - lowest
    free = np.flatnonzero(~on_wall(context, component, index))
    for number, first in zip(*np.unique(place[free], return_index=True)):
        known.setdefault(int(number), values[:, free[first]])
    reference = np.zeros((len(values), int(place.max(initial=0)) + 1))
    for number, parts in known.items():
        if number < reference.shape[1]:
            reference[:, number] = parts
    unlike = np.abs(values - reference[:, place]).max(axis=0) > ALIKE
    wrong = free[unlike[free]]
    if wrong.size:
        _refuse(context, beam, component, index[:, wrong[0]])


def _without_rims(context: Context, crossing: Crossing, index: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """Cb of E on a face as its media make it, where metal within the box changes it and nothing outside: there E is
    total, and takes what the incident field lacks with its own Cb."""
    own = _changed(context, crossing.component, index)[1]
    changed = (np.abs(drive - own) > ALIKE) & (context.coefficients.open_fraction(crossing.component, *index) == 1.0)
    if not changed.any():
        return drive
    outside = index[:, changed]
    outside[crossing.axis] = crossing.source
    beyond = np.zeros(outside.shape[1], bool)
    for _ in range(2):  # E across the face at both ends of the sample
        beyond |= _changed(context, crossing.axis, outside)[0]
        outside[crossing.component] += 1
    changed[changed] = ~beyond
    return np.where(changed, own, drive)


def _changed(context: Context, component: int, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether metal beside samples changes their Cb or Db, and what the media alone make these."""
    own = context.coefficients.media_at(component, *index)[1]
    return np.abs(context.coefficients.at(component, *index)[1] - own) > ALIKE, own


def _refuse(context: Context, beam: Beam, component: int, index: np.ndarray) -> None:
    """Say what crosses a face at a sample, or lies too near to it."""
    axes = context.grid.component_axes(component)
    at = [float(axes[axis][index[axis]]) for axis in range(3)]
    where = f"near ({', '.join(f'{place:.6g}' for place in at)}) m"
    layers = "" if beam.along is None else f" but layers across {AXES[beam.along]} that fill the whole box and beyond"
    uniform = f"where the incident wave is that of a uniform medium; allowed there: nothing{layers}"
    holds = "Enlarge the box so that it holds all scatterers, with"
    changed, own = _changed(context, component, index[:, None])
    label = _nearest(context, at, metal=bool(changed[0] and own[0] != 0.0))
    if changed[0] and own[0] != 0.0:
        raise ModelError(
            f"{beam.who}: metal{label} crosses a face of its box, or lies too near: the field of its rims or corners "
            f"changes samples {where}, {uniform}. {holds} two cells to spare beside flat metal and 1.5 beside solids"
        )
    medium = context.coefficients.medium_name(*(int(n) for n in index))
    raise ModelError(
        f"{beam.who}: matter ({medium} or what is beside it{label}) crosses a face of its box {where}, {uniform}. "
        f"{holds} a cell to spare, two beside flat metal"
    )


def _nearest(context: Context, at: Sequence[float], metal: bool) -> str:
    """The structure in whose bounds a point lies, or that are nearest to it; of several the last."""
    bodies = [body for body in context.coefficients.drawn if not metal or is_metal(body.medium)]
    if not bodies:
        return ""
    ends = np.array([body.shape.bounds() for body in bodies])
    away = np.maximum(np.maximum(ends[:, 0] - at, at - ends[:, 1]), 0.0)
    distance = np.linalg.norm(away, axis=1)
    return f" of {bodies[int(np.flatnonzero(distance == distance.min())[-1])].label}"


def on_wall(context: Context, component: int, index: np.ndarray) -> np.ndarray:
    """Which samples lie on a wall of the domain, whose own coefficients say nothing of the medium."""
    found = np.zeros(index.shape[1], bool)
    for axis in range(3):
        if (component % 3 == axis) != (component < 3) and not context.grid.closed(axis):  # on nodes along the axis
            found |= (index[axis] == 0) | (index[axis] == context.grid.cells[axis])
    return found
