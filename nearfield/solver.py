"""Steps by hand: set fields, advance, read fields."""

from __future__ import annotations

import numpy as np

from nearfield.engines import ENGINES, UNDIVIDED, chosen_engine
from nearfield.engines.cpu.tiling import Tiling
from nearfield.engines.cpu.tuning import choose
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.counts import threads_given
from nearfield.entry.errors import ModelError
from nearfield.grid.yee import COMPONENTS, YeeGrid
from nearfield.machine.transport import ALONE
from nearfield.parallel.start import Parallel, refuse_spread, wishes_of_cpu
from nearfield.simulation import Simulation

BLOCK = 1024  # steps of which sources and waves have tables at once


class Solver:
    """Step a simulation by hand: fields can be read and written between steps.

    E stands at `time`, H half a step later. Fields are in V/m and A/m, in their full Yee shapes
    (`grid.component_shape`). `excitation` names the port to excite, or "sources" (default:
    the first), `threads`, `tiling` and `engine` are those of `Simulation.run`. Steps are not limited, nothing is
    guarded and no monitor records. After Ctrl-C fields are between steps and of no use, and `reset` begins again.
    Errors: `ModelError`.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(nf.Grid.uniform(1e-3, (10, 10, 10)), boundaries=nf.Boundaries(nf.PEC), steps=1)
    >>> solver = nf.Solver(sim, threads=1)
    >>> solver.advance(5)
    >>> solver.field("Ez").shape, solver.step
    ((11, 11, 10), 5)
    """

    def __init__(
        self,
        simulation: Simulation,
        threads: int | None = None,
        excitation: str | None = None,
        tiling: str | Tiling | None = None,
        engine: str | None = None,
    ) -> None:
        self._setup = simulation._setup()
        names = self._setup.excitations
        if excitation is not None and excitation not in names:
            raise ModelError(f"excitation {excitation!r} is not one of this simulation's: {', '.join(names)}")
        self._excitation = excitation or names[0]
        plan, only_cpu, threads = self._setup.plan.silent, wishes_of_cpu(tiling, None), threads_given(threads)
        name = chosen_engine(engine or simulation.engine, plan, only_cpu).name
        if name in UNDIVIDED:
            refuse_spread(name, threads, tiling, Parallel(), ALONE)
        choice = choose(plan, threads, simulation.schedule, tiling)
        self._engine = ENGINES[name](plan, threads or choice.machine.threads, tiling=choice.tiling)
        self._torn = False

    def __repr__(self) -> str:
        cells = " x ".join(str(count) for count in self.grid.cells)
        return f"<nearfield.Solver {cells} cells, excitation {self._excitation!r}, step {self.step}>"

    @property
    def grid(self) -> YeeGrid:
        """The Yee grid."""
        return self._setup.grid

    @property
    def time_step(self) -> float:
        """dt (s)."""
        return self._setup.time_step

    @property
    def step(self) -> int:
        """Steps made."""
        return self._engine.step

    @property
    def time(self) -> float:
        """Time (s) of E; H is half a step later."""
        return self.step * self.time_step

    def field(self, name: str) -> np.ndarray:
        """A copy of one component, full Yee shape, V/m or A/m."""
        self._refuse_torn()
        component = self._component(name)
        values: np.ndarray = np.zeros(self.grid.component_shape(component), self._setup.plan.dtype)
        view, part = self._active(component)
        values[part] = view * (1 / VACUUM_IMPEDANCE if component >= 3 else 1.0) / self._fraction(component, view.shape)
        return values

    def set_field(self, name: str, values: np.ndarray) -> None:
        """Write one component, full Yee shape, V/m or A/m; samples in metal and on PEC walls stay zero."""
        self._refuse_torn()
        component = self._component(name)
        shape = self.grid.component_shape(component)
        values = np.asarray(values, dtype=float)
        if values.shape != shape:
            raise ModelError(f"set_field: {name} has the shape {shape} on this grid, given {values.shape}")
        view, part = self._active(component)
        _, drive = self._setup.coefficients.dense(component)
        scaled = values[part] * (VACUUM_IMPEDANCE if component >= 3 else 1.0)
        scaled = scaled * self._fraction(component, view.shape)
        view[...] = np.where(drive[tuple(slice(0, n) for n in view.shape)] != 0, scaled, 0.0)

    def advance(self, steps: int = 1) -> None:
        """Make `steps` time steps; none for 0. Error: a negative or broken number."""
        if not isinstance(steps, int | float | np.number) or not steps >= 0 or steps % 1:
            raise ModelError(f"advance: steps={steps} is not a number of steps; give a whole number, 0 or more")
        self._refuse_torn()
        for made in range(0, int(steps), BLOCK):
            size = min(BLOCK, int(steps) - made)
            self._torn = True
            self._engine.advance(size, self._excitation)
            self._torn = False

    def reset(self) -> None:
        """Back to step 0, all fields zero."""
        self._engine.reset()
        self._torn = False

    def _refuse_torn(self) -> None:
        if self._torn:
            raise ModelError("this solver was interrupted between steps, and its fields are of no use; call reset()")

    def _fraction(self, component: int, shape: tuple[int, ...]) -> np.ndarray | float:
        """The open part of each sample's edge, which the engine's E is multiplied by."""
        coefficients = self._setup.coefficients
        return coefficients.open_fraction(component, *np.indices(shape)) if coefficients.cuts_edges else 1.0

    def _component(self, name: str) -> int:
        if name not in COMPONENTS:
            raise ModelError(f"field {name!r} is unknown; allowed: {', '.join(COMPONENTS)}")
        return COMPONENTS.index(name)

    def _active(self, component: int) -> tuple[np.ndarray, tuple[slice, ...]]:
        """The engine's view of the samples that exist and advance, and where they lie in the full shape."""
        view = self._engine.state(component)
        shape = [min(a, b) for a, b in zip(view.shape, self.grid.component_shape(component))]
        part = tuple(slice(0, n) for n in shape)
        return view[part], part
