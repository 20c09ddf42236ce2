"""Dimensions of computed values: products of powers of metre, second, ampere and volt, which an expression carries.

The radian counts where it stands alone: 2 * angle is an angle, angle * length a length, angle / angle a number.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

BASE = ("m", "s", "A", "V", "rad")
Powers = tuple[float, float, float, float, float]  # of `BASE`
NONE: Powers = (0.0, 0.0, 0.0, 0.0, 0.0)
RADIAN: Powers = (0.0, 0.0, 0.0, 0.0, 1.0)
ATOMS: dict[str, Powers] = {
    "m": (1, 0, 0, 0, 0),
    "s": (0, 1, 0, 0, 0),
    "A": (0, 0, 1, 0, 0),
    "V": (0, 0, 0, 1, 0),
    "Hz": (0, -1, 0, 0, 0),
    "ohm": (0, 0, -1, 1, 0),
    "H": (0, 1, -1, 1, 0),
    "F": (0, 1, 1, -1, 0),
    "S": (0, 0, 1, -1, 0),
    "rad": RADIAN,
    "1": NONE,
    "": NONE,
}
ROUNDING = 16 * sys.float_info.epsilon  # relative error of a few products and sums of doubles
LARGEST_ROUNDING = 1e-3  # most that a number may lie off a whole one and be taken for it
DIGITS = 9  # of a power: a cube root taken three times is the value itself


def powers_of(unit: str) -> Powers:
    """Powers of an SI unit as `Dimension.unit` writes it: "ohm/m", "A m", "1/s", "" for a number."""
    over, _, under = unit.partition("/")
    found = NONE
    for part in over.split(" "):
        found = product(found, ATOMS[part])
    return product(found, ATOMS[under], -1.0)


def product(left: Powers, right: Powers, exponent: float = 1.0) -> Powers:
    """Powers of left times right^exponent."""
    a, b, c, d, angle = (round(one + exponent * other, DIGITS) for one, other in zip(left, right))
    return (a, b, c, d, 0.0) if angle != 1 or a or b or c or d else RADIAN


def unit_text(powers: Powers) -> str:
    """The unit in base units: "m^2", "V/A"; "no unit" of a number."""

    def side(sign: int) -> str:
        parts = ((name, sign * power) for name, power in zip(BASE, powers) if sign * power > 0)
        return " ".join(name if power == 1 else f"{name}^{power:g}" for name, power in parts)

    over, under = side(1), side(-1)
    if not over and not under:
        return "no unit"
    return f"{over or 1}/{under}" if under else over


def near_whole(number: float) -> float:
    """The whole number from which a number differs by rounding alone, else the number: 0.3 / 0.1 is 3."""
    whole = float(round(number))
    return whole if abs(number - whole) <= min(ROUNDING * max(1.0, abs(number)), LARGEST_ROUNDING) else number


@dataclass(frozen=True)
class Value:
    """A number in SI and its dimension."""

    number: float
    powers: Powers = NONE


class Computed(float):
    """A number (SI) that an expression of a model file gave; it knows its dimension and the text it came from."""

    powers: Powers
    text: str

    @classmethod
    def of(cls, value: Value, text: str) -> Computed:
        """A value, and the text of the file that gave it."""
        found = cls(value.number)
        found.powers, found.text = value.powers, text
        return found

    def __repr__(self) -> str:
        unit = "" if self.powers == NONE else f" {unit_text(self.powers)}"
        digits = f"{float(self):.6g}"
        if float(digits).is_integer() and not self.is_integer():
            digits = repr(float(self))
        return f"{self.text!r} ({digits}{unit})"

    def suits(self, unit: str) -> bool:
        """Whether it may stand where a quantity of this SI unit is wanted; pure numbers may stand anywhere."""
        return self.powers == NONE or self.powers == powers_of(unit)
