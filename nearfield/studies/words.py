"""Parts of quantities and goals as they are typed: ports, a frequency, a band."""

from __future__ import annotations

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import FREQUENCY, NUMBER_AND_UNIT, Quantity
from nearfield.entry.wording import quantity

PORTS = r"(?P<to>\d+(?=,)|\d),?(?P<source>(?<=,)\d+|\d)"  # "21"; with a port from 10 on "1,10"
Typed = float | str  # a number in Hz, or a text with a unit


def hertz(what: str, given: Typed) -> float:
    """A frequency (Hz) of "5 GHz", or of a number alone, in Hz. `what` opens the message. Error: `ModelError`."""
    try:
        return Quantity(FREQUENCY, "positive").read(as_typed(given))
    except ValueError as error:
        raise ModelError(f"{what}: {error}") from None


def band(what: str, low: str, high: str) -> tuple[float, float]:
    """The lowest and highest frequency (Hz) of a band. Error: `ModelError`, also where it ends below its beginning."""
    first, last = (hertz(what, end) for end in ends_as_typed(low, high))
    if first >= last:
        found = f"{quantity(first, FREQUENCY.unit)} to {quantity(last, FREQUENCY.unit)}"
        raise ModelError(f"{what}: the band ends below its beginning, {found}; give the lower frequency first")
    return first, last


def ends_as_typed(low: str, high: str) -> tuple[Typed, Typed]:
    """The ends of a band; of "5" and "9 GHz" both are in GHz."""
    match = NUMBER_AND_UNIT.fullmatch(high)
    first, last = as_typed(low), as_typed(high)
    return (f"{low} {match.group(3)}" if match and isinstance(first, float) and isinstance(last, str) else first), last


def as_typed(given: Typed) -> Typed:
    """A number where no unit was typed, else the text."""
    try:
        return float(given)
    except ValueError:
        return given
