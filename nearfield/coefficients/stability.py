"""Passivity of media, and the refractive index that bounds the time step.

A medium is passive when Re[s (eps + chi(s))] + sigma/eps0 >= 0 on the whole imaginary axis, with no pole to its right.
Its recursions then take energy from every field, and the leap-frog is stable up to Courant's limit with the
permittivity and permeability of infinite frequency, whatever lies beside (docs/method.md, Dispersive media).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import quantity
from nearfield.media.materials import NAMES, Medium, along_axes, response
from nearfield.media.poles import AnyPole

ROUNDING = 1e-7  # gain over the size of the response that rounded digits of published numbers may make
BEYOND = 1e3  # factor past the slowest and the fastest pole and root, where nothing changes any more
BETWEEN = 33  # frequencies from a root to the next, to find about where there is most gain
ASIDE = 1e-9  # relative; how far right of a pole without damping the response is taken, which there is all its residue


def lowest_index(media: Iterable[Medium]) -> float:
    """Smallest refractive index that edges and faces of any two media can have between them, at most 1.

    Of dispersive media that at infinite frequency, which is what bounds the time step (stability.py).
    """
    media = list(media)
    permittivity = min(min(along_axes(medium.permittivity)) for medium in media)
    least = permittivity * min(min(along_axes(medium.permeability)) for medium in media)
    return min(1.0, least**0.5)


def refuse_active(name: str, medium: Medium) -> None:
    """Refuse a medium that gives energy to some field."""
    if medium.anisotropic:
        for axis in NAMES if medium.dispersive else ():
            refuse_active(f"{name}, along {axis}", medium.along(axis))
        return
    for what, magnetic in (("permittivity", False), ("permeability", True)):
        instant, loss, poles = medium._half(magnetic)
        found = gain(poles, instant, loss)
        if found:
            frequency, value = found
            raise ModelError(
                f"medium {name}: its {what} is {value:.4g} at {quantity(frequency, 'Hz')}; a positive imaginary part "
                "(time dependence exp(+j w t)) amplifies waves, which grow without bound at any time step. Allowed are "
                "passive media: change the signs or the phases of its poles' strengths, or add conductivity"
            )


def gain(poles: tuple[AnyPole, ...], instant: float, loss: float) -> tuple[float, complex] | None:
    """(frequency in Hz, response) where some poles amplify most, relative to their response; None where nowhere.

    What a field loses changes its sign at the roots of `turns` and at poles without damping alone: a frequency in each
    gap between these tells whether there is gain in it.
    """
    if not poles:
        return None
    terms = [term for pole in poles for term in pole._terms()]
    sizes = [abs(pole) for pole, _ in terms if abs(pole) > 0.0] or [1.0]
    turning = np.unique(np.concatenate((sizes, turns(terms, loss))))
    turning = np.concatenate(([turning[0] / BEYOND], turning, [turning[-1] * BEYOND]))
    w = np.concatenate((np.geomspace(turning[:-1], turning[1:], BETWEEN).ravel(), turning))
    undamped = np.array([abs(pole) for pole, _ in terms if pole.imag and -pole.real <= ASIDE * abs(pole)])
    s = np.concatenate((1j * w, (1j + ASIDE) * undamped))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = response(s, instant, loss, poles)
        share = found.imag / np.sum([np.abs(pole.susceptibility(s)) for pole in poles], axis=0)
    share = np.where(np.isfinite(share), share, 0.0)  # exactly on a pole without damping
    worst = int(np.argmax(share))
    return (float(s[worst].imag) / (2 * np.pi), complex(found[worst])) if share[worst] > ROUNDING else None


def turns(terms: list[tuple[complex, complex]], loss: float) -> np.ndarray:
    """Angular frequencies (1/s) at or beside which Re[s (eps + chi)] + loss may change its sign, s = j w.

    With x = w^2 it is loss + sum r x/(x + p^2) over pairs (p, r) and their conjugates: D + sum b/(x - a), a = -p^2,
    b = r a, D = loss + sum r, whose roots are the eigenvalues of the pencil ((diag a, b), (1, D)) - x diag(1, 0). They
    are taken about each decade of a in turn, since an eigenvalue is good to rounding of the largest alone. Complex
    ones count by their real parts: rounding parts a pair of roots that nearly touch.
    """
    p, r = np.array([*terms, *((p.conjugate(), r.conjugate()) for p, r in terms if p.imag)]).T
    size = max(np.abs(r).max(), abs(loss))
    a, r, constant = -(p**2), r / size, (loss + r.sum()) / size
    order = a.size
    select = np.diag([1.0] * order + [0.0])
    found = []
    for decade in np.unique(np.round(np.log10(np.abs(a[a != 0])))):
        unit = 10.0**decade
        pencil = np.diag([*(a / unit), constant])
        pencil[:order, -1], pencil[-1, :order] = r * a / unit, 1.0
        inverse = np.linalg.eigvals(np.linalg.lstsq(pencil + select, select, rcond=None)[0])  # of x + 1
        x = unit * (1.0 / inverse[np.abs(inverse) > np.finfo(float).tiny] - 1.0)
        found.append(np.sqrt(x.real[x.real > 0.0]))
    return np.concatenate(found) if found else np.zeros(0)
