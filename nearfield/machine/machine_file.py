"""Measurements of this machine that are used again: small JSON files, one entry a host.

A file that is missing, spoilt or cannot be written is no error: it only spares measurements.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.entry.whole_file import reason_of

FAULTS = (OSError, ValueError, TypeError, RuntimeError, RecursionError)


@dataclass(frozen=True)
class MachineFile:
    """One file of the cache folder; `NEARFIELD_CACHE` chooses another folder."""

    name: str

    @property
    def path(self) -> Path:
        chosen = os.environ.get("NEARFIELD_CACHE")
        if chosen:
            return Path(chosen) / self.name
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nearfield" / self.name

    def hosts(self) -> dict[str, Any]:
        """The whole file, entries by host; nothing if it is missing or spoilt."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except FAULTS:
            return {}
        return found if isinstance(found, dict) else {}

    def entries(self) -> dict[str, Any]:
        own = self.hosts().get(platform.node())
        return own if isinstance(own, dict) else {}

    def keep(self, entries: Mapping[str, Any]) -> str:
        """Replace the entries of this host; without entries, remove them. Returns why it could not, "" if it could."""
        written: Path | None = None
        try:
            path, hosts = self.path, self.hosts()
            hosts.pop(platform.node(), None)
            text = json.dumps(hosts | ({platform.node(): dict(entries)} if entries else {}), indent=1, allow_nan=False)
            path.parent.mkdir(parents=True, exist_ok=True)
            written = path.with_name(f"{path.name}.{os.getpid()}")
            written.write_text(text, encoding="utf-8")
            written.replace(path)  # whole or not at all, whoever reads it now
        except FAULTS as error:
            if written is not None:
                with contextlib.suppress(OSError):
                    written.unlink(missing_ok=True)
            reason = reason_of(error) if isinstance(error, (OSError, ValueError)) else str(error)
            return f"not kept: {self.path}: {reason}; name another folder in the variable NEARFIELD_CACHE"
        return ""
