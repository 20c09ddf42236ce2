"""Cases of parametrized tests: some at once, all of them in `make nightly`."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_after(quick: int, cases: Iterable[Any], arguments: int = 1) -> list[Any]:
    """Cases of so many arguments each, those after the first `quick` marked as slow."""
    each = [case if arguments > 1 else (case,) for case in cases]
    marks = [() if number < quick else pytest.mark.slow for number in range(len(each))]
    return [pytest.param(*case, marks=mark) for case, mark in zip(each, marks)]
