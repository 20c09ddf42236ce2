"""An entry of the trust report: a number, its limit, a verdict, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from nearfield.records.records import RunRecord

Verdict = Literal["good", "warn", "bad", "unknown"]
ORDER: tuple[Verdict, ...] = ("bad", "warn", "unknown", "good")  # in which they are shown


@dataclass(frozen=True)
class Trust:
    """How good one property of a result is: `value` against `limit` in `unit`, with a verdict and what to do.

    `verdict`: "good" within the limit, "warn" past it, "bad" far past it, "unknown" where there was nothing to judge.
    """

    name: str
    verdict: Verdict
    value: float | None
    limit: float | None
    text: str
    unit: str = ""

    def json_data(self) -> dict[str, Any]:
        """The entry as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        number = "" if self.value is None else f"{self.value:.4g} {self.unit}".rstrip() + "; "
        return f"{self.name}: {number}{self.text}"


class Recorded(Protocol):
    """The part of a `Result` that is judged."""

    record: RunRecord

    def excitation(self, name: str | None = None) -> Any:
        """Recordings of one excitation."""


def judged(
    name: str, value: float, limit: float, bad: float, text: str, unit: str = "", at_least: bool = False
) -> Trust:
    """An entry good up to `limit`, and bad past `bad`; `at_least`: large values are the good ones."""
    if not math.isfinite(value):
        return Trust(name, "unknown", None, limit, text, unit)
    sign = -1.0 if at_least else 1.0
    verdict: Verdict = "good" if sign * value <= sign * limit else "warn" if sign * value <= sign * bad else "bad"
    return Trust(name, verdict, float(value), limit, text, unit)


def read(entries: Iterable[Mapping[str, Any]]) -> list[Trust]:
    """Entries that a result's facts hold."""
    return [Trust(**entry) for entry in entries]


def counts_text(entries: Iterable[Trust]) -> str:
    """How many entries have each verdict: `11 good, 1 warn`."""
    verdicts = [entry.verdict for entry in entries]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in reversed(ORDER) if verdict in verdicts)
