"""Comparisons with what was expected of a model: each has a limit, a value, and a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearfield.results import Result


@dataclass(frozen=True)
class CheckRow:
    """One line of the table; `passed` is None where there is nothing to compare with."""

    quantity: str
    expected: str
    found: str
    passed: bool | None

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or nothing."""
        return {True: "PASS", False: "FAIL", None: ""}[self.passed]


def check_rows(result: Result, given: Any = ()) -> list[CheckRow]:
    """The comparisons handed in or kept in the run's facts.

    Each of those given is a mapping or a dataclass with `quantity`, `expected` (or `published`), `found`, `passed`, and
    if wanted `unit` and `tolerance`.
    """
    rows = [_row(entry) for entry in (*given, *_listed(result.facts.get("checks")))]
    return list(dict.fromkeys(rows))


def _listed(checks: Any) -> list[Any]:
    if not isinstance(checks, Mapping):
        return list(checks or [])
    entries = {name: entry if isinstance(entry, Mapping) else {"passed": entry} for name, entry in checks.items()}
    return [{"quantity": name, **entry} for name, entry in entries.items()]


def _row(entry: Any) -> CheckRow:
    values = dataclasses.asdict(entry) if dataclasses.is_dataclass(entry) and not isinstance(entry, type) else entry
    if not isinstance(values, Mapping):
        return CheckRow(str(entry), "", "", None)
    unit = f" {values['unit']}" if values.get("unit") else ""
    expected = _text(values.get("expected", values.get("published")), unit)
    if values.get("tolerance") not in (None, ""):
        expected += f" ({values['tolerance']})"
    passed = values.get("passed")
    passed = None if passed is None else passed in (True, "PASS", "pass") or (passed is not False and passed == 1)
    return CheckRow(str(values.get("quantity", "")), expected, _text(values.get("found"), unit), passed)


def _text(value: Any, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:.6g}{unit}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
