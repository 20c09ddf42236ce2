"""The page of right answers says what its result file holds, and every case has rows there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_right_answers_is_that_of_its_result(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    import right_answers

    rows = json.loads(right_answers.RESULT.read_text())["rows"]
    assert right_answers.PAGE.read_text() == right_answers.page(rows)
    assert {row["case"] for row in rows} == set(right_answers.CASES)
