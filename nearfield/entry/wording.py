"""Numbers as people read them: metric prefixes, binary bytes, waiting times, counts."""

from __future__ import annotations

import math

PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """A number with the unit prefix that reads best: `1.27 ps`, `389 um`."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g} {unit}"
    value = float(f"{value:.{digits}g}")  # no 1e+03 um where 1 mm is meant
    exponent = min(max(3 * math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3), -15), 12)
    return f"{value / 10.0**exponent:.{max(digits, 3)}g} {PREFIXES[exponent]}{unit}"


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
