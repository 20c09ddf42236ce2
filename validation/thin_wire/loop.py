"""The impedance of a square loop of round wire by the method of moments, beside half_wave_dipole/moments.py.

The same mixed potentials, linear currents and kernel; segments at right angles share charges alone.
"""

from __future__ import annotations

import numpy as np

from validation.half_wave_dipole.moments import ETA, C, kernel


def impedance(frequency: float, side: float, radius: float, segments: int) -> complex:
    """Input impedance (ohm) at the middle of a side with an even number of segments on each."""
    k, segment = 2 * np.pi * frequency / C, side / segments
    mutual, along = potentials(k, side, radius, segments)
    count = 4 * segments
    joint = np.arange(count)
    mean, slope = np.zeros((count, count)), np.zeros((count, count))
    mean[joint, joint] = mean[joint - 1, joint] = 0.5
    slope[joint - 1, joint], slope[joint, joint] = 1.0, -1.0
    matrix = 1j * ETA * (k * segment**2 * mean.T @ (mutual * along) @ mean - slope.T @ mutual @ slope / k)
    feed = segments // 2
    return complex(1 / np.linalg.solve(matrix, np.eye(count)[feed])[feed])


def potentials(k: float, side: float, radius: float, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean of exp(-jkR)/(4 pi R) over pairs of segments round the loop, and the cosine between them."""
    segment = side / segments
    nodes, weights = np.polynomial.legendre.leggauss(12)
    place = segment * (np.arange(segments)[:, None] + 0.5 + 0.5 * nodes).ravel() - 0.5 * side
    turns = np.exp(0.5j * np.pi * np.arange(4))  # corners are passed anticlockwise
    points = (turns[:, None] * (place - 0.5j * side)).ravel()
    distance = np.sqrt(np.abs(points[:, None] - points) ** 2 + radius**2)
    value = np.exp(-1j * k * distance) / (4 * np.pi * distance)
    count = 4 * segments
    weight = 0.5 * weights
    mutual = np.einsum("iajb,a,b->ij", value.reshape(count, nodes.size, count, nodes.size), weight, weight)
    number = np.arange(segments)
    own = kernel(k, segment, segments, radius)[np.abs(number[:, None] - number)]
    for turn in range(4):
        part = slice(turn * segments, (turn + 1) * segments)
        mutual[part, part] = own
    direction = np.repeat(turns, segments)
    return mutual, np.real(direction[:, None] * direction.conj())
