"""Messages between ranks: views of the core's states in some boxes, one after the other in a buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.engines.protocol import Face, Message
from nearfield.engines.stored.psi import psi_in
from nearfield.machine.device_messages import DeviceMemory
from nearfield.plan.boxes import Box

if TYPE_CHECKING:
    from nearfield.engines.stored.engine import StoredEngine


def views(engine: StoredEngine, face: Face) -> Iterator[np.ndarray]:
    """Writable fields and psi of a face, in the order of the core's registry."""
    ends = [(face.box.lower[axis], face.box.upper[axis]) for axis in engine.plan.storage_axes]
    index = tuple(slice(*span) for span in ends)
    for name, (_, array) in engine.states().items():
        if "psi" not in name:
            stored = engine.plan.storage_axes[int(name[-1])]
            if face.fields is None or f"{name[:-1]}{'xyz'[stored]}" in face.fields:
                yield array[index]
        elif face.fields is None:
            yield from psi_in(engine.plan, name, array, ends)


class StateMessage:
    """Fields and psi of all faces, then, as a part of their own, poles and memories of circuits."""

    def __init__(self, engine: StoredEngine, faces: Sequence[Face]) -> None:
        self._engine = engine
        whole = [face.box for face in faces if face.fields is None]
        circuits = [
            # in an order on which both sides agree, whatever their own coordinates are
            sorted(
                (n for n, edge in enumerate(engine.circuits) if holds(box, edge[1:])), key=engine.circuits.__getitem__
            )
            for box in whole
        ]
        self._circuits = np.array([n for each in circuits for n in each], np.int64)
        shapes = [view for face in faces for view in views(engine, face)]
        size = np.dtype(engine.plan.dtype).itemsize
        sizes = [*(view.nbytes for view in shapes), *(size * engine.poles.count(box) for box in whole)]
        ends = np.cumsum([0, *sizes, 16 * len(self._circuits)])
        self.buffer = np.zeros(ends[-1], np.uint8)
        parts = [self.buffer[low:high] for low, high in pairwise(ends)]
        self._fields = [(view, part.view(view.dtype).reshape(view.shape)) for view, part in zip(shapes, parts)]
        row, self._rest = np.split(self.buffer, [ends[len(shapes)]])
        self.parts: list[np.ndarray | DeviceMemory] = [row, self._rest] if self._rest.size else [row]
        self._row: np.ndarray = row.view(engine.plan.dtype)
        poles: list[np.ndarray] = [part.view(engine.plan.dtype) for part in parts[len(shapes) : -1]]
        self._poles = [(box, values) for box, values in zip(whole, poles) if values.size]
        self._memories = parts[-1].view(float).reshape(-1, 2)

    def pack(self) -> None:
        """Copy the states into the buffer."""
        self._pack_fields()
        self._pack_rest()

    def _pack_rest(self) -> None:
        for box, values in self._poles:
            self._engine.poles.pack(box, values)
        if len(self._circuits):
            self._memories[:] = self._engine.circuit_states()[self._circuits]

    def _pack_fields(self) -> None:
        for view, place in self._fields:
            np.copyto(place, view)

    def _unpack_fields(self) -> None:
        for view, place in self._fields:
            np.copyto(view, place)

    def unpack(self) -> None:
        """Copy the buffer into the states."""
        self._unpack_fields()
        self._unpack_rest()

    def _unpack_rest(self) -> None:
        for box, values in self._poles:
            self._engine.poles.unpack(box, values)
        if len(self._circuits):
            self._engine.set_circuit_states(self._memories, self._circuits)

    def settle(self) -> None:
        """Nothing: states and buffer are the host's."""


class DeviceMessage(StateMessage):
    """The same bytes of an engine whose states lie on a device: fields and psi are gathered into a row there, and
    scattered from it.

    `direct`: the row travels, and the device may still be at it when `pack` and `unpack` return; else the host's copy
    of it does. Poles and circuits pass through the host.
    """

    def __init__(
        self,
        engine: StoredEngine,
        faces: Sequence[Face],
        direct: bool,
        core: Any,
        device: Any,
        failing: Callable[[], Any],
    ) -> None:
        super().__init__(engine, faces)
        self._device, self._failing, mirrors = device, failing, core.mirrors()
        found = [places(view, mirrors) for view, _ in self._fields]
        self._core, self._number = core, core.add_message(np.concatenate([np.zeros(0, np.int64), *found]))
        self._direct = direct
        if direct:
            address, size = core.row(self._number)
            self.parts[0] = DeviceMemory(address, size, core)

    def _pack_fields(self) -> None:
        with self._failing():
            if self._direct:
                self._core.gather(self._number)
            else:
                self._core.pack(self._number, self._row)

    def _unpack_fields(self) -> None:
        with self._failing():
            if self._direct:
                self._core.scatter(self._number)
            else:
                self._core.unpack(self._number, self._row)

    def settle(self) -> None:
        """Wait until the device has done all before, where the row travels."""
        if self._direct:
            with self._failing():
                self._core.wait()

    def take(self, other: Message, received: bool = False) -> bool:
        """Take the states that another engine's message would pack, or has received, where both lie on one device.

        False: nothing was taken.
        """
        if not isinstance(other, DeviceMessage) or self._device != other._device:
            return False
        if received and not other._direct:
            return False
        with self._failing():
            self._core.take(self._number, other._core, other._number, received)
        if not received:
            other._pack_rest()
        np.copyto(self._rest, other._rest)
        self._unpack_rest()
        return True


def places(view: np.ndarray, arrays: Sequence[tuple[int, int]]) -> np.ndarray:
    """Where the elements of a view lie in arrays, of which addresses and lengths are given, one after the other."""
    before, at = 0, view.ctypes.data
    for address, length in arrays:
        if address <= at < address + length * view.itemsize:
            break
        before += length
    found: np.ndarray = np.full((1,) * view.ndim, before + (at - address) // view.itemsize, np.int64)
    for axis, (count, stride) in enumerate(zip(view.shape, view.strides)):
        steps = np.arange(count, dtype=np.int64) * (stride // view.itemsize)
        found = found + steps.reshape([-1 if n == axis else 1 for n in range(view.ndim)])
    return found.ravel()


def holds(box: Box, index: Sequence[int]) -> bool:
    """Whether a sample lies in a box."""
    return all(low <= n < high for low, n, high in zip(box.lower, index, box.upper))
