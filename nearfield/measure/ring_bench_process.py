"""One process of `nearfield ring bench`: a writer or a reader, bound to its processor, told over its input what to do.

    python -m nearfield.measure.ring_bench_process '{"role": "writer", ...}'

Each line of input names a pass, such as `copy 500000 plain`; each is answered by a line of JSON. The writer copies
from a buffer of its own, the reader to one; either may lie on a device. `zero-copy` writes words into the block where
it lies, and sums them there; `delay` sends empty blocks one at a time, each with the moment of its commit.
"""

from __future__ import annotations

import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nearfield import _core, stream
from nearfield.engines.cuda.device import opened
from nearfield.entry.errors import ModelError
from nearfield.stream.placement import nodes_with_memory

PAUSE = 5e-4  # seconds between two blocks of the pass `delay`, in which the reader falls asleep
PATIENCE = 60.0  # seconds without a block; the other process has died by then, or never came
ring = _core.stream


def words(count: int, first: int) -> np.ndarray:
    """The bytes of a block: words of 8 bytes, each one more than that before."""
    return np.arange(first, first + count, dtype=np.uint64).view(np.uint8)


def parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Numbers and sizes of the blocks that make up so many bytes; the last may be a smaller one."""
    return ((n, min(size, total - n * size)) for n in range(-(-total // size)))


class Own:
    """A buffer of this process, of one block."""

    def __init__(self, content: np.ndarray) -> None:
        self._content = content

    def give(self, view: np.ndarray, copy: Callable[..., None]) -> None:
        """Fill a block from it."""
        copy(view, self._content[: view.size])

    def take(self, data: np.ndarray, copy: Callable[..., None]) -> None:
        """Keep the bytes of a block."""
        copy(self._content[: data.size], data)

    def wait(self) -> None:
        """Until all copies are done: they are."""

    def content(self) -> np.ndarray:
        return self._content


class OnDevice:
    """The same on a device, of memory on its NUMA node where it is the make-believe one."""

    def __init__(self, content: np.ndarray, end: dict[str, Any]) -> None:
        several = len(nodes_with_memory()) > 1
        with _core.machine.ThreadPolicy(*(("bind", [end["node"]]) if several else ("first-touch",))):
            self._memory = _core.devices.DeviceMemory(opened(end["number"]), content.size)
            self._memory.write(content)
        self._size = content.size

    def give(self, view: np.ndarray, copy: Callable[..., None]) -> None:
        self._memory.read(view)

    def take(self, data: np.ndarray, copy: Callable[..., None]) -> None:
        self._memory.write(data)

    def wait(self) -> None:
        self._memory.wait()

    def content(self) -> np.ndarray:
        found = np.zeros(self._size, np.uint8)
        self._memory.read(found)
        return found


def buffer(given: dict[str, Any], content: np.ndarray) -> Own | OnDevice:
    """Where this process copies from, or to."""
    return OnDevice(content, given["device"]) if given["device"] else Own(content)


def write(
    writer: stream.Writer, source: Own | OnDevice, mode: str, total: int, size: int, copy: Callable[..., None]
) -> dict[str, Any]:
    """Commit so many bytes; says when it began."""
    count = size // 8
    begun = time.monotonic()
    for n, part in parts(total, size):
        view = writer.acquire(PATIENCE)
        if mode == "delay":
            time.sleep(PAUSE)
            writer.commit(0, n, str(time.monotonic_ns()).encode())
            continue
        if mode == "copy":
            source.give(view[:part], copy)
        else:
            ring.write_words(view[:part], n * count)
        writer.commit(part, n)
    return {"begun": begun}


def read(
    reader: stream.Reader, own: Own | OnDevice, mode: str, total: int, size: int, copy: Callable[..., None]
) -> dict[str, Any]:
    """Receive so many bytes; says when it ended, and whether all of them were right."""
    own.take(np.zeros(size, np.uint8), copy)  # what the last pass left would be right too
    count, right, delays = size // 8, True, []
    for n, part in parts(total, size):
        block = reader.receive(PATIENCE)
        if mode == "delay":
            delays.append(1e-9 * (time.monotonic_ns() - int(block.meta)))
        elif mode == "copy":
            own.take(block.data, copy)
            right &= block.data.size == part
        else:
            right &= ring.sum_words(block.data) == (part // 8 * (2 * n * count + part // 8 - 1) // 2) % 2**64
        right &= block.step == n and block.missed == 0
        reader.release(block)
    own.wait()
    ended = time.monotonic()
    if mode == "copy":
        right &= np.array_equal(own.content()[:total], words(count, 1)[:total])
    return {"ended": ended, "right": bool(right), "delay": statistics.median(delays or [0.0])}


def main(given: dict[str, Any]) -> None:
    """Bind, open this end of the ring, say so, and do what is asked until there is no more input."""
    _core.machine.bind_this_thread(given["processors"])
    size = given["block_bytes"]
    with _core.machine.ThreadPolicy("first-touch"):
        if given["role"] == "writer":
            source = buffer(given, words(size // 8, 1))
            writer = stream.create(given["name"], given["blocks"], size, given["memory"])
            writer.wait_for_readers(1, PATIENCE)
            serve(writer, functools.partial(write, writer, source), given | {"placement": writer.placement})
        else:
            own = buffer(given, np.zeros(size, np.uint8))
            reader = stream.attach(given["name"], timeout=PATIENCE)
            serve(reader, functools.partial(read, reader, own), given)


def serve(end: stream.Writer | stream.Reader, work: Callable[..., dict[str, Any]], given: dict[str, Any]) -> None:
    """Say that this end is open, and make the pass that each line of input names."""
    answer(given)
    with end:
        for line in sys.stdin:
            mode, total, name = line.split()
            copy = np.copyto if name == "plain" else ring.copy_past_caches  # whose stores go past the caches
            answer(work(mode, int(total), given["block_bytes"], copy))


def answer(values: dict[str, Any]) -> None:
    """A line of JSON."""
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except ModelError as error:
        answer({"refused": str(error)})
