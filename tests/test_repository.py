"""What every file of the repository owes: no traces of one machine, whole lines, one version, bounds that exist."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import nearfield

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".py", ".md", ".toml", ".txt", ".hpp", ".cpp", ".h", ".html", ".css", ".json", ".cfg", ".yml", ".yaml", ""}
LONGEST_FILE = 430  # lines; past 300 ask which other file it belongs to


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git clone")
    return [path for path in (ROOT / name for name in done.stdout.split("\0") if name) if path.is_file()]


def text_files() -> list[tuple[Path, str]]:
    found = [(path, path.read_bytes()) for path in tracked() if path.suffix in TEXT]
    return [(path, content.decode("utf-8")) for path, content in found if b"\0" not in content]


def naming(pattern: str, but: tuple[str, ...] = ()) -> list[str]:
    """`file: match` for every match of a pattern in the repository's text."""
    expression = re.compile(pattern)
    hits = []
    for path, text in text_files():
        if path.name not in but and path != Path(__file__).resolve():
            hits += [f"{path.relative_to(ROOT)}: {match.group(0)}" for match in expression.finditer(text)]
    return hits


def test_no_file_names_a_folder_of_one_machine():
    # results of benchmarks state their machine, but not its folders either
    assert naming(r"(?<![\w.~])/(?:home|Users|root|work)/\w+") == []


def test_no_file_names_a_package_registry():
    assert (
        naming(
            r"(?i)\b(?:pypi\.org|pythonhosted|(?:deb|security)\.debian\.org|archive\.ubuntu\.com|"
            r"index-url|extra-index)\b"
        )
        == []
    )


def test_text_files_end_with_a_newline_and_have_no_trailing_blanks():
    wrong = []
    for path, text in text_files():
        if text and not text.endswith("\n"):
            wrong.append(f"{path.relative_to(ROOT)}: no newline at the end")
        if path.suffix != ".md" and re.search(r"[ \t]+$", text, re.MULTILINE):
            wrong.append(f"{path.relative_to(ROOT)}: blanks at the end of a line")
    assert wrong == []


def test_source_files_stay_short():
    sources = [(path, text) for path, text in text_files() if path.suffix in {".py", ".hpp", ".cpp", ".h"}]
    long = {str(path.relative_to(ROOT)): text.count("\n") for path, text in sources if text.count("\n") > LONGEST_FILE}
    assert long == {}


def test_the_arithmetic_of_cells_includes_its_own_folder_alone():
    headers = sorted((ROOT / "core" / "cell").glob("*.h"))
    included = {line for path in headers for line in re.findall(r"#include .*", path.read_text(encoding="utf-8"))}
    assert included == {'#include "cell.h"'}  # kernels of a GPU compile it, where there are no standard headers


def test_no_source_holds_a_stub_or_a_reminder():
    words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"))
    assert naming(rf"\b(?:{words})\b") == []


def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == nearfield.__version__
    assert f"\n## {nearfield.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_constraints_pin_names_and_versions_only_and_cover_every_requirement():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    required = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["dependency-groups"]["test"],
    ]
    pinned = {normal(line.split("==")[0]): version(line.split("==")[1]) for line in lines}
    for requirement in required:
        name, bound = re.fullmatch(r"([\w.-]+)>=([\d.]+)(?:,<[^;]*)?(?:; .*)?", requirement).groups()
        assert normal(name) in pinned, f"{requirement} is not in constraints.txt"
        assert pinned[normal(name)] >= version(bound)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def test_no_two_files_of_tests_share_a_name():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))  # pytest knows modules by their names alone
