"""The currents of an open line's mode in its conductors, by which its impedance is power over their square.

A slot's two conductors both run on outward without end, and the current of a wave along it lies in all of them: what is
usual then is power over the voltage across the slot, Z = V^2/(2 P) with peak values (Cohn 1969). For it `slot_voltages`
stand instead of currents: I = 2 P/V.
"""

from __future__ import annotations

import numpy as np

from nearfield.guides.loaded import whole
from nearfield.guides.loaded_mode import LoadedMode
from nearfield.guides.modes import differences, flat_edges, on_edges
from nearfield.guides.outspread import Outspread, conductor_numbers
from nearfield.guides.section import Section

Gap = tuple[bool, int, int, int]  # whether along u; row; nodes at its ends


def line_currents(wide: Outspread, mode: LoadedMode) -> np.ndarray:
    """(points,): amperes over the modal current at each frequency of a mode on the continued section.

    Half the sum of the absolute currents in all conductors; of a slot the modal over the slot's voltage; 0 where there
    are not two conductors.
    """
    numbers = conductor_numbers(wide)
    count = np.unique(numbers[numbers >= 0]).size - np.any(wide.beyond)  # the wall behind virtual cells is none
    if count < 2:
        return np.zeros(len(mode.frequencies))
    gap = slot(wide, numbers.reshape(wide.section.live_n.shape)) if count == 2 else None
    if gap:
        return 1.0 / np.abs(mode.electric_parts @ slot_voltages(wide.section, mode.electric, gap))
    currents = mode.magnetic_parts @ conductor_currents(wide.section, mode.magnetic, numbers)
    return 0.5 * np.abs(currents).sum(axis=1)


def conductor_currents(section: Section, magnetic: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """(profiles, conductors): H round each; `numbers` of the conductors at all nodes, -1 at none."""
    area, live, _ = flat_edges(section)
    operator = differences(section, te=False)[0][np.flatnonzero(live)]
    flows = operator.T @ (area[np.flatnonzero(live), None] * magnetic.T)
    return np.stack([flows[numbers == n].sum(axis=0) for n in range(numbers.max() + 1)], axis=1)


def slot(wide: Outspread, numbers: np.ndarray) -> Gap | None:
    """The narrowest straight way between two conductors that both reach the rectangle's border; None if they do not.

    `numbers` (nodes u, nodes v): of the conductors, -1 at no metal.
    """
    (low_u, high_u), (low_v, high_v) = wide.beyond
    own = numbers[low_u : numbers.shape[0] - high_u, low_v : numbers.shape[1] - high_v]
    ends = [own[0]] * bool(low_u) + [own[-1]] * bool(high_u) + [own[:, 0]] * bool(low_v) + [own[:, -1]] * bool(high_v)
    if np.unique(own[own >= 0]).size != 2 or np.unique([n for end in ends for n in end if n >= 0]).size != 2:
        return None
    found: list[tuple[float, Gap]] = []
    for along_u, rows, cells, first, other in (
        (True, own.T, wide.section.primary[0], low_u, low_v),
        (False, own, wide.section.primary[1], low_v, low_u),
    ):
        places = np.concatenate(([0.0], np.cumsum(cells)))
        for row, labels in enumerate(rows):
            metal = np.flatnonzero(labels >= 0)
            for a, b in zip(metal[:-1] + first, metal[1:] + first):
                if labels[a - first] != labels[b - first]:
                    found.append((float(places[b] - places[a]), (along_u, row + other, int(a), int(b))))
    return min(found)[1] if found else None


def slot_voltages(section: Section, electric: np.ndarray, gap: Gap) -> np.ndarray:
    """(profiles,): the integral of E along the way; arrays hold E times the open part of an edge."""
    along_u, row, a, b = gap
    cells = section.primary[0 if along_u else 1][a:b]
    fields = (on_edges(section, whole(section, profile)) for profile in electric)
    return np.array([cells @ (u[a:b, row] if along_u else v[row, a:b]) for u, v in fields])
