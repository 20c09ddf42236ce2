"""Every launch of the stand-in card is made again by the PTX of NVIDIA's compiler, on a copy of the card's memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from ptx_machine import Machine
from ptx_memory import Buffers
from ptx_text import Entry, Fault
from stand_in import StandIn

OBSERVER = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int
)
MOST_BUFFERS = 4096


class Launches:
    """Launches of these kernels, made both ways; of others nothing is known.

    `executed`: by kernel, which of its instructions any thread has made.
    """

    def __init__(self, card: StandIn, kernels: Mapping[str, Entry]) -> None:
        self._card, self._kernels = card, kernels
        self._made: Buffers | None = None
        self.count = 0
        self.executed: dict[str, np.ndarray] = {}
        self.faults: list[Exception] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Launches in here. Error: what the PTX must not do, or another word of memory than the processor leaves."""
        observer = OBSERVER(self._told)
        self._card.library.stand_in_observe(observer)
        try:
            yield
        finally:
            self._card.library.stand_in_observe(None)
        if self.faults:
            raise self.faults[0]

    def _told(self, name: bytes, blocks: int, argument: int, length: int, shared: int, made: int) -> None:
        """Before a launch and after it; an error would be lost between here and the caller."""
        if self.faults or name.decode() not in self._kernels:
            return
        try:
            if made:
                self._compare(name.decode())
            else:
                self._make(name.decode(), blocks, ctypes.string_at(argument, length), shared)
        except Exception as error:
            self.faults.append(error)

    def _make(self, name: str, blocks: int, argument: bytes, shared: int) -> None:
        self._made = Buffers(self._buffers())
        machine = Machine(self._kernels[name], blocks, argument, shared, self._made)
        machine.run()
        self.count += 1
        self.executed[name] = self.executed.get(name, machine.executed) | machine.executed

    def _compare(self, name: str) -> None:
        assert self._made
        for address, content in self._buffers():
            found = self._made.buffer(address)
            if (found != content).any():
                at = np.flatnonzero(found != content)
                raise Fault(f"{name}: {len(at)} bytes differ, the first at {address:#x} + {at[0]} of {len(content)}")

    def _buffers(self) -> list[tuple[int, np.ndarray]]:
        """What is allocated on the card, without copying it."""
        addresses, lengths = (ctypes.c_uint64 * MOST_BUFFERS)(), (ctypes.c_size_t * MOST_BUFFERS)()
        count = self._card.library.stand_in_buffers(addresses, lengths, MOST_BUFFERS)
        assert count <= MOST_BUFFERS
        whole = [(addresses[n], lengths[n]) for n in range(count)]
        return [(at, np.frombuffer((ctypes.c_char * size).from_address(at), np.uint8)) for at, size in whole]
