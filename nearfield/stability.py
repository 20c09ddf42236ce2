"""Which media are stable, and for which time steps, before anything runs.

A medium is passive when Re[s (eps + chi(s))] + sigma/eps0 >= 0 on the whole imaginary axis, with no pole to its right:
then no field whatever takes energy out of it. The trapezoidal rule maps the right half plane of s onto the outside of
the unit circle, so the recursions are passive too, and what is left is the leap-frog with the permittivity and
permeability of infinite frequency, which are positive: stable up to Courant's limit with these, whatever lies beside.
That limit is exact: at the grid's shortest waves z = -1 and s = infinity, where poles and losses have no part.

`amplification` gives the roots themselves: for one medium, one time step, one eigenvalue of the curls.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial

from nearfield.errors import ModelError
from nearfield.materials import Medium, response
from nearfield.plan import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.poles import AnyPole

ROUNDING = 1e-7  # of the response's size: what digits of published numbers may make a passive medium lose
SPREAD = (1e-3, 1e3)  # beyond the slowest and the fastest pole, where gain is looked for
SAMPLES = 4000


def refuse_active(name: str, medium: Medium) -> None:
    """Refuse a medium that gives energy to some field."""
    for what, poles, instant, loss in (
        ("permittivity", medium.poles, medium.permittivity, medium.conductivity / VACUUM_PERMITTIVITY),
        ("permeability", medium.magnetic_poles, medium.permeability,
         medium.magnetic_conductivity / VACUUM_PERMEABILITY),
    ):  # fmt: skip
        found = gain(poles, instant, loss) if poles else None
        if found:
            frequency, value = found
            raise ModelError(
                f"medium {name}: its {what} is {value:.6g} at {frequency / 1e9:.6g} GHz; a positive imaginary part "
                "(time dependence exp(+j w t)) amplifies waves, which grow without bound at any time step. Allowed are "
                "passive media: change the signs or the phases of its poles' strengths, or add conductivity"
            )


def gain(poles: tuple[AnyPole, ...], instant: float, loss: float) -> tuple[float, complex] | None:
    """(frequency in Hz, response) where some poles amplify most, relative to their response; None where nowhere.

    Looked at are the frequencies of all poles, some within each one's width, and many in between and beyond.
    """
    terms = [term for pole in poles for term in pole.terms()]
    sizes = [abs(pole) for pole, _ in terms if abs(pole) > 0.0] or [1.0]
    w = [np.geomspace(SPREAD[0] * min(sizes), SPREAD[1] * max(sizes), SAMPLES)]
    for pole, _ in terms:
        near = abs(pole.imag) + max(-pole.real, 1e-9 * abs(pole)) * np.linspace(-8.0, 8.0, 65)
        w.append(near[near > 0.0])
    w = np.unique(np.concatenate(w))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = response(1j * w, instant, loss, poles)
        share = found.imag / np.sum([np.abs(pole.susceptibility(1j * w)) for pole in poles], axis=0)
    share = np.where(np.isfinite(share), share, 0.0)  # exactly on a pole without damping
    worst = int(np.argmax(share))
    return (w[worst] / (2 * np.pi), complex(found[worst])) if share[worst] > ROUNDING else None


def amplification(medium: Medium, time_step: float, curl: float) -> np.ndarray:
    """Factors z by which the plane waves of a medium on a grid are multiplied in a step (s); some are larger than 1
    in magnitude where it is unstable.

    curl: an eigenvalue of the curl on the grid (1/m), between 0 and 2 sqrt(1/dx^2 + 1/dy^2 + 1/dz^2). The roots of
    s^2 eps(s) mu(s) + (curl c)^2 (1 - (s dt/2)^2) = 0 with s = (2/dt) (z - 1)/(z + 1), which is
    (z - 1)^2 eps mu + (curl c dt)^2 z = 0.
    """
    half = 0.5 * time_step
    eps = rational(medium.poles, medium.permittivity, medium.conductivity / VACUUM_PERMITTIVITY, half)
    mu = rational(medium.magnetic_poles, medium.permeability, medium.magnetic_conductivity / VACUUM_PERMEABILITY, half)
    speed = 1.0 / (VACUUM_PERMITTIVITY * VACUUM_PERMEABILITY)
    x = Polynomial([0.0, 1.0])  # x = s dt/2 = (z - 1)/(z + 1)
    equation = x * x * eps[0] * mu[0] + (0.5 * curl * time_step) ** 2 * speed * (1.0 - x * x) * eps[1] * mu[1]
    roots = equation.roots()
    return (1.0 + roots) / (1.0 - roots)


def rational(poles: tuple[AnyPole, ...], instant: float, loss: float, half: float) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of instant + loss/s + chi in x = s dt/2."""
    over, under = Polynomial([instant]), Polynomial([1.0])
    if loss:
        over, under = Polynomial([loss * half, instant]), Polynomial([0.0, 1.0])
    for pole in poles:
        top, bottom = pole.fraction(half)
        over, under = over * Polynomial(bottom) + under * Polynomial(top), under * Polynomial(bottom)
    return over, under
