"""Warnings about constants so far from the pulse's band that a unit has slipped: GHz given as Hz, pF as F."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nearfield.discretization.refusals import far_bodies, features
from nearfield.discretization.resolution import media_in_use
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.entry.wording import quantity
from nearfield.media.materials import along_axes
from nearfield.media.surface_media import Conductor
from nearfield.metal.cautions import and_others
from nearfield.ports.elements import LumpedElement

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

FAR = 1e7  # times the band's frequencies, in which a resonance has no effect that is meant
FAR_RELAXED = 1e10  # the same of relaxations, which fits of tissues put at some Hz
NO_METAL = 1e5  # conductivity (S/m) below that of any metal
NO_LOSS = 1e-6  # loss tangent that no wave sees
SMALLER = {"mm": 1e-3, "um": 1e-6, "nm": 1e-9}  # units of length that are given as m
SHORT, OPEN = 1e-6, 1e8  # reactances (ohm) that are a wire, and nothing


def slipped_units(setup: Discretization) -> Iterator[str]:
    """All of them: of media, surfaces, lumped elements, places of bodies and the time step."""
    low, high = setup.band
    if low <= 0.0:
        low = high / 10.0
    for name, medium in media_in_use(setup.simulation) if high > 0.0 else ():
        for what, guess in _of_medium(medium, low, high):
            yield f"medium {name!r}: {what}; {guess}?"
    for body in setup.simulation._bodies:
        if isinstance(body.medium, Conductor) and body.medium.conductivity < NO_METAL:
            yield (
                f"{body.label}: a conductor of {body.medium.conductivity:.4g} S/m counts as metal far thicker than its "
                "skin depth, and no metal conducts so little (copper 5.8e7); was it given in MS/m?"
            )
    for who, element in features(setup.simulation, ("element",)) if high > 0.0 else ():
        if isinstance(element, LumpedElement):
            yield from _of_element(who, element, math.pi * (low + high))
    yield from _far_bodies(setup)
    step = setup.simulation.time_step
    if step is not None and step < 0.01 * setup.time_step_limit:
        yield (
            f"time_step: {quantity(step, 's')} is {setup.time_step_limit / step:,.0f} times below the stable limit, "
            "and the run as many times longer; was it given in another unit? Left out, it is the longest stable one"
        )


def _far_bodies(setup: Discretization) -> Iterator[str]:
    """One warning about all bodies that reach out of all proportion, by the one that reaches furthest."""
    far = list(far_bodies(setup.simulation, setup.grid))
    if not far:
        return
    body, axis, beyond, side = max(far, key=lambda found: found[2])
    unit = min(SMALLER, key=lambda name: abs(math.log(beyond * SMALLER[name] / side)))
    labels = dict.fromkeys(each.label for each, *_ in far if each.label != body.label)
    yield (
        f"{body.label}{and_others((body.label, *labels))} reaches {beyond:.3g} m beyond the grid along {'xyz'[axis]}, "
        f"{beyond / side:.2g} times the grid's longest side, {side:.3g} m; was a length in {unit} given as m? A body "
        "that is to have no end there needs to reach only just beyond the grid"
    )


def _of_medium(medium: Any, low: float, high: float) -> Iterator[tuple[str, str]]:
    """What is odd, and the slip behind it."""
    given = max(along_axes(medium.conductivity))
    tangent = given / (2.0 * math.pi * low * VACUUM_PERMITTIVITY)
    if 0.0 < tangent < NO_LOSS:
        guess = "is it a resistivity in ohm m, or of a loss tangent whose `loss_frequency` was given in GHz"
        yield f"a conductivity of {given:.4g} S/m loses nothing", guess
    for pole in (*medium.poles, *medium.magnetic_poles) if medium.valid_band is None else ():
        relaxed = getattr(pole, "relaxation_time", None)
        if relaxed is not None and high * 2.0 * math.pi * relaxed > FAR_RELAXED:
            yield f"a relaxation of {quantity(relaxed, 's')} hardly begins while the pulse lasts", "was it given in ps"
        rings = getattr(pole, "resonance_frequency", None) or getattr(pole, "plasma_frequency", None)
        if rings is not None and rings < high / FAR:
            yield f"a pole at {quantity(rings, 'Hz')} lies far below the pulse", "was it given in GHz or THz"


def _of_element(who: str, element: LumpedElement, omega: float) -> Iterator[str]:
    if element.capacitance is not None and 1.0 / (omega * element.capacitance) < SHORT:
        yield (
            f"{who}: {quantity(element.capacitance, 'F')} have {1.0 / (omega * element.capacitance):.2g} ohm in the "
            "pulse's band, a short; was it given in pF?"
        )
    if element.inductance is not None and omega * element.inductance > OPEN:
        yield (
            f"{who}: {quantity(element.inductance, 'H')} have {omega * element.inductance:.2g} ohm in the pulse's "
            "band and carry nothing; was it given in nH?"
        )
