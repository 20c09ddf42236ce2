"""From tangential fields on a closed surface to the far field, walls of the domain as ground by image currents.

    J = n x H,  M = -n x E                                   equivalent currents on the surface
    N(r) = integral J exp(j k r.r') dS,  L(r) = integral M exp(j k r.r') dS
    E_theta = -j k / (4 pi) (L_phi + eta N_theta),  E_phi = j k / (4 pi) (L_theta - eta N_phi)

times exp(-j k r) / r, phase centre at the origin of coordinates (Balanis, Antenna Theory, 4th ed., section 12.2).

Samples enter at their own Yee positions. Along a face E and H need no averaging. Across it, and in time, H was
averaged from half a cell and half a step to either side: for a wave of normal wave number k_n that is the factor

    a(k_n) = (w1 cos(k_n h1/2) + w2 cos(k_n h2/2)) cos(w dt/2)

Waves that radiate from a face towards r have k_n = +-k r_n, so N of the face is divided by sqrt(a(k r_n)) and L
multiplied by it. Nothing leaks backward then (plain averaging: an amplitude of (kh)^2/16, several per cent of the
pattern's nulls), and the intensity a/(2 eta) abs(E)^2 is the grid's own power, as in `flux`: integrated over the
sphere it equals the flux, and a lossless antenna has the efficiency 1, at any cell size.

A PEC wall at z0 mirrors the currents: tangential J and normal M change sign, the others stay; a PMC wall the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.analysis.faces import Face
from nearfield.analysis.flux import trapezoid
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED

DIRECTIONS_AT_ONCE = 2048  # keeps the phase tables of a large face within tens of MB


@dataclass(frozen=True)
class Wall:
    """An infinite wall of the domain: its axis (0, 1, 2), place (m), kind, and the side the fields are on."""

    axis: int
    position: float
    kind: str  # "pec" | "pmc"
    side: int  # +1: fields above the wall (a low wall), -1: below


@dataclass(frozen=True)
class Exterior:
    """The surroundings of the surface: a lossless medium, the walls, and axes across which fields are symmetric."""

    permittivity: float = 1.0
    permeability: float = 1.0
    walls: tuple[Wall, ...] = ()
    mirrors: tuple[int, ...] = ()

    @property
    def impedance(self) -> float:
        """Wave impedance (ohm)."""
        return VACUUM_IMPEDANCE * (self.permeability / self.permittivity) ** 0.5

    def wavenumber(self, frequencies: np.ndarray) -> np.ndarray:
        """k = 2 pi f sqrt(eps_r mu_r) / c (1/m)."""
        return 2 * np.pi * frequencies * (self.permittivity * self.permeability) ** 0.5 / VACUUM_SPEED


def unit_vectors(theta: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The spherical unit vectors r, theta, phi at paired angles, each (directions, 3)."""
    sin_t, cos_t, sin_p, cos_p = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    radial = np.stack([sin_t * cos_p, sin_t * sin_p, cos_t], axis=-1)
    along_theta = np.stack([cos_t * cos_p, cos_t * sin_p, -sin_t], axis=-1)
    return radial, along_theta, np.stack([-sin_p, cos_p, np.zeros_like(phi)], axis=-1)


def far_fields(
    faces: list[Face], exterior: Exterior, frequencies: np.ndarray, theta: np.ndarray, phi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """E_theta and E_phi times r exp(+j k r) at paired angles (rad), each (frequency, directions).

    Unit: the unit of the faces' E times metre, V s for spectra of a run.
    """
    wavenumbers = exterior.wavenumber(frequencies)
    fields = np.empty((2, frequencies.size, theta.size), complex)
    for start in range(0, theta.size, DIRECTIONS_AT_ONCE):
        part = slice(start, start + DIRECTIONS_AT_ONCE)
        radial, along_theta, along_phi = unit_vectors(theta[part], phi[part])
        n, l = vectors_with_images(faces, exterior.walls, wavenumbers, radial)
        n = n * exterior.impedance
        factor = 1j * wavenumbers[:, None] / (4 * np.pi)
        fields[0, :, part] = -factor * (np.sum(l * along_phi, axis=-1) + np.sum(n * along_theta, axis=-1))
        fields[1, :, part] = factor * (np.sum(l * along_theta, axis=-1) - np.sum(n * along_phi, axis=-1))
    return fields[0], fields[1]


def vectors_with_images(
    faces: list[Face], walls: tuple[Wall, ...], wavenumbers: np.ndarray, radial: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """N and L of the surface and of its mirror images in the walls, each (frequency, directions, 3)."""
    if not walls:
        return radiation_vectors(faces, wavenumbers, radial)
    wall, rest = walls[0], walls[1:]
    n, l = vectors_with_images(faces, rest, wavenumbers, radial)
    mirror = np.ones(3)
    mirror[wall.axis] = -1
    n_image, l_image = vectors_with_images(faces, rest, wavenumbers, radial * mirror)
    phase = np.exp(2j * np.outer(wavenumbers, radial[:, wall.axis]) * wall.position)[:, :, None]
    sign = -1 if wall.kind == "pec" else 1
    return n + sign * mirror * phase * n_image, l - sign * mirror * phase * l_image


def radiation_vectors(faces: list[Face], wavenumbers: np.ndarray, radial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """N (A m) and L (V m) of the faces towards the directions `radial`, each (frequency, directions, 3)."""
    n = np.zeros((wavenumbers.size, len(radial), 3), dtype=complex)
    l = np.zeros_like(n)
    for index, wavenumber in enumerate(wavenumbers):
        for face in faces:
            _add_face(face, index, wavenumber * radial, n[index], l[index])
    return n, l


def _add_face(face: Face, index: int, k: np.ndarray, n: np.ndarray, l: np.ndarray) -> None:
    axis, (b, c) = face.axis, ((face.axis + 1) % 3, (face.axis + 2) % 3)
    (e_b, e_c), (h_b, h_c) = ([field[index] for field in pair] for pair in (face.electric, face.magnetic))
    half_b, node_b = _phases(face.nodes[0], k[:, b])
    half_c, node_c = _phases(face.nodes[1], k[:, c])
    across = face.outward * np.exp(1j * k[:, axis] * face.position)
    root = np.sqrt(averaging_factor(face.beside, k[:, axis]) * face.time_factor[index])
    n[:, b] -= across / root * _sum(h_c, half_b, node_c)
    n[:, c] += across / root * _sum(h_b, node_b, half_c)
    l[:, b] += across * root * _sum(e_c, node_b, half_c)
    l[:, c] -= across * root * _sum(e_b, half_b, node_c)


def averaging_factor(beside: tuple[float, float], normal_wavenumber: np.ndarray) -> np.ndarray:
    """The factor by which interpolating H from half a cell below and above changes a wave of this normal wave number.

    At least 0.1, since a grid of under three cells per wavelength would divide by zero.
    """
    below, above = beside
    cosines = above * np.cos(0.5 * normal_wavenumber * below) + below * np.cos(0.5 * normal_wavenumber * above)
    return np.maximum(cosines / (below + above), 0.1)


def _phases(nodes: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted phases exp(j k x) w at the half positions and at the nodes, each (samples, directions)."""
    half = np.exp(1j * np.outer(0.5 * (nodes[1:] + nodes[:-1]), k)) * np.diff(nodes)[:, None]
    return half, np.exp(1j * np.outer(nodes, k)) * trapezoid(nodes)[:, None]


def _sum(field: np.ndarray, phases_b: np.ndarray, phases_c: np.ndarray) -> np.ndarray:
    return np.einsum("bd,bd->d", phases_b, field @ phases_c)


def intensity(e_theta: np.ndarray, e_phi: np.ndarray, impedance: float) -> np.ndarray:
    """Radiation intensity (power per steradian) 1/(2 eta) (abs(E_theta)^2 + abs(E_phi)^2) of fields times r."""
    return (np.abs(e_theta) ** 2 + np.abs(e_phi) ** 2) / (2 * impedance)


def sphere_power(faces: list[Face], exterior: Exterior, frequencies: np.ndarray) -> np.ndarray:
    """Radiated power, the intensity integrated over all directions, (frequency,).

    Gauss-Legendre in cos(theta) times evenly spaced phi: exact for the intensity of sources within a sphere of radius
    R up to spherical harmonics of order 2 k R + 14. Where planes of symmetry or walls with their images make the sphere
    symmetric, one part of it stands for all; of a wall's two halves one is real.
    """
    order = 2 * (int(float(exterior.wavenumber(frequencies).max()) * _reach(faces, exterior.walls)) // 2) + 10
    cosine, weight = np.polynomial.legendre.leggauss(order)
    turns = 2 * order  # a multiple of four, half a step off the planes
    theta = np.repeat(np.arccos(cosine), turns)
    phi = np.tile(2 * np.pi * (np.arange(turns) + 0.5) / turns, order)
    share = np.repeat(weight * 2 * np.pi / turns, turns)
    for axis in {*exterior.mirrors, *(wall.axis for wall in exterior.walls)}:
        upper = unit_vectors(theta, phi)[0][:, axis] > 0
        theta, phi, share = theta[upper], phi[upper], 2 * share[upper]
    total = intensity(*far_fields(faces, exterior, frequencies, theta, phi), exterior.impedance) @ share
    return total / 2 ** len(exterior.walls)


def _reach(faces: list[Face], walls: tuple[Wall, ...]) -> float:
    """Radius (m) of a sphere about the surface and its images."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for face in faces:
        for along, span in enumerate((np.array([face.position]), *face.nodes)):
            axis = (face.axis + along) % 3
            low[axis], high[axis] = min(low[axis], span.min()), max(high[axis], span.max())
    for wall in walls:
        distance = max(abs(low[wall.axis] - wall.position), abs(high[wall.axis] - wall.position))
        low[wall.axis], high[wall.axis] = wall.position - distance, wall.position + distance
    return 0.5 * float(np.linalg.norm(high - low))


def allowed_directions(theta: np.ndarray, phi: np.ndarray, walls: tuple[Wall, ...]) -> np.ndarray:
    """Whether paired angles point into the half space of every wall (directions along the wall do)."""
    radial, inside = unit_vectors(theta, phi)[0], np.ones(theta.shape, dtype=bool)
    for wall in walls:
        inside &= wall.side * radial[..., wall.axis] >= -1e-9
    return inside
