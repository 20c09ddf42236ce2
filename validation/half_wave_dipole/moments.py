"""The impedance of a straight round wire by the method of moments, as an independent reference.

Mixed-potential integral equation along the axis of a thin wire (Harrington 1968, chapter 4): the current is piecewise
linear between equally spaced nodes and zero at the ends, the charge piecewise constant, the kernel exp(-jkR)/(4 pi R)
with R^2 = z^2 + a^2, the field is tested with the same triangles. The feed is a voltage at
one of the nodes.
"""

from __future__ import annotations

import numpy as np

C = 299792458.0
ETA = 376.730313412  # ohm


def kernel(wave_number: float, segment: float, count: int, radius: float) -> np.ndarray:
    """Mean over two segments n apart, n = 0 .. count - 1, of exp(-jkR)/(4 pi R).

    The double integral over two segments of length s is one over their distance, weighted by the triangle
    1 - abs(u)/s; substituting z = a sinh(t) makes it smooth.
    """
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros(count, dtype=complex)
    for side in (-1.0, 0.0):  # the two slopes of the triangle
        low = np.arcsinh((np.arange(count) + side) * segment / radius)
        high = np.arcsinh((np.arange(count) + side + 1) * segment / radius)
        half = 0.5 * (high - low)
        t = 0.5 * (high + low)[:, None] + half[:, None] * nodes
        z = radius * np.sinh(t)
        distance = radius * np.cosh(t)
        triangle = 1 - np.abs(z / segment - np.arange(count)[:, None])
        total += half * ((triangle * np.exp(-1j * wave_number * distance)) @ weights)
    return total / (4 * np.pi * segment)


def currents(frequency: float, length: float, radius: float, segments: int, joint: int) -> np.ndarray:
    """Current (A) at the `segments - 1` joints of the wire, 1 V being applied at one of them."""
    k, segment = 2 * np.pi * frequency / C, length / segments
    number = np.arange(segments)
    mutual = kernel(k, segment, segments, radius)[np.abs(number[:, None] - number)]
    inner = np.arange(segments - 1)
    mean = np.zeros((segments, segments - 1))  # of the current in a segment
    slope = np.zeros((segments, segments - 1))  # its change along a segment, the charge
    mean[inner, inner] = mean[inner + 1, inner] = 0.5
    slope[inner, inner], slope[inner + 1, inner] = 1.0, -1.0
    # the linear current is replaced by its mean in each segment: an error of second order in segment over wavelength
    matrix = 1j * ETA * (k * segment**2 * mean.T @ mutual @ mean - slope.T @ mutual @ slope / k)
    return np.linalg.solve(matrix, np.eye(segments - 1)[joint])


def impedance(frequency: float, length: float, radius: float, segments: int, joint: int) -> complex:
    """Input impedance (ohm) at a joint of the wire."""
    return complex(1 / currents(frequency, length, radius, segments, joint)[joint])


def pattern(frequency: float, length: float, radius: float, segments: int, joint: int) -> tuple[float, float]:
    """(largest directivity, beamwidth in degrees between its half-power points)."""
    current = currents(frequency, length, radius, segments, joint)
    z = (np.arange(1, segments) - 0.5 * segments) * length / segments
    theta = np.radians(np.linspace(0, 180, 1441))
    phase = np.exp(2j * np.pi * frequency / C * np.cos(theta)[:, None] * z)
    intensity = np.abs(phase @ current * np.sin(theta)) ** 2
    mean = 0.5 * float(np.sum(intensity * np.sin(theta))) * (theta[1] - theta[0])
    beam = theta[intensity >= 0.5 * intensity.max()]
    return float(intensity.max()) / mean, float(np.degrees(beam[-1] - beam[0]))
