"""A paraboloid by physical optics: the currents 2 n x H that its feed would have on a mirror, and what they radiate.

Focus at the origin, vertex at z = -f, beam along +z; fields exp(+j w t), far fields times r exp(+j k r), as in
`FarField`. Source: Balanis, Antenna Theory, 4th ed., section 15.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearfield.analysis.farfield import intensity, unit_vectors

C, ETA = 299792458.0, 376.730313412
Vectors = np.ndarray  # (points, 3)


@dataclass(frozen=True)
class Paraboloid:
    """z = r^2/(4 f) - f from the radius `blocked` to the rim (m)."""

    diameter: float
    focal_length: float
    blocked: float = 0.0

    def points(self, wavelength: float) -> tuple[Vectors, Vectors]:
        """Places on it, and the normals towards the focus times the area that each stands for (m^2)."""
        rim = 0.5 * self.diameter
        rings = 16 + int(4 * rim / wavelength)
        turns = 16 + 2 * int(4 * np.pi * rim / wavelength)  # twice the highest order of exp(j k r sin(theta) cos(phi))
        node, weight = np.polynomial.legendre.leggauss(rings)
        half = 0.5 * (rim - self.blocked)
        r, phi = (
            grid.ravel()
            for grid in np.meshgrid(
                self.blocked + half * (1 + node), 2 * np.pi * np.arange(turns) / turns, indexing="ij"
            )
        )
        area = np.repeat(half * weight, turns) * 2 * np.pi / turns * r
        place = np.stack((r * np.cos(phi), r * np.sin(phi), r**2 / (4 * self.focal_length) - self.focal_length), -1)
        slope = r / (2 * self.focal_length)
        normal = np.stack((-slope * np.cos(phi), -slope * np.sin(phi), np.ones_like(r)), -1)
        return place, normal * area[:, None]

    def far_fields(
        self, feed: Callable[[Vectors], Vectors], frequency: float, theta: np.ndarray, phi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(E_theta, E_phi) of its currents at paired angles (rad), where the feed's H at places is `feed(places)`."""
        place, normal = self.points(C / frequency)
        current, k = 2 * np.cross(normal, feed(place)), 2 * np.pi * frequency / C
        radial, along_theta, along_phi = unit_vectors(theta, phi)
        radiated = np.exp(1j * k * radial @ place.T) @ current
        factor = -1j * k * ETA / (4 * np.pi)
        return tuple(factor * np.sum(radiated * along, axis=-1) for along in (along_theta, along_phi))


@dataclass(frozen=True)
class HuygensArray:
    """Crossed dipoles on the z axis, p along x with m = -eta p along y: each radiates 1 - cos(theta), away from +z.

    `moments`: those of p (A m), complex, at the heights `z` (m).
    """

    z: np.ndarray
    moments: np.ndarray
    frequency: float

    @property
    def wave_number(self) -> float:
        return 2 * np.pi * self.frequency / C

    def magnetic_field(self, places: Vectors) -> Vectors:
        """H (A/m) at places, the near field included."""
        k, total = self.wave_number, 0.0
        electric, magnetic = np.array([1.0, 0, 0]), np.array([0, -ETA, 0])
        for z, moment in zip(self.z, self.moments):
            apart = places - (0, 0, z)
            distance = np.linalg.norm(apart, axis=1, keepdims=True)
            away, near = apart / distance, 1 / (1j * k * distance)
            green = moment * np.exp(-1j * k * distance) / (4 * np.pi * distance)
            along = np.sum(away * magnetic, axis=1, keepdims=True) * away
            total = total - 1j * k * green * (1 + near) * np.cross(away, electric)
            transverse = magnetic - along + (near + near**2) * (magnetic - 3 * along)
            total = total - 1j * k / ETA * green * transverse
        return total

    def far_fields(self, theta: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(E_theta, E_phi) at paired angles (rad)."""
        phases = np.exp(1j * self.wave_number * np.outer(np.cos(theta), self.z)) @ self.moments
        size = -1j * self.wave_number * ETA / (4 * np.pi) * phases * (np.cos(theta) - 1)
        return size * np.cos(phi), size * np.sin(phi)

    def power(self) -> float:
        """Power radiated (W)."""
        return sphere_power(self.far_fields)


def sphere_power(far_fields: Callable, order: int = 200) -> float:
    """The intensity of far fields over the whole sphere (W)."""
    cosine, weight = np.polynomial.legendre.leggauss(order)
    phi = 2 * np.pi * np.arange(8) / 8
    theta, phi = (grid.ravel() for grid in np.meshgrid(np.arccos(cosine), phi, indexing="ij"))
    return float(np.repeat(weight, 8) @ intensity(*far_fields(theta, phi), ETA)) * 2 * np.pi / 8


def beamwidth(theta: np.ndarray, pattern: np.ndarray) -> float:
    """Width (degrees) at half the power of a beam along +z that falls from the first angle (rad) on."""
    beyond = int(np.argmax(pattern < 0.5 * pattern[0]))
    ends = [beyond, beyond - 1]
    return float(2 * np.degrees(np.interp(0.5, pattern[ends] / pattern[0], theta[ends])))
