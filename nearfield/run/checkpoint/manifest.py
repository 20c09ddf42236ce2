"""The manifest of a checkpoint: what is in it, where, and with which checksums; read as data that anyone may have made.

A manifest names files, types, shapes and places. Each is held against what Nearfield writes before it is used, so that
nothing outside of the checkpoint's folder is read or written and no array is larger than the file that holds it.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

import nearfield
from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.entry.untrusted_file import open_ordinary, plain_name
from nearfield.run.checkpoint.schedule import Schedule

MANIFEST = "manifest.json"
FORMAT = 2
READABLE = (1, FORMAT)  # 1 stores every sample of the box about a dispersive medium
CHUNK = 2**20  # bytes of a file that one checksum covers
HEAD = b'{"crc32": "%08x", '  # first bytes of the manifest: the checksum of the rest
OUR_FILES = re.compile(r"(rank-\d{1,9}|run)\.bin")
MOST_AXES = 32
LARGEST = 1 << 62  # bytes of a file, samples of an array
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Name = Annotated[str, AfterValidator(plain_name)]


class Damaged(NearfieldError):
    """The content of a checkpoint is not what was written."""


class Strict(BaseModel):
    """Values of the given types alone; entries that are not named here are left as they are."""

    model_config = ConfigDict(strict=True, extra="ignore")


def number_type(name: str) -> str:
    """A type of numbers, of truth values or of text, which have bytes of a fixed length and no references."""
    if np.dtype(name).kind not in "biufcU":
        raise ValueError(f"arrays of {name} are not stored in checkpoints")
    return name


class ArrayEntry(Strict):
    """An array in a file."""

    name: str
    dtype: Annotated[str, AfterValidator(number_type)]
    shape: Annotated[list[Count], Field(max_length=MOST_AXES)]
    order: list[int]
    lower: tuple[Count, Count, Count] | None
    at: Count
    kept: Count | None = None  # samples that are stored, behind a bit of each of all; None: all, without bits

    @model_validator(mode="after")
    def _fits(self) -> ArrayEntry:
        if sorted(self.order) != list(range(len(self.shape))):
            raise ValueError(f"order {self.order} does not name each of {len(self.shape)} axes once")
        if self.lower is not None and len(self.shape) < 3:
            raise ValueError("an array with a place in the box has three axes or more")
        if self.kept is not None and (self.lower is None or self.kept > math.prod(self.shape[-3:])):
            raise ValueError(f"{self.kept} samples of an array of shape {self.shape} have no place in it")
        return self

    @property
    def end(self) -> int:
        """First byte behind it."""
        size = np.dtype(self.dtype).itemsize
        if self.kept is None:
            return self.at + math.prod(self.shape) * size
        return self.at + bytes_of_bits(self.shape) + math.prod(self.shape[:-3]) * self.kept * size


def bytes_of_bits(shape: Sequence[int]) -> int:
    """Bytes that hold a bit for each sample of an array's last three axes."""
    return -(-math.prod(shape[-3:]) // 8)


class FileEntry(Strict):
    """A file of arrays, with a checksum of each chunk."""

    bytes: Count
    crc32: list[Annotated[int, Field(ge=0, lt=1 << 32)]]
    arrays: list[ArrayEntry]

    @model_validator(mode="after")
    def _holds(self) -> FileEntry:
        if len(self.crc32) != -(-self.bytes // CHUNK):
            raise ValueError(f"{len(self.crc32)} checksums do not cover {self.bytes} bytes")
        for array in self.arrays:
            if array.end > self.bytes:
                raise ValueError(f"{array.name[:60]!r} of shape {array.shape} reaches beyond its file")
        return self


class VariableEntry(Strict):
    """A labelled array of a finished excitation; `values` names it."""

    dims: list[str]
    values: str
    attributes: dict[str, Any]


Variables = dict[str, VariableEntry]


class MonitorEntry(Strict):
    """A monitor of a finished excitation."""

    kind: str
    entry: dict[str, Any]
    variables: Variables


class FinishedEntry(Strict):
    """The record of a finished excitation."""

    energy: Variables
    ports: dict[str, Variables]
    monitors: dict[str, MonitorEntry]
    waveform: Variables | None
    source_end: float | Literal["inf"] | None = None


class RunEntry(Strict):
    """How a finished excitation ran."""

    ended: str
    steps: Count
    seconds: float
    mcells_per_second: float
    energy_ratio: float | None


class Manifest(Strict):
    """All that a manifest of this format holds."""

    stem: str
    result: Name
    checkpoint: str
    model: str
    model_text: str
    plan: str
    excitation: str
    step: Count
    steps_made: Count
    ended: str | None
    still: float = 0.0
    seconds: float
    warnings: list[str] = []
    failed_derivations: list[str] = []
    runs: dict[str, RunEntry]
    finished: dict[str, FinishedEntry]
    resumed: list[dict[str, Any]]
    files: dict[str, FileEntry]

    @model_validator(mode="after")
    def _names(self) -> Manifest:
        for name in self.files:
            if not OUR_FILES.fullmatch(name):
                raise ValueError(f"{name[:60]!r} is not the name of one of its files")
        if self.stem:
            plain_name(f"{self.stem}.s1p")
        if self.runs.keys() != self.finished.keys():
            raise ValueError("the excitations that ran are not those that are finished")
        Schedule.of(self.checkpoint)
        return self


def write_manifest(folder: Path, entries: dict[str, Any]) -> None:
    """Write the manifest, down to the disk. Error: `OSError`."""
    rest = json.dumps(entries)[1:].encode()
    with open(folder / MANIFEST, "xb") as file:
        file.write(HEAD % zlib.crc32(rest) + rest)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a checkpoint; that of another version as it is. Error: `Damaged`, also if it cannot be read."""
    try:
        with open_ordinary(folder / MANIFEST, follow=False) as file:
            content = file.read()
    except OSError as error:
        raise Damaged(f"{MANIFEST} cannot be read: {error.strerror}") from None
    length = len(HEAD % 0)
    if content[:length] != HEAD % zlib.crc32(content[length:]):
        raise Damaged(f"{MANIFEST} does not agree with its checksum")
    try:
        manifest = json.loads(content)
        if not isinstance(manifest, dict):
            raise ValueError("it holds no entries")
        if is_ours(manifest):
            Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in first["loc"])
        where = f", at {place}" if place else ""
        raise Damaged(f"{MANIFEST} holds what no Nearfield writes{where}: {first['msg']}") from None
    except (ValueError, TypeError, RecursionError, ModelError) as error:
        raise Damaged(f"{MANIFEST} holds what no Nearfield writes: {error}") from None
    return manifest


def is_ours(manifest: dict[str, Any]) -> bool:
    """Whether this Nearfield reads it."""
    return manifest.get("format") in READABLE and manifest.get("nearfield") == nearfield.__version__
