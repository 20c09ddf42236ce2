"""Broken model files by the thousand: an exit code and one message for each, never a traceback, never a hang.

They are the shipped models with lines, words, numbers and bytes changed, and pieces of TOML thrown together. Each goes
through the command's entry point as far as `check` goes; fifty go through the command as a process.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nearfield
from nearfield.cli import main
from nearfield.commands.new import template_text

SEEDS = range(40)
FILES_PER_SEED = 60
PROCESSES = 50
WORDS = [
    "true", "false", "nan", "inf", "-inf", "0", "-1", "1e308", "-1e-308", "1e-320", "9" * 30, "9" * 5000, '""', '"pec"',
    '"pmc"', '"cpml"', '"auto"', '"uniform"', '"lines"', '"1 mm"', '"-1 mm"', '"1 fm"', '"1 km"', '"1 GHz"', '"1 THz"',
    "[]", "{}", "[0, 0, 0]", "[[]]", "[1e9, 1e9, 1e9]", "1979-05-27", "07:32:00", "'\u00e9'", '"a/b"', '"\\u0000"',
    "kind", "{ kind = \"cpml\", cells = 1000 }", "1_000", "0x10", "\"\"\"", "#", "=", "[", "]]", "[[ports]]", "[grid]",
    "medium", "\x00", "\r", "steps = 1", "time_step = 1e-30", "precision = \"double\"", "excitations = [\"feed\"]",
]  # fmt: skip
SHIPPED = [template_text(name) for name in ("patch", "dipole", "box")]
SHIPPED += [path.read_text() for path in sorted((Path(nearfield.__file__).parents[1] / "examples").glob("*.toml"))]


def broken(choose: random.Random) -> bytes:
    """A shipped model with a few things wrong."""
    text = choose.choice(SHIPPED)
    for _ in range(choose.choice((1, 1, 1, 2, 3, 8))):
        text = choose.choice((change_word, change_number, change_line, change_letter, swap_pieces))(text, choose)
    content = text.encode("utf-8", "surrogatepass")
    if choose.random() < 0.1:
        at = choose.randrange(len(content) + 1)
        content = content[:at] + choose.randbytes(choose.randint(1, 8)) + content[at + choose.randint(0, 3):]
    return content[: choose.randrange(len(content) + 1)] if choose.random() < 0.1 else content


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
    return text[:at] + choose.choice('"[]{}=.,#\n\\ aZ0-\u00b5\x7f') + text[at + choose.randint(0, 1):]


def swap_pieces(text: str, choose: random.Random) -> str:
    """The end of another model behind the beginning of this one."""
    other = choose.choice(SHIPPED)
    return text[: choose.randrange(len(text) + 1)] + other[choose.randrange(len(other) + 1):]


def replace(text: str, match: re.Match, word: str) -> str:
    """The text with one piece replaced."""
    return text[: match.start()] + word + text[match.end():]


def test_unbroken_models_pass(tmp_path, capsys):
    for number, text in enumerate(SHIPPED):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        assert main(["check", str(path)]) == 0, capsys.readouterr().err


@pytest.mark.timeout(120)  # one seed takes about a second; a hang ends here
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
