"""Modes by name: "TEM", "TE10", "TM11", "TE11y" (polarised along y), "TE10,2" where a number has two digits; "1" and so
on, counted, in a guide of any cross-section."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from nearfield.entry.messages import shown
from nearfield.entry.quantities import several

Shape = Literal["rectangular", "circular", "coaxial", "any", "open"]
COUNTED_SHAPES = ("any", "open")  # whose modes are counted
PATTERN = re.compile(r"(TE|TM)(?:(\d)(\d)|(\d+),(\d+))([xyz]?)")
COUNTED = re.compile(r"[1-9]\d{0,2}")
LARGEST = 99


def mode_names(value: Any) -> Any:
    """A list of names; one alone counts as a list of one, and a whole number as its text."""
    return tuple(str(each) if type(each) is int else each for each in several(value))


@dataclass(frozen=True)
class ModeName:
    """A mode of a guide: `family` "TE", "TM" or "TEM", its two numbers, and the axis it is polarised along or "".

    In a guide of any cross-section modes are counted from 1: no family, the number is `n`.
    """

    family: str
    m: int = 0
    n: int = 0
    polarisation: str = ""

    @classmethod
    def read(cls, text: Any) -> ModeName:
        """The mode that a text names; ValueError says what is allowed."""
        if text == "TEM":
            return cls("TEM")
        if isinstance(text, str) and COUNTED.fullmatch(text):
            return cls("", n=int(text))
        match = PATTERN.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(
                f'given {shown(text)}; allowed: "TEM", or "TE" or "TM" with two numbers, such as "TE10", in round '
                'guides the axis that E points along, such as "TE11y", or with shape = "any" and "open" a number from 1'
            )
        family, *numbers, polarisation = match.groups()
        m, n = (int(number) for number in numbers if number is not None)
        return cls(family, m, n, polarisation)

    def fault(self, shape: Shape, normal: str) -> str | None:
        """Why a guide of this shape, across the axis `normal`, has no such mode; None where it has."""
        if (shape in COUNTED_SHAPES) != (not self.family):
            return 'modes are counted from 1, such as "1", with shape = "any" or "open", named with others'
        if shape in COUNTED_SHAPES:
            return f"its number may be {LARGEST} at most" if self.n > LARGEST else None
        if self.family == "TEM":
            return None if shape == "coaxial" else 'a TEM wave needs two conductors: shape = "coaxial"'
        if max(self.m, self.n) > LARGEST:
            return f"its numbers may be {LARGEST} at most"
        if shape == "rectangular":
            if self.polarisation:
                return "modes of a rectangular guide are told by their numbers alone; leave the axis out"
            if self.family == "TM" and 0 in (self.m, self.n):
                return "both numbers of a TM mode of a rectangular guide are 1 or more"
            return "one of its numbers must be 1 or more" if self.m == self.n == 0 else None
        if self.n == 0:
            return "the second number, of the zero along the radius, is 1 or more"
        if self.polarisation and (self.m == 0 or self.polarisation == normal):
            return f"only modes with a first number of 1 or more are polarised, along an axis other than {normal}"
        return None
