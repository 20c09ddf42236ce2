"""What every validation case shares: named comparisons, one JSON object on stdout, an exit code.

    from validation.case import Case

    case = Case(__file__, "PEC box: resonances against the Yee grid's own")
    case.compare("TE101", expected=3.901613, found=3.9016131, tolerance=1e-6, unit="GHz")
    case.at_most("reflection", limit=-75.0, found=-79.2, unit="dB")
    case.finish()

Run it from the repository root: `.venv/bin/python -m validation.pec_box.run`.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any, NoReturn


class Case:
    """One comparison with theory or literature: a list of rows `expected, found, tolerance, passed`.

    `script` is the `__file__` of the case's run.py; its folder takes the figure and names the case.
    A value that is not a finite number never passes.
    """

    def __init__(self, script: str, title: str) -> None:
        self.folder = Path(script).resolve().parent
        self.title = title
        self.rows: list[dict[str, Any]] = []
        self._start = time.perf_counter()

    @property
    def figure(self) -> Path:
        """Where the case's one figure goes."""
        return self.folder / "figure.png"

    def compare(
        self, quantity: str, expected: float, found: float, tolerance: float, *, absolute: bool = False, unit: str = ""
    ) -> bool:
        """|found - expected| <= tolerance (absolute), or <= tolerance |expected| (relative, the default)."""
        allowed = tolerance if absolute else tolerance * abs(expected)
        passed = math.isfinite(found) and abs(found - expected) <= allowed
        rule = f"± {tolerance:g}{' ' + unit if unit else ''}" if absolute else f"± {100 * tolerance:g} %"
        return self._add(quantity, expected, found, rule, passed, unit)

    def between(
        self, quantity: str, lower: float, upper: float, found: float, *, expected: float | None = None, unit: str = ""
    ) -> bool:
        """lower <= found <= upper, for tolerances that are not symmetric; `expected` left out is their middle."""
        passed = math.isfinite(found) and lower <= found <= upper
        expected = 0.5 * (lower + upper) if expected is None else expected
        return self._add(quantity, expected, found, f"{lower:.5g} to {upper:.5g}", passed, unit)

    def at_most(self, quantity: str, limit: float, found: float, *, unit: str = "") -> bool:
        """found <= limit."""
        return self._add(quantity, limit, found, "at most", math.isfinite(found) and found <= limit, unit)

    def at_least(self, quantity: str, limit: float, found: float, *, unit: str = "") -> bool:
        """found >= limit."""
        return self._add(quantity, limit, found, "at least", math.isfinite(found) and found >= limit, unit)

    def _add(self, quantity: str, expected: float, found: float, tolerance: str, passed: bool, unit: str) -> bool:
        self.rows.append(
            {
                "quantity": quantity,
                "unit": unit,
                "expected": float(expected),
                "found": float(found) if math.isfinite(found) else None,
                "tolerance": tolerance,
                "passed": bool(passed),
            }
        )
        return bool(passed)

    def finish(self) -> NoReturn:
        """Print the case as one JSON object, the last line of stdout; exit 0 if every row passed, else 1."""
        passed = bool(self.rows) and all(row["passed"] for row in self.rows)
        seconds = round(time.perf_counter() - self._start, 1)
        print(
            json.dumps(
                {
                    "case": self.folder.name,
                    "title": self.title,
                    "rows": self.rows,
                    "passed": passed,
                    "seconds": seconds,
                }
            ),
            flush=True,
        )
        sys.exit(0 if passed else 1)
