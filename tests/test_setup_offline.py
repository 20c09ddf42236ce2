"""scripts/setup_offline: what a machine lacks is named, and no environment of another kind is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.missing_packages import missing, needed

ROOT = Path(__file__).resolve().parents[1]


def test_packages_that_are_not_here_are_found_and_those_that_are_not_named():
    assert missing(needed()) == []
    asked = ["no-such-package>=2, <3", "numpy>=1", 'other-system>=1; sys_platform == "win32"', "no-such-package"]
    assert missing(asked) == ["no-such-package"]
    assert missing(asked[:2]) == ["no-such-package>=2,<3"]


def tree(folder: Path) -> Path:
    """A repository with what the script reads."""
    for name in ("setup_offline", "system_packages", "missing_packages.py"):
        (folder / "scripts").mkdir(exist_ok=True)
        shutil.copy(ROOT / "scripts" / name, folder / "scripts" / name)
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")
    return folder / "scripts" / "setup_offline"


def test_what_is_missing_is_said_with_the_line_that_fetches_it_elsewhere(tmp_path):
    """A Python without packages: of this one none is seen."""
    script = tree(tmp_path)
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nif [ "$1" = -c ]; then exit 0; fi\nexec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    done = subprocess.run(
        ["bash", str(script)], capture_output=True, text=True, env={**os.environ, "PYTHON": str(bare)}
    )
    assert done.returncode == 2, done.stderr
    assert "'numpy>=1.26,<3'" in done.stderr and "pip download --only-binary=:all: --python-version 3." in done.stderr


def test_an_environment_of_another_kind_is_left_alone(tmp_path):
    script = tree(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True)
    assert done.returncode == 2 and "has not made" in done.stderr and (tmp_path / ".venv" / "bin").exists()
