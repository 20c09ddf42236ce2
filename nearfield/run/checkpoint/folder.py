"""Checkpoints in a folder: they get their names when they are whole, and the last two stay."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nearfield
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import flush_to_disk
from nearfield.machine.transport import Alone
from nearfield.run.checkpoint.manifest import FORMAT, MANIFEST, Damaged, is_ours, read_manifest
from nearfield.run.checkpoint.store import Stored, verify

NAME = re.compile(r"checkpoint-(\d+)")
BESIDE = ".{}.part"  # a checkpoint that is being written, or replaced
KEPT = 2


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder by the steps in their names, the newest first."""
    try:
        found = [path for path in folder.iterdir() if NAME.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(found, key=lambda path: int(path.name.split("-")[1]), reverse=True)


def still_there(path: Path) -> bool:
    """Whether a checkpoint that was whole has not been removed since."""
    try:
        return (path / MANIFEST).is_file()
    except OSError:
        return False


def remove_unfinished(folder: Path) -> None:
    """Remove checkpoints that a killed run had not finished writing."""
    for path in folder.glob(BESIDE.format("checkpoint-*")):
        shutil.rmtree(path, ignore_errors=True)


def remove(found: Iterable[Path]) -> None:
    """Remove checkpoints."""
    for path in found:
        shutil.rmtree(path, ignore_errors=True)


def put_in_place(part: Path, place: Path) -> None:
    """Give a checkpoint, whole and on the disk, its name. Error: `OSError`."""
    flush_to_disk(part)
    if place.exists():  # one that was damaged, or of the same steps
        old = place.with_name(BESIDE.format(place.name + ".old"))
        os.rename(place, old)
        os.rename(part, place)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(part, place)
    flush_to_disk(place.parent)


def keep_only(folder: Path, kept: list[Path]) -> None:
    """Remove the checkpoints that are not among the last of those that are known to be whole."""
    for path in checkpoints(folder):
        if path not in kept[-KEPT:]:
            with contextlib.suppress(OSError):
                hidden = path.with_name(BESIDE.format(path.name))  # so that none is ever seen half removed
                os.rename(path, hidden)
                shutil.rmtree(hidden)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose every byte was verified."""

    path: Path
    manifest: dict[str, Any]

    @property
    def stored(self) -> Stored:
        return Stored(self.path, self.manifest["files"])

    @property
    def place(self) -> str:
        """Step and excitation, for messages."""
        return f'step {self.manifest["step"]} of excitation "{self.manifest["excitation"]}"'


def newest(folder: Path, ranks: Alone, warn: Callable[[str], None]) -> Checkpoint:
    """The newest whole checkpoint of a folder; each that is damaged is named to `warn`.

    Error: `ModelError` for none, none whole, or one of another version.
    """
    found = ranks.from_root(checkpoints(folder))
    if not found:
        raise ModelError(
            f"{folder} holds no checkpoint; give the folder of a run with --checkpoint, or run the model from its "
            "beginning"
        )
    reasons = []
    for number, path in enumerate(found):
        manifest, damage = opened(path, ranks)
        if manifest is not None and not damage:
            refuse_version(path, manifest)
            return Checkpoint(path, manifest)
        reasons.append(f"{path} is damaged: {damage}")
        if number + 1 < len(found):
            warn(f"{reasons[-1]}; the checkpoint before it is used")
    raise ModelError(
        f"no checkpoint of {folder} can be used: {'; '.join(reasons)}. Run the model from its beginning with --force"
    )


def opened(path: Path, ranks: Alone) -> tuple[dict[str, Any] | None, str]:
    """The manifest, and what is wrong with the checkpoint; each rank verifies its share of the files."""
    manifest, damage = None, ""
    try:
        manifest = read_manifest(path)
        if is_ours(manifest):
            files = sorted(manifest["files"])
            for name in files[ranks.rank :: ranks.size]:
                verify(path, name, manifest["files"][name])
    except Damaged as error:
        damage = str(error)
    return manifest, next(filter(None, ranks.everywhere(damage)), "")


def refuse_version(path: Path, manifest: dict[str, Any]) -> None:
    """Error: another version wrote it, whose steps may have other bits."""
    if not is_ours(manifest):
        raise ModelError(
            f"{path} was written by Nearfield {manifest.get('nearfield')} in format {manifest.get('format')}, this is "
            f"{nearfield.__version__} with format {FORMAT}; go on with that version, or run the model from its "
            "beginning with --force"
        )
