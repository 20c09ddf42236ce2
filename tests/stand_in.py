"""A stand-in for NVIDIA's driver and compiler (tests/cuda), so that the path of cards runs on machines without one."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "tests/cuda/stand_in.cpp", ROOT / "core/cpu/team.cpp", ROOT / "core/machine/processors.cpp")
OPTIONS = "-O0 -std=gnu++20 -ffp-contract=off -Wno-psabi -fvisibility=hidden -fPIC -shared -Wl,-z,defs -pthread".split()
SETTINGS = "NEARFIELD_STAND_IN"
VARIABLES = ("NEARFIELD_CUDA_DRIVER", "NEARFIELD_NVRTC")


def built(folder: Path) -> Path:
    """The library, compiled with the kernels for this processor where this text of it is not there yet."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler: the path of cards is not tested")
    kernels = sorted((ROOT / "core/cuda").glob("*.cu"))
    text = SOURCES[0].read_text() + "".join(f'\n#include "cuda/{path.name}"' for path in kernels)
    parts = [text.encode()]
    for pattern in ("core/cuda/*", "core/cell/*.h", "core/cpu/team.*", "core/machine/processors.*", "tests/cuda/*"):
        parts += [path.read_bytes() for path in sorted(ROOT.glob(pattern))]
    library = folder / f"stand_in_{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}.so"
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers of pytest-xdist wait for the first of them
        if not library.exists():
            source, made = library.with_suffix(".cpp"), library.with_suffix(".made")
            source.write_text(text)
            includes = [f"-I{ROOT / part}" for part in ("core", "core/cpu", "core/cuda", "tests/cuda")]
            subprocess.run([compiler, *OPTIONS, *includes, source, *SOURCES[1:], "-o", made], check=True)
            made.replace(library)
    return library


class StandIn:
    """The make-believe card of this process: faults, and what it has done."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self._monkeypatch = path, monkeypatch
        self.library: Any = ctypes.CDLL(str(path))

    def has(self, **settings: float) -> None:
        """Let the card be otherwise than usual, as tests/cuda reads it; whatever failed before works again."""
        from nearfield.engines.cuda.device import _usable_card

        self._monkeypatch.setenv(SETTINGS, ",".join(f"{name}={value}" for name, value in settings.items()))
        _usable_card.cache_clear()
        self.library.stand_in_revive()

    @property
    def graph_launches(self) -> int:
        return int(self.library.stand_in_graph_launches())

    @property
    def host_copies(self) -> int:
        """Copies to and from the host so far."""
        return int(self.library.stand_in_host_copies())

    def streams(self, priority: int) -> int:
        """Streams of a priority that are there; 0: of the usual one."""
        return int(self.library.stand_in_streams(priority))

    @property
    def launches(self) -> int:
        return int(self.library.stand_in_launches())


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, cache: Path) -> StandIn:
    """Let engine "cuda" find the stand-in as its card, and keep cubins in a folder of their own."""
    library = built(folder)
    for name in VARIABLES:
        monkeypatch.setenv(name, str(library))
    monkeypatch.setenv("NEARFIELD_DEVICE", "")
    monkeypatch.setenv("NEARFIELD_CACHE", str(cache))
    made = StandIn(library, monkeypatch)
    made.has()
    return made
