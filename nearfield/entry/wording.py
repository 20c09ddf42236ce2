"""Numbers as people read them: metric prefixes, binary bytes, waiting times, counts."""

from __future__ import annotations

import math

PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
PREFIXED = ("Hz", "W", "m", "s", "V", "A")  # units that are written with prefixes


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """A number with the unit prefix that reads best: `1.27 ps`, `389 um`."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g} {unit}"
    value = float(f"{value:.{digits}g}")
    exponent = thousands(value)
    return f"{value / 10.0**exponent:.{max(digits, 3)}g} {PREFIXES[exponent]}{unit}"


def thousands(value: float) -> int:
    """The power of ten of the prefix that suits a number, a key of `PREFIXES`."""
    return min(max(3 * math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3), -15), 12)


def uncertain(value: float, uncertainty: float, unit: str) -> str:
    """A value with its uncertainty, which has two digits: `10.5993 +- 0.0021 GHz`; dB and ratios take no prefix."""
    prefixed = unit in PREFIXED and math.isfinite(value) and value != 0
    exponent = thousands(value) if prefixed else 0
    value, uncertainty = value / 10.0**exponent, uncertainty / 10.0**exponent
    digits = max(0, 1 - math.floor(math.log10(uncertainty))) if 0 < uncertainty < math.inf else 6
    return f"{value:.{digits}f} +- {uncertainty:.{digits}f} {PREFIXES[exponent]}{unit}".rstrip()


def memory(number_of_bytes: float) -> str:
    """Bytes in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number_of_bytes < 1024:
            return f"{number_of_bytes:.4g} {unit}"
        number_of_bytes /= 1024
    return f"{number_of_bytes:.4g} TiB"


def counted(number: int, what: str) -> str:
    """`1 rank`, `4 ranks`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time that a person waits."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{seconds / 86400:.0f} days"
