"""What an engine is given for one domain: plain numbers, no media, no antennas, no files.

Component numbers are 0..5 = Ex Ey Ez Hx Hy Hz. Indices are global Yee indices (i, j, k) of the component.
H is stored as eta0 H everywhere below this line of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nearfield.boundaries import Boundaries
    from nearfield.coefficients import Coefficients
    from nearfield.grid import YeeGrid

COMPONENTS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
VACUUM_SPEED = 299792458.0  # m/s, exact
VACUUM_PERMEABILITY = 1.25663706127e-6  # H/m, CODATA 2022
VACUUM_IMPEDANCE = VACUUM_PERMEABILITY * VACUUM_SPEED  # ohm
VACUUM_PERMITTIVITY = 1.0 / (VACUUM_IMPEDANCE * VACUUM_SPEED)  # F/m


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
class Functional:
    """A weighted sum of samples, recorded every `stride` steps (steps stride, 2 stride, ...).

    All samples are of E or all of H; `component` is an array like i, j, k. The recorded value is SI: weights of H
    samples are given for H in A/m and the plan divides by eta0.
    """

    component: np.ndarray
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    weight: np.ndarray
    stride: int = 1


@dataclass(frozen=True)
class DFTBox:
    """Running Fourier sum of one component over index ranges [lower, upper): dt stride sum F(t) exp(-j 2 pi f t)."""

    component: int
    lower: tuple[int, int, int]
    upper: tuple[int, int, int]
    frequencies: np.ndarray
    stride: int = 1


@dataclass(frozen=True)
class SnapshotBox:
    """Copies of one component over index ranges [lower, upper) after the given steps (sorted, counted from 1)."""

    component: int
    lower: tuple[int, int, int]
    upper: tuple[int, int, int]
    steps: np.ndarray


Term = CurrentTerm | CircuitTerm | Functional | DFTBox | SnapshotBox


@dataclass(frozen=True)
class Recording:
    """What came of a recording term: `time` (s) and `values` in SI (DFTBox: time is empty, values complex)."""

    time: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Context:
    """What a source, port or monitor may know when it is lowered."""

    grid: YeeGrid
    time_step: float
    coefficients: Coefficients
    boundaries: Boundaries
    maximum_frequency: float  # Hz; the excitation holds nothing above it
    precision: str  # "single" | "double"
    steps: int  # at most so many will run
    waveforms: dict[str, Waveform] = field(default_factory=dict)


def dft_stride(context: Context, frequencies: np.ndarray) -> int:
    """Steps between samples of a running DFT: no alias of the excitation's band falls on a recorded frequency.

    A sample rate f_s folds the field's content at f_s - f onto f; f_s >= 2 (maximum_frequency + f) keeps a
    factor of two in hand.
    """
    highest = context.maximum_frequency + float(np.max(frequencies))
    return max(1, int(0.5 / (highest * context.time_step)))
