"""Profiles, coefficients, poles and coupling of a plan on their way into a core."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np

from nearfield.engines.stored.poles import EnginePoles
from nearfield.plan.plan import Plan


def set_coefficients(plan: Plan, core: Any, poles: EnginePoles) -> None:
    """Fill a core with a plan's media, some planes at a time."""
    axes, dtype = plan.storage_axes, plan.dtype
    for place, axis in enumerate(axes):
        columns = astuple(plan.profiles[axis])
        core.set_profile(place, [np.ascontiguousarray(column, dtype) for column in columns])
    order = list(axes)  # storage component s is the global component axes[s]
    for planes in plan.coefficients.planes(axes[0]):
        for magnetic, values in ((False, planes.electric), (True, planes.magnetic)):
            stay: np.ndarray = np.ascontiguousarray(values[order, 0], dtype)
            drive: np.ndarray = np.ascontiguousarray(values[order, 1] * plan.scale, dtype)
            core.set_planes(magnetic, planes.start, planes.stop, stay, drive)
        poles.set_planes(planes)
    poles.finish()
    if plan.coupling is not None:
        *places, weight = plan.coupling.stored(axes)
        core.add_coupling(*places, np.ascontiguousarray(weight, dtype))
