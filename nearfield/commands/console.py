"""Where commands write: results to stdout, all else to stderr; with `--json` stdout holds exactly one JSON object."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nearfield.commands.streams import write
from nearfield.entry.json_data import json_data

CHECKPOINTED = 75
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

    def warn(self, *warnings: str) -> None:
        for warning in warnings:
            self.note(f"warning: {warning}")

    def answer(self, values: Mapping[str, Any], text: str = "") -> None:
        """The JSON object where it is asked for, else the text."""
        if self.as_json:
            write(self.stdout, json.dumps(json_data(values, lambda _: None), allow_nan=False))
        elif text:
            self.say(text)


@contextlib.contextmanager
def console(as_json: bool) -> Iterator[Console]:
    """The command's outputs; with JSON whatever else prints is sent to stderr."""
    output = Console(as_json)
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        yield output


def print_answer(as_json: bool, values: Mapping[str, Any], text: str, warnings: Iterable[str] = ()) -> int:
    """Exit code 0 of a command whose answer is ready, after printing it and its warnings."""
    with console(as_json) as out:
        out.answer(values, text)
        out.warn(*warnings)
    return 0


def output_folder(model: Path, chosen: Path | None) -> Path:
    """`out/<model's stem>` under the current folder, unless another was chosen."""
    return chosen if chosen is not None else Path("out") / (model.stem or model.name)
