"""Machines that JSON files describe: one reader for all kinds of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable
from nearfield.entry.schema import Schema

Described = TypeVar("Described", bound=Schema)


def described(
    kind: type[Described], given: str | Path, shipped: Mapping[str, Path], label: str, more: str = ""
) -> Described:
    """What a file describes, or the one that the package has under this name, as an entry of this kind.

    `label` names the option in messages; `more` is said after the remedy where there is no such file.
    Error: no such file or name, no JSON, or anything else in it than the entry has.
    """
    path = shipped.get(str(given), Path(given))
    example = next(iter(shipped.values())).name
    remedy = f"give {', '.join(shipped)}, or a JSON file with the entries of {example} in the package"
    try:
        entries: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{label} {given}: {error.strerror or error}; {remedy}{more}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{label} {given} is not JSON ({error}); {remedy}") from None
    try:
        return kind.model_validate(entries)
    except ValidationError as error:
        raise ModelError(f"{readable(error, kind, entries, f'{label} {given}')}\n{remedy}") from None
