"""Potentials of the modes of rectangular, circular and coaxial guides, as functions of the place in the cross-section.

(u, v) are coordinates along the two axes that follow the guide's cyclically. TE modes have E = (d/dv, -d/du) of their
potential (that of H along the guide), TM modes E = -gradient of theirs (E along the guide); both obey
laplacian + cut-off^2 = 0 with a zero slope or a zero value on the walls. Scaled at will. Source: Marcuvitz, Waveguide
Handbook, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearfield.guides.names import ModeName, Shape

ALIKE = 1e-6  # relative; sides of an opening that differ by less are the same
STEPS = 40  # steps of a search for a zero, within the distance of two


@dataclass(frozen=True)
class Opening:
    """The opening of a guide: shape, corners of the rectangle about it (m), radius (m) of an inner conductor."""

    shape: Shape
    lower: tuple[float, float]
    upper: tuple[float, float]
    inner: float = 0.0

    @property
    def sides(self) -> tuple[float, float]:
        """Extent along u and v."""
        return self.upper[0] - self.lower[0], self.upper[1] - self.lower[1]

    @property
    def radius(self) -> float:
        """Outer radius of a round one."""
        return 0.25 * sum(self.sides)

    @property
    def broad(self) -> int:
        """0 where u is the broad side of a rectangle, else 1."""
        return int(self.sides[1] > self.sides[0] * (1 + ALIKE))

    def polar(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance from the middle and angle from +u towards +v."""
        x, y = (place - 0.5 * (a + b) for place, a, b in zip((u, v), self.lower, self.upper))
        return np.hypot(x, y), np.arctan2(y, x)

    def holds(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Whether places lie in it."""
        if self.shape in ("rectangular", "any", "open"):
            (a, b), (c, d) = self.lower, self.upper
            return (a < u) & (u < c) & (b < v) & (v < d)
        distance, _ = self.polar(u, v)
        return (distance < self.radius) & (distance > self.inner)


def potential(opening: Opening, mode: ModeName, angle: float) -> tuple[float, Callable]:
    """(cut-off in 1/m, potential(u, v)) of a TE or TM mode; `angle` (rad) from +u is that of its polarisation.

    E of a TE mode of a rectangle points to larger coordinates across the broad side, next to the corner with the
    smallest ones; in a round guide E is radial, and outward next to the middle, on the ray at `angle`.
    """
    return (_rectangular if opening.shape == "rectangular" else _round)(opening, mode, angle)


def _rectangular(opening: Opening, mode: ModeName, angle: float) -> tuple[float, Callable]:
    broad, te = opening.broad, mode.family == "TE"
    numbers = (mode.n, mode.m) if broad else (mode.m, mode.n)
    k = [np.pi * number / side for number, side in zip(numbers, opening.sides)]
    wave = np.cos if te else np.sin
    sign = (-1.0 if broad else 1.0) * (-1.0 if mode.m == 0 else 1.0) if te else -1.0

    def value(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return sign * wave(k[0] * (u - opening.lower[0])) * wave(k[1] * (v - opening.lower[1]))

    return float(np.hypot(k[0], k[1])), value


def _round(opening: Opening, mode: ModeName, angle: float) -> tuple[float, Callable]:
    te, m = mode.family == "TE", mode.m
    k = _zeros(opening, mode)[-1]

    def value(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        distance, phi = opening.polar(u, v)
        radial = _radial(opening, te, m, k, np.maximum(distance, 1e-9 * opening.radius), 0)
        outward = -1.0 if opening.shape == "circular" and not te and m else 1.0
        return outward * radial * (np.sin if te and m else np.cos)(m * (phi - angle))

    return k, value


Number = float | np.ndarray


def _radial(opening: Opening, te: bool, m: int, k: Number, distance: Number, slope: int) -> np.ndarray:
    """The part of the potential along the radius, or its slope over k; zero slope (TE) or value on an inner wall."""
    from scipy.special import jv, jvp, yv, yvp

    x = k * distance
    first = jvp(m, x) if slope else jv(m, x)
    if opening.shape == "circular":
        return first
    second = yvp(m, x) if slope else yv(m, x)
    a = k * opening.inner
    on_wall = (jvp(m, a), yvp(m, a)) if te else (jv(m, a), yv(m, a))
    return first * on_wall[1] - second * on_wall[0]


def _zeros(opening: Opening, mode: ModeName) -> list[float]:
    """The first n cut-offs (1/m) of the modes of order m, each between two samples of opposite sign."""
    from scipy.optimize import brentq

    def miss(k: float | np.ndarray) -> float | np.ndarray:
        return _radial(opening, te, mode.m, k, outer, int(te))

    te, outer = mode.family == "TE", opening.radius
    apart = np.pi / (outer - opening.inner)
    step = min(apart, 2.0 / (outer + opening.inner)) / STEPS
    count = int(np.ceil((mode.n + 0.5 * mode.m + 2) * apart / step)) + STEPS * mode.m
    k = step * (np.arange(count) + 0.5)
    signs = np.sign(miss(k))
    changes = np.flatnonzero(signs[1:] * signs[:-1] < 0)[: mode.n]
    return [brentq(miss, k[place], k[place + 1], xtol=1e-15 * step, rtol=1e-15) for place in changes]
