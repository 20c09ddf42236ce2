"""Checks of any result, whatever the model: each has a limit, a value, and a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import power_decibels

if TYPE_CHECKING:
    from nearfield.results import Result

MOST_REFLECTION = 1.02  # largest |S| of a passive structure: 2 % for a truncated signal and for the mesh
RECIPROCITY = 0.02  # largest |Sij - Sji|
POWER_DIFFERENCE = 0.05  # relative, between the pattern's integral and the power through the surface


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
    """The comparisons handed in or kept in the run's facts, then those that any result allows.

    Each of those given is a mapping or a dataclass with `quantity`, `expected` (or `published`), `found`, `passed`, and
    if wanted `unit` and `tolerance`.
    """
    rows = [_row(entry) for entry in (*given, *_listed(result.facts.get("checks")))]
    for check in (_ending, _passivity, _reciprocity, _radiation):
        rows += check(result)
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


def _ending(result: Result) -> Iterator[CheckRow]:
    yield CheckRow("end of the run", "done", result.status, result.status == "done")
    for name, run in result.facts.get("runs", {}).items():
        ratio = run.get("energy_ratio")
        if isinstance(ratio, (int, float)) and ratio > 0 and np.isfinite(ratio):
            decayed = True if run.get("ended") == "decayed" else None
            expected = "below the wanted decay" if decayed else "no limit set"
            yield CheckRow(f"field energy left, {name}", expected, f"{power_decibels(ratio):.0f} dB", decayed)


def _largest(values: np.ndarray) -> float:
    """The largest finite value; NaN without any."""
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else float("nan")


def _passivity(result: Result) -> Iterator[CheckRow]:
    if result.record.sparameters:
        for name in result.sparameters.source.values:
            waves = np.abs(result.sparameters.sel(source=name).values)
            largest = _largest(np.sqrt(np.sum(waves**2, axis=1)))
            quantity = f"largest sqrt(power out / power in), port {name} driven"
            passed = bool(largest <= MOST_REFLECTION)
            yield CheckRow(quantity, f"passive: at most {MOST_REFLECTION}", f"{largest:.4f}", passed)


def _reciprocity(result: Result) -> Iterator[CheckRow]:
    parameters = result.sparameters if result.record.sparameters else None
    sources = [] if parameters is None else [name for name in parameters.source.values if name in parameters.to.values]
    if parameters is not None and len(sources) > 1:
        matrix = parameters.sel(to=sources, source=sources).values
        with np.errstate(invalid="ignore"):
            largest = _largest(np.abs(matrix - np.swapaxes(matrix, 1, 2)).max(axis=(1, 2)))
        passed = bool(largest <= RECIPROCITY)
        yield CheckRow("reciprocity, largest |Sij - Sji|", f"at most {RECIPROCITY}", f"{largest:.4f}", passed)


def _radiation(result: Result) -> Iterator[CheckRow]:
    for excitation in result.excitations:
        run = result.excitation(excitation)
        for name in [name for name, monitor in run.record.monitors.items() if monitor.kind == "far-field"]:
            pattern, surface = run[name].radiated_power.values, run[name].surface_power.values
            with np.errstate(divide="ignore", invalid="ignore"):
                largest = _largest(np.abs(pattern / surface - 1))
            if np.isfinite(largest):
                # a feed line or a board that leaves the surface carries power of its own: no fault of the pattern
                yield CheckRow(
                    f"{name}, {excitation} driven: power of the pattern against that through the surface",
                    f"within {100 * POWER_DIFFERENCE:.0f} % if no line or board leaves the surface",
                    f"{100 * largest:.3g} %",
                    True if largest <= POWER_DIFFERENCE else None,
                )
