"""Round waveguides by their modes: steps, tapers and apertures with TE1n and TM1n, and a dual-mode horn made of them.

A body of revolution keeps the number of turns round its axis, so that TE11 makes TE1n and TM1n alone. E of a mode with
the amplitude a, normalised to power, is a sqrt(Z) e; the integral of e^2 is 1, e positive along y on the axis:

    TE: e = c (J1(t)/t sin, J1'(t) cos),   TM: e = c (J1'(t) sin, J1(t)/t cos)   in (rho, phi),   t = x rho/radius

Sources: Potter, A new horn antenna with suppressed sidelobes and equal beamwidths, Microwave Journal 6 (1963) 71-78;
Silver, Microwave Antenna Theory and Design (1949), chapter 10; Wexler, Solution of waveguide discontinuities by modal
analysis, IEEE MTT 15 (1967) 508-517.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import root
from scipy.special import jn_zeros, jnp_zeros, jv, jvp

C = 299792458.0
MODES = 10  # of each kind
RULE = np.polynomial.legendre.leggauss(120)
TE11, TE12, TM11 = 0, 1, MODES
ROOTS = np.concatenate((jnp_zeros(1, MODES), jn_zeros(1, MODES)))
IS_TE = np.arange(2 * MODES) < MODES
HEIGHT = np.where(  # c times radius over x
    IS_TE, 1 / (np.sqrt(np.pi / 2 * np.maximum(ROOTS**2 - 1, 1)) * np.abs(jv(1, ROOTS))),
    1 / (np.sqrt(np.pi / 2) * ROOTS * np.abs(jvp(1, ROOTS))),
)  # fmt: skip


class Scattering(NamedTuple):
    """S-matrices of what lies between two planes, side 1 before side 2."""

    s11: np.ndarray
    s12: np.ndarray
    s21: np.ndarray
    s22: np.ndarray


def waves(radius: float, k: float) -> tuple[np.ndarray, np.ndarray]:
    """(phase constants (1/m), wave impedances over that of space) of all modes; below cut-off they decay."""
    beta = np.sqrt((k**2 - (ROOTS / radius) ** 2).astype(complex))
    beta = np.where(beta.imag > 0, -beta, beta)
    return beta, np.where(IS_TE, k / beta, beta / k)


def fields(radius: float, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(e_rho over sin phi, e_phi over cos phi) of all modes, each (modes, places)."""
    t = np.outer(ROOTS, np.maximum(rho / radius, 1e-12))
    over, slope = jv(1, t) / t, jvp(1, t)
    height = (HEIGHT * ROOTS / radius)[:, None]
    return height * np.where(IS_TE[:, None], over, slope), height * np.where(IS_TE[:, None], slope, over)


def step(narrow: float, wide: float, k: float) -> Scattering:
    """A step from a narrow guide to a wide one: E matched over the wide plane, H over the narrow one."""
    place, weight = RULE
    rho = 0.5 * narrow * (place + 1)
    area = 0.5 * narrow * weight * rho * np.pi
    overlap = sum((b * area) @ a.T for a, b in zip(fields(narrow, rho), fields(wide, rho)))
    (_, before), (_, after) = waves(narrow, k), waves(wide, k)
    turn = overlap * np.sqrt(before) / np.sqrt(after)[:, None]
    one, both = np.eye(len(ROOTS)), turn.T @ turn
    s11 = np.linalg.solve(one + both, one - both)
    s12 = 2 * np.linalg.solve(one + both, turn.T)
    return Scattering(s11, s12, turn @ (one + s11), turn @ s12 - one)


def joined(first: Scattering, second: Scattering) -> Scattering:
    """One behind the other."""
    one = np.eye(len(ROOTS))
    on = np.linalg.solve(one - first.s22 @ second.s11, first.s21)
    back = np.linalg.solve(one - second.s11 @ first.s22, second.s12)
    return Scattering(first.s11 + first.s12 @ second.s11 @ on, first.s12 @ back, second.s21 @ on,
                      second.s22 + second.s21 @ first.s22 @ back)  # fmt: skip


def followed(found: Scattering, radius: float, length: float, k: float) -> Scattering:
    """With a piece of guide behind it."""
    late = np.exp(-1j * waves(radius, k)[0] * length)
    return Scattering(found.s11, found.s12 * late, late[:, None] * found.s21, late[:, None] * found.s22 * late)


def flare(narrow: float, wide: float, length: float, k: float, stairs: int = 24) -> Scattering:
    """A cone as so many short guides of growing radius."""
    inner = narrow + (wide - narrow) * (np.arange(stairs) + 0.5) / stairs
    found = None
    for before, radius in pairwise((narrow, *inner)):
        piece = step(before, radius, k)
        found = followed(piece if found is None else joined(found, piece), radius, length / stairs, k)
    return joined(found, step(inner[-1], wide, k))


class Horn(NamedTuple):
    """A dual-mode horn: radii of its guide, behind the step and of its aperture, lengths of cylinder and cone (m)."""

    guide: float
    step: float
    aperture: float
    cylinder: float
    cone: float

    def scattering(self, k: float, cone: Scattering | None = None) -> Scattering:
        """From the guide at the step to an aperture that reflects nothing."""
        cone = cone or flare(self.step, self.aperture, self.cone, k)
        return joined(followed(step(self.guide, self.step, k), self.step, self.cylinder, k), cone)

    def on_axis(self, k: float, cone: Scattering | None = None) -> np.ndarray:
        """E of the modes in the middle of the aperture over that of TE11."""
        sent = self.scattering(k, cone).s21[:, TE11] * np.sqrt(waves(self.aperture, k)[1]) * HEIGHT * ROOTS
        return sent / sent[TE11]


def designed(k: float, aperture: float, half_angle: float, wanted: float) -> Horn:
    """The horn whose TM11 stands to TE11 as `wanted` in the middle of its aperture, in phase.

    Behind the step TM11 goes on and TE12 does not, as far from one cut-off as from the other. The search for guide and
    cylinder starts from half the fields of the step and from TM11 one turn behind by its own phase constants alone.
    """
    radius = 0.5 * (ROOTS[TM11] + ROOTS[TE12]) / k
    cone = (aperture - radius) / np.tan(half_angle)
    lag = [np.real(np.subtract(*waves(r, k)[0][[TE11, TM11]])) for r in np.linspace(radius, aperture, 33)]
    cylinder = (2 * np.pi - np.mean(lag) * cone) / lag[0]
    fixed = flare(radius, aperture, cone, k)

    def horn(x: np.ndarray) -> Horn:
        return Horn(radius * x[0], radius, aperture, cylinder * x[1], cone)

    def missed(x: np.ndarray) -> list[float]:
        ratio = horn(x).on_axis(k, fixed)[TM11]
        return [ratio.real - wanted, ratio.imag]

    return horn(root(missed, [0.75, 1.0], tol=1e-6).x)


def radiated(radius: float, voltage: np.ndarray, theta: np.ndarray, k: float) -> tuple[np.ndarray, np.ndarray]:
    """(E_theta at phi = 90 degrees, E_phi at phi = 0) of an aperture with modal voltages, in closed form.

    Transforms of the modes' E, times (1 + cos(theta))/2; elsewhere times sin(phi) and cos(phi).
    """
    u = k * radius * np.sin(np.asarray(theta)) + 1e-9
    x, square = ROOTS[:, None], u**2 - ROOTS[:, None] ** 2
    scale = (2 * np.pi * radius * HEIGHT * voltage)[:, None]
    te = scale * jv(1, x)
    along = np.where(IS_TE[:, None], te * jv(1, u) / u, scale * x * jvp(1, x) * jv(1, u) * u / square)
    across = np.where(IS_TE[:, None], -te * jvp(1, u) * x**2 / square, 0.0)
    obliquity = 0.5 * (1 + np.cos(theta))
    return obliquity * along.sum(axis=0), obliquity * across.sum(axis=0)


def pure(ratio: float) -> np.ndarray:
    """Voltages of TE11 and TM11 alone, their E on the axis as 1 to `ratio`."""
    voltage = np.zeros(2 * MODES)
    voltage[TE11], voltage[TM11] = 1.0, ratio * (HEIGHT * ROOTS)[TE11] / (HEIGHT * ROOTS)[TM11]
    return voltage


def directivity(radius: float, voltage: np.ndarray, k: float) -> float:
    """On the axis, over what goes into the half space before the aperture, in dBi."""
    place, weight = RULE
    theta = 0.25 * np.pi * (place + 1)
    power = sum(np.abs(part) ** 2 for part in radiated(radius, voltage, theta, k)) * np.sin(theta)
    peak = np.abs(radiated(radius, voltage, np.zeros(1), k)[0][0]) ** 2
    return float(10 * np.log10(4 * peak / (0.25 * np.pi * weight @ power)))


def beamwidths(radius: float, voltage: np.ndarray, k: float) -> tuple[float, float]:
    """Between the half-power points of the E- and the H-plane, degrees."""
    theta = np.radians(np.arange(0, 60, 0.02))
    found = []
    for part in radiated(radius, voltage, theta, k):
        level = np.abs(part / part[0]) ** 2
        beyond = int(np.argmax(level < 0.5))
        found.append(2 * np.degrees(np.interp(-0.5, -level[beyond - 1 : beyond + 1], theta[beyond - 1 : beyond + 1])))
    return tuple(map(float, found))
