"""The faces of a total-field box: which updates read across them, and what of the incident field they lack.

Low face at node n of axis q, (p, q, r) cyclic or not, s = +1 or -1. Tangential E on the face and all inside is total:

    Ep[n]       += -s Cb c dt/dual[n]        Hr_inc[n - 1/2]      its update read the scattered Hr outside
    Hr[n - 1/2] += -s Db c dt/cell[n - 1/2]  Ep_inc[n]            its update read the total Ep

and with the other sign, and Hr[n + 1/2], at a high face. Source: Taflove and Hagness, Computational Electrodynamics,
3rd ed., section 5.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import CPML, FACES, Boundaries
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.lowering.context import Context
from nearfield.sources.edges import snapped


@dataclass(frozen=True)
class Beam:
    """A plane wave and its box: corners as nodes, unit vectors, E (V/m) as a `signal(t)` where it enters the box.

    `who`: its label in messages; `along`: the axis that it travels along, None at an angle; the signal is over at `end`
    (s), in the excitation of that name.
    """

    who: str
    first: Triple
    last: Triple
    travels: np.ndarray
    electric: np.ndarray
    along: int | None
    signal: Callable[[np.ndarray], np.ndarray]
    end: float
    excitation: str


@dataclass(frozen=True)
class Reads:
    """Updates that read across a face: samples (component, i, j, k), what they read, and by which factor.

    Of E or of H alone. `index`, `source`: (3, samples) of the sample and of the incident field that it lacks;
    `component`, `read`: component numbers; `factor`: +-c dt/length, to be multiplied by Cb or Db.
    """

    component: np.ndarray
    index: np.ndarray
    read: np.ndarray
    source: np.ndarray
    factor: np.ndarray


def box_nodes(grid: YeeGrid, boundaries: Boundaries, lower, upper, who: str) -> tuple[Triple, Triple]:
    """The box's corners as nodes, below planes of symmetry as above.

    Errors: it has no volume, comes too near to a CPML, or does not reach a plane of symmetry.
    """
    spans = [mirrored(grid, axis, span, who) for axis, span in enumerate(snapped(grid, lower, upper, who))]
    for axis, (low, high) in enumerate(spans):
        first, stop = boundaries.interior(grid)[axis]
        least = first + isinstance(boundaries.face(axis, "low"), CPML)
        most = stop - isinstance(boundaries.face(axis, "high"), CPML)
        line = grid.lines[axis]
        if low == high or low < least or high > most:
            raise ModelError(
                f"{who}: its box spans {AXES[axis]} {line[low]:.6g} to {line[high]:.6g} m; it needs at least one cell, "
                f"and one cell of scattered field before each CPML: {line[least]:.6g} to {line[most]:.6g} m at most. "
                "Move its corners"
            )
    return triple(low for low, _ in spans), triple(high for _, high in spans)


def mirrored(grid: YeeGrid, axis: int, span: tuple[int, int], who: str) -> tuple[int, int]:
    """The nodes along an axis, mirrored where a plane of symmetry lies across it."""
    low, high = span
    if not grid.mirrors[axis]:
        return span
    if not low <= grid.cells[axis] // 2 < high:
        line = grid.lines[axis]
        raise ModelError(
            f"{who}: its box spans {AXES[axis]} {line[low]:.6g} to {line[high]:.6g} m and nothing above the plane of "
            f"symmetry at {line[grid.cells[axis] // 2]:.6g} m, or does not touch it; a box and its mirror image are "
            "one total-field box. Let it reach across the plane, or leave the plane out"
        )
    return grid.cells[axis] - high, high


def open_faces(grid: YeeGrid, first: Triple, last: Triple) -> list[tuple[int, str]]:
    """(axis, side) of the faces that do not lie on a wall of the domain, past which there is nothing."""
    ends = {"low": (first, (0, 0, 0)), "high": (last, grid.cells)}
    return [(axis, side) for axis, side in FACES if ends[side][0][axis] != ends[side][1][axis]]


def reads(context: Context, beam: Beam, faces: list[tuple[int, str]], magnetic: bool) -> Reads:
    """All updates of E, or of H, that read across the given faces of the box, face by face."""
    grid, parts = context.grid, []
    for q, side in faces:
        node, sign = (beam.first[q], -1.0) if side == "low" else (beam.last[q], 1.0)
        beyond = node - (side == "low")  # number of the half node outside
        length = grid.primary(q)[beyond] if magnetic else grid.dual(q)[node]
        for p, r in permutations([axis for axis in range(3) if axis != q]):
            cyclic = 1.0 if (q - p) % 3 == 1 else -1.0
            ends = [beam.last[axis] + (axis == r and not grid.closed(axis)) for axis in range(3)]
            spans = [np.arange(low, high) for low, high in zip(beam.first, ends)]
            spans[q] = np.array([node])
            on_face = np.stack([values.ravel() for values in np.meshgrid(*spans, indexing="ij")])
            outside = on_face.copy()
            outside[q] = beyond
            own, source = ((p, on_face), (3 + r, outside))[:: -1 if magnetic else 1]
            factor = sign * cyclic * VACUUM_SPEED * context.time_step / length
            component, read, factors = (np.full(on_face.shape[1], value) for value in (own[0], source[0], factor))
            parts.append(Reads(component, own[1], read, source[1], factors))
    return Reads(**{name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in vars(parts[0])})


def weighted(context: Context, found: Reads) -> tuple[Reads, np.ndarray, np.ndarray]:
    """(reads, Ca or Da, Cb or Db) of the samples that are alive; those in metal need nothing."""
    stay, drive = np.empty(found.factor.size), np.empty(found.factor.size)
    for component in np.unique(found.component):
        own = found.component == component
        i, j, k = found.index[:, own]
        stay[own], drive[own] = context.coefficients.at(int(component), i, j, k)
    alive = drive != 0.0
    kept = Reads(**{name: values[..., alive] for name, values in vars(found).items()})
    return kept, stay[alive], drive[alive]


def refuse_crossing(context: Context, beam: Beam, found: Reads) -> None:
    """Refuse matter that crosses the faces, but for layers across the axis that the wave travels along.

    Coefficients of equal component and, with layers, equal place along the axis must be equal.
    """
    for component in np.unique(found.component):
        index = found.index[:, found.component == component]
        values = context.coefficients.parts_at(int(component), *index)
        along = beam.along
        place = np.zeros(index.shape[1], int) if along is None else index[along] - index[along].min()
        walled = on_wall(context, int(component), index)
        reference, free = np.zeros((len(values), place.max() + 1)), np.flatnonzero(~walled)[::-1]
        reference[:, place[free]] = values[:, free]  # the first one of each place
        wrong = (np.abs(values - reference[:, place]) > 1e-9).any(axis=0) & ~walled
        if wrong.any():
            at = int(np.argmax(wrong))
            axes = context.grid.component_axes(int(component))
            where = ", ".join(f"{axes[axis][index[axis, at]]:.6g}" for axis in range(3))
            medium = context.coefficients.medium_name(*(int(n) for n in index[:, at]))
            layers = "" if along is None else f" but layers across {AXES[along]} that fill the whole box and beyond"
            raise ModelError(
                f"{beam.who}: matter ({medium} or what is beside it) crosses a face of its box near ({where}) m, where "
                f"the incident wave is that of a uniform medium; allowed there: nothing{layers}. Enlarge the box so "
                "that it holds all scatterers, with a cell to spare"
            )


def on_wall(context: Context, component: int, index: np.ndarray) -> np.ndarray:
    """Which samples lie on a wall of the domain, whose own coefficients say nothing of the medium."""
    found = np.zeros(index.shape[1], bool)
    for axis in range(3):
        if (component % 3 == axis) != (component < 3) and not context.grid.closed(axis):  # on nodes along the axis
            found |= (index[axis] == 0) | (index[axis] == context.grid.cells[axis])
    return found
