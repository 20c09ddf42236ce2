"""Where commands write: results to stdout, all else to stderr; with `--json` stdout holds exactly one JSON object."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

REFUSED = 2
FAILED = 4
INTERRUPTED = 130
CODE_OF_STATUS = {"done": 0, "diverged": 3, "failed": 4, "interrupted": INTERRUPTED}


class Console:
    """The two outputs of one command."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.stdout = sys.stdout

    def say(self, text: str) -> None:
        """Text for the reader: stdout, or stderr where stdout is kept for JSON."""
        write(sys.stderr if self.as_json else self.stdout, text)

    def note(self, text: str) -> None:
        """Warnings and remarks."""
        write(sys.stderr, text)

    def answer(self, values: Mapping[str, Any]) -> None:
        """The JSON object, where one was asked for."""
        if self.as_json:
            write(self.stdout, json.dumps(plain(values), allow_nan=False))


@contextlib.contextmanager
def console(as_json: bool) -> Iterator[Console]:
    """The command's outputs; with JSON whatever else prints is sent to stderr."""
    output = Console(as_json)
    if not as_json:
        yield output
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield output


def write(stream: Any, text: str) -> None:
    """Print, or stop printing for good when the reader has gone (`| head`): that breaks no run."""
    try:
        print(text, file=stream, flush=True)
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except BrokenPipeError:
        silence(stream)


def silence(stream: Any) -> None:
    """Point a broken output to nowhere, so that nothing, Python's last flush included, fails on it again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def plain(value: Any) -> Any:
    """What JSON can hold: numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """A number with the unit prefix that reads best: `1.27 ps`, `389 um`."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g} {unit}"
    prefixes = {-15: "f", -12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
    exponent = min(max(3 * math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3), -15), 12)
    return f"{value / 10.0**exponent:.{digits}g} {prefixes[exponent]}{unit}"


def memory(number_of_bytes: float) -> str:
    """Bytes in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number_of_bytes < 1024:
            return f"{number_of_bytes:.4g} {unit}"
        number_of_bytes /= 1024
    return f"{number_of_bytes:.4g} TiB"


def duration(seconds: float) -> str:
    """A time a person waits."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def output_folder(model: Path, chosen: Path | None) -> Path:
    """`out/<model's stem>` under the current folder, unless another was chosen."""
    return chosen if chosen is not None else Path("out") / (model.stem or model.name)
