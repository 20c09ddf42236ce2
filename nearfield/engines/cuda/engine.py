"""The engine for cards: the plan's records, kernels and states on a device, and a mirror of them on the host."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from nearfield.engines.cuda.device import device
from nearfield.engines.protocol import Block, Stop, energy_of
from nearfield.engines.stored.engine import StoredEngine, seam
from nearfield.engines.stored.turn import Turn
from nearfield.machine.compiled import core
from nearfield.plan.plan import Plan

MILLISECONDS = 100.0  # between two looks at Ctrl-C and `stop`


class CudaEngine(StoredEngine):
    """The `cuda` engine: kernels over the whole plan, a half step at a time, on the device that `device()` gives.

    `threads`: of the processor, for the make-believe device; 1 where it is left out. The engine has its plan to itself:
    tiles, domains and placement are the CPU's, and none changes anything here. It exchanges no halos (`Halves`), so
    that it cannot share a run with other ranks. States are those of the host's mirror: what is written there is sent
    before the next step, and a view holds what stood when it was asked for. Error: there is no device.
    """

    def __init__(self, plan: Plan, threads: int | None = None, *_: object, **options: object) -> None:
        self.device, self.own, self.threads = device(), plan.box, int(threads or 1)
        axes, modules = plan.storage_axes, core()
        kind = modules.Card32 if plan.dtype is np.float32 else modules.Card64
        made = kind(
            Turn(axes).place(plan.active),
            [list(plan.cpml[axis]) for axis in axes],
            [seam(plan.phases[axis], plan.gaps[axis]) for axis in axes],
            1 + plan.complex_fields,
            axes.index(plan.weighed_axis),
            self.device.order,
            self.threads,
        )
        super().__init__(plan, made)

    def facts(self) -> dict[str, Any]:
        """device; bytes on it; distinct palette blocks, step; threads of the processor; no tiles."""
        found = {
            "isa": "cuda",
            "device": self.device.name,
            "threads": self.threads,
            "domains": 1,
            "schedule": "stepwise",
        }
        tiles = dict.fromkeys(("tile_depth", "tile_width", "tile_segment"), 0)
        facts = {**found, **tiles, **self._core.facts()}
        return facts | {"thread_ids": facts["thread_ids"] or [threading.get_native_id()]}

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        """Make `steps` steps, or None when `stop()`, asked some ten times a second, said so under way.

        The fields are then between steps and only recordings are of use, as after a KeyboardInterrupt.
        """
        self._begin(steps, self._tables(steps, excitation), weigh)
        if not self._core.run(stop, MILLISECONDS):
            return None
        _, digits = self._end()
        return Block(energy_of(digits) if weigh else -1.0)
