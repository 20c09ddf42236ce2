"""What lets the field that is odd about the plane of thin metal pass a rim as if the grid were whole there.

The even field of rim_field.py leaves the flux psi on cell centres free: the grid has phi on its nodes whatever they
are. The next field that a rim knows is phi = z, uniform and odd about the plane. It crosses the links along the normal
alone, one for each unit of z, so that to first order a rim adds as much of it as the sum over these links of m - 1.
This sum is made zero by changes of psi on the centres beside the plane, the least in the sum of squares of what they
change about each link over what the even field sends through it.

Lengths here are in cells across the rim, nodes at the distances i - t from it; `aspect` is the cell's height over that.
"""

from __future__ import annotations

import numpy as np

ASPECTS = 0.125, 8.0  # heights of cells that are told apart; flatter and taller ones count as these
MOST = 0.5  # of the even field's flux through a link that changes: m stays positive
ON_RIM = 1e-6  # cells; nodes nearer to the rim lie on it
TURN = 1e-3  # cells from the middle of a gap within which links across the plane count as so far before it


def rim_field(place: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """phi + j psi at s + j z about a rim before a narrow gap of a width, or before none (inf)."""
    found: np.ndarray = np.sqrt(place)
    near = np.broadcast_to(np.isfinite(gap), found.shape)
    if near.any():
        width = np.broadcast_to(gap, found.shape)[near]
        found[near] = np.arcsin(2.0 * place[near] / width - 1.0) + 0.5 * np.pi
    return found


def odd_flux(distance: np.ndarray, aspect: np.ndarray, gap: np.ndarray, reach: float) -> np.ndarray:
    """Change of psi of centres above the plane at some distances (cells) outside a rim, in roots of a cell.

    Samples up to `reach` cells from the rim, of the larger of width and height, count with m. Before narrow gaps of a
    width `gap` (cells; else inf) changes are without a unit, as their psi is.
    """
    found = np.empty(distance.shape)
    for own in (np.isinf(gap), np.isfinite(gap)):
        if own.any():
            offset = _beside_turn(np.mod(0.5 - distance[own], 1.0), gap[own])
            kinds = np.stack((offset, np.clip(aspect[own], *ASPECTS), gap[own]))
            kinds[0] = np.where(kinds[0] > 1.0 - ON_RIM, 0.0, kinds[0])
            kinds, back = np.unique(kinds, axis=1, return_inverse=True)
            change = _changes(kinds[0], kinds[1], kinds[2], reach)
            number = np.rint(distance[own] + kinds[0][back.ravel()] - 0.5).astype(int) + _before(kinds[1], reach)
            known = (number >= 0) & (number < change.shape[1])
            found[own] = np.where(known, change[back.ravel(), np.where(known, number, 0)], 0.0)
    return found


def _beside_turn(offset: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Offsets t, of which none has a node in the middle of a gap: the links there have a field without a sign."""
    middle = np.where(np.isfinite(gap), 0.5 * gap, 0.25 - offset)
    within = np.abs(np.mod(middle + offset + 0.5, 1.0) - 0.5) < TURN * (1.0 + ON_RIM)
    return np.where(within, np.mod(TURN - middle, 1.0), offset)


def _before(aspect: np.ndarray, reach: float) -> int:
    """Number of centres before the rim that are looked at."""
    return int(np.ceil((reach * np.maximum(aspect, 1.0)).max(initial=0.0))) + 2


def _changes(offset: np.ndarray, aspect: np.ndarray, gap: np.ndarray, reach: float) -> np.ndarray:
    """Changes of psi by offset t and centre, that with the number `_before` between the nodes at -t and 1 - t."""
    felt = reach * np.maximum(aspect, 1.0)
    count, single = _before(aspect, reach), bool(np.isinf(gap).all())
    beyond = 0 if single else int(np.ceil(gap.max()))
    levels = int(np.ceil((felt / aspect).max(initial=0.0) + 0.5)) + 1
    s, height = np.arange(-count, count + beyond + 2) - offset[:, None], aspect[:, None] * np.arange(levels + 1)
    nodes, between = s[:, :, None], 0.5 * (height[:, 1:] + height[:, :-1])[:, None]
    phi = rim_field(nodes + 1j * height[:, None], gap[:, None, None]).real
    psi = rim_field(0.5 * (nodes[:, 1:] + nodes[:, :-1]) + 1j * between, gap[:, None, None]).imag
    phi[:, :, 0] = np.where(s < ON_RIM, 0.0, phi[:, :, 0])
    slope, flux = np.diff(phi, axis=2)[:, 1:-1] / aspect[:, None, None], -np.diff(psi, axis=1)
    away = np.where(nodes > 0.5 * gap[:, None, None], nodes - gap[:, None, None], nodes)[:, 1:-1]  # from the nearer rim
    active = (np.abs(away) < felt[:, None, None] - ON_RIM) & (between < felt[:, None, None] - ON_RIM)
    excess = np.sum(np.where(active, flux / slope - 1.0, 0.0), axis=(1, 2))

    slope, flux, active = slope[:, :, 0], flux[:, :, 0], active[:, :, 0]
    free = np.pad(active[:, 1:] & active[:, :-1], ((0, 0), (1, 1)))
    gain = np.pad(1.0 / slope[:, 1:] - 1.0 / slope[:, :-1], ((0, 0), (1, 1))) * free  # of the sum, by a change of psi
    opened = (s[:, 1:] > ON_RIM) & (s[:, :-1] < gap[:, None] - ON_RIM)
    beside = np.where(opened, psi[:, :, 0] ** -2.0, 0.0) + (psi[:, :, 1] - psi[:, :, 0]) ** -2.0
    change = _least(_squares(flux**-2.0, beside, free), gain, -excess)
    largest = np.maximum(np.abs(np.diff(change, axis=1) / flux).max(axis=1), (np.abs(change) * beside**0.5).max(axis=1))
    return change * np.minimum(1.0, MOST / np.maximum(largest, MOST))[:, None]


def _squares(upright: np.ndarray, beside: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Matrices of the sum of squares of relative changes of links: `upright` links differ by two centres, others are
    `beside` one; centres that are not `free` stay."""
    number = np.arange(free.shape[1])
    weight = np.pad(upright, ((0, 0), (1, 1)))
    matrix = np.zeros((*free.shape, free.shape[1]))
    matrix[:, number, number] = np.where(free, beside + weight[:, 1:] + weight[:, :-1], 1.0)
    coupled = -upright * (free[:, 1:] & free[:, :-1])
    matrix[:, number[1:], number[:-1]] = matrix[:, number[:-1], number[1:]] = coupled
    return matrix


def _least(matrix: np.ndarray, gain: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The change with the least sum of squares whose gains add up to what is wanted."""
    along = np.linalg.solve(matrix, gain[:, :, None])[:, :, 0]
    total = np.sum(gain * along, axis=1)
    return along * (wanted / np.where(total > 0.0, total, np.inf))[:, None]
