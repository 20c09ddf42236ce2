"""What is derived from a record must not lose it: a derivation that fails becomes a warning with its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nearfield.entry.errors import DamagedError, NearfieldError

Value = TypeVar("Value")
Other = TypeVar("Other")


class Attempts:
    """Derivations one after the other; `failed` holds the name of each that failed, `warnings` a text."""

    def __init__(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """`tell` is called with each warning as it comes."""
        self.tell = tell
        self.failed: list[str] = []
        self.warnings: list[str] = []

    def at(self, name: str, derive: Callable[[], Value], otherwise: Other) -> Value | Other:
        """What `derive` returns, or `otherwise` and a warning that says `name`. Error: `DamagedError`."""
        try:
            return derive()
        except DamagedError:
            raise
        except Exception as error:  # a night's run stands behind it: no fault of a derivation may lose the rest
            self.failed.append(name)
            self.warnings.append(failure_text(name, error))
            self.tell(self.warnings[-1])
            return otherwise


def failure_text(name: str, error: Exception) -> str:
    """The warning of a derivation that failed."""
    if isinstance(error, NearfieldError):
        return f"{name} failed: {error}. What was recorded is kept"
    cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{name} failed ({cause}). What was recorded is kept; this is a fault of Nearfield, please report it"
