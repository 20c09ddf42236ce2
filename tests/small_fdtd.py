"""A few cells of Yee's scheme in NumPy, in vacuum between PEC and PMC walls: enough to put circuits into a field.

Not the oracle (`nearfield/engines/reference`): whole arrays at once, and the circuits' equations solved as they
are written in `nearfield.plan.terms.CircuitTerm`, so that ports and circuits are tested without coefficients or core.
"""

from dataclasses import dataclass, field

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.lowering.context import Context
from nearfield.plan.recorders import Functional, Recording
from nearfield.plan.terms import CircuitTerm, CurrentTerm


@dataclass
class Vacuum:
    """Ca and Cb of vacuum with lumped loads and edges of metal; Da = Db = 1."""

    grid: YeeGrid
    boundaries: Boundaries
    time_step: float
    loads: tuple = ()
    metal: tuple = ()  # (component, slices)
    electric: list = field(default_factory=list)
    permittivity: list = field(default_factory=list)

    def __post_init__(self):
        for component in range(3):
            shape = self.grid.component_shape(component)
            permittivity, conductivity = np.ones(shape), np.zeros(shape)
            for load in self.loads:
                if load.component == component:
                    permittivity[load.i, load.j, load.k] += load.permittivity
                    conductivity[load.i, load.j, load.k] += load.conductivity
            s = conductivity * self.time_step / (2 * VACUUM_PERMITTIVITY * permittivity)
            stay, drive = (1 - s) / (1 + s), 1 / permittivity / (1 + s)
            for axis in range(3):
                for side, plane in (("low", 0), ("high", -1)):
                    if axis != component and self.boundaries.face(axis, side) == "pec":
                        at = tuple(plane if a == axis else slice(None) for a in range(3))
                        stay[at] = drive[at] = 0.0
            for component_in_metal, at in self.metal:
                if component_in_metal == component:
                    stay[at] = drive[at] = 0.0
            self.electric.append((stay, drive))
            self.permittivity.append(permittivity)

    cuts_edges = False  # no conformal metal

    def open_fraction(self, component, i, j, k):
        return 1.0

    def at(self, component, i, j, k):
        if component >= 3:
            return np.ones(len(i)), np.ones(len(i))
        stay, drive = self.electric[component]
        return stay[i, j, k], drive[i, j, k]

    media_at = at

    def is_metal(self, component, i, j, k):
        return self.at(component, i, j, k)[1] == 0.0


class SmallFDTD:
    """Runs terms on a small grid: `run(terms, steps, excitation)` gives the recordings of the functionals."""

    def __init__(self, grid, boundaries, time_step, loads=(), metal=(), waveforms=None, steps=1):
        self.grid, self.time_step = grid, time_step
        self.coefficients = Vacuum(grid, boundaries, time_step, tuple(loads), tuple(metal))
        self.context = Context(
            grid,
            time_step=time_step,
            coefficients=self.coefficients,
            boundaries=boundaries,
            maximum_frequency=1e10,
            precision="double",
            steps=steps,
            waveforms=waveforms or {},
        )
        self.fields = [np.zeros(grid.component_shape(component)) for component in range(6)]

    def update_electric(self):
        E, H = self.fields[:3], self.fields[3:]
        for c in range(3):
            stay, drive = self.coefficients.electric[c]
            a, b = (c + 1) % 3, (c + 2) % 3
            curl = self.dual_slope(H[b], a) - self.dual_slope(H[a], b)
            E[c][...] = stay * E[c] + drive * VACUUM_SPEED * self.time_step * curl

    def dual_slope(self, H, axis):
        ghosts = [(1, 1) if a == axis else (0, 0) for a in range(3)]
        length = self.grid.dual(axis).reshape([-1 if a == axis else 1 for a in range(3)])
        return np.diff(np.pad(H, ghosts), axis=axis) / length

    def update_magnetic(self):
        E, H = self.fields[:3], self.fields[3:]
        for c in range(3):
            a, b = (c + 1) % 3, (c + 2) % 3
            slopes = [
                np.diff(E[f], axis=axis) / self.grid.primary(axis).reshape([-1 if n == axis else 1 for n in range(3)])
                for f, axis in ((b, a), (a, b))
            ]
            H[c] -= VACUUM_SPEED * self.time_step * (slopes[0] - slopes[1])

    def run(self, terms, steps, excitation):
        states = {id(term): np.zeros((len(term.i), 2)) for term in terms if isinstance(term, CircuitTerm)}
        samples = {id(term): [] for term in terms if isinstance(term, Functional)}
        for step in range(1, steps + 1):
            before = [component.copy() for component in self.fields[:3]]
            self.update_electric()
            self.add_currents(terms, (step - 0.5) * self.time_step, excitation, 0)
            for term in terms:
                if isinstance(term, CircuitTerm):
                    self.apply_circuit(term, before, states[id(term)], (step - 0.5) * self.time_step, excitation)
            self.update_magnetic()
            self.add_currents(terms, step * self.time_step, excitation, 3)
            for term in terms:
                if isinstance(term, Functional):
                    samples[id(term)].append(self.value(term))
        time = np.arange(1, steps + 1) * self.time_step
        recorded = [term for term in terms if id(term) in samples]
        late = [0.5 * self.time_step * bool(np.max(term.component) >= 3) for term in recorded]
        return [Recording(time + shift, np.array(samples[id(term)])) for term, shift in zip(recorded, late)]

    def add_currents(self, terms, time, excitation, first):
        for term in terms:
            if isinstance(term, CurrentTerm) and first <= term.component < first + 3:
                if term.waveform.excitation == excitation:
                    np.add.at(
                        self.fields[term.component],
                        (term.i, term.j, term.k),
                        term.weight * term.waveform.value(np.array([time]))[0],
                    )

    def apply_circuit(self, term, before, state, time, excitation):
        at = (term.i, term.j, term.k)
        active = term.waveform is not None and term.waveform.excitation == excitation
        v = term.drive * (term.waveform.value(np.array([time]))[0] if active else 0.0)
        old, star = before[term.component][at], self.fields[term.component][at]
        memory = (term.output * state).sum(axis=1)
        new = (star - term.feedback * (term.admittance * (term.voltage_factor * old - v) + memory)) * term.inverse
        across = term.voltage_factor * (new + old) - v
        state[...] = np.einsum("eab,eb->ea", term.transition, state) + term.input * across[:, None]
        self.fields[term.component][at] = new

    def value(self, term):
        total = 0.0
        for component, i, j, k, weight in zip(term.component, term.i, term.j, term.k, term.weight):
            total += weight * self.fields[component][i, j, k] / (VACUUM_IMPEDANCE if component >= 3 else 1.0)
        return total

    def energy(self, before):
        """Field energy (J), half eps E.E + half mu H(n+1/2).H(n-1/2), loads included; `before`: eta0 H(n-1/2)."""
        total = 0.0
        for c in range(3):
            lengths = [self.grid.primary(a) if a == c else self.grid.dual(a) for a in range(3)]
            volume = np.einsum("i,j,k->ijk", *lengths)
            permittivity = VACUUM_PERMITTIVITY * self.coefficients.permittivity[c]
            total += 0.5 * (permittivity * volume * self.fields[c] ** 2).sum()
            lengths = [self.grid.dual(a) if a == c else self.grid.primary(a) for a in range(3)]
            volume = np.einsum("i,j,k->ijk", *lengths)
            total += 0.5 * VACUUM_PERMITTIVITY * (volume * self.fields[3 + c] * before[c]).sum()
        return total
