"""The standard streams: closed, broken or full ones end no run."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any


def write(stream: Any, text: str) -> None:
    """Print, or stop printing for good when the reader has gone (`| head`): that breaks no run.

    No more does a log on a full disk; an answer that cannot be written is an error.
    """
    try:
        print(text, file=stream, flush=True)
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except BrokenPipeError:
        silence(stream)
    except OSError:
        silence(stream)
        if stream is not sys.stderr:
            raise


def open_closed_streams() -> None:
    """Give closed standard streams (`2>&-`) to nowhere: the next file opened would get their numbers, and the text."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))


def silence(stream: Any) -> None:
    """Point a broken output to nowhere, so that nothing, Python's last flush included, fails on it again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
