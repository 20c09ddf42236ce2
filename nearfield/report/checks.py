"""What a result must satisfy whatever the model: each check has a limit, what was found, and a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nearfield.results import Result

MOST_REFLECTION = 1.02  # of a passive structure; 2 % are left to a run that was cut off and to the mesh
RECIPROCITY = 0.02  # of the largest transmission
POWER_DIFFERENCE = 0.05  # between the pattern's integral and the power through the surface


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
    if isinstance(checks, Mapping):
        return [
            {"quantity": name, **(entry if isinstance(entry, Mapping) else {"passed": entry})}
            for name, entry in checks.items()
        ]
    return list(checks or [])


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
            yield CheckRow(
                f"field energy left, {name}",
                "below the wanted decay" if decayed else "not asked for",
                f"{10 * np.log10(ratio):.0f} dB",
                decayed,
            )


def _passivity(result: Result) -> Iterator[CheckRow]:
    if not result.record.sparameters:
        return
    values = np.abs(result.sparameters.values)
    for number, source in enumerate(result.sparameters.source.values):
        norm = np.sqrt(np.sum(values[:, :, number] ** 2, axis=1))
        finite = norm[np.isfinite(norm)]
        largest = float(finite.max()) if finite.size else float("nan")
        yield CheckRow(
            f"square root of power out over power in, {source} driven",
            f"passive: at most {MOST_REFLECTION}",
            f"{largest:.4f}",
            bool(largest <= MOST_REFLECTION),
        )


def _reciprocity(result: Result) -> Iterator[CheckRow]:
    if not result.record.sparameters:
        return
    parameters = result.sparameters
    sources = [name for name in parameters.source.values if name in parameters.to.values]
    if len(sources) < 2:
        return
    matrix = parameters.sel(to=sources, source=sources).values
    with np.errstate(invalid="ignore"):
        difference = np.abs(matrix - np.swapaxes(matrix, 1, 2)).max(axis=(1, 2))
    finite = difference[np.isfinite(difference)]
    largest = float(finite.max()) if finite.size else float("nan")
    yield CheckRow(
        "reciprocity, largest |Sij - Sji|", f"at most {RECIPROCITY}", f"{largest:.4f}", bool(largest <= RECIPROCITY)
    )


def _radiation(result: Result) -> Iterator[CheckRow]:
    for excitation in result.excitations:
        for name, monitor in result.excitation(excitation).record.monitors.items():
            if monitor.kind != "far-field":
                continue
            far_field = result.excitation(excitation)[name]
            pattern, surface = far_field.radiated_power.values, far_field.surface_power.values
            with np.errstate(divide="ignore", invalid="ignore"):
                difference = np.abs(pattern / surface - 1)
            finite = difference[np.isfinite(difference)]
            if finite.size:
                largest = float(finite.max())
                # a feed line or a board that leaves the surface carries power of its own: no fault of the pattern
                yield CheckRow(
                    f"{name}, {excitation} driven: power of the pattern against that through the surface",
                    f"within {100 * POWER_DIFFERENCE:.0f} % if no line or board leaves the surface",
                    f"{100 * largest:.3g} %",
                    True if largest <= POWER_DIFFERENCE else None,
                )
