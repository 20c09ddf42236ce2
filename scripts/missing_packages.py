"""Prints what is missing here to build and run Nearfield and the tests of its engines, requirements in one line: those
of pyproject.toml, and what packages that are here say they need."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

FOR_TESTS = {"pytest", "pytest-timeout", "hypothesis"}  # of the group `test`; the others have tests of their own


def name_of(requirement: str) -> str:
    """`numpy` of `numpy>=1.26,<3`."""
    return re.match(r"[\w.-]+", requirement.strip()).group(0)  # type: ignore[union-attr]


def missing(asked: list[str]) -> list[str]:
    """Requirements whose package is not there, each once. Those with a marker are of extras and of other systems."""
    found, seen, asked = [], set(), list(asked)
    while asked:
        requirement = asked.pop()
        name = name_of(requirement).lower()
        if ";" in requirement or name in seen:
            continue
        seen.add(name)
        try:
            asked += metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            found.append(requirement.replace(" ", ""))
    return sorted(found)


def needed() -> list[str]:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    tests = [each for each in project["dependency-groups"]["test"] if name_of(each) in FOR_TESTS]
    return [*project["build-system"]["requires"], *project["project"]["dependencies"], *tests]


if __name__ == "__main__":
    print(" ".join(missing(needed())))
