"""Regions of a rank's steps between two exchanges: cut faces first, so that the rest hides the messages.

Halos of depth h > 1 are good for h steps: the part of them that is right shrinks by one layer a step, or by two where E
reads H of the next row too (`Plan.reach`): then they are good for h/2. A halo of one layer is made up to its end
(halo.py). What the neighbours need, the outermost h layers of the own box, is made first, as trapezoids that shrink
away from the interior; the interior grows into the room (core/cpu/region.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearfield.engines.protocol import Side, Sides

Borders = dict[int, tuple[Side | None, Side | None]]  # at the low and the high cut face, by axis


@dataclass(frozen=True)
class Axis:
    """One axis of a rank: samples held, own ones among them, and at which ends a halo ends within the whole box.

    ring: it closes on itself, and all of it is held; reach: layers by which sides lean a step.
    """

    held: int
    own: tuple[int, int]
    open_low: bool
    open_high: bool
    depth: int  # layers that the neighbours hold of the own box
    ring: bool = False
    reach: int = 1

    @property
    def cut(self) -> bool:
        """Whether there is a neighbour."""
        return self.own != (0, self.held)

    def whole(self, first: int) -> tuple[Side, Side]:
        """All that can be made, in steps that begin with number `first` of the block."""
        reach = self.reach
        low = (1 - reach * first, reach) if self.open_low else (0, 0)
        high = (self.held + 1 - reach + reach * first, -reach) if self.open_high and self.depth > 1 else (self.held, 0)
        return low, high

    def faces(self, first: int, last: int) -> tuple[Side | None, Side | None]:
        """Where the trapezoids at the low and the high cut face end towards the interior."""
        return self.border(first, last - first)

    def border(self, first: int, steps: int) -> tuple[Side | None, Side | None]:
        """Sides that leave the neighbours' layers of each cut face behind them after so many steps, from `first` on.

        They lean towards it.
        """
        (low, high), reach = self.own, self.reach
        layers = self.depth + 1 + reach * (steps - 1)
        return (
            (low + layers + reach * first, -reach) if low > 0 else None,
            (high - layers + 2 - reach - reach * first, reach) if high < self.held else None,
        )

    def thick_enough(self, first: int, last: int) -> bool:
        """Whether something is left between the trapezoids."""
        low, high = self.faces(first, last)
        lowest = low[0] - self.reach * first if low else 0
        highest = high[0] + self.reach * first if high else self.held
        return lowest < highest


def phases(axes: tuple[Axis, Axis, Axis], unit: int, first: int, last: int) -> tuple[list[Sides], list[Sides]]:
    """(regions of the faces, regions of what is left) of steps [first, last) of a block, in order.

    Rows are never split; a box too thin to have an interior is one region.
    """
    whole = [axis.whole(first) for axis in axes]
    cut = [n for n in range(3) if n != unit and axes[n].cut]
    if not cut or not all(axes[n].thick_enough(first, last) for n in cut):
        return [], [tuple(whole)]
    made, left = peeled(whole, {n: axes[n].faces(first, last) for n in cut})
    return made, [left]


def peeled(whole: Sequence[tuple[Side, Side]], borders: Borders) -> tuple[list[Sides], Sides]:
    """Slabs between the sides of a region and borders further in, axis after axis, and what is left inside."""
    left, made = list(whole), []
    for n, (low, high) in borders.items():
        if low:
            made.append((*left[:n], (whole[n][0], low), *left[n + 1 :]))
        if high:
            made.append((*left[:n], (high, whole[n][1]), *left[n + 1 :]))
        left[n] = (low or whole[n][0], high or whole[n][1])
    return made, tuple(left)


@dataclass(frozen=True)
class SplitTiles:
    """Steps [first, last) of a block in tiles that are deeper than the halos, `depth` steps each at most.

    A wedge at the cut faces is made in rounds, with an exchange after each. Behind it a mortar of as many layers as
    steps leans towards the faces, and the core is all else. The next block's wedge needs this block's mortar but not
    its core, so the core is made, a slice at a time, while the messages of the next block's rounds travel.
    """

    axes: tuple[Axis, Axis, Axis]
    unit: int
    planes: int  # the axis along which the core is sliced
    depth: int
    first: int
    last: int

    @property
    def _cut(self) -> list[int]:
        return [n for n in range(3) if n != self.unit and self.axes[n].cut]

    def _borders(self, times: int) -> Borders:
        return {n: self.axes[n].border(self.first, times * self.depth) for n in self._cut}

    def fits(self) -> bool:
        """Whether rows are whole, something is cut, and every box is thick enough for a core."""
        thick = all(
            axis.own[1] - axis.own[0]
            > (2 * axis.reach * self.depth + axis.depth) * ((axis.own[0] > 0) + (axis.own[1] < axis.held))
            for axis in (self.axes[n] for n in self._cut)
        )
        return bool(self._cut) and thick and not self.axes[self.unit].cut

    def wedge(self, begun: int) -> list[Sides]:
        """Regions of the round that begins with step `begun`."""
        return peeled([axis.whole(begun) for axis in self.axes], self._borders(1))[0]

    def _inside(self) -> Sides:
        return peeled([axis.whole(self.first) for axis in self.axes], self._borders(1))[1]

    def mortar(self) -> list[Sides]:
        """Regions between wedge and core, for all steps."""
        return peeled(self._inside(), self._borders(2))[0]

    def core(self, slices: int) -> list[Sides]:
        """The core in slices that lean back along the planes, in order, for all steps; in one on a ring of planes."""
        slices = 1 if self.axes[self.planes].ring else slices
        core = list(peeled(self._inside(), self._borders(2))[1])
        low, high = core[self.planes]
        begin, end = (at + lean * self.first for at, lean in (low, high))
        reach = self.axes[self.planes].reach
        cuts = [(begin + (end - begin) * n // slices + reach * self.first, -reach) for n in range(1, slices)]
        sides = [low, *cuts, high]
        return [(*core[: self.planes], pair, *core[self.planes + 1 :]) for pair in pairwise(sides)]
