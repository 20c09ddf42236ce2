"""Scalars of electromagnetic fields: magnitudes, energy, power, from components at the same points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY

NEEDED = {"E": "E", "H": "H", "intensity": "E", "energy": "EH", "S": "EH"}  # kinds of fields of each quantity
# A field whose largest value lies between these keeps its digits in single precision, down to 1e-13 of that value.
SMALLEST, LARGEST = 1e-25, 1e30


def components_of(quantity: str) -> tuple[str, ...]:
    """The components that a quantity is made of; itself where it is one."""
    kinds = NEEDED.get(quantity)
    return (quantity,) if kinds is None else tuple(kind + axis for kind in kinds for axis in "xyz")


def scalar(parts: Mapping[str, np.ndarray], quantity: str) -> np.ndarray:
    """The values of a quantity, averaged over moments (the first axis) where there are several.

    Powers and S as vectors as they are, roots of the mean squares of fields; of complex parts means over a period.
    """
    spectral = any(part.dtype.kind == "c" for part in parts.values())
    period = 0.5 if spectral else 1.0  # mean of a squared wave over its squared amplitude
    kinds = NEEDED.get(quantity)
    if kinds is None:
        one = parts[quantity]
        return one[0] if len(one) == 1 and not spectral else np.sqrt(np.mean(np.abs(one) ** 2, axis=0))
    single = all(part.dtype.itemsize <= (8 if part.dtype.kind == "c" else 4) for part in parts.values())
    parts = {name: part.astype(np.result_type(part, np.float64)) for name, part in parts.items()}
    made = _of_vectors(parts, quantity, kinds, period)
    return made.astype(np.float32) if single and SMALLEST < made.max() < LARGEST else made


def _of_vectors(parts: Mapping[str, np.ndarray], quantity: str, kinds: str, period: float) -> np.ndarray:
    """Such a quantity of parts in double precision, in which squares of weak fields do not vanish."""
    if quantity == "S":
        electric, magnetic = (np.stack([parts[kind + axis] for axis in "xyz"], axis=-1) for kind in "EH")
        power = np.cross(electric, magnetic.conj()).real.mean(axis=0) * period
        return np.asarray(np.linalg.norm(power, axis=-1))
    squares: dict[str, Any] = {
        kind: sum(np.mean(np.abs(parts[kind + axis]) ** 2, axis=0) for axis in "xyz") for kind in kinds
    }
    if quantity == "energy":
        return 0.5 * period * (VACUUM_PERMITTIVITY * squares["E"] + VACUUM_PERMEABILITY * squares["H"])
    if quantity == "intensity":
        return period * squares["E"]
    return np.sqrt(squares[quantity])
