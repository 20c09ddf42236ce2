"""All that a model's grid moves to its lines, with the size of the effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfield.discretization.refusals import features
from nearfield.grid.moves import Moved
from nearfield.metal.moves import moved_metal
from nearfield.monitors.radiation import FarField
from nearfield.ports.moves import moved_entries

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization


def moves(setup: Discretization) -> list[Moved]:
    """Bodies first, then ports, elements and sources, far-field surfaces, each in the order of the model."""
    model, grid = setup.simulation, setup.grid
    return [
        *moved_metal(model._bodies, grid, setup.coefficients.metal),
        *moved_entries(features(model, ("port", "element", "source")), grid),
        *(one for monitor in model.monitors if isinstance(monitor, FarField) for one in monitor._moved(setup.context)),
    ]
