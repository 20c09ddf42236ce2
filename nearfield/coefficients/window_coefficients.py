"""Coefficients of the samples in a window of a plane, from media, metal, sheets, wires and lumped parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.coefficients.dispersion import Dispersion
from nearfield.coefficients.edge_loads import EdgeLoads
from nearfield.coefficients.media_means import CONDUCTIVITY, PERMITTIVITY, MediaMeans
from nearfield.coefficients.plane_means import PlaneMeans, Values
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.machine.topology import threads_beside
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.patches import DriveFactors, Patch, Window, pair, shape_of
from nearfield.metal.sheets import SheetSurface
from nearfield.metal.skin import SkinSurface
from nearfield.metal.thin_wires import ThinWires
from nearfield.plan.planes import PolePlane

Surface = SheetSurface | SkinSurface
LEAST_CELLS = 40_000  # of a plane: smaller ones spend too much time with the lock of Python held to gain from threads
PLANE_BYTES = 1200  # a cell of a plane: what a thread takes that makes some and keeps them
MEDIA_BYTES, METAL_BYTES = 2000, 2200  # the same as measured: of bodies of media, and more of metal that cuts cells
SPARE_BYTES = 256 * 2**20  # what all threads of a machine may take for planes, and ...
SPARE_OF_CELL = 8  # ... for each cell of the box besides, whose fields alone take 24


@dataclass(frozen=True)
class Ingredients:
    """The parts of a model that make its coefficients."""

    time_step: float
    means: MediaMeans
    dispersion: Dispersion
    surfaces: Sequence[Surface]
    metal: GridMetal
    wires: ThinWires | None
    loads: EdgeLoads
    rims: DriveFactors | None = None  # of resistive sheets

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for neighbouring planes whose coefficients are equal."""
        parts = self.means, self.metal, self.loads, self.wires, self.rims, *self.surfaces
        return tuple(part.signature(axis, plane) for part in parts if part is not None)


class WindowCoefficients:
    """Coefficients by component in a window of a plane across an axis; with `perfect`, all metal counts as that."""

    def __init__(self, parts: Ingredients, axis: int, plane: int, window: Window, perfect: bool = False) -> None:
        self._parts, self._perfect = parts, perfect
        self._patches = [Patch(component, axis, plane, window) for component in range(6)]
        self._means = PlaneMeans(parts.means, axis, plane, window)

    def pair(self, component: int) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) or (Da, Db)."""
        stay, drive = self.media(component)
        return stay, self._scaled(drive, component)

    def media(self, component: int) -> tuple[np.ndarray, np.ndarray]:
        """The pair as the media alone make it, zero in conductors."""
        patch, magnetic = self._patches[component], component >= 3
        constant = VACUUM_PERMEABILITY if magnetic else VACUUM_PERMITTIVITY
        relative, conductivity = (self._mean(component, column + magnetic) for column in (PERMITTIVITY, CONDUCTIVITY))
        for surface in [] if self._perfect and magnetic else self._parts.surfaces:
            if surface.magnetic == magnetic:
                part = surface.part(patch)
                relative, conductivity = relative + part * surface.store, conductivity + part * surface.loss
        if not magnetic:
            relative, conductivity = self._loaded(component, relative, conductivity)
        loss = conductivity * self._parts.time_step / (2.0 * constant * relative)
        sums = self._parts.dispersion.sums
        before, now = sums(magnetic, lambda column: self._mean(component, column) / relative)
        drive = np.array(np.broadcast_to(1.0 / (relative * (1.0 + loss + now)), patch.shape))
        stay = np.array(np.broadcast_to((1.0 - loss - before) / (1.0 + loss + now), patch.shape))
        missing = self._parts.metal.missing(patch)
        stay[missing] = drive[missing] = 0.0
        return stay, drive

    def parts(self, component: int) -> list[np.ndarray]:
        """Ca and Cb, or Da and Db, as planes have them, and (stay, weight) of each medium that remembers."""
        (stay, drive), poles = self.media(component), []
        for kind in self._parts.dispersion.remembered(component >= 3):
            weight = self._part(component, kind.column) * drive
            poles += [np.where(weight != 0.0, stay, 1.0), weight]
            stay = np.where(weight != 0.0, 1.0, stay)
        return [stay, self._scaled(drive, component), *poles]

    def plane(self) -> tuple[np.ndarray, np.ndarray, tuple[PolePlane, ...]]:
        """The coefficients of E and of H, and the poles."""
        pairs, poles = self._parts.dispersion.planes(
            [np.stack(self.media(component)) for component in range(6)], self._part
        )
        for component, (_, drive) in enumerate(pairs):
            self._scaled(drive, component)
        return np.stack(pairs[:3]), np.stack(pairs[3:]), poles

    def inverse_permittivity(self, component: int) -> np.ndarray:
        """1/eps_r of E samples where that is Cb and Ca is 1; 0 elsewhere."""
        stay, drive = self.pair(component)
        found = 1.0 / self._part(component, PERMITTIVITY)
        alone = (stay == 1.0) & (drive == found)
        for kind in self._parts.dispersion.remembered(False):
            alone &= self._part(component, kind.column) == 0.0
        return np.where(alone, found, 0.0)

    def _mean(self, component: int, column: int) -> Values:
        """`_part`, without the surfaces of metal that counts as perfect."""
        return 0.0 if self._perfect and component >= 3 and self._surface(column) else self._part(component, column)

    def _surface(self, column: int) -> Any:
        return self._parts.dispersion.surfaces.get(column)

    def _part(self, component: int, column: int) -> Values:
        """Mean of a column of the table of media about the samples of a component, or the part of a surface."""
        surface = self._surface(column)
        return surface.part(self._patches[component]) if surface else self._means.mean(component, column)

    def _scaled(self, drive: np.ndarray, component: int) -> np.ndarray:
        """Cb or Db, multiplied in place by what acts on it alone."""
        for part in (self._parts.metal, self._parts.wires, self._parts.rims):
            factor = part.factor(self._patches[component]) if part else None
            if factor is not None:
                drive *= factor
        return drive

    def _loaded(self, component: int, relative: Values, conductivity: Values) -> tuple[Values, Values]:
        """The media with what lumped parts add to edges of the window."""
        patch = self._patches[component]
        at, extra_conductivity, extra_permittivity = self._parts.loads.added(patch)
        if at[0].size:
            relative, conductivity = pair(np.array(np.broadcast_to(v, patch.shape)) for v in (relative, conductivity))
            part = self._scaled(np.ones(patch.shape), component)  # scales the media of the edge and not the load
            np.add.at(relative, at, part[at] * extra_permittivity)
            np.add.at(conductivity, at, part[at] * extra_conductivity)
        return relative, conductivity


def threads_for_planes(window: Window, planes: int, sharers: int) -> int:
    """Threads that make planes at once in one of `sharers` processes on this machine.

    One where planes are small; no more than there is memory for beside the fields of so many planes.
    """
    cells = math.prod(shape_of(window))
    if cells < LEAST_CELLS:
        return 1
    room = (SPARE_BYTES // sharers + SPARE_OF_CELL * cells * planes) // (PLANE_BYTES * cells)
    return max(1, min(threads_beside(sharers), room))
