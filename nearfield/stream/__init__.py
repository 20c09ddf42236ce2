"""Blocks of bytes from one process to others through shared memory, copied by nobody.

A *ring* has a name, a fixed number of blocks, one writer and up to 32 readers. The writer acquires a block, fills it
where it lies, and commits it; each reader receives every block from then on, in order, and releases it. It needs no
simulation and no other part of Nearfield:

    from nearfield import stream

    with stream.create("camera", blocks=8, block_bytes=1 << 20) as writer:      # one process
        view = writer.acquire()
        view[:5] = 1, 2, 3, 4, 5
        writer.commit(5, step=1)

    with stream.attach("camera") as reader:                                     # others
        for block in reader:
            print(block.step, block.data)
"""

from __future__ import annotations

from nearfield.stream.errors import Damaged, EndOfStream, RingGone, RingInUse, StreamError, TimedOut, WriterDied
from nearfield.stream.reader import Block, Reader, attach
from nearfield.stream.rings import Ring, rings
from nearfield.stream.writer import Writer, create

__all__ = [
    "Block",
    "Damaged",
    "EndOfStream",
    "Reader",
    "Ring",
    "RingGone",
    "RingInUse",
    "StreamError",
    "TimedOut",
    "Writer",
    "WriterDied",
    "attach",
    "create",
    "rings",
]
