"""From a grid, its boundaries and the coefficients on it to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import Boundaries, cpml_profile
from nearfield.plan.plan import AxisProfile, Plan

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid
    from nearfield.plan.planes import Coefficients, PoleMedium
    from nearfield.plan.term import Term


def axis_profile(
    grid: YeeGrid, boundaries: Boundaries, axis: int, active: int, time_step: float, unit: float
) -> AxisProfile:
    """Profile of one axis, in units of `unit` (m), from the grid's lengths and the CPML's grading.

    A PMC wall halves the dual length there, a seam leaves it as it is; on other walls tangential E is zero for good,
    and the whole cell stands.
    """
    nodes, halves = cpml_profile(boundaries.face(axis, 0), boundaries.face(axis, 1), grid, axis, time_step)
    scale = VACUUM_SPEED * time_step / unit
    dual, primary = grid.dual(axis)[:active].copy(), grid.primary(axis)
    if boundaries.face(axis, "low") != "pmc" and not grid.closed(axis):
        dual[0] = primary[0]

    def fitted(values: np.ndarray) -> np.ndarray:
        return np.concatenate((values, np.zeros(max(0, active - len(values)))))[:active]

    return AxisProfile(
        inverse_dual=inverse_lengths(dual * nodes.kappa[:active], unit),
        inverse_primary=fitted(inverse_lengths(primary * halves.kappa, unit)),
        decay_electric=fitted(nodes.decay),
        drive_electric=fitted(nodes.drive / scale),
        decay_magnetic=fitted(halves.decay),
        drive_magnetic=fitted(halves.drive / scale),
    )


def inverse_lengths(lengths: np.ndarray, unit: float) -> np.ndarray:
    """unit / lengths; rounding must not hide a grid of cubes, on which all are exactly 1."""
    found = unit / lengths
    return np.where(np.abs(found - 1.0) < 1e-12, 1.0, found)


def unit_length(grid: YeeGrid) -> float:
    """The length (m) that a plan measures in: the smallest cell."""
    return min(float(grid.primary(axis).min()) for axis in range(3))


def active_shape(grid: YeeGrid, boundaries: Boundaries) -> Triple:
    """Samples along each axis that an engine updates: the cells, and one more where the high wall is a PMC."""
    return triple(n + (boundaries.face(axis, "high") == "pmc") for axis, n in enumerate(grid.cells))


def build_plan(
    grid: YeeGrid,
    boundaries: Boundaries,
    coefficients: Coefficients,
    time_step: float,
    precision: str,
    terms: tuple[Term, ...] = (),
    pole_media: Sequence[PoleMedium] = (),
) -> Plan:
    """Gather what an engine needs."""
    active = active_shape(grid, boundaries)
    unit = unit_length(grid)
    return Plan(
        cells=grid.cells,
        active=active,
        cpml=tuple(boundaries.cpml_cells(axis) for axis in range(3)),
        profiles=triple(axis_profile(grid, boundaries, axis, active[axis], time_step, unit) for axis in range(3)),
        coefficients=coefficients,
        time_step=time_step,
        precision=precision,
        terms=terms,
        scale=VACUUM_SPEED * time_step / unit,
        pole_media=tuple(pole_media),
        phases=grid.phases,
        complex_fields=boundaries.complex_fields,
    )
