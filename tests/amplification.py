"""How much the plane waves of a medium on a grid grow in a step: the roots of its characteristic equation."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial

from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.media.materials import Medium
from nearfield.media.poles import AnyPole, Debye, Drude, Lorentz


def amplification(medium: Medium, time_step: float, curl: float) -> np.ndarray:
    """Factors z by which the plane waves of a medium on a grid are multiplied in a step (s); some are larger than 1
    in magnitude where it is unstable.

    curl: an eigenvalue of the curl on the grid (1/m), between 0 and 2 sqrt(1/dx^2 + 1/dy^2 + 1/dz^2). The roots of
    s^2 eps(s) mu(s) + (curl c)^2 (1 - (s dt/2)^2) = 0 with s = (2/dt) (z - 1)/(z + 1), which is
    (z - 1)^2 eps mu + (curl c dt)^2 z = 0.
    """
    eps, mu = (rational(*medium._half(magnetic), 0.5 * time_step) for magnetic in (False, True))
    speed = 1.0 / (VACUUM_PERMITTIVITY * VACUUM_PERMEABILITY)
    x = Polynomial([0.0, 1.0])  # x = s dt/2 = (z - 1)/(z + 1)
    equation = x * x * eps[0] * mu[0] + (0.5 * curl * time_step) ** 2 * speed * (1.0 - x * x) * eps[1] * mu[1]
    roots = equation.roots()
    return (1.0 + roots) / (1.0 - roots)


def rational(instant: float, loss: float, poles: tuple[AnyPole, ...], half: float) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of instant + loss/s + chi in x = s dt/2."""
    over, under = Polynomial([instant]), Polynomial([1.0])
    if loss:
        over, under = Polynomial([loss * half, instant]), Polynomial([0.0, 1.0])
    for pole in poles:
        top, bottom = fraction(pole, half)
        over, under = over * Polynomial(bottom) + under * Polynomial(top), under * Polynomial(bottom)
    return over, under


def fraction(pole: AnyPole, h: float) -> tuple[list[float], list[float]]:
    """Coefficients of a pole's numerator and denominator in x = s h, lowest first."""
    if isinstance(pole, Debye):
        return [pole.strength], [1.0, pole.relaxation_time / h]
    if isinstance(pole, Drude):
        return [pole._square * h**2], [0.0, pole.collision_frequency * h, 1.0]
    if isinstance(pole, Lorentz):
        square = pole._square * h**2
        return [pole.strength * square], [square, 2.0 * pole.damping * h, 1.0]
    at, residue = pole.pole * h, pole.residue * h
    if not at.imag:
        return [residue.real], [-at.real, 1.0]
    constant = -2.0 * (residue * at.conjugate()).real
    return [constant, 2.0 * residue.real], [abs(at) ** 2, -2.0 * at.real, 1.0]
