"""Codecs of HDF5 chunks, applied outside HDF5; any HDF5 decodes them by its own filters.

`zlib` needs nothing. `zstd`, `lz4` and `bitshuffle` are filters of the package hdf5plugin: their functions are called
here directly, without the lock of HDF5 and of Python, so that threads compress at the same time; readers of the file
need the same plugins.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError

FILTERS = {"none": 0, "zlib": 1, "zstd": 32015, "lz4": 32004, "bitshuffle": 32008}
LEVELS = {"zlib": (1, 9), "zstd": (1, 22)}
DEFAULT_LEVELS = {"zlib": 1, "zstd": 1}
PLUGINS = {"zstd": "libh5zstd", "lz4": "libh5lz4", "bitshuffle": "libh5bshuf"}
WITH_LZ4 = (0, 2)  # parameters of bitshuffle: blocks of its own choice, then LZ4


@dataclass(frozen=True)
class Codec:
    """A codec by name and level; `Codec.parse("zstd:3")`. All but `none` and `bitshuffle` shuffle bytes first."""

    name: str
    level: int | None = None

    @classmethod
    def parse(cls, text: str) -> Codec:
        """`none`, `zlib` (`zlib:1` to `:9`), `zstd` (`:1` to `:22`), `lz4` or `bitshuffle`. Error: `ModelError`."""
        name, colon, level = text.partition(":")
        if name not in FILTERS:
            raise ModelError(f"codec is {text!r}; choose one of {', '.join(FILTERS)}")
        if not colon:
            return cls(name, DEFAULT_LEVELS.get(name))
        if name not in LEVELS:
            raise ModelError(f"codec {text!r} has a level, but {name} has none; write {name!r}")
        low, high = LEVELS[name]
        if not (level.isascii() and level.isdigit() and low <= int(level) <= high):
            raise ModelError(f"codec {text!r}: the level of {name} is a whole number from {low} to {high}")
        return cls(name, int(level))

    def __str__(self) -> str:
        return self.name if self.level is None else f"{self.name}:{self.level}"

    @property
    def shuffles(self) -> bool:
        """Whether HDF5's byte shuffle comes first."""
        return self.name not in ("none", "bitshuffle")

    @property
    def is_missing(self) -> bool:
        """Whether the codec's package is not installed."""
        return self.name in PLUGINS and importlib.util.find_spec("hdf5plugin") is None

    def refuse_missing(self) -> None:
        """Raise `ModelError` if the codec's package is not installed; to be called before a run."""
        if self.is_missing:
            raise ModelError(
                f"codec {self.name!r} needs the package hdf5plugin, which is not installed; "
                'install it (pip install "nearfield[codecs]"), or take codec "zlib", which needs nothing'
            )

    def dataset_options(self) -> dict[str, Any]:
        """The arguments of h5py's `create_dataset` for this codec."""
        self.refuse_missing()
        if self.name == "none":
            return {}
        if self.name == "zlib":
            return {"shuffle": True, "compression": "gzip", "compression_opts": self.level}
        _plugin(self.name)
        options = {"zstd": (self.level,), "lz4": (), "bitshuffle": WITH_LZ4}[self.name]
        return {"shuffle": self.shuffles, "compression": FILTERS[self.name], "compression_opts": options}

    def compressor(self, parameters: tuple[int, ...] = ()) -> Callable[[np.ndarray], Any]:
        """The function from a contiguous array to the bytes of a chunk; any number of threads may call it.

        `parameters` are the filter's, as its dataset has them.
        """
        if self.name == "none":
            return _bytes
        if self.name == "zlib":
            return lambda chunk: zlib.compress(shuffled(chunk).data, self.level or DEFAULT_LEVELS["zlib"])
        run, prepared = _plugin(self.name), shuffled if self.shuffles else _bytes
        return lambda chunk: run(prepared(chunk), parameters)


NO_CODEC = Codec("none")


def _bytes(chunk: np.ndarray) -> np.ndarray:
    return chunk.reshape(-1).view(np.uint8)


def shuffled(chunk: np.ndarray) -> np.ndarray:
    """The first bytes of all numbers, then the second ones, and so on: HDF5's shuffle filter. Flat, uint8."""
    flat, size = _bytes(chunk), chunk.dtype.itemsize
    return np.concatenate([flat[number::size] for number in range(size)])


class _FilterClass(ctypes.Structure):
    """H5Z_class2_t of HDF5's filter interface."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("version", "id")),
        *((name, ctypes.c_uint) for name in ("encoder", "decoder")),
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("can_apply", "set_local", "filter")),
    )


# size_t filter(flags, number and values of parameters, bytes, size of the buffer, the buffer): bytes, 0 for failure
_size, _number, _pointer = ctypes.c_size_t, ctypes.c_uint, ctypes.POINTER
_Filter = ctypes.CFUNCTYPE(_size, _number, _size, _pointer(_number), _size, _pointer(_size), _pointer(ctypes.c_void_p))


@functools.cache
def _c_library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    return library


@functools.cache
def _plugin(name: str) -> Callable[[np.ndarray, tuple[int, ...]], bytes]:
    """The compressor of a plugin's filter; a filter takes a buffer of malloc and leaves another in its place."""
    import hdf5plugin

    path = min(Path(hdf5plugin.PLUGIN_PATH).glob(f"{PLUGINS[name]}.*"))
    library, memory = ctypes.CDLL(str(path)), _c_library()
    library.H5PLget_plugin_info.restype = ctypes.POINTER(_FilterClass)
    function = _Filter(library.H5PLget_plugin_info().contents.filter)

    def run(chunk: np.ndarray, parameters: tuple[int, ...]) -> bytes:
        buffer, size = ctypes.c_void_p(memory.malloc(max(chunk.nbytes, 1))), ctypes.c_size_t(chunk.nbytes)
        if not buffer.value:
            raise MemoryError(f"no {chunk.nbytes} bytes to compress in")
        try:
            ctypes.memmove(buffer, chunk.ctypes.data, chunk.nbytes)
            values = (ctypes.c_uint * max(len(parameters), 1))(*parameters)
            count = function(0, len(parameters), values, chunk.nbytes, ctypes.byref(size), ctypes.byref(buffer))
            if count == 0:
                raise MemoryError(f"the {name} filter could not compress {chunk.nbytes} bytes")
            return ctypes.string_at(buffer, count)
        finally:
            memory.free(buffer)

    return run
