"""The states of dispersive media that an engine holds: filled from a plan, read and written by boxes, exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.term import IMAGINARY

COMPONENTS_OF = {False: range(3), True: range(3, 6)}  # by whether a medium is magnetic


class EnginePoles:
    """What a plan's dispersive media remember, in global axes; `core` is the engine's, in storage axes."""

    def __init__(self, plan: Plan, core: Any) -> None:
        self._plan, self._core, self._axes = plan, core, plan.storage_axes
        for medium in plan.pole_media:
            numbers = (np.ascontiguousarray(numbers, plan.dtype) for numbers in (medium.firsts, medium.seconds))
            core.add_medium(*numbers)

    def set_planes(self, planes) -> None:
        """What the media do in some planes (`PlaneCoefficients`)."""
        media = self._plan.pole_media
        for magnetic in (False, True) if media else ():
            poles = [pole for pole in planes.poles if media[pole.medium].magnetic == magnetic]
            if poles:
                order = list(self._axes)
                cells = np.array([[getattr(pole, name)[order] for pole in poles] for name in ("stay", "weight")])
                cells = np.ascontiguousarray(cells, self._plan.dtype)
                self._core.set_planes(magnetic, planes.start, planes.stop, [pole.medium for pole in poles], cells)

    def finish(self) -> None:
        """After the last planes: the states exist, all zero."""
        self._core.finish()

    def boxes(self) -> Iterator[tuple[int, int, Box]]:
        """(component, medium, smallest box about its samples), wherever there are states."""
        for number, medium in enumerate(self._plan.pole_media):
            for part, first in product(range(1 + self._plan.complex_fields), COMPONENTS_OF[medium.magnetic]):
                component = first + IMAGINARY * part
                lower, upper = self._core.box(self._plan.storage_component(component), number)
                if upper[0]:
                    back = [self._axes.index(axis) for axis in range(3)]
                    yield component, number, Box(*(tuple(end[n] for n in back) for end in (lower, upper)))

    def states(self, component: int, medium: int, box: Box) -> np.ndarray:
        """(states, nx, ny, nz) of a box; zero where the medium is not."""
        found = self._core.states(self._plan.storage_component(component), medium, *self._ends(box))
        return found.transpose(0, *(1 + self._axes.index(axis) for axis in range(3)))

    def set_states(self, component: int, medium: int, box: Box, values: np.ndarray) -> None:
        """Write them, as `states` gives them."""
        turned = np.ascontiguousarray(values.transpose(0, *(1 + axis for axis in self._axes)))
        self._core.set_states(self._plan.storage_component(component), medium, self._ends(box)[0], turned)

    def count(self, box: Box) -> int:
        """How many numbers there are in a box."""
        return self._core.count(*self._ends(box))

    def pack(self, box: Box, values: np.ndarray) -> None:
        """Copy them out, in an order on which all engines with the same storage axes agree."""
        self._core.pack(*self._ends(box), values)

    def unpack(self, box: Box, values: np.ndarray) -> None:
        """Copy them back."""
        self._core.unpack(*self._ends(box), values)

    def _ends(self, box: Box) -> tuple[Triple, Triple]:
        return tuple([int(end[axis]) for axis in self._axes] for end in (box.lower, box.upper))
