"""The index of field files that lie in parts, one a domain: what the parts are called and hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.formats.description import FieldDescription

FIRST = b'{"nearfield_field_parts": 1'


def read_index(path: Path) -> tuple[FieldDescription, list[dict[str, Any]], str]:
    """Description, parts and status of a JSON file that joins binary or text parts."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return FieldDescription.from_json(json.dumps(told["description"])), told["parts"], told["status"]
    except (ValueError, KeyError) as error:
        raise ModelError(f"{path} cannot be read as an index of field files ({error})") from error
