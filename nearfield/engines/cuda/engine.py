"""The engine for cards: the plan's records, kernels and states on a device, and a mirror of them on the host."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearfield.engines.cuda.device import OTHERWISE, device
from nearfield.engines.protocol import Block, Stop, energy_of
from nearfield.engines.stored.engine import StoredEngine, seam
from nearfield.engines.stored.turn import Turn
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.compiled import core
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording

MILLISECONDS = 100.0  # between two looks at Ctrl-C and `stop`
GO_ON = "a checkpoint, where the run keeps any, can be resumed on this card or on another engine, with the same bits"


PASSES = "NEARFIELD_PASSES"  # over memory a step, for measurements: "1" where it can be, or "2"; else what moves less


def passes_wished() -> int:
    """The wish as the core takes it: 0 for none. Error: another one."""
    wished = os.environ.get(PASSES, "")
    if wished not in ("", "1", "2"):
        raise ModelError(f"{PASSES}={wished} is not a number of passes; allowed: 1, 2, or unset for what moves less")
    return int(wished or 0)


class CudaEngine(StoredEngine):
    """The `cuda` engine: kernels over the whole plan, a half step at a time, on the device that `device()` gives.

    `threads`: of the processor, for the make-believe device; 1 where it is left out. The engine has its plan to itself:
    tiles, domains and placement are the CPU's, and none changes anything here. It exchanges no halos (`Halves`), so
    that it cannot share a run with other ranks. States are those of the host's mirror: what is written there is sent
    before the next step, and a view holds what stood when it was asked for. Errors: there is no device, or it is full;
    `RunFailed` where a card fails later.
    """

    def __init__(self, plan: Plan, threads: int | None = None, *_: object, **options: object) -> None:
        self.device, self.own, self.threads = device(), plan.box, int(threads or 1)
        axes, modules = plan.storage_axes, core()
        kind = modules.Card32 if plan.dtype is np.float32 else modules.Card64
        self._opened = self.device.opened(self.threads)
        try:
            made = kind(
                Turn(axes).place(plan.active),
                [list(plan.cpml[axis]) for axis in axes],
                [seam(plan.phases[axis], plan.gaps[axis]) for axis in axes],
                1 + plan.complex_fields,
                axes.index(plan.weighed_axis),
                self._opened,
            )
            made.set_passes(passes_wished())
            super().__init__(plan, made)
        except modules.devices.CardError as error:
            raise ModelError(f"the card {self.device.name} cannot take this model: {error}; {OTHERWISE}") from None

    def facts(self) -> dict[str, Any]:
        """device, and what is known of a card; bytes on it; kernels launched so far with their registers; graphs; step;
        palette blocks; threads of the processor; no tiles."""
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
        tiles = dict.fromkeys(("tile_depth", "tile_width", "tile_segment"), 0)
        facts = {**found, **tiles, **self._core.facts()}
        return facts | {"thread_ids": facts["thread_ids"] or [threading.get_native_id()]}

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        """Make `steps` steps, or None when `stop()`, asked some ten times a second, said so under way.

        The fields are then between steps and only recordings are of use, as after a KeyboardInterrupt.
        """
        tables = self._tables(steps, excitation)
        with self._failing():
            self._begin(steps, tables, weigh)
            if not self._core.run(stop, MILLISECONDS):
                return None
            _, digits = self._end()
        return Block(energy_of(digits) if weigh else -1.0)

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
