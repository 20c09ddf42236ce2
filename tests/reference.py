"""The oracle: what an engine must do, step by step in NumPy, on global axes and dense arrays.

It takes a `Plan` and makes the same operations in the same order as the engines, in the plan's precision, so that
states and recordings are equal to the last bit. It knows nothing of rows, blocks, palettes, threads or records;
of the storage it needs only the order of the axes, because energy is summed in blocks of 16 cells along rows.

Engines flush denormals to zero; so does the oracle, by the processor's own switch. Without it a flushed forerunner
of a pulse, some 1e-38 in single precision, would show some hundred steps later in fields of 1e-30.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import math
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, SnapshotBox
from nearfield.plan.term import is_magnetic
from nearfield.plan.terms import CircuitTerm, CurrentTerm, IncidentTerm

LANES = 16  # cells of a block of a row's energy


# Where <fenv.h>'s environment holds the control word, and the bits that flush denormal results and operands.
FLUSH = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Flush-to-zero and denormals-are-zero in this thread."""
    offset, bits = FLUSH[platform.machine()]
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    kept = ctypes.create_string_buffer(64)
    library.fegetenv(kept)
    changed = ctypes.create_string_buffer(kept.raw, 64)
    word = ctypes.c_uint32.from_buffer(changed, offset)
    word.value |= bits
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(kept)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two arrays are equal, of one type and shape; -0 equals +0, NaN equals NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=True)


class ReferenceEngine:
    """The engine's interface (`advance`, `state`, `reset`, `recordings`), spelled out.

    E, H (as eta0 H): six arrays of the plan's active shape. psi: one array for each difference that a curl takes,
    by (component differenced, axis).
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.coefficients = []
        for component in range(6):
            stay, drive = plan.coefficients.dense(component)
            self.coefficients.append((stay.astype(plan.dtype), (drive * plan.scale).astype(plan.dtype)))
        self.pole_cells = {}  # stay and weight by (medium, component), where that weighs anything at all
        for number, medium in enumerate(plan.pole_media):
            for component in range(3, 6) if medium.magnetic else range(3):
                stay, weight = plan.coefficients.dense_poles(number, component)
                if weight.any():
                    self.pole_cells[number, component] = stay.astype(plan.dtype), weight.astype(plan.dtype)
        self.marches = Marches(plan.waves, plan.dtype)
        self.reset()

    def reset(self) -> None:
        """All fields, states and recordings back to zero, before step 1."""
        plan = self.plan
        self.step = 0
        self.parts = range(1 + plan.complex_fields)
        self.fields = [np.zeros(plan.active, plan.dtype) for _ in range(6 * len(self.parts))]
        pairs = [(c, axis) for c in range(len(self.fields)) for axis in range(3) if axis != c % 3]
        self.psi = {pair: np.zeros(plan.active, plan.dtype) for pair in pairs}
        self.pole_states = {
            (n, c + 6 * part): np.zeros((plan.pole_media[n].states, *plan.active), plan.dtype)
            for n, c in self.pole_cells
            for part in self.parts
        }
        self.circuit_states = {n: np.zeros((len(t.i), 2)) for n, t in self._numbered(CircuitTerm)}
        self.samples = {n: [] for n, _ in self._numbered(Functional)}
        self.sums = {n: self._empty((len(t.frequencies), 2), t) for n, t in self._numbered(DFTBox)}
        self.copies = {n: self._empty((len(t.steps),), t) for n, t in self._numbered(SnapshotBox)}

    def _numbered(self, kind: type) -> list:
        return [(n, term) for n, term in enumerate(self.plan.terms) if isinstance(term, kind)]

    def _empty(self, leading: tuple, box: DFTBox | SnapshotBox) -> np.ndarray:
        extent = tuple(np.subtract(box.upper, box.lower))
        return np.zeros(leading + extent, self.plan.dtype)

    def state(self, component: int) -> np.ndarray:
        """The array of one component, active shape; H as eta0 H."""
        return self.fields[component]

    def advance(self, steps: int, excitation: str = "sources") -> None:
        """Make `steps` steps, one after the other."""
        waves = self.marches.tables(self.step + 1, steps, excitation)
        with denormals_flushed():
            for n in range(steps):
                self.waves = [wave if wave is None else wave[:, n] for wave in waves]
                self._advance_one_step(excitation)

    def _advance_one_step(self, excitation: str) -> None:
        self.step += 1
        electric, magnetic = self.plan.amplitudes(self.step, 1, excitation)
        before = [field.copy() for field in self.fields]
        self._advance_poles(range(3))
        self._update_electric()
        self._couple()
        self._apply_terms(False, electric[0], before)
        self._advance_poles(range(3, 6))
        self._update_magnetic()
        self._apply_terms(True, magnetic[0], before)

    # ---- Maxwell's equations

    def _update_electric(self) -> None:
        """Ep <- Ca Ep + Cb (dHr/dq - dHq/dr), (p, q, r) cyclic, at every sample of the three components."""
        for part, p in itertools.product(self.parts, range(3)):
            q, r, first = (p + 1) % 3, (p + 2) % 3, 6 * part
            stay, drive = self.coefficients[p]
            curl = self._derivative(first + 3 + r, q) - self._derivative(first + 3 + q, r)
            self.fields[first + p] = stay * self.fields[first + p] + drive * curl

    def _update_magnetic(self) -> None:
        """Hp <- Da Hp - Db (dEr/dq - dEq/dr)."""
        for part, p in itertools.product(self.parts, range(3)):
            q, r, first = (p + 1) % 3, (p + 2) % 3, 6 * part
            stay, drive = self.coefficients[3 + p]
            curl = self._derivative(first + r, q) - self._derivative(first + q, r)
            self.fields[first + 3 + p] = stay * self.fields[first + 3 + p] - drive * curl

    def _derivative(self, component: int, axis: int) -> np.ndarray:
        """c dt d/du of a component: H differences end on a node, E differences on a cell centre.

        difference c dt / (kappa length), and in the CPML's planes + psi with psi <- decay psi + drive difference.
        """
        profile, field = self.plan.profiles[axis], self.fields[component]
        if component % 6 >= 3:
            difference = field - self._neighbour(component, axis, -1)
            inverse, decay, drive = profile.inverse_dual, profile.decay_electric, profile.drive_electric
        else:
            difference = self._neighbour(component, axis, +1) - field
            inverse, decay, drive = profile.inverse_primary, profile.decay_magnetic, profile.drive_magnetic
        derivative = difference * self._along(inverse, axis)
        planes = self._cpml_planes(axis)
        psi = self.psi[component, axis]
        driven = self._along(decay, axis) * psi + self._along(drive, axis) * difference
        psi[planes] = driven[planes]
        derivative[planes] += psi[planes]
        return derivative

    def _neighbour(self, component: int, axis: int, by: int) -> np.ndarray:
        """A component one sample further along the axis (`by` +1 or -1): zero past the ends, turned past a seam."""
        phase = self.plan.phases[axis]
        if phase is None:
            return _shifted(self.fields[component], axis, by)
        shifted = np.roll(self.fields[component], -by, axis)
        if not self.plan.complex_fields:
            return shifted
        # F exp(-+ j phase): this part times the cosine, and the other one, times j or -j, the sine
        imaginary = component >= 6
        other = np.roll(self.fields[component - 6 if imaginary else component + 6], -by, axis)
        seam = [slice(None)] * 3
        seam[axis] = -1 if by > 0 else 0
        cosine, sine = self.plan.dtype(math.cos(phase)), self.plan.dtype(-by * math.sin(phase))
        here, there = shifted[tuple(seam)], other[tuple(seam)]
        shifted[tuple(seam)] = cosine * here + sine * there if imaginary else cosine * here - sine * there
        return shifted

    def _along(self, values: np.ndarray, axis: int) -> np.ndarray:
        shape = [1, 1, 1]
        shape[axis] = -1
        return np.asarray(values, self.plan.dtype).reshape(shape)

    def _cpml_planes(self, axis: int) -> tuple:
        """Index of the planes of the CPML at both ends of an axis."""
        low, high = self.plan.cpml[axis]
        length = self.plan.active[axis]
        index = [slice(None)] * 3
        index[axis] = np.r_[0:low, length - high : length]
        return tuple(index)

    # ---- poles of dispersive media

    def _advance_poles(self, components: range) -> None:
        """The formulas of PoleMedium, with the fields as they are before the update."""
        old = [field.copy() for field in self.fields]
        for (number, component), states in self.pole_states.items():
            if component % 6 not in components:
                continue
            stay, weight = self.pole_cells[number, component % 6]
            medium, e, place = self.plan.pole_media[number], old[component], 0
            total = np.zeros_like(e)
            for k, q in medium.firsts.astype(self.plan.dtype):
                t = states[place]
                total = total + t
                states[place] = t + (k * t + q * e)
                place += 1
            for k, rho, q, r in medium.seconds.astype(self.plan.dtype):
                t, u = states[place], states[place + 1]
                total = total + t
                states[place], states[place + 1] = t + ((k * t + u) + q * e), u + ((rho * t + k * u) + r * e)
                place += 2
            states *= weight != 0
            self.fields[component] = stay * self.fields[component] - weight * total

    # ---- off-diagonal permittivity

    def _couple(self) -> None:
        """The formula of CouplingTerm: tap n of all samples that have so many, at once."""
        term = self.plan.coupling
        if term is None:
            return
        weight, count = term.weight.astype(self.plan.dtype), np.diff(term.first)
        for part in self.parts:
            fields = np.stack([self._with_ends(6 * part + component) for component in range(3, 6)])
            sums = np.zeros((4, count.size), self.plan.dtype)
            for n in range(count.max()):
                tap = term.first[:-1][count > n] + n
                sums[n % 4, count > n] += weight[tap] * fields[term.tap_component[tap] - 3, *(1 + term.tap_at[tap].T)]
            total = (sums[0] + sums[1]) + (sums[2] + sums[3])
            for component in range(3):
                own = term.component == component
                self.fields[6 * part + component][tuple(term.at[own].T)] += total[own]

    def _with_ends(self, component: int) -> np.ndarray:
        """A component with one more sample at all ends: zero, or what follows over the seam, axis after axis."""
        first, imaginary = component % 6, component // 6
        parts = [np.pad(self.fields[first + 6 * part], 1) for part in self.parts]
        axes = self.plan.storage_axes
        for axis in (axes[2], axes[0], axes[1]):
            if self.plan.phases[axis] is None:
                continue
            for end, source, by in ((0, -2, -1), (-1, 1, 1)):
                index = [slice(None)] * 3
                index[axis] = source
                there = [part[tuple(index)].copy() for part in parts]
                if self.plan.complex_fields:
                    cosine, sine = (self.plan.dtype(f(self.plan.phases[axis])) for f in (math.cos, math.sin))
                    sine *= -by
                    there = [cosine * there[0] - sine * there[1], cosine * there[1] + sine * there[0]]
                index[axis] = end
                for part, values in zip(parts, there):
                    part[tuple(index)] = values
        return parts[imaginary]

    # ---- sources, circuits, recorders

    def _apply_terms(self, magnetic: bool, amplitudes: np.ndarray, before: list[np.ndarray]) -> None:
        """All terms of one half step in the plan's order; a term changes its own samples only."""
        for number, term in enumerate(self.plan.terms):
            if is_magnetic(term.component) != magnetic:
                continue
            if isinstance(term, CurrentTerm):
                self._drive(term, amplitudes[self.plan.column(term.waveform)])
            elif isinstance(term, IncidentTerm):
                self._receive(term, self.waves[self.plan.wave(term.wave)])
            elif isinstance(term, CircuitTerm):
                self._advance_circuit(number, term, amplitudes, before[term.component])
            elif isinstance(term, Functional) and self.step % term.stride == 0:
                self.samples[number].append(self._functional(term))
            elif isinstance(term, DFTBox) and self.step % term.stride == 0:
                self._add_to_spectrum(number, term)
            elif isinstance(term, SnapshotBox):
                for place in np.flatnonzero(term.steps == self.step):
                    self.copies[number][place] = self._box(term)

    def _drive(self, term: CurrentTerm, amplitude: np.floating) -> None:
        weight = term.weight.astype(self.plan.dtype)
        for n in range(len(term.i)):
            self.fields[term.component][term.i[n], term.j[n], term.k[n]] += weight[n] * amplitude

    def _receive(self, term: IncidentTerm, table: np.ndarray | None) -> None:
        """The incident wave, sample by sample; a table that is silent adds nothing."""
        if table is None:
            return
        now = table[int(term.magnetic)]
        weight, share = term.weight.astype(self.plan.dtype), term.share.astype(self.plan.dtype)
        for n, component in enumerate(term.component):
            value = now[term.column[n, 0]]
            if term.column.shape[1] > 1:
                value = share[n, 0] * value
            for tap in range(1, term.column.shape[1]):
                value = value + share[n, tap] * now[term.column[n, tap]]
            self.fields[component][term.i[n], term.j[n], term.k[n]] += weight[n] * value

    def _advance_circuit(self, number: int, term: CircuitTerm, amplitudes: np.ndarray, before: np.ndarray) -> None:
        """The formulas of CircuitTerm, in double but for the field itself."""
        column = self.plan.column(term.waveform)
        field = self.fields[term.component]
        for n in range(len(term.i)):
            edge = term.i[n], term.j[n], term.k[n]
            x0, x1 = map(float, self.circuit_states[number][n])
            old = float(before[edge])
            source = 0.0 if column < 0 else float(term.drive[n]) * float(amplitudes[column])
            memory = float(term.output[n, 0]) * x0 + float(term.output[n, 1]) * x1
            factor = float(term.voltage_factor[n])
            known = float(term.admittance[n]) * (factor * old - source) + memory
            unrounded = (float(field[edge]) - float(term.feedback[n]) * known) * float(term.inverse[n])
            field[edge] = self.plan.dtype(unrounded)
            across = factor * (float(field[edge]) + old) - source
            for place in range(2):
                mixed = float(term.transition[n, place, 0]) * x0 + float(term.transition[n, place, 1]) * x1
                self.circuit_states[number][n, place] = mixed + float(term.input[n, place]) * across

    def _functional(self, term: Functional) -> float:
        """Weighted sum in double, in the order of the term."""
        components = np.broadcast_to(term.component, term.i.shape)
        total = 0.0
        for n, component in enumerate(components):
            weight = float(term.weight[n]) / (VACUUM_IMPEDANCE if component % 6 >= 3 else 1.0)
            total += weight * float(self.fields[component][term.i[n], term.j[n], term.k[n]])
        return total

    def _box(self, box: DFTBox | SnapshotBox) -> np.ndarray:
        return self.fields[box.component][tuple(slice(*ends) for ends in zip(box.lower, box.upper))]

    def _add_to_spectrum(self, number: int, box: DFTBox) -> None:
        table = self.plan.phasors(box, self.step, 1)[0]
        for sums, phasor in zip(self.sums[number], table):
            for part in range(2):
                sums[part] += self._box(box) * phasor[part]

    # ---- what came of it

    def recordings(self) -> list[Recording]:
        """One for each recording term in the plan's order; SI, so H is divided by eta0 here at the latest."""
        gathered = []
        for number, term in enumerate(self.plan.terms):
            if isinstance(term, CurrentTerm | CircuitTerm | IncidentTerm):
                continue
            later = 0.5 if is_magnetic(term.component) else 0.0
            scale = 1.0 / VACUUM_IMPEDANCE if later else 1.0
            if isinstance(term, Functional):
                values = np.array(self.samples[number], float)
                time = (term.stride * np.arange(1, len(values) + 1) + later) * self.plan.time_step
            elif isinstance(term, DFTBox):
                factor = self.plan.dtype(scale * self.plan.time_step * term.stride)
                values = (self.sums[number][:, 0] + 1j * self.sums[number][:, 1]) * factor
                time = np.zeros(0)
            else:
                made = term.steps <= self.step
                values = self.copies[number][made] * self.plan.dtype(scale)
                time = (term.steps[made] + later) * self.plan.time_step
            gathered.append(Recording(time, values))
        return gathered

    def energy(self) -> float:
        """Sum of squares: blocks of 16 cells along one axis, lane by lane over the components, then exactly."""
        along = self.plan.weighed_axis
        axes = [(along + 1) % 3, (along + 2) % 3, along]
        order = [*axes, *(3 + axis for axis in axes)]
        padding = -self.plan.active[axes[2]] % LANES
        sums = []
        for part in self.parts:
            lanes = 0.0
            for component in order:
                field = self.fields[6 * part + component].transpose(axes).astype(float)
                field = np.pad(field, [(0, 0), (0, 0), (0, padding)])
                lanes = lanes + field * field
            lanes = lanes.reshape(-1, LANES)
            blocks = np.zeros(len(lanes))
            for lane in range(LANES):
                blocks += lanes[:, lane]
            sums.append(blocks)
        return math.fsum(np.concatenate(sums))


def _shifted(field: np.ndarray, axis: int, by: int) -> np.ndarray:
    """The neighbour one sample further along the axis (`by` +1 or -1), zero past the ends."""
    neighbour = np.zeros_like(field)
    inside, beyond = [slice(None)] * 3, [slice(None)] * 3
    inside[axis], beyond[axis] = (slice(None, -1), slice(1, None))[::by]
    neighbour[tuple(inside)] = field[tuple(beyond)]
    return neighbour
