"""The input of an engine for one domain: plain numbers, no media, no antennas, no files.

Indices are global Yee indices (i, j, k) of a component. Engines store H as eta0 H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple
from nearfield.plan.boxes import Box
from nearfield.plan.recorders import DFTBox, RecordingTerm, SnapshotBox, recorders
from nearfield.plan.term import is_magnetic

if TYPE_CHECKING:
    from nearfield.plan.coupling_term import CouplingTerm
    from nearfield.plan.excitations import IncidentWave, Waveform
    from nearfield.plan.planes import Coefficients, PoleMedium
    from nearfield.plan.term import Term

ROW_LENGTHS = (128, 400)  # cells that suit rows


@dataclass(frozen=True)
class AxisProfile:
    """Lengths and CPML factors of the update along one axis, one float64 value a sample of the active range.

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

    def cut(self, samples: np.ndarray | slice) -> AxisProfile:
        """The profile of some samples."""
        return AxisProfile(**{name: values[samples] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Plan:
    """One domain, ready for an engine: shapes, profiles, coefficients and terms; all global axes, float64.

    `active` is the number of samples that the engine stores of every component: the cells, and one more along an axis
    whose upper wall is PMC. Samples past it are zero for good.

    `phases`: the angle (rad) by which the fields lag over an axis that closes on itself, F(n) = F(0) exp(-j phase), and
    None for one that ends; other angles than 0 need complex fields, a real and an imaginary part in the same rows.
    `gaps`: the sample before which such an axis is open nevertheless, in a rank's part that closes at the seam alone.
    """

    cells: Triple
    active: Triple
    cpml: tuple[tuple[int, int], ...]  # planes (low, high) along each axis
    profiles: tuple[AxisProfile, AxisProfile, AxisProfile]
    coefficients: Coefficients
    time_step: float
    precision: str  # "single" | "double"
    terms: tuple[Term, ...] = ()
    scale: float = 1.0  # c dt / u, factor of Cb and Db, since the profiles are lengths over u
    rows_axis: int | None = None  # the axis of unit stride, where it is not this plan's own choice
    blocks_axis: int | None = None  # the axis along which energy is summed in blocks of 16 cells, likewise
    pole_media: tuple[PoleMedium, ...] = ()  # dispersive media, by number
    phases: tuple[float | None, float | None, float | None] = (None, None, None)
    complex_fields: bool = False
    gaps: tuple[int | None, int | None, int | None] = (None, None, None)
    coupling: CouplingTerm | None = None
    storage: str = "full"  # of fields in memory: "full", as wide as `precision`, or "16-bit"
    exponents: tuple[int, int] | None = None  # in 16 bits, E and H lie times two to the power of these

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
        """The axis of the blocks of 16 cells in which energy is summed; it does not depend on storage, nor do bits."""
        return unit_stride_axis(self.active) if self.blocks_axis is None else self.blocks_axis

    @property
    def storage_axes(self) -> Triple:
        """Global axes in storage order (a, b, c); a cyclic exchange leaves every formula as it is."""
        unit = self.unit_axis
        return ((unit + 1) % 3, (unit + 2) % 3, unit)

    def storage_component(self, component: int) -> int:
        """Number of a global component among the stored ones."""
        return component // 3 * 3 + self.storage_axes.index(component % 3)

    def drawn(self) -> Plan:
        """The plan with all samples of its terms."""
        terms = (term.drawn() for term in self.terms)
        return replace(self, terms=tuple(term for term in terms if term is not None))

    @cached_property
    def recorders(self) -> tuple[RecordingTerm, ...]:
        """The terms that record, in their order."""
        return recorders(self.terms)

    @property
    def silent(self) -> Plan:
        """The plan with nothing recorded."""
        return replace(self, terms=tuple(term for term in self.terms if not term.recorded))

    @property
    def kept(self) -> Plan:
        """The plan without copies to memory that someone would have to give."""
        terms = self.terms
        return replace(self, terms=tuple(t for t in terms if not isinstance(t, SnapshotBox) or t.kept))

    @property
    def dft_boxes(self) -> list[DFTBox]:
        """The running Fourier transforms, in their order."""
        return [term for term in self.recorders if isinstance(term, DFTBox)]

    @property
    def box(self) -> Box:
        """All active samples."""
        return Box((0, 0, 0), self.active)

    @cached_property
    def waveforms(self) -> tuple[Waveform, ...]:
        """The columns of the amplitude tables: every waveform of the terms, once, in order of appearance."""
        return tuple({id(waveform): waveform for term in self.terms for waveform in term.waveforms}.values())

    @cached_property
    def waves(self) -> tuple[IncidentWave, ...]:
        """The incident waves of the terms, once, in order of appearance."""
        return tuple({id(wave): wave for term in self.terms for wave in term.waves}.values())

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


def unit_stride_axis(active: Triple) -> int:
    """The longest axis of a length that suits rows, else the longest of all; z before y before x among equals.

    The beginning of a row costs as much as some tens of cells; of long rows, few fit a tile in the second-level cache.
    """
    shortest, longest = ROW_LENGTHS
    fitting = [axis for axis in range(3) if shortest <= active[axis] <= longest]
    return max(fitting or range(3), key=lambda axis: (active[axis], axis))


def in_precision(values: np.ndarray, dtype: type) -> np.ndarray:
    """Source amplitudes or weights in the precision of the fields, contiguous. Error: some are too large for it."""
    with np.errstate(over="ignore"):
        cast: np.ndarray = np.ascontiguousarray(values, dtype)
    if not np.isfinite(cast).all():
        raise ModelError(
            f"a source is too strong: it adds up to {np.abs(values).max():.3g} V/m in a step, single precision holds "
            f"{np.finfo(dtype).max:.3g}; make it weaker (results scale with it), or use precision='double'"
        )
    return cast
