"""Broken model files by the thousand: an exit code and one message for each, never a traceback, never a hang.

They are models with lines, words, numbers, bytes and values changed, and pieces of TOML thrown together. Each goes
through the command's entry point as far as `check` goes; fifty go through the command as a process.
"""

from __future__ import annotations

import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nearfield
from nearfield.cli import main
from nearfield.commands.new import template_text
from nearfield.entry.toml_text import inline, key

SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 1 else []) for seed in range(40)]
FILES_PER_SEED = 50
PROCESSES = 6
WORDS = [
    "true",
    "false",
    "nan",
    "inf",
    "-inf",
    "0",
    "-1",
    "1e308",
    "-1e-308",
    "1e-320",
    "9" * 30,
    "9" * 5000,
    '""',
    '"pec"',
    '"pmc"',
    '"cpml"',
    '"auto"',
    '"uniform"',
    '"lines"',
    '"graded"',
    '"1 mm"',
    '"-1 mm"',
    '"1 fm"',
    '"1 km"',
    '"1 GHz"',
    '"1 THz"',
    "[]",
    "{}",
    "[0, 0, 0]",
    "[[]]",
    "[1e9, 1e9, 1e9]",
    "1979-05-27",
    "07:32:00",
    "'\u00e9'",
    '"a/b"',
    '"\\u0000"',
    "kind",
    '{ kind = "cpml", cells = 1000 }',
    "1_000",
    "0x10",
    '"""',
    "#",
    "=",
    "[",
    "]]",
    "[[ports]]",
    "[grid]",
    "medium",
    "\x00",
    "\r",
    "steps = 1",
    "time_step = 1e-30",
    'precision = "double"',
    'excitations = ["feed"]',
]
SHIPPED = [template_text(name) for name in ("patch", "dipole", "box")]
EXAMPLES = Path(nearfield.__file__).parents[1] / "examples"
SHIPPED += [path.read_text() for path in sorted(EXAMPLES.glob("*.toml"))]
ODD = [
    0,
    -1,
    1,
    3,
    1e-30,
    1e30,
    -0.0,
    float("nan"),
    float("inf"),
    10**30,
    True,
    "",
    "x",
    "pec",
    "pmc",
    "cpml",
    "z",
    "-y",
    "1 mm",
    "-3 mm",
    "1e9 km",
    "7 GHz",
    "1 fF",
    "sources",
    "feed",
    [],
    {},
    [0, 0, 0],
    [[0, 0], [1, 0], [0, 1]],
    {"kind": "cpml"},
    {"kind": "box"},
    {"kind": "samples", "file": "no.txt"},
    {"kind": "samples", "file": "/"},
    {"kind": "continuous-wave", "frequency": 1e9},
    {"kind": "gaussian", "maximum_frequency": 1e300},
    "x" * 300,
]
RICH = """
media = {glass = {permittivity = 4, conductivity = "1 mS/m"}}
background = {permittivity = 1.2}
duration = "1 ns"
grid = {kind = "uniform", spacing = "1 mm", cells = [30, 30, 30]}
boundaries = {all = {kind = "cpml", cells = 5}, x_low = "pmc", z_high = "pec"}
structures = [
    {shape = {kind = "sphere", center = [0.01, 0.01, 0.01], radius = "3 mm"}, medium = "glass", name = "ball"},
    {shape = {kind = "cylinder", start = [0.01, 0.01, 0.01], end = [0.02, 0.02, 0.01], radius = 0.001}, medium = "pec"},
    {shape = {kind = "polygon", axis = "y", vertices = [[0, 0], [0.01, 0], [0, 0.01]], lower = 0.025, upper = 0.026},
     medium = {permittivity = 3, magnetic_conductivity = 5}},
]
sources = [
    {kind = "point-current", position = [0.01, 0.02, 0.01], axis = "x", moment = 1e-3,
     waveform = {kind = "samples", times = [0, 1e-10, 2e-10], values = [0, 1, 0]}},
    {kind = "magnetic-point-current", position = [0.01, 0.02, 0.01], axis = "y",
     waveform = {kind = "ricker", frequency = 4e9}},
    {kind = "line-current", start = [0.01, 0.02, 0.01], end = [0.01, 0.02, 0.02],
     waveform = {kind = "modulated-gaussian", frequency = 5e9, bandwidth = 1e9}},
    {kind = "current-sheet", lower = [0.007, 0.007, 0.02], upper = [0.02, 0.02, 0.02], axis = "x",
     waveform = {kind = "gaussian-derivative", frequency = 3e9, delay = 1e-9}},
]
elements = [
    {lower = [0.022, 0.02, 0.01], upper = [0.022, 0.02, 0.011], axis = "z", resistance = 50, capacitance = "1 pF"},
    {lower = [0.02, 0.01, 0.01], upper = [0.02, 0.01, 0.011], axis = "z", inductance = "1 nH", connection = "parallel"},
]
monitors = [
    {kind = "probe", name = "a", position = [0.01, 0.01, 0.01], component = "Hx", stride = 3},
    {kind = "voltage", name = "b", start = [0.01, 0.01, 0.01], end = [0.01, 0.01, 0.02]},
    {kind = "current", name = "c", lower = [0.01, 0.01, 0.01], upper = [0.012, 0.012, 0.01]},
    {kind = "snapshot", name = "d", lower = [0.01, 0.01, 0.01], upper = [0.02, 0.02, 0.01], every = 10},
    {kind = "field-dft", name = "e", lower = [0.01, 0.01, 0.01], upper = [0.02, 0.02, 0.01], frequencies = [3e9]},
    {kind = "flux", name = "f", lower = [0.01, 0.01, 0.01], upper = [0.02, 0.02, 0.02], frequencies = ["3 GHz"]},
]
"""
NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?( [a-zA-Z/]+)?$")
MODELS = [*SHIPPED, RICH.replace(",\n     ", ", ")]  # a table inside a line ends on that line


def broken(choose: random.Random) -> bytes:
    """A model with a few things wrong: in its text, in its values (TOML stays TOML), or in its numbers alone."""
    text = choose.choice(MODELS)
    if choose.random() < 0.6:
        change = choose.choice((rewritten, renumbered))
        return change(text, choose).encode("utf-8", "surrogatepass")
    for _ in range(choose.choice((1, 1, 1, 2, 3, 8))):
        text = choose.choice((change_word, change_number, change_line, change_letter, swap_pieces))(text, choose)
    content = text.encode("utf-8", "surrogatepass")
    if choose.random() < 0.1:
        at = choose.randrange(len(content) + 1)
        content = content[:at] + choose.randbytes(choose.randint(1, 8)) + content[at + choose.randint(0, 3) :]
    return content[: choose.randrange(len(content) + 1)] if choose.random() < 0.1 else content


def rewritten(text: str, choose: random.Random) -> str:
    """The model with a few values, somewhere inside, replaced, scaled, removed, doubled or renamed."""
    values = tomllib.loads(text)
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        places = list(places_in(values))
        table, name = choose.choice(places)
        odd = choose.choice((*ODD, choose.choice(places)[1]))
        value = table[name]
        if isinstance(value, (int, float)) and choose.random() < 0.7:
            table[name] = value * choose.choice((0, -1, 0.5, 1.5, 3, 100, 1e9))
        elif choose.random() < 0.2:
            del table[name]
        elif isinstance(table, list) and choose.random() < 0.3:
            table.insert(name, choose.choice((odd, copy.deepcopy(value))))
        elif isinstance(table, dict) and choose.random() < 0.2:
            table[choose.choice((f"{name}s", name[1:], "kind"))] = table.pop(name)
        else:
            table[name] = choose.choice((odd, copy.deepcopy(choose.choice(places)[0]), [value]))
    return "\n".join(f"{key(name)} = {inline(value)}" for name, value in values.items())


def renumbered(text: str, choose: random.Random) -> str:
    """The model with a few numbers scaled, units kept: most pass the schema and are judged on the grid."""
    values = tomllib.loads(text)
    numbers = [place for place in places_in(values) if NUMBER.match(str(place[0][place[1]]))]
    for table, name in choose.sample(numbers, choose.choice((1, 1, 2, 4))):
        value, factor = table[name], choose.choice((0, -1, 0.5, 0.999, 1.5, 3, 100, 1e-3, 1e-9, 1e6, 1e9))
        if isinstance(value, str):
            number, _, unit = value.partition(" ")
            table[name] = f"{float(number) * factor:g} {unit}"
        else:
            table[name] = type(value)(value * factor)
    return "\n".join(f"{key(name)} = {inline(value)}" for name, value in values.items())


def places_in(value):
    """Every (table or list, key or index) inside a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield value, name
        yield from places_in(inner)


def change_word(text: str, choose: random.Random) -> str:
    """A value replaced by an odd one."""
    found = list(re.finditer(r'"[^"\n]*"|[\w.+-]+|\[[^\]\n]*\]', text))
    return replace(text, choose.choice(found), choose.choice(WORDS)) if found else choose.choice(WORDS)


def change_number(text: str, choose: random.Random) -> str:
    """A number made larger, smaller, negative or zero: these models are often valid and must be checked to the end."""
    found = list(re.finditer(r"\d+(\.\d+)?", text))
    if not found:
        return text
    match = choose.choice(found)
    factor = choose.choice((0, -1, 0.1, 0.5, 2, 10, 1000))
    return replace(text, match, f"{float(match.group()) * factor:g}")


def change_line(text: str, choose: random.Random) -> str:
    """A line removed, doubled or moved."""
    lines = text.split("\n")
    line = lines.pop(choose.randrange(len(lines)))
    for _ in range(choose.choice((0, 1, 2))):
        lines.insert(choose.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def change_letter(text: str, choose: random.Random) -> str:
    """One character changed."""
    at = choose.randrange(len(text) + 1)
    return text[:at] + choose.choice('"[]{}=.,#\n\\ aZ0-\u00b5\x7f') + text[at + choose.randint(0, 1) :]


def swap_pieces(text: str, choose: random.Random) -> str:
    """The end of another model behind the beginning of this one."""
    other = choose.choice(SHIPPED)
    return text[: choose.randrange(len(text) + 1)] + other[choose.randrange(len(other) + 1) :]


def replace(text: str, match: re.Match, word: str) -> str:
    """The text with one piece replaced."""
    return text[: match.start()] + word + text[match.end() :]


@pytest.fixture(autouse=True)
def beside(tmp_path):
    """The files that examples name."""
    for path in EXAMPLES.glob("*.stl"):
        shutil.copy(path, tmp_path)


def test_unbroken_models_pass(tmp_path, capsys):
    for number, text in enumerate(MODELS):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        assert main(["check", str(path)]) == 0, capsys.readouterr().err


@pytest.mark.timeout(120)  # one seed takes some seconds; a hang ends here
@pytest.mark.parametrize("seed", SEEDS)
def test_broken_models_are_refused_or_checked(seed, tmp_path, capsys):
    choose = random.Random(seed)
    path = tmp_path / "model.toml"
    for number in range(FILES_PER_SEED):
        path.write_bytes(broken(choose))
        code = main(["check", str(path)])
        captured = capsys.readouterr()
        where = f"seed {seed}, file {number}: {captured.err}"
        assert code in (0, 2), where
        assert (code == 0) == (captured.err == ""), where
        assert "Traceback" not in captured.err and "internal error" not in captured.err, where
        assert len(captured.err) < 10000, where


def test_broken_models_stop_the_installed_command(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(nearfield.__file__).parents[1])}
    beside = Path(sys.executable).with_name("nearfield")
    command = [str(beside)] if beside.exists() else [sys.executable, "-m", "nearfield"]
    choose, paths = random.Random("processes"), []
    while len(paths) < PROCESSES:
        path = tmp_path / f"{len(paths)}.toml"
        path.write_bytes(broken(choose))
        if main(["check", str(path)]) != 0:  # else it is still a model
            paths.append(path)

    def run(path: Path) -> subprocess.CompletedProcess:
        arguments = [*command, "run", str(path), "--output", str(tmp_path / "out")]
        return subprocess.run(arguments, capture_output=True, env=environment, timeout=100)

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(run, paths):
            assert done.returncode == 2, done.stderr
            assert done.stdout == b"" and done.stderr.startswith(b"error: ") and b"Traceback" not in done.stderr
