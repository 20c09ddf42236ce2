"""What to do about a file or disk that failed under way, by the options of the command that was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nearfield.entry.whole_file import is_full, reason_of

OUTPUT = "--output"


def disk_message(error: OSError, arguments: Sequence[str], command: Any) -> str:
    """The file, why the system refuses it, and what to do: with the option that names its place, where one does."""
    where = f"{error.filename}: " if error.filename else ""
    do = "free some space" if is_full(error) else "see that it can be read and written"
    option = naming(error.filename, arguments) or (OUTPUT if OUTPUT in options_of(command, arguments) else "")
    return f"{where}{reason_of(error)}; {do}{f', or give another place with {option}' if option else ''}"


def naming(file: Any, arguments: Sequence[str]) -> str:
    """The option given whose value is the file, or a folder above it; "" without one."""
    if not isinstance(file, (str, Path)):
        return ""
    ways = {Path(file).absolute(), *Path(file).absolute().parents}
    return next((option for option, value in given(arguments) if value and Path(value).absolute() in ways), "")


def given(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options of a command line, each with the text that follows it."""
    for word, following in zip(arguments, [*arguments[1:], ""]):
        if word.startswith("--"):
            option, sign, value = word.partition("=")
            yield option, value if sign else following


def options_of(command: Any, arguments: Sequence[str]) -> list[str]:
    """The options that the command of a command line has."""
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return [option for parameter in command.params for option in parameter.opts]
