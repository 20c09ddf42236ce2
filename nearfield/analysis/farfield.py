"""From tangential fields on a closed surface to the far field, walls of the domain as ground by image currents.

    J = n x H,  M = -n x E                                   equivalent currents on the surface
    N(r) = integral J exp(j k r.r') dS,  L(r) = integral M exp(j k r.r') dS
    E_theta = -j k / (4 pi) (L_phi + eta N_theta),  E_phi = j k / (4 pi) (L_theta - eta N_phi)

times exp(-j k r) / r, phase centre at the origin of coordinates (Balanis, Antenna Theory, 4th ed., section 12.2).

On the grid the surface is a reaction with plane waves (Lorentz's reciprocity): J is weighted by E, M by H of the wave
that comes from the direction r. With waves that are solutions on the grid (`grid_waves`), H interpolated to the face
and half weights at its rim, summation by parts makes the sum over a closed box the sum of the currents in it times E
of the wave, to rounding, for any box around them on any graded lines in an even lossless medium: no surface, its
distance, size or shape counts. With waves of the medium's k instead phases are wrong by (kh)^2/24 k R over a way R.

So N and L are those of the sources in free space, with the grid's phases. H enters at its own time: what was averaged
over half a step is divided by cos(w dt/2). The power that the grid radiates is larger, by its density of states and
discrete time, 1 + 0.056 (kh)^2 in cubic cells: fields are scaled to it by one number a frequency
(`pattern.surface_pattern`), so that it is the power of the flux and a lossless antenna has the efficiency 1.

A PEC wall at z0 mirrors the currents: tangential J and normal M change sign, the others stay; a PMC wall the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from nearfield.analysis.faces import Face
from nearfield.analysis.flux import trapezoid
from nearfield.analysis.grid_waves import AxisLine, grid_wavenumbers
from nearfield.analysis.surface import Surface
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.machine.linear_algebra import single_threaded
from nearfield.machine.schedule import by_threads

ALIKE = 13  # digits of the cosines of directions that count as one
DIRECTIONS_AT_ONCE = 256  # a block of the loop over them: the phase tables of a large face stay in a core's cache


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
    def places(self) -> dict[int, float]:
        """Places (m) of the walls by their axes."""
        return {wall.axis: wall.position for wall in self.walls}

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


@dataclass(frozen=True)
class Wave:
    """Number of a recorded frequency; wavenumbers (1/m) of free waves in the medium, and abs(K) of the grid's."""

    number: int
    free: float
    grid: float


def waves_of(surface: Surface, exterior: Exterior, frequencies: np.ndarray) -> list[Wave]:
    """The waves of all recorded frequencies."""
    free = exterior.wavenumber(frequencies)
    grid = grid_wavenumbers(free, frequencies, surface.time_step)
    return [Wave(number, *pair) for number, pair in enumerate(zip(free, grid))]


def far_fields(
    surface: Surface,
    exterior: Exterior,
    frequencies: np.ndarray,
    theta: np.ndarray,
    phi: np.ndarray,
    only: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """E_theta and E_phi times r exp(+j k r) at paired angles (rad), each (frequency, directions).

    only: the number of the one frequency that is wanted; the others are left zero. Unit: the unit of the faces' E times
    metre, V s for spectra of a run.
    """
    fields = np.zeros((2, frequencies.size, theta.size), complex)
    waves = waves_of(surface, exterior, frequencies)[slice(None) if only is None else slice(only, only + 1)]
    blocks = list(product(range(0, theta.size, DIRECTIONS_AT_ONCE), waves))

    def make(block: int) -> None:
        start, wave = blocks[block]
        part = slice(start, start + DIRECTIONS_AT_ONCE)
        fields[:, wave.number, part] = _fields_of(surface, exterior, wave, theta[part], phi[part])

    with single_threaded():
        by_threads(make, len(blocks))
    return fields[0], fields[1]


def _fields_of(
    surface: Surface, exterior: Exterior, wave: Wave, theta: np.ndarray, phi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`far_fields` of one wave, each (directions,)."""
    radial, along_theta, along_phi = unit_vectors(theta, phi)
    n, l = vectors_with_images(surface, exterior.walls, wave, radial)
    n = n * exterior.impedance
    factor = 1j * wave.free / (4 * np.pi)
    e_theta = -factor * (np.sum(l * along_phi, axis=-1) + np.sum(n * along_theta, axis=-1))
    return e_theta, factor * (np.sum(l * along_theta, axis=-1) - np.sum(n * along_phi, axis=-1))


def vectors_with_images(
    surface: Surface, walls: tuple[Wall, ...], wave: Wave, radial: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """N and L of the surface and of its mirror images in the walls, each (directions, 3)."""
    if not walls:
        return radiation_vectors(surface, wave, radial)
    wall, rest = walls[0], walls[1:]
    n, l = vectors_with_images(surface, rest, wave, radial)
    mirror = np.ones(3)
    mirror[wall.axis] = -1
    n_image, l_image = vectors_with_images(surface, rest, wave, radial * mirror)
    phase = np.exp(2j * wave.free * radial[:, wall.axis] * wall.position)[:, None]
    sign = -1 if wall.kind == "pec" else 1
    return n + sign * mirror * phase * n_image, l - sign * mirror * phase * l_image


def radiation_vectors(surface: Surface, wave: Wave, radial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """N (A m) and L (V m) of the faces towards the directions `radial`, each (directions, 3)."""
    n = np.zeros((len(radial), 3), dtype=complex)
    l = np.zeros_like(n)
    along = [_passing(line, wave, part) for line, part in zip(surface.lines, radial.T)]
    for face in surface.faces:
        _add_face(face, wave, along, n, l)
    return n, l


@dataclass(frozen=True)
class _Phases:
    """(places, values) along one axis, for all values of a direction's cosine, and which of them each direction has."""

    values: np.ndarray
    of: np.ndarray


@dataclass(frozen=True)
class _Passing:
    """Waves along one axis: F at the nodes and G between them, (places, values); see `_Phases`."""

    line: AxisLine
    f: np.ndarray
    g: np.ndarray
    of: np.ndarray

    def through(self, position: float, beside: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """F on a plane of nodes, and G interpolated to it from half a cell below and above, as H was; by direction."""
        at, (below, above) = self.line.index(position), beside
        g = (above * self.g[at - 1] + below * self.g[at]) / (below + above)
        return self.f[at, self.of], g[self.of]

    def over(self, nodes: np.ndarray) -> tuple[_Phases, _Phases]:
        """G and F with their weights (m) over a span of nodes."""
        first = self.line.index(nodes[0])
        f, g = self.f[first : first + nodes.size], self.g[first : first + nodes.size - 1]
        return _Phases(g * np.diff(nodes)[:, None], self.of), _Phases(f * trapezoid(nodes)[:, None], self.of)


def _passing(line: AxisLine, wave: Wave, cosines: np.ndarray) -> _Passing:
    """Along an axis, for the cosine of each direction with it: in rings about an axis there are few."""
    values, of = np.unique(cosines.round(ALIKE), return_inverse=True)
    return _Passing(line, *line.waves(wave.grid * values, wave.free * values), of)


def _add_face(face: Face, wave: Wave, along: list[_Passing], n: np.ndarray, l: np.ndarray) -> None:
    axis, (b, c) = face.axis, ((face.axis + 1) % 3, (face.axis + 2) % 3)
    (e_b, e_c), (h_b, h_c) = ([field[wave.number] for field in pair] for pair in (face.electric, face.magnetic))
    half_b, node_b = along[b].over(face.nodes[0])
    half_c, node_c = along[c].over(face.nodes[1])
    f, g = (face.outward * part for part in along[axis].through(face.position, face.beside))
    f = f / face.time_factor[wave.number]
    n[:, b] -= f * _sum(h_c, half_b, node_c)
    n[:, c] += f * _sum(h_b, node_b, half_c)
    l[:, b] += g * _sum(e_c, node_b, half_c)
    l[:, c] -= g * _sum(e_b, half_b, node_c)


def _sum(field: np.ndarray, b: _Phases, c: _Phases) -> np.ndarray:
    """By direction: first along the axis with fewer values."""
    if b.values.shape[1] < c.values.shape[1]:
        field, b, c = field.T, c, b
    return np.einsum("bd,bd->d", b.values[:, b.of], (field @ c.values)[:, c.of])


def intensity(e_theta: np.ndarray, e_phi: np.ndarray, impedance: float) -> np.ndarray:
    """Radiation intensity (power per steradian) 1/(2 eta) (abs(E_theta)^2 + abs(E_phi)^2) of fields times r."""
    return (np.abs(e_theta) ** 2 + np.abs(e_phi) ** 2) / (2 * impedance)


def sphere_power(surface: Surface, exterior: Exterior, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Power that the grid radiates, and that of `far_fields` in free space, over all directions, each (frequency,).

    The grid's is the intensity times (abs(K)/k)^2 cos(w dt/2) over the power cos(q h/2) of its waves along each axis.
    Gauss-Legendre in the cosine times evenly spaced turns about the axis with the smallest faces, since sums over the
    others are made ring by ring: exact for the intensity of sources within a sphere of radius R up to spherical
    harmonics of order 2 k R + 14. Where planes of symmetry or walls with their images make the sphere
    symmetric, one part of it stands for all; of a wall's two halves one is real.
    """
    theta, phi, share = _sphere(surface, exterior, frequencies)
    radial = unit_vectors(theta, phi)[0].T
    share = share / 2 ** len(exterior.walls)
    free = intensity(*far_fields(surface, exterior, frequencies, theta, phi), exterior.impedance)
    power = np.empty(frequencies.size)
    for wave in waves_of(surface, exterior, frequencies):
        carried = np.prod([line.power(wave.grid * part) for line, part in zip(surface.lines, radial)], axis=0)
        scale = (wave.grid / wave.free) ** 2 * surface.faces[0].time_factor[wave.number]
        power[wave.number] = scale * (free[wave.number] / carried) @ share
    return power, free @ share


def _sphere(surface: Surface, exterior: Exterior, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Theta, phi (rad) and weights of the directions over which power is summed."""
    reach = _reach(surface.faces, exterior.walls)
    order = 2 * (int(float(exterior.wavenumber(frequencies).max()) * reach) // 2) + 10
    cosine, weight = np.polynomial.legendre.leggauss(order)
    turns = 2 * order  # a multiple of four, half a step off the planes
    polar, turn = np.repeat(np.arccos(cosine), turns), np.tile(2 * np.pi * (np.arange(turns) + 0.5) / turns, order)
    sizes = [sum(face.nodes[0].size * face.nodes[1].size for face in surface.faces if face.axis == a) for a in range(3)]
    x, y, z = np.roll(unit_vectors(polar, turn)[0].T, int(np.argmin(sizes)) - 2, axis=0)
    theta, phi = np.arccos(z), np.arctan2(y, x)
    share = np.repeat(weight * 2 * np.pi / turns, turns)
    for axis in {*exterior.mirrors, *(wall.axis for wall in exterior.walls)}:
        upper = unit_vectors(theta, phi)[0][:, axis] > 0
        theta, phi, share = theta[upper], phi[upper], 2 * share[upper]
    return theta, phi, share


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
