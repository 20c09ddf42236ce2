"""What every file of the repository owes: no traces of one machine, whole lines, one version, bounds that exist."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import nearfield

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".py", ".md", ".toml", ".txt", ".hpp", ".cpp", ".h", ".html", ".css", ".json", ".cfg", ".yml", ".yaml", ""}
LONGEST_FILE = 400  # lines; past 300 ask which other file it belongs to


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


# The layers of the package from what a user types to what a user reads: a folder may import itself and those that its
# row names, at module level, inside functions and under TYPE_CHECKING alike. "doors" are modules in nearfield/ itself.
FIELDS = "entry machine media bodies grid"
BELOW_NOUNS = f"{FIELDS} stream records pictures plan formats analysis metal coefficients lowering"
NOUNS = "sources ports guides incident monitors"
BELOW_OUTPUT = f"{BELOW_NOUNS} {NOUNS} discretization engines parallel predict"
LAYERS = {
    "entry": "",
    "machine": "entry",
    "stream": "entry machine",
    "media": "entry pictures",
    "bodies": "entry machine media",
    "grid": "entry media bodies",
    "pictures": "entry",
    "records": "entry grid pictures",
    "plan": "entry machine grid",
    "formats": "entry machine stream grid records plan",
    "analysis": "entry machine stream grid records plan pictures",
    "metal": FIELDS,
    "coefficients": f"{FIELDS} plan metal",
    "lowering": "entry machine grid plan records coefficients",
    **dict.fromkeys(NOUNS.split(), f"{BELOW_NOUNS} {NOUNS}"),
    "discretization": f"{BELOW_NOUNS} {NOUNS}",
    "engines": "entry machine plan",
    "parallel": "entry machine plan engines",
    "predict": "entry machine plan engines parallel",
    "dissipation": "entry machine pictures",
    "output": f"{BELOW_OUTPUT} dissipation",
    "trust": BELOW_OUTPUT,
    "run": f"{BELOW_OUTPUT} output trust",
    "viewer": f"{BELOW_OUTPUT} output trust run",
    "doors": f"{BELOW_OUTPUT} output trust run viewer",
    "studies": f"{BELOW_OUTPUT} output trust run doors",
    "measure": f"{BELOW_OUTPUT} output trust run doors",
    "report": f"{BELOW_OUTPUT} dissipation output trust run viewer doors studies measure",
    "commands": f"{BELOW_OUTPUT} dissipation output trust run viewer doors studies measure report",
    "cli": f"{BELOW_OUTPUT} output trust run viewer doors studies measure report commands",
}
EXCEPTIONS = {  # (module, module that it imports): why, at most five
    ("nearfield.simulation", "nearfield.report.structure"): "a simulation draws itself, `sim.plot()`",
    ("nearfield.simulation", "nearfield.report.show"): "a run leaves its report, `sim.run(output, report=True)`",
}
DOORS = {"simulation", "model_file", "results", "solver"}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((ROOT / "nearfield").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of the package that a module imports anywhere in its text."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide their layer"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in known} or {str(node.module)}
    return (found & set(known)) - {module, "nearfield"}


def layer(module: str) -> str:
    """The row of the table that a module belongs to."""
    parts = module.split(".")[1:]
    if len(parts) == 1 and parts[0] in DOORS:
        return "doors"
    return "cli" if parts[0] in ("cli", "__main__") else parts[0]


def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imports_of(name, path, known) for name, path in known.items() if name != "nearfield"}


def largest_circle(arrows: dict[str, set[str]]) -> set[str]:
    """The largest set of modules of which each reaches all others (Tarjan's strongly connected components)."""
    number, low, stack, largest = {}, {}, [], set()

    def visit(name: str) -> None:
        nonlocal largest
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in arrows[name]:
            if other not in number:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            at = stack.index(name)
            circle = set(stack[at:])
            del stack[at:]
            largest = max(largest, circle, key=len)

    for name in arrows:
        if name not in number:
            visit(name)
    return largest


def test_every_import_goes_down_the_layers():
    wrong = [
        f"{name} imports {other}: {layer(name)} may import {LAYERS.get(layer(name), 'nothing') or 'nothing'}"
        for name, others in graph().items()
        for other in sorted(others)
        if layer(other) not in {layer(name), *LAYERS.get(layer(name), "").split()} and (name, other) not in EXCEPTIONS
    ]
    assert wrong == []
    assert {layer(name) for name in graph()} <= set(LAYERS)
    assert len(EXCEPTIONS) <= 5


def test_the_table_of_layers_has_no_circle_but_the_nouns_and_the_pages():
    rows = {name: set(row.split()) - {name} for name, row in LAYERS.items()}
    assert largest_circle(rows) == set(NOUNS.split())
    rows = {name: row - set(NOUNS.split()) for name, row in rows.items()}
    assert len(largest_circle(rows)) <= 2


def test_no_circle_of_imports_holds_more_than_three_modules():
    assert len(largest_circle(graph())) <= 3


def test_engines_are_made_by_name_and_known_by_protocols_alone():
    engines = {"nearfield.engines.cpu.engine", "nearfield.engines.reference.engine"}
    users = {name for name, others in graph().items() if others & engines}
    assert users <= {"nearfield.engines", "nearfield.engines.cpu.faces"}


def test_few_modules_lie_flat_in_the_package():
    assert len([name for name in modules() if name.count(".") == 1 and modules()[name].name != "__init__.py"]) <= 12


MAKES_AN_ENGINE = """
import importlib, pkgutil, sys
import numpy as np
import nearfield.engines
for found in pkgutil.walk_packages(nearfield.engines.__path__, "nearfield.engines."):
    importlib.import_module(found.name)
from nearfield.plan.plan import AxisProfile, Plan
from nearfield.plan.planes import PlaneCoefficients


class Vacuum:
    def planes(self, axis, lower=None, upper=None):
        ones = np.zeros((3, 2, 5, 5)) + np.array([1.0, 0.5])[:, None, None]
        yield PlaneCoefficients(0, 5, ones, ones)


ones, zeros = np.ones(5), np.zeros(5)
profile = AxisProfile(ones, ones, zeros, zeros, zeros, zeros)
plan = Plan((5, 5, 5), (5, 5, 5), ((0, 0),) * 3, (profile,) * 3, Vacuum(), 1e-12, "single")
assert nearfield.engines.ENGINES["cpu"](plan, threads=1).advance(3, weigh=True).energy == 0.0
print(*sorted(name for name in sys.modules if name.startswith("nearfield.")))
"""


def test_engines_and_making_one_load_no_module_of_media_bodies_metal_or_coefficients():
    done = subprocess.run([sys.executable, "-c", MAKES_AN_ENGINE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folders = {name.split(".")[1] for name in done.stdout.split()}
    assert folders <= {"engines", "entry", "machine", "plan", "grid", "_core"}
