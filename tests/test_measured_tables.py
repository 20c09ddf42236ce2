"""Tables that scripts write into pages are those that their results write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def scripts_of_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def stored(name: str) -> Any:
    """A result."""
    return json.loads((ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8"))


def page(name: str) -> str:
    """A page of docs/."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_tables_of_the_measured_overlap_are_what_its_result_writes():
    import overlap_page

    before, found = page("cluster.md"), stored("overlap.json")
    assert overlap_page.with_tables(before, found) == before
    changed = found | {"fig5": found["fig5"][:1]}
    assert overlap_page.with_tables(before, changed).count(" / ") == before.count(" / ") - 4 * (len(found["fig5"]) - 1)


def test_the_tables_of_emulated_hosts_are_what_their_result_writes():
    import emulated_hosts_page

    found = stored("emulated_hosts.json")
    for place, with_table, part in (
        ("parallel.md", emulated_hosts_page.with_scaling, "scaling"),
        ("output-advice.md", emulated_hosts_page.with_output, "output"),
    ):
        before = page(place)
        assert with_table(before, found) == before
        assert with_table(before, found | {part: found[part][:1]}) != before
    assert found["checksums_agree"] and {row["hosts"] for row in found["scaling"]} == {1, 2}


def test_the_tables_of_two_nodes_are_what_their_result_writes():
    import two_nodes_page

    before, found = page("stream.md"), stored("two_nodes.json")
    assert two_nodes_page.with_tables(before, found) == before
    assert two_nodes_page.with_tables(before, found | {"rings": found["rings"][:1]}) != before
    assert all(row["verified"] for row in found["rings"])
    assert found["checksums_agree"]


def test_the_table_of_the_published_sweep_of_output_is_what_its_result_writes():
    import output_page

    before, found = page("output-advice.md"), stored("output-full.json")
    assert output_page.with_sweep(before, found) == before
    assert output_page.with_sweep(before, found | {"cases": found["cases"][:100]}) != before
    assert len(found["cases"]) == 240 and {row["domains"] for row in found["cases"]} == {1, 2, 4, 8}
