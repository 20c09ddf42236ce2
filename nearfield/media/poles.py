"""Poles of dispersive media: chi(s) = P/(eps0 E) with s = j w, and the same of M/H; time dependence exp(+j w t).

Each pole is a rational function of s of first or second order. The trapezoidal rule, s -> (2/dt) (z - 1)/(z + 1), makes
it a recursion of one or two real states (`PoleStep`); docs/method.md has the algebra.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.quantities import ComplexRate, NonNegativeRate, Number, PositiveFrequency, PositiveTime
from nearfield.entry.schema import Schema, tag

SPLIT = 1e-6  # relative; how far `terms` sets the two poles of a double one apart

Terms = tuple[tuple[complex, complex], ...]


@dataclass(frozen=True)
class PoleStep:
    """A pole over one time step: P_new - P_old = before E_old + now E_new + T, in units of eps0; T is the first state.

    first order: T <- T + (k T + q E_old), one tuple (k, q).
    second order: T <- T + (k T + U + q E_old), U <- U + (rho T + k U + r E_old), one tuple (k, rho, q, r).
    """

    before: float
    now: float
    states: tuple[float, ...] = ()  # none where nothing is remembered


class Debye(Schema):
    """Relaxation of dipoles: chi = strength / (1 + j w relaxation_time).

    >>> import nearfield as nf
    >>> water = nf.Medium(4.9, poles=[nf.Debye(75.2, "9.231 ps")])
    >>> print(abs(water.relative_permittivity(20e9)).round(2))
    52.43
    """

    kind: Literal["debye"] = tag("debye")
    strength: Number
    """Contribution to the relative permittivity (or permeability) far below the relaxation."""
    relaxation_time: PositiveTime
    """Relaxation time (s)."""

    def susceptibility(self, s: np.ndarray) -> np.ndarray:
        """chi at complex frequencies s (1/s)."""
        return self.strength / (1.0 + s * self.relaxation_time)

    def _terms(self) -> Terms:
        """Pole-residue pairs (1/s): chi = sum residue/(s - pole)."""
        rate = 1.0 / self.relaxation_time
        return ((complex(-rate), complex(self.strength * rate)),)

    def _step(self, time_step: float) -> PoleStep:
        """The pole over one time step (s)."""
        return first_order(-1.0 / self.relaxation_time, self.strength / self.relaxation_time, 0.5 * time_step)


class Drude(Schema):
    """Free charges: chi = -wp^2 / (w^2 - j w collision_frequency), wp = 2 pi plasma_frequency.

    >>> import nearfield as nf
    >>> plasma = nf.Medium(poles=[nf.Drude("28.7 GHz", 20e9)])
    """

    kind: Literal["drude"] = tag("drude")
    plasma_frequency: PositiveFrequency
    """Plasma frequency wp / (2 pi) (Hz)."""
    collision_frequency: NonNegativeRate = 0.0
    """Collision rate (1/s, an angular frequency: 1 over the time between collisions), zero or positive."""

    @property
    def _square(self) -> float:
        return (2.0 * math.pi * self.plasma_frequency) ** 2

    def susceptibility(self, s: np.ndarray) -> np.ndarray:
        """chi at complex frequencies s (1/s)."""
        return self._square / (s * (s + self.collision_frequency))

    def _terms(self) -> Terms:
        """Pole-residue pairs (1/s); the double pole at 0 without collisions is split by a millionth of wp."""
        rate = max(self.collision_frequency, SPLIT * math.sqrt(self._square))
        return ((0j, complex(self._square / rate)), (complex(-rate), complex(-self._square / rate)))

    def _step(self, time_step: float) -> PoleStep:
        """The pole over one time step (s): that at 0 needs no state, and nothing is divided by the collision rate."""
        half = 0.5 * time_step
        slow = self.collision_frequency * half
        now = self._square * half**2 / (1.0 + slow)
        before = now * (3.0 + slow) / (1.0 + slow)
        return PoleStep(before, now, (-2.0 * slow / (1.0 + slow), 4.0 * now / (1.0 + slow) ** 2))


class Lorentz(Schema):
    """Bound charges: chi = strength w0^2 / (w0^2 + 2 j w damping - w^2), w0 = 2 pi resonance_frequency.

    >>> import nearfield as nf
    >>> resonant = nf.Medium(1.0, poles=[nf.Lorentz(1.25, 6.366e15, 0.28e16)])
    """

    kind: Literal["lorentz"] = tag("lorentz")
    strength: Number
    """Contribution to the relative permittivity (or permeability) far below the resonance."""
    resonance_frequency: PositiveFrequency
    """Resonance frequency w0 / (2 pi) (Hz)."""
    damping: NonNegativeRate
    """Decay rate of the free oscillation's amplitude (1/s), half its full width at half maximum; zero or positive."""

    @property
    def _square(self) -> float:
        return (2.0 * math.pi * self.resonance_frequency) ** 2

    def susceptibility(self, s: np.ndarray) -> np.ndarray:
        """chi at complex frequencies s (1/s)."""
        return self.strength * self._square / (self._square + 2.0 * self.damping * s + s * s)

    def _terms(self) -> Terms:
        """Pole-residue pairs (1/s): one of a conjugate pair, or two real; a double pole is split by a millionth."""
        square = self._square
        apart = cmath.sqrt(self.damping**2 - square)
        if abs(apart) < SPLIT * math.sqrt(square):
            apart = 1j * SPLIT * math.sqrt(square)
        pairs = [(-self.damping + side, self.strength * square / (2.0 * side)) for side in (apart, -apart)]
        return tuple(pairs[:1] if apart.imag else pairs)

    def _step(self, time_step: float) -> PoleStep:
        """The pole over one time step (s), in a form that two real poles, equal ones and a pair share."""
        h, square, damping = 0.5 * time_step, self._square, self.damping
        n = 1.0 + 2.0 * damping * h + square * h**2
        drive, total = self.strength * square * h**2 / n, 2.0 * (1.0 + damping * h) / n
        k = -2.0 * h * (damping + h * square) / n
        rho = 4.0 * h**2 * (damping**2 - square) / n**2
        q = 4.0 * drive * (total**2 - total - 1.0 / n)
        slopes = -2.0 * damping - 6.0 * h * square * (1.0 + h * damping)
        slopes -= h**3 * square * (4.0 * damping**2 - 2.0 * square)
        return PoleStep(drive * (2.0 * total - 1.0), drive, (k, rho, q, 4.0 * drive * h * slopes / n**3))


class PoleResidue(Schema):
    """A term of a partial fraction: chi = residue/(j w - pole), and its conjugate where the pole is complex.

    A real pole stands for itself, and its residue is real; one at 0 is a conductivity of eps0 residue.

    >>> import nearfield as nf
    >>> nf.PoleResidue(-1e10, 5e10).susceptibility(1e9j) == nf.Debye(5.0, 1e-10).susceptibility(1e9j)
    True
    """

    kind: Literal["pole-residue"] = tag("pole-residue")
    pole: ComplexRate
    """The pole (1/s), real part zero or negative."""
    residue: ComplexRate
    """Its residue (1/s)."""

    @model_validator(mode="after")
    def _decays(self) -> PoleResidue:
        if self.pole.real > 0.0:
            raise ValueError(
                f"pole {self.pole:.6g} 1/s has a positive real part, with which the medium's own oscillation grows; "
                "allowed: zero or negative. Change its sign, or the time convention, exp(+j w t)"
            )
        if self.pole.imag == 0.0 and self.residue.imag != 0.0:
            raise ValueError(
                f"residue {self.residue:.6g} 1/s of the real pole {self.pole.real:.6g} 1/s is complex, and so would "
                "the field be; a real pole has a real residue"
            )
        return self

    def susceptibility(self, s: np.ndarray) -> np.ndarray:
        """chi at complex frequencies s (1/s)."""
        found = self.residue / (s - self.pole)
        return found + self.residue.conjugate() / (s - self.pole.conjugate()) if self.pole.imag else found

    def _terms(self) -> Terms:
        """The pair itself (1/s)."""
        return ((self.pole, self.residue),)

    def _step(self, time_step: float) -> PoleStep:
        """The pole over one time step (s)."""
        h = 0.5 * time_step
        if not self.pole.imag:
            return first_order(self.pole.real, self.residue.real, h)
        v = 1.0 / (1.0 - h * self.pole)
        now, k = 2.0 * self.residue * h * v, 2.0 * h * self.pole * v
        q = 2.0 * k * now * v
        return PoleStep(((1.0 + k) * now).real, now.real, (k.real, -(k.imag**2), q.real, -k.imag * q.imag))


def first_order(pole: float, residue: float, h: float) -> PoleStep:
    """A real pole over a step of 2 h seconds."""
    v = 1.0 / (1.0 - h * pole)
    now, k = residue * h * v, 2.0 * h * pole * v
    return PoleStep((1.0 + k) * now, now, (k, 2.0 * k * now * v) if k else ())


AnyPole = Annotated[Debye | Drude | Lorentz | PoleResidue, Field(discriminator="kind")]
