"""Prints what pyproject.toml asks for (build, run, test), one requirement a line; `--lowest` pins the lower bounds,
`--cuda` gives what `make gpu-check` needs instead.

pip older than 25.1 cannot install a dependency group by itself, and Debian 12 has 23.0.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def requirements(cuda: bool = False) -> list[str]:
    """Build, run and test requirements in this order; or those of the group `cuda`."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    if cuda:
        return list(project["dependency-groups"]["cuda"])
    return [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["dependency-groups"]["test"],
    ]


def lowest(requirement: str) -> str:
    """`numpy>=1.26,<3` becomes `numpy==1.26`."""
    name, bound = requirement.split(">=")
    return f"{name}=={bound.split(',')[0]}"


if __name__ == "__main__":
    for line in requirements("--cuda" in sys.argv[1:]):
        print(lowest(line) if "--lowest" in sys.argv[1:] else line)
