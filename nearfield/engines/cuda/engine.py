"""The engine for cards: the plan's records, kernels and states on a device, and a mirror of them on the host."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearfield.engines.cuda.device import OTHERWISE, device
from nearfield.engines.cuda.sizes import refuse_full
from nearfield.engines.protocol import Block, Face, Sides, Stop, Tables, energy_of
from nearfield.engines.stored.engine import StoredEngine, seam
from nearfield.engines.stored.faces import DeviceMessage
from nearfield.engines.stored.turn import Turn
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.compiled import core
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording

MILLISECONDS = 100.0  # between two looks at Ctrl-C and `stop`
GO_ON = "a checkpoint, where the run keeps any, can be resumed on this card or on another engine, with the same bits"


LARGEST = 65504.0  # that 16 bits hold, before the scale
# over memory a step, for measurements: "0.5" or "1" where it can be, or "2"; else what should take less
PASSES = "NEARFIELD_PASSES"


def passes_wished() -> float:
    """The wish as the core takes it: 0 for none. Error: another one."""
    wished = os.environ.get(PASSES, "")
    if wished not in ("", "0.5", "1", "2"):
        raise ModelError(
            f"{PASSES}={wished} is not a number of passes; allowed: 0.5, 1, 2, or unset for what should take less time"
        )
    return float(wished or 0)


def refuse_narrow_without(plan: Plan) -> int:
    """Passes of a plan with fields in 16 bits, 0 for others. Error: no scale is known, or one pass is wished."""
    if plan.storage == "full":
        return 0
    if plan.exponents is None:
        raise ModelError(
            'storage "16-bit" needs the scale of the fields, which a short run beside full storage finds: take '
            '`Simulation.run` or `nearfield run`; for a `Solver` and for benchmarks take storage "full"'
        )
    if 0 < passes_wished() < 2:
        wish = f"{PASSES}={passes_wished():g}"
        raise ModelError(f'{wish} cannot be had with storage "16-bit", whose steps take two passes; leave it out')
    return 2


class CudaEngine(StoredEngine):
    """The `cuda` engine: kernels over the whole plan, a half step at a time, on the device that `device()` gives.

    `threads`: of the processor, for the make-believe device; 1 where it is left out. Tiles, domains and placement are
    the CPU's, and none changes anything here. `own`: the part of the plan's box that is not a halo. `urgent`: a card
    makes its kernels before those of other engines that wait for room on it. Every step is made
    in all that the engine holds, halos that are no longer valid too: what is wrong in them never gets as far as the own
    box before other ranks' states replace it. States are those of the host's mirror: what is written there is sent
    before the next step, and a view holds what stood when it was asked for. Errors: there is no device, or it is full;
    `RunFailed` where a card fails later.
    """

    launches, divides = True, False

    def __init__(
        self,
        plan: Plan,
        threads: int | None = None,
        *_: object,
        own: Box | None = None,
        urgent: bool = False,
        **options: object,
    ) -> None:
        self.device, self.own, self.threads = device(), own or plan.box, int(threads or 1)
        axes, modules = plan.storage_axes, core()
        passes = refuse_narrow_without(plan) or passes_wished()
        kind = modules.Card32 if plan.dtype is np.float32 else modules.Card64
        self._opened = self.device.opened(self.threads, urgent)
        free = self.device.free_memory()
        try:
            made = kind(
                Turn(axes).place(plan.active),
                [list(plan.cpml[axis]) for axis in axes],
                [seam(plan.phases[axis], plan.gaps[axis]) for axis in axes],
                1 + plan.complex_fields,
                axes.index(plan.weighed_axis),
                self._opened,
                plan.exponents if plan.storage == "16-bit" else None,
            )
            made.set_passes(passes)
            made.set_own([[self.own.lower[axis], self.own.upper[axis]] for axis in axes])
            super().__init__(plan, made)
            refuse_full(self.device, plan, free, made.coefficient_bytes)
        except modules.devices.CardError as error:
            raise ModelError(f"the card {self.device.name} cannot take this model: {error}; {OTHERWISE}") from None

    def facts(self) -> dict[str, Any]:
        """device, and what is known of a card; bytes on it; kernels launched so far with their registers; the NUMA
        node of pinned buffers, None where the system put them; graphs; step; palette blocks; threads of the processor;
        no tiles."""
        found = {
            "isa": "cuda",
            "device": self.device.name,
            "threads": self.threads,
            "domains": 1,
            "schedule": "stepwise",
            **self.device.facts(),
        }
        if kernels := getattr(self._opened, "kernels", None):
            found["kernels"] = {each["name"]: each["registers"] for each in kernels()}
            found["pinned_node"] = None if self._opened.pinned_node() < 0 else self._opened.pinned_node()
        tiles = dict.fromkeys(("tile_depth", "tile_width", "tile_segment"), 0)
        facts = {**found, **tiles, **self._core.facts()}
        return facts | {"thread_ids": facts["thread_ids"] or [threading.get_native_id()]}

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        """Make `steps` steps, or None when `stop()`, asked some ten times a second, said so under way.

        The fields are then between steps and only recordings are of use, as after a KeyboardInterrupt.
        """
        self.begin(steps, excitation, weigh)
        if not self.run(0, steps, stop=stop, milliseconds=MILLISECONDS):
            return None
        _, digits = self.end()
        return Block(energy_of(digits) if weigh else -1.0)

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None:
        with self._failing():
            self._begin(steps, tables or self._tables(steps, excitation), weigh)

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        with self._failing():
            return bool(self._core.run(stop, milliseconds, last))

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        with self._failing():
            found = self._end()
            lost = self._core.lost()
        if lost:
            raise RunFailed(
                f"at least {lost} samples did not fit in 16 bits by step {self.step}: fields are above {self.largest} "
                'V/m (E, eta0 H), the most that storage "16-bit" holds with the scale of its first steps, or grow '
                'without bound; take storage "full"'
            )
        return found

    @property
    def largest(self) -> str:
        """The largest |E| and eta0 |H| that 16 bits hold, in V/m."""
        return " and ".join(f"{LARGEST * 2.0**-n:.3g}" for n in self.plan.exponents or ())

    def refreshed(self, steps: int) -> None:
        with self._failing():
            self._core.refreshed()

    def message(self, faces: Sequence[Face], direct: bool = False) -> DeviceMessage:
        if self.plan.storage != "full":
            raise ModelError('storage "16-bit" is for one rank: halos travel as wide as the precision')
        with self._failing():
            return DeviceMessage(self, faces, direct, self._core, self.device, self._failing)

    # ---- what asks the card between blocks of steps

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn an error of the card into the end of a run."""
        try:
            yield
        except core().devices.CardError as error:
            raise RunFailed(f"the card {self.device.name} failed after step {self.step}: {error}; {GO_ON}") from None

    def states(self) -> dict[str, tuple[int, np.ndarray]]:
        with self._failing():
            return super().states()

    def circuit_states(self) -> np.ndarray:
        with self._failing():
            return super().circuit_states()

    def accumulated(self) -> Iterator[np.ndarray]:
        with self._failing():
            yield from super().accumulated()

    def recordings(self) -> list[Recording]:
        with self._failing():
            return super().recordings()

    def reset(self) -> None:
        with self._failing():
            super().reset()

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        with self._failing():
            super().resume(step, accumulated)
