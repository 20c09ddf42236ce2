"""Everything that sources, ports and monitors may use to express themselves as terms of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from nearfield.entry.triples import Point, Triple
from nearfield.machine.transport import ALONE, Alone
from nearfield.plan.excitations import Waveform
from nearfield.plan.planning import active_shape
from nearfield.records.records import Variable

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.grid.boundaries import Boundaries
    from nearfield.grid.yee import YeeGrid

Found = TypeVar("Found")


@dataclass(frozen=True)
class Illumination:
    """A plane wave as monitors know it: its box of nodes, and its field at the point `corner` (m), of the spectrum
    amplitude * spectrum(f) (V/m s).
    """

    first: Triple
    last: Triple
    travels: np.ndarray
    electric: np.ndarray
    corner: Point
    amplitude: float
    spectrum: Callable[[np.ndarray], np.ndarray] | None  # of its signal, s; None: it never ends
    alone: bool  # nothing else drives the same excitation

    def variable(self, frequencies: np.ndarray, wavenumbers: np.ndarray) -> Variable | None:
        """E at the origin of coordinates, (frequency,); None for a wave that never ends."""
        if self.spectrum is None:
            return None
        phase = np.exp(1j * wavenumbers * float(self.travels @ np.array(self.corner)))
        notes = {"units": "V/m s", "travels": self.travels.tolist(), "electric": self.electric.tolist()}
        return Variable(("frequency",), self.amplitude * self.spectrum(frequencies) * phase, notes)


class Guide(Protocol):
    """A waveguide port as monitors know it: its window (m), its axis and direction, its shape."""

    lower: Point
    upper: Point
    shape: str

    @property
    def _along(self) -> int: ...
    @property
    def _sign(self) -> int: ...


@dataclass(frozen=True)
class Context:
    """Everything that a source, port or monitor may use to express itself as terms."""

    grid: YeeGrid
    time_step: float
    coefficients: Coefficients
    boundaries: Boundaries
    maximum_frequency: float  # Hz; the excitation holds nothing above it
    precision: str  # "single" | "double"
    steps: int  # at most so many will run
    waveforms: dict[str, Waveform] = field(default_factory=dict)
    illuminations: tuple[Illumination, ...] = ()  # plane waves of the excitation "sources"
    minimum_frequency: float = 0.0  # Hz; nor below this one
    ranks: Alone = ALONE  # all lower the model, in the same order; the first computes what may differ in last bits
    guides: tuple[Guide, ...] = ()
    found: dict[Any, Any] = field(default_factory=dict)  # see `once`

    @property
    def active(self) -> Triple:
        """Samples along each axis that the engine updates."""
        return active_shape(self.grid, self.boundaries)

    def once(self, key: Any, find: Callable[[], Found]) -> Found:
        """The value of `find()`, which is called once for each key of a model."""
        if key not in self.found:
            self.found[key] = find()
        value: Found = self.found[key]
        return value


def dft_stride(context: Context, frequencies: np.ndarray) -> int:
    """Steps between samples of a running DFT: no alias of the excitation's band falls on a recorded frequency.

    A sample rate f_s folds the field's content at f_s - f onto f; f_s >= 2 (maximum_frequency + f) keeps a
    factor of two in hand.
    """
    highest = context.maximum_frequency + float(np.max(frequencies))
    return max(1, int(0.5 / (highest * context.time_step)))
