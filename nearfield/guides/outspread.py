"""The cross-section of an open line, continued beyond its rectangle as if the plane had no end.

Beyond each side that is no wall of the grid, metal and media at the border go on outward, in virtual cells that grow
from one to the next. There a field that falls as a power of the distance, as that of a line does, has all but ended
before the metal wall behind the last cell, so the modes are those of the endless plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nearfield.entry.triples import triple
from nearfield.guides.section import Section, linked

GROWTH = 1.4  # of a virtual cell over the one before it
REACH = 10.0  # thickness of the virtual cells over the rectangle's longer side; eps_eff of microstrip within 1e-4
WALL = 1e-6  # part of a cell: what stands for less beyond a line is a wall

Beyond = tuple[int, int]  # numbers of virtual cells below and above


@dataclass(frozen=True)
class Outspread:
    """`section` is the continued one, `beyond` its virtual cells along u and v.

    `inside`: numbers of its live edges that are those of the rectangle, in their order; `border`: which of them lie
    along the rectangle's border.
    """

    section: Section
    beyond: tuple[Beyond, Beyond]
    inside: np.ndarray
    border: np.ndarray


def outspread(section: Section) -> Outspread:
    """The section of a rectangle, continued."""
    reach = REACH * max(part.sum() for part in section.primary)
    spans = [continued(cells, dual, reach) for cells, dual in zip(section.primary, section.dual)]
    primary, beyond = (spans[0][0], spans[1][0]), (spans[0][1], spans[1][1])

    def spread(values: np.ndarray) -> np.ndarray:
        return np.pad(values, beyond, mode="edge")

    filling, dual = section.filling, (np.convolve(primary[0], (0.5, 0.5)), np.convolve(primary[1], (0.5, 0.5)))
    live_n = spread(section.live_n)
    live_u, live_v = (spread(mask) for mask in section.live)
    for mask, node, (low, high) in ((live_u, live_n, beyond[0]), (live_v.T, live_n.T, beyond[1])):
        mask[:low] &= node[low]  # behind a metal border there is metal alone
        mask[mask.shape[0] - high :] &= node[-1 - high]
    for mask in (live_u.T, live_v, live_n, live_n.T):
        mask[[0, -1]] = False
    spread_filling = replace(
        filling,
        electric=triple(spread(part) for part in filling.electric),
        magnetic=triple(spread(part) for part in filling.magnetic),
        open_u=spread(filling.open_u),
        open_v=spread(filling.open_v),
    )
    cells = live_u[:, 1:] | live_u[:, :-1] | live_v[1:] | live_v[:-1]
    wide = Section(section.place, live_u, live_v, live_n, cells, primary, dual, spread_filling)
    own = [np.pad(np.ones(mask.shape, bool), beyond)[live] for mask, live in zip(section.live, wide.live)]
    rim = [mask[live] for mask, live in zip(rims(wide, beyond), wide.live)]
    return Outspread(wide, beyond, np.flatnonzero(np.concatenate(own)), np.concatenate(rim))


def continued(cells: np.ndarray, dual: np.ndarray, reach: float) -> tuple[np.ndarray, Beyond]:
    """Lengths of cells along an axis with virtual ones on both sides, and their numbers; none beyond a wall."""
    more = []
    for at in (0, -1):
        first = 2 * dual[at] - cells[at]  # the grid's own next cell; half a cell stands at a wall
        count = (
            int(np.ceil(np.log(1 + reach * (GROWTH - 1) / first) / np.log(GROWTH))) if first > WALL * cells[at] else 0
        )
        more.append(first * GROWTH ** np.arange(count))
    low, high = more
    return np.concatenate((low[::-1], cells, high)), (low.size, high.size)


def rims(section: Section, beyond: tuple[Beyond, Beyond]) -> tuple[np.ndarray, np.ndarray]:
    """Which E_u and E_v lie along the border of the rectangle."""
    along_u, along_v = np.zeros(section.live_u.shape, bool), np.zeros(section.live_v.shape, bool)
    for mask, (low, high) in ((along_v, beyond[0]), (along_u.T, beyond[1])):
        mask[low] = mask[-1 - high] = True
    return along_u, along_v


def rectangle(wide: Outspread) -> tuple[slice, slice]:
    """The nodes of the continued section along u and v without the wall behind virtual cells."""
    u, v = (slice(1 if low else None, -1 if high else None) for low, high in wide.beyond)
    return u, v


def alone(wide: Outspread) -> bool:
    """Whether no conductor goes on to the wall behind the virtual cells."""
    live = wide.section.live_n[rectangle(wide)]
    return bool(live[[0, -1]].all() and live[:, [0, -1]].all())


def conductor_numbers(wide: Outspread) -> np.ndarray:
    """Numbers of the conductors at all nodes, -1 at none; the wall behind the virtual cells joins none together."""
    section, numbers = wide.section, np.full(wide.section.live_n.shape, -1)
    u, v = rectangle(wide)
    dead = ~section.live_n[u, v]
    along_u, along_v = ~section.live_u[:, v], ~section.live_v[u]
    along_u = along_u[1 if wide.beyond[0][0] else 0 : -1 if wide.beyond[0][1] else None]
    along_v = along_v[:, 1 if wide.beyond[1][0] else 0 : -1 if wide.beyond[1][1] else None]
    label = linked(along_u & dead[1:] & dead[:-1], along_v & dead[:, 1:] & dead[:, :-1])
    found, number = np.unique(label[dead], return_inverse=True)
    inner = numbers[u, v]
    inner[dead] = number
    numbers[numbers < 0] = np.where(section.live_n[numbers < 0], -1, found.size)  # the wall
    return numbers.ravel()
