"""Values for parameters as `--set` takes them; apart from what checks them, so that `--help` is quick."""

from __future__ import annotations

from collections.abc import Iterable

from nearfield.entry.errors import ModelError

Setting = str | float  # "15.9 mm", 4.4


def settings_of(texts: Iterable[str] | None) -> dict[str, Setting]:
    """Parameters as `--set` takes them: "length=15.9mm". Error: ModelError."""
    found: dict[str, Setting] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise ModelError(f"--set {text[:60]!r}: give a parameter and its value, such as length=15.9mm")
        if name in found:
            raise ModelError(f"--set {name}: given twice; give each parameter one value")
        found[name] = value
    return found
