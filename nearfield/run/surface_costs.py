"""Memory and cost of sheets and good conductors, estimated from some planes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.engines.cpu.heuristics import DISPERSIVE, REMEMBERED
from nearfield.metal.patches import Patch
from nearfield.plan.sizes import BYTES_OF, LANES

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

MOST_PLANES = 64  # that surfaces are looked for in


class Kept(NamedTuple):
    """Samples of a surface that remembers: those in whole blocks of 16, those that it touches, numbers each keeps."""

    blocked: float
    touched: float
    states: int


@dataclass(frozen=True)
class Surfaces:
    """What sheets and conductors that remember take."""

    bytes: int  # of memory
    stored_bytes: int  # of a checkpoint
    cost: float  # plain cells a cell of the model


def surface_samples(coefficients: Coefficients, axes: Sequence[int]) -> list[Kept]:
    """The samples of each sheet and conductor that remembers; blocks lie along axes[2].

    Planes across axes[0] are looked at where they differ, at most 64 of them.
    """
    found, (count, *across) = [], (coefficients.active[axis] for axis in axes)
    for surface, medium in coefficients.remembering_surfaces:
        kinds = [surface.signature(axes[0], plane) for plane in range(count)]
        firsts = np.array([plane for plane in range(count) if plane == 0 or kinds[plane] != kinds[plane - 1]])
        places = np.unique(np.linspace(0, len(firsts) - 1, min(MOST_PLANES, len(firsts))).round().astype(int))
        counts = []
        for plane in firsts[places]:
            window = (0, across[0]), (0, across[1])
            parts = [surface.part(Patch(3 * surface.magnetic + n, axes[0], plane, window)) for n in range(3)]
            touched = np.stack([np.broadcast_to(part, across) for part in parts]) != 0.0
            blocks = np.logical_or.reduceat(touched, np.arange(0, across[1], LANES), axis=-1)
            counts.append((blocks.sum() * LANES, touched.sum()))
        alike, every = np.diff(firsts, append=count), np.arange(len(firsts))
        blocked, touched = (float(np.sum(alike * np.interp(every, places, each))) for each in zip(*counts))
        found.append(Kept(blocked, touched, medium.states))
    return found


def surfaces(setup: Discretization) -> Surfaces:
    """What sheets and conductors that remember take. A checkpoint has a bit for each sample besides.

    Conformal metal counts as that on whole cells does: of a sphere some 5 % fewer blocks.
    """
    plan, coefficients, model = setup.plan, setup.coefficients, setup.simulation
    if setup.metal == "conformal" and coefficients.remembering_surfaces:
        bodies = [body for body in model._bodies if body.shape.kind != "wire"]
        band = setup.lowest_frequency, setup.highest_frequency
        coefficients = Coefficients(setup.grid, bodies, model.background, model.boundaries, setup.time_step, band=band)
    found, whole = surface_samples(coefficients, plan.storage_axes), math.prod(setup.grid.cells)
    size, part = BYTES_OF[plan.precision] * (1 + plan.complex_fields), math.prod(plan.cells) / whole
    memory = round(sum(kept.blocked * kept.states for kept in found) * part) * size
    bits = len(found) * 3 * math.prod(plan.cells) / 8 * (1 + plan.complex_fields)
    stored = round(sum(kept.touched * kept.states for kept in found) * part * size + bits)
    cost = sum(kept.blocked * (DISPERSIVE / 3 + REMEMBERED * kept.states) for kept in found) / whole
    return Surfaces(memory, stored, cost)
