"""Errors, each with the exit code that the command line gives it."""

from __future__ import annotations

from typing import Any

FIRST_STEPS = "docs/first-hour.md lists what goes wrong first, and what to do"  # stands below messages on models


class NearfieldError(Exception):
    """Anything that Nearfield reports on purpose; the command line prints it as one message, without a traceback."""

    exit_code = 4


class ModelError(NearfieldError, ValueError):
    """Wrong input, refused at the door: what was given, what is allowed, why, what to do."""

    exit_code = 2


class NoRoom(ModelError):
    """A disk has less room than a run will take."""


class DamagedError(ModelError):
    """A file whose bytes are not those that were written."""


class DivergedError(NearfieldError):
    """The fields became infinite, not a number, or grew with every source off; `result` holds what was recorded."""

    exit_code = 3

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class Requeue(NearfieldError):
    """SIGTERM ended a run that can go on from a checkpoint."""

    exit_code = 75


class RunFailed(NearfieldError):
    """A run broke off under way (disk, memory); `result` holds what was recorded, where there is anything."""

    exit_code = 4

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result
