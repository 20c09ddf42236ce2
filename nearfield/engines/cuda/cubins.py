"""Compiled kernels, kept on disk: one file for a kernel's text, options, architecture and compiler."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from nearfield.engines.cuda.compiler import OPTIONS, Compiler
from nearfield.machine.compiled import core
from nearfield.machine.machine_file import MachineFile

DIGEST = hashlib.sha256().digest_size  # bytes before the cubin in a file: of the cubin


def kernel_texts() -> dict[str, bytes]:
    """The text of kernels and of what they include, as this core was built with it."""
    return dict(core().devices.kernel_texts())


def cubins(compiler: Compiler, target: str) -> list[bytes]:
    """The cubins of all kernels for a target such as sm_90, from the disk where they lie there whole."""
    texts = kernel_texts()
    names = [name for name in texts if name.endswith(".cu")]
    with ThreadPoolExecutor(max_workers=4) as pool:  # what is compiled takes a second or less a file
        return list(pool.map(lambda name: _cubin(compiler, target, name, texts), names))


def _cubin(compiler: Compiler, target: str, name: str, texts: Mapping[str, bytes]) -> bytes:
    path = folder() / f"{key(compiler, target, name, texts)}.cubin"
    found = _read(path)
    if found is None:
        found, _ = compiler.compiled(name, texts, target)
        _keep(path, found)
    return found


def folder() -> Path:
    """Where cubins are kept."""
    return MachineFile("kernels").path


def key(compiler: Compiler, target: str, name: str, texts: Mapping[str, bytes]) -> str:
    """The digest of all that a cubin depends on."""

    def parts() -> Iterator[bytes]:
        yield repr((name, target, OPTIONS, compiler.version)).encode()
        yield texts[name]
        for header in sorted(each for each in texts if each.endswith(".h")):
            yield header.encode()
            yield texts[header]

    digest = hashlib.sha256()
    for part in parts():
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _read(path: Path) -> bytes | None:
    """A cubin that was kept; None where there is none, or not the whole of it."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, cubin = content[:DIGEST], content[DIGEST:]
    return cubin if cubin and hashlib.sha256(cubin).digest() == digest else None


def _keep(path: Path, cubin: bytes) -> None:
    """Keep a cubin, whole or not at all; where the folder cannot be written it is made again next time."""
    written = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        written.write_bytes(hashlib.sha256(cubin).digest() + cubin)
        written.replace(path)
    except OSError:
        with suppress(OSError):
            written.unlink(missing_ok=True)
