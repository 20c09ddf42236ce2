"""Update of all fields by one step, spelled out in NumPy on global axes and dense arrays."""

from __future__ import annotations

import itertools
import math

import numpy as np

from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES

Index = tuple[slice | np.ndarray, ...]


def dense(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of all samples, gathered from planes along the axis by which an engine asks for them: stay and
    drive of the update (6, 2, active shape), stay and weight of poles (media, 2, 3, active shape)."""
    along = plan.storage_axes[0]
    shape = tuple(plan.active[(along + n) % 3] for n in range(3))
    update, poles = np.empty((6, 2, *shape)), np.zeros((len(plan.pole_media), 2, 3, *shape))
    poles[:, 0] = 1.0
    for planes in plan.coefficients.planes(along):
        update[:3, :, planes.start : planes.stop] = planes.electric[:, :, None]
        update[3:, :, planes.start : planes.stop] = planes.magnetic[:, :, None]
        for pole in planes.poles:
            poles[pole.medium, 0, :, planes.start : planes.stop] = pole.stay[:, None]
            poles[pole.medium, 1, :, planes.start : planes.stop] = pole.weight[:, None]
    back = [(axis - along) % 3 for axis in range(3)]
    return update.transpose(0, 1, *(2 + n for n in back)), poles.transpose(0, 1, 2, *(3 + n for n in back))


class Fields:
    """E, H (as eta0 H) and their memories.

    fields: arrays of the plan's active shape, six, or twelve where they are complex. psi: one array for each difference
    that a curl takes, by (component differenced, axis). pole_states: by (medium, component).
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        update, poles = dense(plan)
        self.coefficients = [
            (stay.astype(plan.dtype), (drive * plan.scale).astype(plan.dtype)) for stay, drive in update
        ]
        self.pole_cells = {}  # stay and weight by (medium, component), where that weighs anything at all
        for number, medium in enumerate(plan.pole_media):
            for component in range(3, 6) if medium.magnetic else range(3):
                stay, weight = poles[number, :, component % 3]
                if weight.any():
                    self.pole_cells[number, component] = stay.astype(plan.dtype), weight.astype(plan.dtype)
        self.clear()

    def clear(self) -> None:
        """Set all fields and states to zero."""
        plan = self.plan
        self.parts = range(1 + plan.complex_fields)
        self.fields: list[np.ndarray] = [np.zeros(plan.active, plan.dtype) for _ in range(6 * len(self.parts))]
        pairs = [(c, axis) for c in range(len(self.fields)) for axis in range(3) if axis != c % 3]
        self.psi: dict[tuple[int, int], np.ndarray] = {pair: np.zeros(plan.active, plan.dtype) for pair in pairs}
        self.pole_states: dict[tuple[int, int], np.ndarray] = {
            (n, c + 6 * part): np.zeros((plan.pole_media[n].states, *plan.active), plan.dtype)
            for n, c in self.pole_cells
            for part in self.parts
        }

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
        derivative: np.ndarray = difference * self._along(inverse, axis)
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
        seam: list[slice | int] = [slice(None)] * 3
        seam[axis] = -1 if by > 0 else 0
        cosine, sine = self.plan.dtype(math.cos(phase)), self.plan.dtype(-by * math.sin(phase))
        here, there = shifted[tuple(seam)], other[tuple(seam)]
        shifted[tuple(seam)] = cosine * here + sine * there if imaginary else cosine * here - sine * there
        return shifted

    def _along(self, values: np.ndarray, axis: int) -> np.ndarray:
        shape = [1, 1, 1]
        shape[axis] = -1
        return np.asarray(values, self.plan.dtype).reshape(shape)

    def _cpml_planes(self, axis: int) -> Index:
        """Index of the planes of the CPML at both ends of an axis."""
        low, high = self.plan.cpml[axis]
        length = self.plan.active[axis]
        index: list[slice | np.ndarray] = [slice(None)] * 3
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
        count = np.diff(term.first)
        weight: np.ndarray = term.weight.astype(self.plan.dtype)
        for part in self.parts:
            fields = np.stack([self._with_ends(6 * part + component) for component in range(3, 6)])
            sums: np.ndarray = np.zeros((4, count.size), self.plan.dtype)
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
            phase = self.plan.phases[axis]
            if phase is None:
                continue
            for end, source, by in ((0, -2, -1), (-1, 1, 1)):
                index: list[slice | int] = [slice(None)] * 3
                index[axis] = source
                there = [part[tuple(index)].copy() for part in parts]
                if self.plan.complex_fields:
                    cosine, sine = (self.plan.dtype(f(phase)) for f in (math.cos, math.sin))
                    sine *= -by
                    there = [cosine * there[0] - sine * there[1], cosine * there[1] + sine * there[0]]
                index[axis] = end
                for part, values in zip(parts, there):
                    part[tuple(index)] = values
        return parts[imaginary]

    # ---- energy

    def energy(self) -> float:
        """Sum of squares: blocks of 16 cells along one axis, lane by lane over the components, then exactly."""
        along = self.plan.weighed_axis
        axes = [(along + 1) % 3, (along + 2) % 3, along]
        order = [*axes, *(3 + axis for axis in axes)]
        padding = -self.plan.active[axes[2]] % LANES
        sums: list[np.ndarray] = []
        for part in self.parts:
            lanes: np.ndarray = np.zeros(())
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
