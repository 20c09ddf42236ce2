"""Runs a kernel of PTX in NumPy: a register is an array with an entry a thread.

The threads whose next instruction comes first go on, so that those that have parted meet again; barriers wait for their
block. What no thread may do is a `Fault`: a word used without order, memory outside of buffers, a misaligned address, a
barrier that not all threads of a block reach. An instruction that is not known is a NotImplementedError.
"""

from __future__ import annotations

import re

import numpy as np
from ptx_arithmetic import NUMBERS, made
from ptx_memory import THREADS, WORD, BlockMemory, Buffers, Users
from ptx_text import Entry, Fault, Instruction

ADDRESS = re.compile(r"\[([^+\]]+)(?:\+(-?\d+))?\]")
USES = {"ld": "read", "st": "written", "atom": "added to"}


class Machine:
    """One launch of a kernel. `argument`: the bytes of its one argument; `shared`: of a block's memory.

    `executed`: by instruction, whether any thread has made it.
    """

    def __init__(self, entry: Entry, blocks: int, argument: bytes, shared: int, buffers: Buffers) -> None:
        self.entry, self._buffers = entry, buffers
        threads = np.arange(blocks * THREADS)
        self._block_of = threads // THREADS
        self._argument = np.frombuffer(argument, np.uint8)
        self._shared = BlockMemory(blocks, shared, self._block_of)
        short = any(each.parts[0] in USES and each.parts[-1].endswith("16") for each in entry.instructions)
        self._word = 2 if short else WORD  # bytes that have users of their own
        self._users = {
            "global": Users(len(buffers.content) // self._word, self._block_of),
            "shared": Users(len(self._shared.content) // self._word, self._block_of),
        }
        self._registers = {
            "%tid.x": (threads % THREADS).astype(np.uint32),
            "%ctaid.x": self._block_of.astype(np.uint32),
            "%ntid.x": np.full(len(threads), THREADS, np.uint32),
        }
        self._next, self._interval = np.zeros(len(threads), np.int64), np.zeros(len(threads), np.int64)
        self._waits, self._done = np.zeros(len(threads), bool), np.zeros(len(threads), bool)
        self._leaders = frozenset(entry.labels.values())
        self.executed = np.zeros(len(entry.instructions), bool)

    def run(self) -> None:
        """All threads, to their ends."""
        while not self._done.all():
            ready = np.flatnonzero(~(self._waits | self._done))
            if not len(ready):
                self._pass_barrier()
                continue
            at = int(self._next[ready].min())
            self._go_straight(at, ready[self._next[ready] == at])

    def _pass_barrier(self) -> None:
        waits, done = (each.reshape(-1, THREADS) for each in (self._waits, self._done))
        if (waits.any(axis=1) & done.any(axis=1)).any():
            raise Fault(f"{self.entry.name}: a barrier that not all threads of a block reach")
        self._interval[self._waits] += 1
        self._waits[:] = False

    def _go_straight(self, at: int, threads: np.ndarray) -> None:
        """From an instruction to the next at which threads part, wait or meet."""
        while True:
            each = self.entry.instructions[at]
            active = threads
            if each.guard:
                active = threads[self._registers[each.guard][threads] != each.negated]
            self.executed[at] |= len(active) > 0
            at += 1
            operation = each.parts[0]
            if operation in ("bra", "ret", "exit", "bar"):
                self._next[threads] = at
                return self._control(operation, each, active)
            if len(active):
                try:
                    self._make(each, active)
                except Fault as fault:
                    raise Fault(f"{self.entry.name} line {each.line}: {each.name}: {fault}") from None
            if at in self._leaders:
                self._next[threads] = at
                return

    def _control(self, operation: str, each: Instruction, active: np.ndarray) -> None:
        if operation == "bra":
            self._next[active] = self.entry.labels[each.operands[0]]
        elif operation == "bar":
            self._waits[active] = True
        else:
            self._done[active] = True

    def _make(self, each: Instruction, threads: np.ndarray) -> None:
        if each.parts[0] in USES:
            return self._use_memory(each, threads)
        kind = NUMBERS[each.parts[-1]]
        kinds = [kind] * (len(each.operands) - 1)
        if each.parts[0] == "selp":
            kinds[2] = np.bool_
        elif each.parts[0] in ("shl", "shr"):
            kinds[1] = np.uint32
        elif "wide" in each.parts and len(kinds) > 2:
            kinds[2] = np.int64 if kind is np.int32 else np.uint64
        values = [self._value(name, of, threads) for name, of in zip(each.operands[1:], kinds)]
        found, names = made(each.parts, values), each.operands[0].strip("{} ").split(",")
        parts = found.reshape(-1, 1).view(f"u{found.dtype.itemsize // len(names)}").T if len(names) > 1 else [found]
        for name, part in zip(names, parts):  # a `mov` into several takes them from the lowest bytes on
            if name.strip() != "_":
                self._put(name.strip(), part, threads)

    def _value(self, name: str, kind: type, threads: np.ndarray) -> np.ndarray:
        if name.startswith("{"):  # the first in the lowest bytes
            parts = [self._registers[part.strip()][threads] for part in name.strip("{} ").split(",")]
            return np.ascontiguousarray(np.stack(parts, axis=-1)).view(kind)[:, 0]
        if name.startswith("%"):
            value = self._registers[name][threads]
            if kind is np.bool_ or value.dtype.itemsize == np.dtype(kind).itemsize:
                return value if kind is np.bool_ else value.view(kind)
            return value.astype(f"u{np.dtype(kind).itemsize}").view(kind)  # the lower bytes
        if name in self.entry.symbols:
            return np.zeros(len(threads), kind)
        if name[:2] in ("0f", "0d"):
            bits = np.uint32(int(name[2:], 16)) if name[1] == "f" else np.uint64(int(name[2:], 16))
            return np.full(len(threads), bits.view(kind))
        return np.full(len(threads), int(name)).astype(kind)

    def _put(self, name: str, value: np.ndarray, threads: np.ndarray) -> None:
        kind = NUMBERS[self.entry.registers[name.rstrip("0123456789")]]
        if value.dtype.itemsize < np.dtype(kind).itemsize:  # as its sign says
            value = value.astype(f"{value.dtype.kind}{np.dtype(kind).itemsize}")
        if name not in self._registers:
            self._registers[name] = np.zeros(len(self._next), kind)
        self._registers[name][threads] = value if kind is np.bool_ else value.view(kind)

    def _use_memory(self, each: Instruction, threads: np.ndarray) -> None:
        """A load, a store or an atomic addition, of one value a thread or of some."""
        operation, kind = each.parts[0], NUMBERS[each.parts[-1]]
        size = np.dtype(kind).itemsize
        values = each.operands[-1 if operation == "st" else 0].strip("{} ").split(",")
        match = ADDRESS.fullmatch(each.operands[0 if operation == "st" else 1])
        assert match, each
        wide = not match[1].startswith("%r") or match[1].startswith("%rd")
        address = self._value(match[1], np.int64 if wide else np.int32, threads).astype(np.int64) + int(match[2] or 0)
        if (address % (size * len(values))).any():
            raise Fault(f"address {int(address[address % (size * len(values)) != 0][0])} is misaligned")
        for number, name in enumerate(values):
            content, places = self._places(each, address + number * size, size, threads)
            if operation == "ld":
                self._put(name.strip(), content.view(kind)[places // size], threads)
            elif operation == "st":
                content.view(kind)[places // size] = self._value(name.strip(), kind, threads)
            elif "add" in each.parts:
                np.add.at(content.view(kind), places // size, self._value(each.operands[2], kind, threads))
            else:
                raise NotImplementedError(each.name)

    def _places(
        self, each: Instruction, address: np.ndarray, size: int, threads: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where threads use memory: bytes of an array. Error: they may not."""
        if "param" in each.parts:
            if (address < 0).any() or (address + size > len(self._argument)).any():
                raise Fault("outside of the argument")
            return self._argument, address
        if "shared" in each.parts:
            space, memory = "shared", self._shared
            places = memory.places(address, size, threads)
        else:
            space, memory = "global", self._buffers
            places = memory.places(address, size)
        for word in range(0, max(size, self._word), self._word):
            at = (places + word) // self._word
            self._users[space].note(USES[each.parts[0]], at, threads, self._interval[threads])
        return memory.content, places
