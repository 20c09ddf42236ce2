"""NVRTC, NVIDIA's compiler as a library: from the wheel of the extra `[cuda]`, or from a toolkit on this machine.

Called by its C interface, which is the same in every version: one wheel is enough, and so is a site's own toolkit.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nearfield.engines.cuda.driver import dotted
from nearfield.entry.errors import ModelError, NearfieldError

VARIABLE = "NEARFIELD_NVRTC"  # path of another library in the compiler's place, for tests
OPTIONS = ("--std=c++20", "--fmad=false", "--ftz=true")  # no contraction; denormals are zero, as on the CPU
MAJORS = (13, 12)  # newest first
INSTALL = 'install the extra "cuda" (pip install "nearfield[cuda]"), or load a CUDA toolkit'


class DoesNotCompile(NearfieldError):
    """The compiler refuses a kernel: its log."""


@dataclass(frozen=True)
class Compiler:
    """NVRTC at a path, its version, and the architectures that it makes code for, such as 90."""

    path: str
    version: tuple[int, int]
    architectures: tuple[int, ...]

    def compiled(
        self,
        name: str,
        texts: Mapping[str, bytes],
        target: str,
        options: tuple[str, ...] = OPTIONS,
        form: str = "CUBIN",
    ) -> tuple[bytes, str]:
        """The cubin of the file `name` for a target such as sm_90, and the log. `texts`: of it and what it includes.

        `form` "PTX": the text that the assembler takes, for a target such as compute_90."""
        library, program = _library(self.path), ctypes.c_void_p()
        # headers of one folder name each other without it
        headers = {short: text for path, text in texts.items() for short in {path, path.rpartition("/")[2]}}
        headers = {path: text for path, text in headers.items() if path.endswith(".h")}
        count = len(headers)
        files = (ctypes.c_char_p * count)(*headers.values())
        paths = (ctypes.c_char_p * count)(*(path.encode() for path in headers))
        _check(
            library,
            library.nvrtcCreateProgram(ctypes.byref(program), texts[name], name.encode(), count, files, paths),
        )
        try:
            given = [option.encode() for option in (f"--gpu-architecture={target}", *options, "--ptxas-options=-v")]
            status = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
            log = _text(library, program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace")
            if status:
                raise DoesNotCompile(f"{name} does not compile for {target}:\n{log}")
            return _text(library, program, form), log
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))


@lru_cache
def _library(path: str) -> Any:
    """NVRTC, after the built-ins beside it: it asks for them by their bare name when it compiles, and the library of
    some wheels (13.0) does not say where they are. The system finds by name what is loaded already."""
    folder = path.rpartition("/")[0]
    for builtins in sorted(Path(folder).glob("libnvrtc-builtins.so.*")) if folder else ():
        with suppress(OSError):
            ctypes.CDLL(str(builtins))
    return ctypes.CDLL(path)


def _check(library: Any, status: int) -> None:
    if status:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise DoesNotCompile(f"NVRTC: {library.nvrtcGetErrorString(status).decode()}")


def _text(library: Any, program: ctypes.c_void_p, what: str) -> bytes:
    """The log, the cubin or the PTX of a program."""
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, text))
    return text.raw


def compiler_at(path: str) -> Compiler | None:
    """The compiler of a path or name; None where it cannot be loaded."""
    try:
        library = _library(path)
    except OSError:
        return None
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    _check(library, library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    architectures = (ctypes.c_int * count.value)()
    _check(library, library.nvrtcGetSupportedArchs(architectures))
    return Compiler(path, (major.value, minor.value), tuple(architectures))


def places() -> Iterator[str]:
    """Where NVRTC may be: the variable's path alone; else wheels, toolkits, the system's libraries."""
    if os.environ.get(VARIABLE):
        yield os.environ[VARIABLE]
        return
    wheels = find_spec("nvidia")
    folders = [Path(each) for each in (wheels and wheels.submodule_search_locations) or ()]
    toolkits = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for major in MAJORS:
        name = f"libnvrtc.so.{major}"
        yield from (str(path) for folder in folders for path in sorted(folder.glob(f"*/lib/{name}")))
        yield from (str(folder / "lib64" / name) for folder in (*toolkits, Path("/usr/local/cuda")))
        yield name


def find_compiler(driver: tuple[int, int] | None = None) -> Compiler:
    """The newest compiler whose kernels a driver of this CUDA loads: of its major version or older. Error: none."""
    newer = None
    for path in places():
        found = compiler_at(path)
        if found and (driver is None or found.version[0] <= driver[0]):
            return found
        newer = newer or found
    if newer and driver:
        raise ModelError(
            f"the NVIDIA driver here is too old for the compiler: it knows CUDA {dotted(driver)}, NVRTC "
            f"{dotted(newer.version)} needs {newer.version[0]}.0 or later; update the driver, or install "
            f"nvidia-cuda-nvrtc-cu{driver[0]}"
        )
    raise ModelError(f"NVRTC, the compiler of kernels, was not found; {INSTALL}")
