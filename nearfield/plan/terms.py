"""Terms that act on fields: currents, circuits on edges, incident waves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.plan.excitations import IncidentWave, Waveform
from nearfield.plan.term import SampledTerm


@dataclass(frozen=True)
class CurrentTerm(SampledTerm):
    """A current: F[i, j, k] += weight * waveform, after the update of F, in every step.

    `weight` already holds -Cb eta0 c dt / area and the like; arrays of equal length, one entry a sample.
    """

    component: int
    weight: np.ndarray
    waveform: Waveform

    sample_arrays = ("weight",)

    @property
    def waveforms(self) -> tuple[Waveform, ...]:
        return (self.waveform,)


@dataclass(frozen=True)
class CircuitTerm(SampledTerm):
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
    admittance: np.ndarray
    voltage_factor: np.ndarray
    feedback: np.ndarray
    inverse: np.ndarray
    drive: np.ndarray
    output: np.ndarray
    input: np.ndarray
    transition: np.ndarray
    waveform: Waveform | None

    sample_arrays = ("admittance", "voltage_factor", "feedback", "inverse", "drive", "output", "input", "transition")

    @property
    def waveforms(self) -> tuple[Waveform, ...]:
        return (self.waveform,) if self.waveform else ()


@dataclass(frozen=True)
class IncidentTerm(SampledTerm):
    """F[i, j, k] += weight * sum_t share[t] table[step, column[t]], after the update of F, in every step.

    All samples are of E, or all of H. `weight` holds +-Cb c dt / dual length and the like. component, i, j, k, weight:
    (samples,); column, share: (samples, taps), added in their order; a single tap has the share 1, which is left out.
    A sample may come twice, at an edge of the box; it is then driven in the order of the term.
    """

    component: np.ndarray
    weight: np.ndarray
    column: np.ndarray
    share: np.ndarray
    wave: IncidentWave

    sample_arrays = ("component", "weight", "column", "share")

    @property
    def waves(self) -> tuple[IncidentWave, ...]:
        return (self.wave,)

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        """Taps of every sample; less where rows share theirs."""
        return tap_bytes(self.column.shape[1], number_bytes) * len(self.i)

    def loaded_box(self, active: Triple) -> None:
        """None: the cost is under 3 % of the rate."""

    @property
    def magnetic(self) -> bool:
        """Whether the samples are of H."""
        return bool(self.component[0] >= 3)


def tap_bytes(taps: int, number_bytes: int) -> int:
    """Memory of one sample of an incident wave with so many taps."""
    return 16 + (4 + number_bytes) * (1 + taps)
