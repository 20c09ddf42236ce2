"""The processor's switch that flushes denormals to zero, as engines do.

Without it a flushed forerunner of a pulse, some 1e-38 in single precision, would show some hundred steps later in
fields of 1e-30.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
from collections.abc import Iterator
from contextlib import contextmanager

# Where <fenv.h>'s environment holds the control word, and the bits that flush denormal results and operands.
FLUSH = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Flush-to-zero and denormals-are-zero in this thread."""
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    if machine not in FLUSH or platform.system() != "Linux":
        yield  # nor do engines of other processors
        return
    offset, bits = FLUSH[machine]
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    kept = ctypes.create_string_buffer(64)
    library.fegetenv(kept)
    changed = ctypes.create_string_buffer(kept.raw, 64)
    word = ctypes.c_uint32.from_buffer(changed, offset)
    word.value |= bits
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(kept)
