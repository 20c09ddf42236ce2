"""In which regions a rank makes its steps between two exchanges: cut faces first, so that messages run under the rest.

Halos of depth h are good for h steps: the part of them that is right shrinks by one layer a step. What the neighbours
need, the outermost h layers of the own box, is made first, as trapezoids that shrink away from the interior; the
interior grows into the room (core/cpu/region.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

from nearfield.engine import Sides

Side = tuple[int, int]  # (at, lean)


@dataclass(frozen=True)
class Axis:
    """Along one axis: samples held, the own ones among them, and at which ends a halo ends within the whole box."""

    held: int
    own: tuple[int, int]
    open_low: bool
    open_high: bool
    depth: int  # layers that the neighbours hold of the own box

    @property
    def cut(self) -> bool:
        """Whether there is a neighbour."""
        return self.own != (0, self.held)

    def whole(self, first: int) -> tuple[Side, Side]:
        """All that is right, in steps that begin with number `first` of the block."""
        low = (1 - first, 1) if self.open_low else (0, 0)
        high = (self.held + first, -1) if self.open_high else (self.held, 0)
        return low, high

    def faces(self, first: int, last: int) -> tuple[Side | None, Side | None]:
        """Where the trapezoids at the low and the high cut face end towards the interior."""
        low, high = self.own
        needed = self.depth + last - first
        return (
            (low + needed + first, -1) if low > 0 else None,
            (high - needed + 1 - first, 1) if high < self.held else None,
        )

    def thick_enough(self, first: int, last: int) -> bool:
        """Whether something is left between the trapezoids."""
        low, high = self.faces(first, last)
        lowest = low[0] - first if low else 0
        highest = high[0] + first if high else self.held
        return lowest < highest


def phases(axes: tuple[Axis, Axis, Axis], unit: int, first: int, last: int) -> tuple[list[Sides], list[Sides]]:
    """(regions of the faces, regions of what is left) of steps [first, last) of a block, in order.

    Rows are never split; a box too thin to have an interior is one region.
    """
    whole = [axis.whole(first) for axis in axes]
    cut = [n for n in range(3) if n != unit and axes[n].cut]
    if not cut or not all(axes[n].thick_enough(first, last) for n in cut):
        return [], [tuple(whole)]
    left, made = list(whole), []
    for n in cut:
        low, high = axes[n].faces(first, last)
        if low:
            made.append((*left[:n], (whole[n][0], low), *left[n + 1 :]))
        if high:
            made.append((*left[:n], (high, whole[n][1]), *left[n + 1 :]))
        left[n] = (low or whole[n][0], high or whole[n][1])
    return made, [tuple(left)]
