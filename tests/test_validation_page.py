"""The pages of validation cases and of examples name them all, with what the last runs found."""

import json
from pathlib import Path

import pytest

import nearfield
from examples.figures import results_of, scripts_of, written
from scripts.write_pages import PAGES
from validation.run_all import BEGIN, PAGE, RESULTS, case_names, table


def test_the_table_holds_what_every_case_found_the_last_time():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert list(results) == case_names()
    assert table(list(results.values())) in PAGE.read_text(encoding="utf-8")


def test_the_text_names_every_case_and_the_page_of_examples_every_example():
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
    assert [name for name in case_names() if f"({name}/README.md)" not in text] == []
    examples = Path(nearfield.__file__).parents[1] / "examples"
    listed = (examples / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in examples.glob("*.md") if f"({page.name})" not in listed] == ["README.md"]


def test_bars_in_a_text_and_cases_that_broke_keep_the_table_whole():
    row = {"quantity": "|S|", "unit": "dB", "expected": 1.0, "found": None, "tolerance": "± 1 %", "passed": False}
    cases = {"a": [row], "b": []}
    lines = table([{"case": name, "title": name.upper(), "rows": rows, "seconds": 0.5} for name, rows in cases.items()])
    lines = lines.splitlines()
    assert lines[0] == "2 cases, 0 of 2 comparisons pass, 1 s."
    assert lines[4] == "| [A](a/README.md) | \\|S\\| | 1 dB | not a number dB | ± 1 % | **FAIL** | 0.5 |"
    assert {line.replace("\\|", "").count("|") for line in lines[2:]} == {8}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_figures_of_a_page_are_those_that_its_script_kept(page):
    assert page.read_text(encoding="utf-8") == written(page)
    for script in scripts_of(page):
        found = results_of(page, script)
        assert found["commit"]
        assert script in found["command"]
