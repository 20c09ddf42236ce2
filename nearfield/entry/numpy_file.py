"""Arrays that NumPy saved, from files that anyone may have made or damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nearfield.entry.untrusted_file import open_ordinary

BEGINNINGS = (b"\x93NUMPY", b"PK")  # of numpy.save, and of numpy.savez, whose files are told apart later


def read_array(path: str | Path) -> np.ndarray:
    """The array of a file of `numpy.save`. Errors: `OSError`; `ValueError` for any other file."""
    return np.array(mapped_array(path))


def mapped_array(path: str | Path) -> np.ndarray:
    """The same, left in its file until its numbers are used. Errors: as `read_array`.

    Its header is held against the length of the file before there is memory for it.
    """
    refuse_other(path)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # headers are texts in Python: a damaged one makes its parser raise every kind
        raise ValueError(" ".join(str(error).split()).rstrip(".") or type(error).__name__) from None
    if not isinstance(found, np.ndarray):
        raise ValueError("it holds several arrays, as numpy.savez writes them")
    return found


def refuse_other(path: str | Path) -> None:
    """Error: a file that begins unlike those of NumPy, which NumPy would take for Python's own kind of objects."""
    with open_ordinary(path) as file:
        begin = file.read(len(BEGINNINGS[0]))
    if not begin.startswith(BEGINNINGS):
        raise ValueError("it does not begin like one" if begin else "it is empty")
