"""A device whose time is a clock: what it computes takes points / rate, what it copies latency + bytes / bandwidth.

It stands before an engine that does the arithmetic, so that ranks have the bits of that engine and the times of a
device that is not at hand; or before `NoArithmetic`, where only times are of interest. Ranks exchange their halos
through it as through any engine, in real messages (`nearfield.parallel.ranks`). Where the engine behind takes longer
than the clock, times are the engine's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.engines.protocol import Face, Halves, LocalEngine, Message, Sides, Stop, Tables, Undivided
from nearfield.machine.profile import Link
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording
from nearfield.plan.sizes import BYTES_OF

LOOK = 2e-4  # s between looks at messages while the device is busy: the processor has nothing else to do then


class Clock:
    """Time of a device, which does one thing after the other: each begins when all before have ended."""

    def __init__(self) -> None:
        self._free = 0.0

    def add(self, seconds: float) -> None:
        """Give the device something to do, and go on."""
        self._free = max(self._free, time.perf_counter()) + seconds

    def wait(self) -> None:
        """Wait until the device has done all."""
        if (left := self._free - time.perf_counter()) > 0:
            time.sleep(left)

    def watch(self, stop: Stop | None) -> None:
        """Ask `stop` now and then until the device has nearly done all, so that what follows is there in time."""
        while (left := self._free - time.perf_counter()) > LOOK:
            if stop:
                stop()
            time.sleep(LOOK if stop else left - LOOK)


class Copied:
    """A message whose states pass between a device and its host: one copy a face."""

    def __init__(self, message: Message, clock: Clock, seconds: float) -> None:
        self._message, self._clock, self._seconds = message, clock, seconds
        self.buffer, self.parts = message.buffer, message.parts

    def pack(self) -> None:
        """Copy the states into the buffer, which is there when the device has done all before and the copy."""
        self._clock.add(self._seconds)
        self._message.pack()
        self._clock.wait()

    def unpack(self) -> None:
        """Copy the buffer into the states; what the device does next waits for it."""
        self._message.unpack()
        self._clock.add(self._seconds)

    def settle(self) -> None:
        """Nothing: the buffer is the host's."""


class ModelledDevice:
    """An engine with the times of a device: `rate` points/s, copies over `transfer` (None: they take no time).

    All but the times is the engine's behind it.
    """

    launches = True

    @property
    def divides(self) -> bool:
        """Whether the engine behind keeps to regions."""
        return self._halves.divides

    def __init__(self, engine: LocalEngine, rate: float, transfer: Link | None = None) -> None:
        assert isinstance(engine, Halves)
        self._engine, self._halves, self._rate, self._transfer = engine, engine, rate, transfer
        self._clock = Clock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        """Give the device steps [first, last) of a region, and ask `stop` until they are nearly done."""
        self._clock.add(points_in(sides, self._engine.plan.active, first, last) / self._rate)
        going_on = self._halves.run(first, last, sides, None)
        self._clock.watch(stop)
        return going_on

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        """End the block of steps once the device has made them."""
        self._clock.wait()
        return self._halves.end()

    def message(self, faces: Sequence[Face], direct: bool = False) -> Message:
        """A buffer on the host for these faces, and copies that take their time."""
        made = self._halves.message(faces)
        if self._transfer is None:
            return made
        return Copied(made, self._clock, self._transfer.seconds(made.buffer.nbytes, len(faces)))


def points_in(sides: Sides | None, held: Sequence[int], first: int, last: int) -> float:
    """Points of the steps [first, last) of a region: half of each are E, half H (core/cpu/region.hpp)."""
    if sides is None:
        return float(math.prod(held) * (last - first))

    def bound(side: tuple[int, int], half: int, step: int, length: int) -> int:
        at, lean = side
        return min(max(at + lean * step + half * ((lean > 1) - (lean < 0)), 0), length)

    return sum(
        math.prod(max(0, bound(high, half, step, n) - bound(low, half, step, n)) for (low, high), n in zip(sides, held))
        / 2
        for step in range(first, last)
        for half in (0, 1)
    )


class Bytes:
    """A message of so many bytes that mean nothing."""

    def __init__(self, size: int) -> None:
        self.buffer = np.zeros(size, np.uint8)
        self.parts = [self.buffer]

    def pack(self) -> None:
        """Nothing."""

    def unpack(self) -> None:
        """Nothing."""

    def settle(self) -> None:
        """Nothing."""


class NoArithmetic(Undivided):
    """An engine without fields, for boxes of any size: it counts steps, and its messages are as long as real ones."""

    launches, divides = False, True

    def __init__(self, plan: Plan, *_: object, **__: object) -> None:
        self.plan, self.own, self.step, self._going = plan, plan.box, 0, 0

    def facts(self) -> dict[str, Any]:
        """No bytes, no tiles, no threads."""
        none = dict.fromkeys(("bytes", "palette_blocks", "tile_depth", "threads", "step"), 0)
        return none | {"isa": "none", "schedule": "stepwise", "device": "a clock, no arithmetic"}

    def state(self, component: int) -> np.ndarray:
        raise NotImplementedError("an engine without arithmetic has no fields")

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None:
        self._going = steps

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        return True

    def refreshed(self, steps: int) -> None:
        pass

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        self.step += self._going
        return [], np.zeros(0)

    def message(self, faces: Sequence[Face], direct: bool = False) -> Message:
        parts, number = 1 + self.plan.complex_fields, BYTES_OF[self.plan.precision]
        count = sum(
            math.prod(face.box.shape) * parts * (6 if face.fields is None else len(face.fields) / 2) for face in faces
        )
        return Bytes(round(count * number))

    def reset(self) -> None:
        self.step = 0

    def recordings(self) -> list[Recording]:
        return []
