"""What a source, port or monitor is given when it says itself as terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from nearfield.machine.transport import ALONE, Alone
from nearfield.plan.plan import Waveform
from nearfield.records.records import Variable
from nearfield.records.regions import Nodes

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

    first: Nodes
    last: Nodes
    travels: np.ndarray
    electric: np.ndarray
    corner: tuple[float, float, float]
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

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    shape: str

    @property
    def _along(self) -> int: ...
    @property
    def _sign(self) -> int: ...


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
    illuminations: tuple[Illumination, ...] = ()  # plane waves of the excitation "sources"
    minimum_frequency: float = 0.0  # Hz; nor below this one
    ranks: Alone = ALONE  # those that all lower it, in the same order; the first finds what may differ in last bits
    guides: tuple[Guide, ...] = ()
    found: dict[Any, Any] = field(default_factory=dict)  # see `once`

    def once(self, key: Any, find: Callable[[], Found]) -> Found:
        """What `find` returns, called the first time that this model asks for `key`."""
        if key not in self.found:
            self.found[key] = find()
        return self.found[key]


def dft_stride(context: Context, frequencies: np.ndarray) -> int:
    """Steps between samples of a running DFT: no alias of the excitation's band falls on a recorded frequency.

    A sample rate f_s folds the field's content at f_s - f onto f; f_s >= 2 (maximum_frequency + f) keeps a
    factor of two in hand.
    """
    highest = context.maximum_frequency + float(np.max(frequencies))
    return max(1, int(0.5 / (highest * context.time_step)))
