"""States of dispersive media in the core: filled from a plan, read and written by boxes, exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from nearfield.engines.stored.turn import Turn
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.planes import PlaneCoefficients
from nearfield.plan.term import IMAGINARY

COMPONENTS_OF = {False: range(3), True: range(3, 6)}  # by whether a medium is magnetic


class EnginePoles:
    """Memories of a plan's dispersive media in global axes; `core` is the engine's part for them."""

    def __init__(self, plan: Plan, core: Any) -> None:
        self._plan, self._core, self._turn = plan, core, Turn(plan.storage_axes)
        for medium in plan.pole_media:
            core.add_medium(*(np.ascontiguousarray(n, plan.dtype) for n in (medium.firsts, medium.seconds)))

    def set_planes(self, planes: PlaneCoefficients) -> None:
        """Fill in the weights of the media in some planes."""
        media = self._plan.pole_media
        for magnetic in (False, True) if media else ():
            poles = [pole for pole in planes.poles if media[pole.medium].magnetic == magnetic]
            if poles:
                order = list(self._turn.axes)
                cells = np.array([[getattr(pole, name)[order] for pole in poles] for name in ("stay", "weight")])
                cells = np.ascontiguousarray(cells, self._plan.dtype)
                self._core.set_planes(magnetic, planes.start, planes.stop, [pole.medium for pole in poles], cells)

    def finish(self) -> None:
        """Make the states, all zero, after the last planes."""
        self._core.finish()

    def boxes(self) -> Iterator[tuple[int, int, Box]]:
        """(component, medium, smallest box about its samples), wherever there are states."""
        for number, medium in enumerate(self._plan.pole_media):
            for part, first in product(range(1 + self._plan.complex_fields), COMPONENTS_OF[medium.magnetic]):
                component = first + IMAGINARY * part
                lower, upper = self._core.box(self._plan.storage_component(component), number)
                if upper[0]:
                    yield component, number, Box(self._turn.back(lower), self._turn.back(upper))

    def states(self, component: int, medium: int, box: Box) -> np.ndarray:
        """(states, nx, ny, nz) of a box; zero where the medium is not."""
        stored = self._plan.storage_component(component)
        return self._turn.seen(self._core.states(stored, medium, *self._turn.ends(box)))

    def set_states(self, component: int, medium: int, box: Box, values: np.ndarray) -> None:
        """Write the states of a box, as `states` gives them."""
        stored, lower = self._plan.storage_component(component), self._turn.place(box.lower)
        self._core.set_states(stored, medium, lower, self._turn.stored(values))

    def count(self, box: Box) -> int:
        """The count of numbers that poles keep in a box."""
        return int(self._core.count(*self._turn.ends(box)))

    def pack(self, box: Box, values: np.ndarray) -> None:
        """Copy them out, in an order on which all engines with the same storage axes agree."""
        self._core.pack(*self._turn.ends(box), values)

    def unpack(self, box: Box, values: np.ndarray) -> None:
        """Copy them back."""
        self._core.unpack(*self._turn.ends(box), values)
