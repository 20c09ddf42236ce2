"""The far field over an infinite board on an infinite ground, from the surface that a FarField monitor recorded.

`FarFieldResult` lets the recorded currents radiate into what surrounds most of the surface, with images in the ground:
exact where the board ends inside the surface. Where it goes on outside, reciprocity still gives the right far field:
instead of the plane wave that arrives from r^ in free space take the one that the grounded board makes of it,

    e . E(r^) = -j k eta / (4 pi) integral over the surface of n . (E x H' - E' x H) dS

times exp(-j k r)/r, with E', H' = the incident wave e exp(j k r^.r) and all its reflections. The ground does not
contribute, because E and E' have no tangential part there. R. F. Harrington, *Time-Harmonic Electromagnetic Fields*
(1961), section 3-8. What flows off inside the board, as a surface wave, is in the power through the surface alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import nearfield as nf

C, ETA = 299792458.0, 376.730313668


@dataclass(frozen=True)
class GroundedBoard:
    """A board of `height` (m) over a PEC at z = 0, without end; vacuum above."""

    permittivity: float
    height: float

    def waves(self, k: float, theta: float, z: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """(E, H) of a unit wave from `theta` < 90 degrees along z, polarised along theta (TM), then along phi (TE).

        Each (3, z) along (rho, phi, z), rho being the horizontal direction the wave comes from; exp(j k sin(theta) rho)
        is left out. A unit wave arrives with E' = 1 and H' = 1/eta at the origin's phase.
        """
        kz, rho = k * np.cos(theta), k * np.sin(theta)
        inside = k * np.sqrt(self.permittivity - np.sin(theta) ** 2)
        board = z <= self.height * (1 + 1e-9)
        relative = np.where(board, self.permittivity, 1.0)
        none = np.zeros(z.shape, dtype=complex)
        g, slope = self._standing(np.cos, lambda u: -np.sin(u), inside, kz, self.permittivity, z)
        g, slope = -g / ETA, -slope / ETA  # H_phi, and its slope over the permittivity
        tm = np.array([1j * ETA / k * slope, none, ETA / k * rho * g / relative]), np.array([none, g, none])
        f, slope = self._standing(np.sin, np.cos, inside, kz, 1.0, z)  # E_phi and its slope
        te = np.array([none, f, none]), np.array([-1j * slope, none, -rho * f]) / (k * ETA)
        return [tm, te]

    def _standing(
        self, shape: Callable, derivative: Callable, inside: float, kz: float, weight: float, z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What stands in the board as shape(inside z): value and slope/weight, both continuous; unit wave incident."""
        value, slope = shape(inside * self.height), inside / weight * derivative(inside * self.height)
        above, board = kz * (z - self.height), z <= self.height * (1 + 1e-9)
        arriving = 0.5 * (value + slope / (1j * kz)) * np.exp(-1j * kz * self.height)
        values = np.where(board, shape(inside * z), value * np.cos(above) + slope / kz * np.sin(above))
        slopes = np.where(
            board, inside / weight * derivative(inside * z), slope * np.cos(above) - kz * value * np.sin(above)
        )
        return values / arriving, slopes / arriving

    def far_field(self, pattern: nf.FarFieldResult, theta: float, phi: np.ndarray, index: int = 0) -> np.ndarray:
        """(E_theta, E_phi) times r exp(j k r) at every phi, (2, phi) (V s), at frequency number `index`."""
        k = 2 * np.pi * float(pattern.frequencies[index]) / C
        cosine, sine, none = np.cos(phi), np.sin(phi), np.zeros(phi.shape)
        transverse = k * np.sin(theta) * np.array([cosine, sine])
        turn = np.array([[cosine, -sine, none], [sine, cosine, none], [none, none, none + 1]])
        total = np.zeros((2, phi.size), dtype=complex)
        for face in pattern.surface.faces:
            for sign, first, second, e, h, places, weights in samples(face, index):
                across = [np.exp(1j * np.outer(transverse[axis], places[axis])) * weights[axis] for axis in (0, 1)]
                for number, (electric, magnetic) in enumerate(self.waves(k, theta, places[2])):
                    upright = np.einsum("rp,rz->pz", turn[second], magnetic) * weights[2]
                    total[number] += sign * product(e, [*across, upright], face.axis)
                    upright = np.einsum("rp,rz->pz", turn[first], electric) * weights[2]
                    total[number] -= sign * product(h, [*across, upright], face.axis)
        return -1j * k * ETA / (4 * np.pi) * total

    def intensity(self, pattern: nf.FarFieldResult, theta: np.ndarray, phi: np.ndarray, index: int = 0) -> np.ndarray:
        """Radiation intensity (W s^2 per steradian), every theta with every phi."""
        fields = np.array([self.far_field(pattern, t, np.asarray(phi), index) for t in theta])
        return (np.abs(fields) ** 2).sum(axis=1) / (2 * ETA)

    def radiated_power(self, pattern: nf.FarFieldResult, index: int = 0, order: int = 20) -> float:
        """The intensity over the upper half space (W s^2): Gauss-Legendre in cos(theta), even steps in phi."""
        cosine, weight = np.polynomial.legendre.leggauss(order)
        phi = 2 * np.pi * np.arange(order) / order
        u = self.intensity(pattern, np.arccos(0.5 + 0.5 * cosine), phi, index)
        return float(0.5 * weight @ u.mean(axis=1) * 2 * np.pi)


def samples(face, index: int) -> Iterator[tuple]:
    """Pairs of E and H at common places of a face: sign in n . (E x H), components, values, places, weights (m)."""
    b, c = (face.axis + 1) % 3, (face.axis + 2) % 3
    node, half = face.nodes, [0.5 * (n[1:] + n[:-1]) for n in face.nodes]
    length = [np.diff(n) for n in face.nodes]
    about = [0.5 * (np.append(d, 0) + np.append(0, d)) for d in length]  # half a cell at the rim
    for sign, first, second, place, weight in (
        (1, 0, 1, (half[0], node[1]), (length[0], about[1])),
        (-1, 1, 0, (node[0], half[1]), (about[0], length[1])),
    ):
        places, weights = [np.array([face.position])] * 3, [np.ones(1)] * 3
        places[b], places[c], weights[b], weights[c] = *place, *weight
        e, h = face.electric[first][index], face.magnetic[second][index]
        yield face.outward * sign, (b, c)[first], (b, c)[second], e, h, places, weights


def product(values: np.ndarray, along: list[np.ndarray], axis: int) -> np.ndarray:
    """Sums over a face's values (b, c) times a function of x, one of y and one of z, each (direction, places)."""
    return along[axis][:, 0] * ((along[(axis + 1) % 3] @ values) * along[(axis + 2) % 3]).sum(axis=1)
