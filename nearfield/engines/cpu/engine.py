"""The engine for CPUs. It gives the core a plan turned to its storage axes, and answers along x, y, z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.engines.cpu.tiling import Machine, Rows, Tiling, choose_tiling, stays_in_l2
from nearfield.engines.protocol import Block, Face, Placement, Sides, Stop, Tables, energy_of
from nearfield.engines.stored.engine import StoredEngine, seam
from nearfield.engines.stored.faces import StateMessage
from nearfield.engines.stored.turn import Turn
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core, instruction_set
from nearfield.machine.topology import available_threads
from nearfield.plan.boxes import Arrangement, Box
from nearfield.plan.plan import Plan

GRANTED = "the system grants no more than"  # of threads that are refused, in core/cpu/team.cpp


class CpuEngine(StoredEngine):
    """The `cpu` engine: row segments on vectors, in time-skewed tiles or stepwise.

    `tiling` fixes the tiles (`STEPWISE`: none); left out, a cost model chooses them. `domains` cuts the plan's box into
    domains with threads and pages of their own, `placement` says which. No bit depends on any of them. `own` is the
    part of the box that is not a halo: all else is some other engine's to record. Methods without a text are those of
    the protocols.
    """

    launches, divides = False, True

    def __init__(
        self,
        plan: Plan,
        threads: int | None = None,
        isa: str | None = None,
        tiling: Tiling | None = None,
        domains: Arrangement | None = None,
        placement: Placement | None = None,
        own: Box | None = None,
    ) -> None:
        turn = Turn(plan.storage_axes)
        isa, placement, axes = instruction_set(isa), placement or Placement(), turn.axes
        self.own = own or plan.box
        cuts = domains.cuts if domains else [(0, n) for n in plan.active]
        modules = core()
        count = int(threads or available_threads())
        kind = modules.Engine32 if plan.dtype is np.float32 else modules.Engine64
        try:
            made = kind(
                turn.place(plan.active),
                [list(plan.cpml[axis]) for axis in axes],
                [seam(plan.phases[axis], plan.gaps[axis]) for axis in axes],
                1 + plan.complex_fields,
                count,
                isa,
                [list(cuts[axis]) for axis in axes],
                [[self.own.lower[axis], self.own.upper[axis]] for axis in axes],
                axes.index(plan.weighed_axis),
                [list(numbers) for numbers in placement.processors],
                placement.memory,
                [list(numbers) for numbers in placement.nodes],
            )
        except RuntimeError as error:
            remedy = "fewer threads" if GRANTED in str(error) else "another binding or another memory policy"
            raise ModelError(f"the engine with {count} threads: {error}; give {remedy}") from None
        super().__init__(plan, made)
        rows, machine = Rows.of(plan), Machine.here(self.facts()["threads"], isa)
        self._fetch = not stays_in_l2(rows, machine)
        self.use_tiles(tiling or choose_tiling(rows, machine))

    def facts(self) -> dict[str, Any]:
        """isa, threads, domains, bytes, distinct palette blocks, schedule, tile_depth, _width, _segment, step."""
        return dict(self._core.facts())

    def use_tiles(self, tiling: Tiling) -> None:
        """Take these tiles from the next step on."""
        self._core.set_tiling(tiling.depth, tiling.width, tiling.segment, self._fetch)

    def pages(self, sample: int) -> Sequence[tuple[list[int], int]]:
        return list(self._core.pages(sample))

    # ---- steps

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        """Make `steps` steps, or None when `stop()`, asked some ten times a second, said so under way.

        The fields are then between steps and only recordings are of use, as after a KeyboardInterrupt.
        """
        self.begin(steps, excitation, weigh)
        if not self.run(0, steps, stop=stop):
            return None
        _, digits = self.end()
        return Block(energy_of(digits) if weigh else -1.0)

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None:
        self._begin(steps, tables or self._tables(steps, excitation), weigh)

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        turned = None if sides is None else [sides[axis] for axis in self._turn.axes[:2]]
        return bool(self._core.run(first, last, turned, stop, milliseconds))

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        return self._end()

    def refreshed(self, steps: int) -> None:
        self._core.refreshed(steps)

    def message(self, faces: Sequence[Face], direct: bool = False) -> StateMessage:
        return StateMessage(self, faces)
