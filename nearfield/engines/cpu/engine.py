"""The engine for CPUs. It gives the core a plan turned to its storage axes, and answers along x, y, z."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from nearfield.engines.cpu.faces import StateMessage
from nearfield.engines.cpu.poles import EnginePoles
from nearfield.engines.cpu.recorders import Recorders
from nearfield.engines.cpu.states import field, named_states
from nearfield.engines.cpu.terms import CoreTerms
from nearfield.engines.cpu.tiling import Machine, Rows, Tiling, choose_tiling, stays_in_l2
from nearfield.engines.cpu.turn import Turn
from nearfield.engines.protocol import Block, Face, NamedState, Placement, Sides, Stop, Tables, Undivided, energy_of
from nearfield.machine.compiled import core, instruction_set
from nearfield.machine.topology import available_threads
from nearfield.plan.boxes import Arrangement, Box
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording


def seam(phase: float | None, gap: int | None) -> list[float]:
    """Numbers of an axis for the core: whether it closes on itself, cosine and sine of its phase, its gap or -1."""
    turn = [0.0, 1.0, 0.0] if phase is None else [1.0, math.cos(phase), math.sin(phase)]
    return [*turn, -1.0 if gap is None else gap]


class CpuEngine(Undivided):
    """The `cpu` engine: row segments on vectors, in time-skewed tiles or stepwise.

    `tiling` fixes the tiles (`STEPWISE`: none); left out, a cost model chooses them. `domains` cuts the plan's box into
    domains with threads and pages of their own, `placement` says which. No bit depends on any of them. `own` is the
    part of the box that is not a halo: all else is some other engine's to record. Methods without a text are those of
    the protocols.
    """

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
        self.plan, self._turn = plan, Turn(plan.storage_axes)
        isa, placement, axes = instruction_set(isa), placement or Placement(), self._turn.axes
        self.own = own or plan.box
        cuts = domains.cuts if domains else [(0, n) for n in plan.active]
        modules = core()
        kind = modules.Engine32 if plan.dtype is np.float32 else modules.Engine64
        self._core: Any = kind(
            self._turn.place(plan.active),
            [list(plan.cpml[axis]) for axis in axes],
            [seam(plan.phases[axis], plan.gaps[axis]) for axis in axes],
            1 + plan.complex_fields,
            int(threads or available_threads()),
            isa,
            [list(cuts[axis]) for axis in axes],
            [[self.own.lower[axis], self.own.upper[axis]] for axis in axes],
            axes.index(plan.weighed_axis),
            [list(numbers) for numbers in placement.processors],
            placement.memory,
            [list(numbers) for numbers in placement.nodes],
        )
        self.poles = EnginePoles(plan, self._core.poles)
        self._set_coefficients()
        rows, machine = Rows.of(plan), Machine.here(self.facts()["threads"], isa)
        self._fetch = not stays_in_l2(rows, machine)
        self.use_tiles(tiling or choose_tiling(rows, machine))
        self.circuits = CoreTerms(plan, self._core).circuits
        self._recorders = Recorders(plan, self._core)
        self._marches = Marches(plan.waves, plan.dtype)

    def _set_coefficients(self) -> None:
        axes, dtype = self._turn.axes, self.plan.dtype
        for place, axis in enumerate(axes):
            columns = astuple(self.plan.profiles[axis])
            self._core.set_profile(place, [np.ascontiguousarray(column, dtype) for column in columns])
        order = list(axes)  # storage component s is the global component axes[s]
        for planes in self.plan.coefficients.planes(axes[0]):
            for magnetic, values in ((False, planes.electric), (True, planes.magnetic)):
                stay: np.ndarray = np.ascontiguousarray(values[order, 0], dtype)
                drive: np.ndarray = np.ascontiguousarray(values[order, 1] * self.plan.scale, dtype)
                self._core.set_planes(magnetic, planes.start, planes.stop, stay, drive)
            self.poles.set_planes(planes)
        self.poles.finish()
        if self.plan.coupling is not None:
            *places, weight = self.plan.coupling.stored(axes)
            self._core.add_coupling(*places, np.ascontiguousarray(weight, dtype))

    @property
    def step(self) -> int:
        return int(self._core.step)

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
        t = tables or self._tables(steps, excitation)
        self._core.begin(steps, t.electric, t.magnetic, t.phasors, t.waves, weigh)

    def _tables(self, steps: int, excitation: str) -> Tables:
        first = self.step + 1
        phasors = [self.plan.phasors(box, first, steps) for box in self.plan.dft_boxes]
        waves = self._marches.tables(first, steps, excitation)
        return Tables(*self.plan.amplitudes(first, steps, excitation), phasors, waves)

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        turned = None if sides is None else [sides[axis] for axis in self._turn.axes[:2]]
        return bool(self._core.run(first, last, turned, stop, milliseconds))

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        samples, digits = self._core.end()
        self._recorders.add(samples)
        return samples, digits

    def refreshed(self, steps: int) -> None:
        self._core.refreshed(steps)

    def message(self, faces: Sequence[Face]) -> StateMessage:
        return StateMessage(self, faces)

    def reset(self) -> None:
        self._core.reset()
        self._recorders.reset()

    # ---- states

    def states(self) -> dict[str, tuple[int, np.ndarray]]:
        """The registry of state arrays, storage axes: name -> (half step 0 or 1, view)."""
        return dict(self._core.states())

    def state(self, component: int) -> np.ndarray:
        return field(self.plan, self.states(), component)

    def named_states(self) -> Iterator[NamedState]:
        """All states of the registry, and poles. Error: the registry has states of other names."""
        return named_states(self.plan, self.states(), self.poles)

    def circuit_states(self) -> np.ndarray:
        return np.asarray(self._core.circuit_states())

    def set_circuit_states(self, states: np.ndarray, which: np.ndarray | None = None) -> None:
        """Write the memories of some edges, by number, or of all."""
        which = np.arange(len(states)) if which is None else which
        self._core.set_circuit_states(which, np.ascontiguousarray(states))

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        self._core.resume(step)
        self._recorders.resume(accumulated)

    # ---- recordings

    def accumulated(self) -> Iterator[np.ndarray]:
        return self._recorders.accumulated()

    def recordings(self) -> list[Recording]:
        return self._recorders.recordings()

    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None:
        self._core.place_snapshots(self._recorders.number(recorder), places)
