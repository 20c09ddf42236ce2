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


def odd_flux(distance: np.ndarray, aspect: np.ndarray, reach: float) -> np.ndarray:
    """Change of psi of centres above the plane at some distances (cells) outside a rim, in roots of a cell.

    Samples up to `reach` cells from the rim, of the larger of width and height, count with m.
    """
    pairs = np.stack((np.mod(0.5 - distance, 1.0), np.clip(aspect, *ASPECTS)))
    pairs[0] = np.where(pairs[0] > 1.0 - ON_RIM, 0.0, pairs[0])
    pairs, back = np.unique(pairs, axis=1, return_inverse=True)
    change = _changes(pairs[0], pairs[1], reach)
    number = np.rint(distance + pairs[0][back.ravel()] - 0.5).astype(int) + change.shape[1] // 2
    known = (number >= 0) & (number < change.shape[1])
    return np.where(known, change[back.ravel(), np.where(known, number, 0)], 0.0)


def _changes(offset: np.ndarray, aspect: np.ndarray, reach: float) -> np.ndarray:
    """Changes of psi by offset t and centre, the middle one that between the nodes at -t and 1 - t."""
    felt = reach * np.maximum(aspect, 1.0)
    count = int(np.ceil(felt.max(initial=0.0))) + 2
    levels = int(np.ceil((felt / aspect).max(initial=0.0) + 0.5)) + 1
    s, height = np.arange(-count, count + 2) - offset[:, None], aspect[:, None] * np.arange(levels + 1)
    nodes, between = s[:, :, None], 0.5 * (height[:, 1:] + height[:, :-1])[:, None]
    phi = np.sqrt(nodes + 1j * height[:, None]).real
    psi = np.sqrt(0.5 * (nodes[:, 1:] + nodes[:, :-1]) + 1j * between).imag
    phi[:, :, 0] = np.where(s < ON_RIM, 0.0, phi[:, :, 0])
    slope, flux = np.diff(phi, axis=2)[:, 1:-1] / aspect[:, None, None], -np.diff(psi, axis=1)
    active = (np.abs(nodes[:, 1:-1]) < felt[:, None, None] - ON_RIM) & (between < felt[:, None, None] - ON_RIM)
    excess = np.sum(np.where(active, flux / slope - 1.0, 0.0), axis=(1, 2))

    slope, flux, active = slope[:, :, 0], flux[:, :, 0], active[:, :, 0]
    free = np.pad(active[:, 1:] & active[:, :-1], ((0, 0), (1, 1)))
    gain = np.pad(1.0 / slope[:, 1:] - 1.0 / slope[:, :-1], ((0, 0), (1, 1))) * free  # of the sum, by a change of psi
    beside = np.where(s[:, 1:] > ON_RIM, psi[:, :, 0] ** -2.0, 0.0) + (psi[:, :, 1] - psi[:, :, 0]) ** -2.0
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
