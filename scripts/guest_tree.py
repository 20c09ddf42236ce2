"""Copies Python, Nearfield and the packages that its core needs into the file system of a guest (scripts/numa_guest).

    .venv/bin/python scripts/guest_tree.py TREE

Python comes to lie in TREE/python, with the packages; shared libraries where the loader looks for them. What only
draws is left out. Compiled modules come along, with the times of their sources.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import nearfield
from nearfield import _core

LEFT_OUT = {"matplotlib", "jinja2"}  # for pictures and pages
UNUSED = {"test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "turtledemo", "site-packages"}
UNUSED |= {"config-*", "*.a", "*.pyi", "*.h", "*.pxd"}


def packages(name: str, found: dict[str, Path]) -> None:
    """Add a distribution and all that it requires."""
    try:
        here = distribution(name)
    except PackageNotFoundError:
        return
    found[name] = Path(str(here.locate_file("")))
    for line in here.requires or ():
        required = re.match(r"[\w.-]+", line)
        wanted = required and required[0].lower().replace("_", "-")
        if wanted and "extra ==" not in line and wanted not in {*found, *LEFT_OUT}:
            packages(wanted, found)


def copy_package(name: str, place: Path, to: Path) -> None:
    """The files of a distribution without its tests."""
    for file in distribution(name).files or ():
        parts = set(file.parts)
        source = place / file
        if ".." in parts or parts & {"tests", "test"} or not source.is_file() or file.suffix == ".pyi":
            continue
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to / file)


def libraries(file: Path) -> set[Path]:
    """Shared libraries that the loader finds for a file, itself among them."""
    said = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(", said, re.MULTILINE)}


def copy_python(tree: Path) -> Path:
    """Interpreter and standard library; returns the folder of packages."""
    python, version = Path(sys.executable).resolve(), f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = tree / "python" / "lib" / version
    (tree / "python" / "bin").mkdir(parents=True)
    shutil.copy2(python, tree / "python" / "bin" / "python3")
    shutil.copytree(sysconfig.get_path("stdlib"), library, symlinks=False, ignore=shutil.ignore_patterns(*UNUSED))
    return library / "site-packages"


def main() -> None:
    tree = Path(sys.argv[1])
    site = copy_python(tree)
    found: dict[str, Path] = {}
    packages("nearfield", found)
    for name, place in found.items():
        if name != "nearfield":
            copy_package(name, place, site)
    ours = Path(nearfield.__file__).parent
    shutil.copytree(ours, site / "nearfield", ignore=shutil.ignore_patterns("vendor"))
    shutil.copy2(_core.__file__, site / "nearfield")
    # a folder of the environment itself is no place of the guest: its libraries are found beside what needs them
    needed = {path for file in [*tree.rglob("*.so*"), tree / "python" / "bin" / "python3"] for path in libraries(file)}
    for path in sorted(path for path in needed if tree.resolve() not in path.parents):
        place = tree / path.relative_to("/")
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


if __name__ == "__main__":
    main()
