"""What an engine is given for one domain: plain numbers, no media, no antennas, no files.

Component numbers are 0..5 = Ex Ey Ez Hx Hy Hz, 6..11 their imaginary parts where fields are complex. Indices are
global Yee indices (i, j, k) of the component.
H is stored as eta0 H everywhere below this line of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.plan.incident_term import IncidentTerm, IncidentWave

if TYPE_CHECKING:
    from nearfield.plan.planes import Coefficients

Triple = tuple[int, int, int]
ROW_LENGTHS = (128, 400)  # cells that suit rows


@dataclass(frozen=True)
class Waveform:
    """One column of the table of source amplitudes: `value(t)` at t = (m - 1/2) dt for E terms, m dt for H terms."""

    value: Callable[[np.ndarray], np.ndarray]
    excitation: str  # name of the port it belongs to, or "sources"
    end: float  # s; later it counts as off


@dataclass(frozen=True)
class CurrentTerm:
    """A current: F[i, j, k] += weight * waveform, after the update of F, in every step.

    `weight` already holds -Cb eta0 c dt / area and the like; arrays of equal length, one entry a sample.
    """

    component: int
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    weight: np.ndarray
    waveform: Waveform


@dataclass(frozen=True)
class CircuitTerm:
    """A linear one-edge circuit with two states (x0, x1) in parallel with the edges, one column each edge.

    With E_old the edge's value before the step and E_star the value after the bulk update (without the circuit):
        v = drive * waveform                               (Thevenin source in series; drive 0: none)
        I = admittance * (voltage_factor * (E_new + E_old) - v) + output . x
        E_new = E_star - feedback * I        solved for E_new:
        E_new = (E_star - feedback * (admittance * (voltage_factor * E_old - v) + output . x)) * inverse
        x <- transition @ x + input * (voltage_factor * (E_new + E_old) - v)
    voltage_factor = length / 2, inverse = 1 / (1 + feedback * admittance * voltage_factor).
    Arrays: component scalar; i, j, k, admittance, voltage_factor, feedback, inverse, drive: (edges,);
    output, input: (edges, 2); transition: (edges, 2, 2). States are double, whatever the fields are.
    One circuit an edge; a current on the same edge comes before it in the plan.
    """

    component: int
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    admittance: np.ndarray
    voltage_factor: np.ndarray
    feedback: np.ndarray
    inverse: np.ndarray
    drive: np.ndarray
    output: np.ndarray
    input: np.ndarray
    transition: np.ndarray
    waveform: Waveform | None


@dataclass(frozen=True)
class CouplingTerm:
    """The off-diagonal part of an inverse permittivity (nearfield/coefficients/coupling.py).

    After each update of E, before all other terms, E[component][at] += sum of weight * H[tap_component][tap_at]:
    products are rounded, added in their order to four sums by turns, s0 to s3, and the sample gets (s0 + s1) + (s2 +
    s3), all in the fields' precision. Sample n has the taps first[n] to first[n + 1], none further than one sample
    along any axis: -1 and n on an axis that closes on itself are those over the seam, turned along the axis of unit
    stride first, then the two that follow it. Imaginary parts likewise.
    component: (samples,), 0..2; at: (samples, 3); first: (samples + 1,); tap_component: (taps,), 3..5; tap_at:
    (taps, 3); weight: (taps,).
    """

    component: np.ndarray
    at: np.ndarray
    first: np.ndarray
    tap_component: np.ndarray
    tap_at: np.ndarray
    weight: np.ndarray

    def chosen(self, which: np.ndarray, moved: Triple = (0, 0, 0)) -> CouplingTerm:
        """Some samples, by number, with places that count from `moved`."""
        counts = np.diff(self.first)[which]
        first = np.concatenate(([0], np.cumsum(counts)))
        taps = np.repeat(self.first[:-1][which] - first[:-1], counts) + np.arange(first[-1])
        at, tap_at = self.at[which] - np.array(moved), self.tap_at[taps] - np.array(moved)
        return CouplingTerm(self.component[which], at, first, self.tap_component[taps], tap_at, self.weight[taps])

    def stored(self, axes: Triple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Samples in the order of rows and their taps, (n, 4) of component and place along storage axes: (samples,
        first, taps, weights)."""
        numbers = np.array([half + axes.index(axis) for half in (0, 3) for axis in range(3)])
        order = np.lexsort((numbers[self.component], *(self.at[:, axis] for axis in reversed(axes))))
        term = self.chosen(order)
        at, tap = (
            np.ascontiguousarray(np.column_stack((numbers[component], place[:, list(axes)])), np.int64)
            for component, place in ((term.component, term.at), (term.tap_component, term.tap_at))
        )
        return at, np.asarray(term.first, np.int64), tap, term.weight


@dataclass(frozen=True)
class Functional:
    """A weighted sum of samples, recorded every `stride` steps (steps stride, 2 stride, ...).

    All samples are of E or all of H; `component` is an array like i, j, k. The recorded value is SI: weights of H
    samples are given for H in A/m and the plan divides by eta0. Products are rounded, then added in their order.
    """

    component: np.ndarray
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    weight: np.ndarray
    stride: int = 1
    place: np.ndarray | None = None  # of each sample in the whole sum, where this is a part of one ...
    terms: int | None = None  # ... of so many

    @property
    def whole(self) -> bool:
        """Whether all samples of the sum are here."""
        return self.terms is None or len(self.i) == self.terms


@dataclass(frozen=True)
class DFTBox:
    """Running Fourier sum of one component over index ranges [lower, upper): dt stride sum F(t) exp(-j 2 pi f t)."""

    component: int
    lower: tuple[int, int, int]
    upper: tuple[int, int, int]
    frequencies: np.ndarray
    stride: int = 1


def taken_by(steps: np.ndarray, step: int) -> int:
    """How many snapshots of these steps (sorted) there are after a step."""
    return int(np.searchsorted(steps, step, side="right"))


@dataclass(frozen=True)
class SnapshotBox:
    """Copies of one component over index ranges [lower, upper) after the given steps (sorted, counted from 1).

    Those that are not `kept` go where the engine is told before each block of steps (`CpuEngine.place_snapshots`).
    """

    component: int
    lower: tuple[int, int, int]
    upper: tuple[int, int, int]
    steps: np.ndarray
    kept: bool = True

    def taken(self, step: int) -> int:
        """How many are kept after a step."""
        return taken_by(self.steps, step) if self.kept else 0


@dataclass(frozen=True)
class PoleMedium:
    """What a dispersive medium remembers in each sample where it weighs anything, of E (or H, where it is magnetic).

    Just before the update, with e for E as it is before the first medium acts,
        E <- stay E - weight (sum of all T)
        T <- T + (k T + q e)                                        of `firsts`, (n, 2): k, q
        T <- T + (k T + U + q e),  U <- U + (rho T + k U + r e)     of `seconds`, (n, 4): k, rho, q, r
    stay and weight come with the coefficients, a plane at a time.
    """

    magnetic: bool
    firsts: np.ndarray
    seconds: np.ndarray

    @property
    def states(self) -> int:
        """Numbers a sample."""
        return len(self.firsts) + 2 * len(self.seconds)


RecordingTerm = Functional | DFTBox | SnapshotBox
Term = CurrentTerm | CircuitTerm | IncidentTerm | Functional | DFTBox | SnapshotBox


@dataclass(frozen=True)
class Recording:
    """What came of a recording term: `time` (s) and `values` in SI (DFTBox: time is empty, values complex)."""

    time: np.ndarray
    values: np.ndarray


def is_magnetic(component) -> bool:
    """Whether a component, or any of several, is one of H."""
    return bool(np.max(np.asarray(component) % 6) >= 3)


def unit_stride_axis(active: tuple[int, int, int]) -> int:
    """The longest axis of a length that suits rows, else the longest of all; z before y before x among equals.

    The beginning of a row costs as much as some tens of cells; of long rows, few fit a tile in the second-level cache.
    """
    shortest, longest = ROW_LENGTHS
    fitting = [axis for axis in range(3) if shortest <= active[axis] <= longest]
    return max(fitting or range(3), key=lambda axis: (active[axis], axis))


def in_precision(values: np.ndarray, dtype: type) -> np.ndarray:
    """Source amplitudes or weights in the precision of the fields, contiguous. Error: some are too large for it."""
    with np.errstate(over="ignore"):
        cast = np.ascontiguousarray(values, dtype)
    if not np.isfinite(cast).all():
        raise ModelError(
            f"a source is too strong: it adds up to {np.abs(values).max():.3g} V/m in a step, single precision holds "
            f"{np.finfo(dtype).max:.3g}; make it weaker (results scale with it), or use precision='double'"
        )
    return cast


@dataclass(frozen=True)
class AxisProfile:
    """What the update needs along one axis, one float64 value a sample of the active range.

    inverse_dual: u / (kappa dual length) at the nodes; inverse_primary: u / (kappa cell length), zero past the last
    cell; on an axis that closes on itself the first dual length reaches over the seam; u is the plan's unit length, so
    that both are exactly 1 on a grid of cubes, where engines leave them out.
    decay and drive: psi <- decay psi + drive difference, in units of 1/u too, zero outside the CPML.
    """

    inverse_dual: np.ndarray
    inverse_primary: np.ndarray
    decay_electric: np.ndarray
    drive_electric: np.ndarray
    decay_magnetic: np.ndarray
    drive_magnetic: np.ndarray


@dataclass(frozen=True)
class Plan:
    """One domain, ready for an engine: shapes, profiles, coefficients and terms; all global axes, float64.

    `active` is the range of samples that the engine holds of every component: the cells, and one more along an axis
    whose upper wall is PMC. Samples past it are zero for good.

    `phases`: the angle (rad) by which the fields lag over an axis that closes on itself, F(n) = F(0) exp(-j phase), and
    None for one that ends; other angles than 0 need complex fields, a real and an imaginary part in the same rows.
    `gaps`: the sample before which such an axis is open nevertheless, in a rank's part that closes at the seam alone.
    """

    cells: tuple[int, int, int]
    active: tuple[int, int, int]
    cpml: tuple[tuple[int, int], ...]  # planes (low, high) along each axis
    profiles: tuple[AxisProfile, AxisProfile, AxisProfile]
    coefficients: Coefficients
    time_step: float
    precision: str  # "single" | "double"
    terms: tuple[Term, ...] = ()
    scale: float = 1.0  # c dt / u: what Cb and Db are multiplied by, since the profiles are lengths over u
    rows_axis: int | None = None  # the axis of unit stride, where it is not this plan's own choice
    blocks_axis: int | None = None  # that along which energy is summed in blocks of 16 cells, likewise
    pole_media: tuple[PoleMedium, ...] = ()  # by number
    phases: tuple[float | None, float | None, float | None] = (None, None, None)
    complex_fields: bool = False
    gaps: tuple[int | None, int | None, int | None] = (None, None, None)
    coupling: CouplingTerm | None = None

    @property
    def reach(self) -> int:
        """Layers of samples by which what is right of a box shrinks in a step (core/cpu/region.hpp)."""
        return 1 if self.coupling is None else 2

    @property
    def dtype(self) -> type:
        return np.float32 if self.precision == "single" else np.float64

    @property
    def unit_axis(self) -> int:
        """The axis of unit stride; storage axes are then cyclic."""
        return unit_stride_axis(self.active) if self.rows_axis is None else self.rows_axis

    @property
    def weighed_axis(self) -> int:
        """The axis of the blocks of 16 cells that energy is summed in: one for any storage, for the same bits."""
        return unit_stride_axis(self.active) if self.blocks_axis is None else self.blocks_axis

    @property
    def storage_axes(self) -> tuple[int, int, int]:
        """Global axes in storage order (a, b, c); a cyclic exchange leaves every formula as it is."""
        unit = self.unit_axis
        return ((unit + 1) % 3, (unit + 2) % 3, unit)

    def storage_component(self, component: int) -> int:
        """Number of a global component among the stored ones."""
        return component // 3 * 3 + self.storage_axes.index(component % 3)

    @cached_property
    def waveforms(self) -> tuple[Waveform, ...]:
        """The columns of the amplitude tables: every waveform of the terms, once, in order of appearance."""
        found: list[Waveform] = []
        for term in self.terms:
            waveform = getattr(term, "waveform", None)
            if waveform is not None and not any(waveform is known for known in found):
                found.append(waveform)
        return tuple(found)

    @cached_property
    def waves(self) -> tuple[IncidentWave, ...]:
        """The incident waves of the terms, once, in order of appearance."""
        return tuple({id(term.wave): term.wave for term in self.terms if isinstance(term, IncidentTerm)}.values())

    def wave(self, wave: IncidentWave) -> int:
        """Number of an incident wave among `waves`."""
        return next(n for n, known in enumerate(self.waves) if known is wave)

    def column(self, waveform: Waveform | None) -> int:
        """Column of a waveform in the tables, -1 for none."""
        return next((n for n, known in enumerate(self.waveforms) if known is waveform), -1)

    def amplitudes(self, first: int, steps: int, excitation: str) -> tuple[np.ndarray, np.ndarray]:
        """Source amplitudes of steps first, first + 1, ...: tables (steps, waveforms) for E and for H terms.

        E terms act at (m - 1/2) dt, H terms at m dt; waveforms of other excitations are silent.
        """
        time = np.arange(first, first + steps) * self.time_step
        tables = np.zeros((2, steps, max(1, len(self.waveforms))))
        for column, waveform in enumerate(self.waveforms):
            if waveform.excitation == excitation:
                tables[0, :, column] = waveform.value(time - 0.5 * self.time_step)
                tables[1, :, column] = waveform.value(time)
        return in_precision(tables[0], self.dtype), in_precision(tables[1], self.dtype)

    def phasors(self, box: DFTBox, first: int, steps: int) -> np.ndarray:
        """Table (steps, frequencies, 2) of cos and -sin(2 pi f t) at the component's own times."""
        time = (np.arange(first, first + steps) + (0.5 if is_magnetic(box.component) else 0.0)) * self.time_step
        angle = 2 * np.pi * np.outer(time, box.frequencies)
        return np.stack((np.cos(angle), -np.sin(angle)), axis=-1).astype(self.dtype)

    def recording_times(self, half: bool, steps: np.ndarray) -> np.ndarray:
        """Times (s) at which E (or H, half a step later) stands after the given steps."""
        return (np.asarray(steps) + (0.5 if half else 0.0)) * self.time_step
