"""Rates of `nearfield elements` on the page and in the outlook of a run are those of the result files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nearfield.output.element_file import SECONDS_A_POINT

ROOT = Path(__file__).resolve().parents[1]
PAGE = " ".join((ROOT / "docs" / "elements.md").read_text(encoding="utf-8").split())


def rows_of(name: str) -> list[dict]:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())["elements"]


def seconds(rates: list[float]) -> float:
    """Of a point, by thousand points a second."""
    return 1e-3 / float(np.median(rates))


def test_the_page_and_the_outlook_say_what_a_point_was_measured_to_cost():
    rows = {(row["method"], row["half_wave"]): row for row in rows_of("elements")}
    coarse, fine = rows["hybrid", 12], rows["hybrid", 32]
    cost = {"discrete": seconds(rows["discrete", 12]["first"]), "trace": seconds(coarse["second"])}
    assert f"A point costs {1e6 * cost['discrete']:.2f} us of a core by steepest neighbours" in PAGE
    both = [f"{1e6 * each:.1f}" for each in (cost["trace"], seconds(fine["second"]))]
    lines = f"{both[0]} us by lines at 12 points a shortest half wave, {both[1]} us at 32"
    assert f"{lines}; by `hybrid` {coarse['ratio']:.1f} and {fine['ratio']:.1f} times less" in PAGE
    cost["hybrid"] = seconds(coarse["first"])
    assert pytest.approx(cost, rel=0.05) == SECONDS_A_POINT


def test_the_page_says_how_the_textbook_code_compares():
    coarse, fine = rows_of("elements-peer")
    rates = f"`discrete` runs at {coarse['ratio']:.1f} and {fine['ratio']:.1f} times the rate of a textbook"
    assert rates in PAGE and f"{coarse['same']:.2%} and {fine['same']:.2%}".replace("%", " %") in PAGE
