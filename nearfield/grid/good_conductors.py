"""Metals of the library at frequencies where they are good conductors, for which an automatic grid is no good."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import quantity
from nearfield.media.materials import Medium

# S/m at 20 degrees, CRC Handbook of Chemistry and Physics; of copper the annealed standard. What the optical models of
# the library have there is up to three times less: they are fitted at a thousand times the frequency
HANDBOOK = {"copper": "5.8e7", "gold": "4.1e7", "silver": "6.3e7", "aluminium": "3.8e7"}
THIN = 2000  # wavelengths in vacuum over the skin depth, above which waves inside are no matter for cells
THICK = 3.0  # skin depths that a body is thick at least, to be a conductor without another side
EVEN = 0.9  # ratio of both parts of the refractive index of a good conductor, which are alike


def refuse_good_conductors(bodies: Iterable[FilledShape], frequency: float) -> None:
    """Error: a body's medium is a good conductor at the grid's frequency; the conductor to give in its place."""
    for body in bodies:
        medium = body.medium
        if not isinstance(medium, Medium) or not medium.dispersive:
            continue
        wave = max(medium._waves(), key=lambda each: abs(complex(each.relative_permittivity(frequency))))
        permittivity = complex(wave.relative_permittivity(frequency))
        index = complex(np.sqrt(permittivity * complex(wave.relative_permeability(frequency))))
        depth = VACUUM_SPEED / (2 * math.pi * frequency * max(abs(index.imag), 1e-12))
        thickness = min(high - low for low, high in zip(*body.shape.bounds()))
        even = abs(index.imag) > EVEN * abs(index.real)
        if even and depth < VACUUM_SPEED / frequency / THIN and thickness > THICK * depth:
            own = f"{-permittivity.imag * 2 * math.pi * frequency * VACUUM_PERMITTIVITY:.2g}"
            name = next((value for metal, value in HANDBOOK.items() if metal in (medium.name or "").lower()), own)
            said = f"{body.label}: {body.medium_name} is a good conductor at {quantity(frequency, 'Hz')}"
            entry = f'medium = {{ kind = "conductor", conductivity = "{name} S/m" }}'
            raise ModelError(
                f"{said}, with a skin depth of {quantity(depth, 'm', 2)} that no grid needs to resolve; use "
                f'Conductor({name}), in a model file {entry}, or "pec"'
            )
