"""The guard: it watches the energy of a run, ends the run when it has decayed, and stops it when it diverges."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nearfield.discretization.discretization import Discretization
from nearfield.engines.protocol import Engine
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import COMPONENTS

GROWTH = 10.0  # times the energy at the end of the sources: no passive model gives so much


@dataclass
class Guard:
    """Energies at the check steps, and what they say of the run.

    Energy here is eps0/2 sum(E^2 + (eta0 H)^2) times the mean cell volume: the vacuum's, good for ratios.
    """

    source_end: float  # s
    decay: float | None
    volume: float  # m^3, mean of a cell
    times: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)

    def add(self, time: float, energy_sum: float) -> str | None:
        """Take one energy sum; returns None to go on, "decayed" or "diverged" to stop."""
        energy = 0.5 * VACUUM_PERMITTIVITY * self.volume * energy_sum
        self.times.append(time)
        self.energies.append(energy)
        if not np.isfinite(energy):
            return "diverged"
        if time <= self.source_end:
            return None
        while_on = [e for t, e in zip(self.times, self.energies) if t <= self.source_end] or self.energies[:1]
        if energy > GROWTH * max(while_on) and len(self.energies) > 1:
            return "diverged"
        return "decayed" if self.decay and energy <= self.decay * self.peak else None

    @property
    def peak(self) -> float:
        """Largest energy so far (J)."""
        return max(self.energies, default=0.0)

    @property
    def ratio(self) -> float:
        """Energy over its peak."""
        return self.energies[-1] / self.peak if self.energies and self.peak > 0 else 1.0


def explain_divergence(setup: Discretization, engine: Engine) -> str:
    """Where the field broke, in which medium, and the likely cause, in one message."""
    worst = worst_sample(engine)
    if worst is None:
        return f"diverged at step {engine.step}"
    component, index = worst
    index = triple(n + count - cells for n, count, cells in zip(index, setup.grid.cells, setup.plan.cells))
    place = [axis[n] for axis, n in zip(setup.grid.component_axes(component), index)]
    medium = setup.coefficients.medium_name(*index)
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip("xyz", place))
    return (
        f"diverged at step {engine.step} ({engine.step * setup.time_step:.4g} s): {COMPONENTS[component]} at ({where}) "
        f"m, cell {index}, in {medium}. {likely_cause(setup, index)}"
    )


def worst_sample(engine: Engine) -> tuple[int, Triple] | None:
    """The component and index of the largest finite sample next to where samples are no numbers, or of the largest.

    None where the fields are with another rank.
    """
    found: tuple[float, int, Triple] = (-1.0, 0, (0, 0, 0))
    for component in range(6):
        values = engine.gathered(component)
        if values is None or found[0] == np.inf:
            continue
        values = np.abs(np.asarray(values, dtype=np.float64))
        broken = ~np.isfinite(values)
        if broken.any():
            middle = np.median(np.argwhere(broken), axis=0)  # it spread evenly from where it began
            found = (np.inf, component, triple(int(n) for n in middle))
            continue
        index = np.unravel_index(int(np.argmax(values)), values.shape)
        if values[index] > found[0]:
            found = (float(values[index]), component, triple(int(n) for n in index))
    return found[1:] if found[0] >= 0 else None


def likely_cause(setup: Discretization, index: Triple) -> str:
    """The most common reason for a divergence at such a place."""
    limit = setup.grid.maximum_time_step()
    if setup.time_step > limit:
        return f"Likely cause: the time step {setup.time_step:.4g} s exceeds the vacuum limit {limit:.4g} s; lower it."
    for axis in range(3):
        low, high = setup.simulation.boundaries.cpml_cells(axis)
        if index[axis] < low or index[axis] >= setup.grid.cells[axis] - high:
            return (
                f"Likely cause: the CPML at {'xyz'[axis]}, where media or metal change across its depth; let "
                "structures run straight into it, or lower kappa_maximum."
            )
    if setup.simulation.ports or setup.simulation.elements:
        return "Likely cause: a lumped circuit with extreme values beside this place; check its R, L, C."
    return "Likely cause: a medium with extreme parameters, or a source far too strong for single precision."
