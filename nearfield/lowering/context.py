"""Everything that sources, ports and monitors may use to express themselves as terms of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nearfield.entry.triples import Point, Triple
from nearfield.grid.yee import is_half
from nearfield.machine.transport import ALONE, Alone
from nearfield.plan.excitations import Waveform
from nearfield.plan.planning import active_shape

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.grid.boundaries import Boundaries
    from nearfield.grid.yee import YeeGrid

Value = TypeVar("Value")


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

    def sides(self, component: ArrayLike, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(inside, outside) for spans of samples of a component, between the numbers `low` and `high`, (3, spans):
        whether the fields of all of them are total ones, or scattered ones."""
        half = np.array([[is_half(c, axis) for c in np.atleast_1d(component)] for axis in range(3)])
        first, last = np.array(self.first)[:, None], np.array(self.last)[:, None] - half
        return ((low >= first) & (high <= last)).all(axis=0), ((high < first) | (low > last)).any(axis=0)


class Guide(Protocol):
    """A waveguide port as monitors know it: its window (m), its axis and direction, its shape."""

    @property
    def lower(self) -> Point: ...
    @property
    def upper(self) -> Point: ...
    @property
    def shape(self) -> str: ...
    @property
    def _along(self) -> int: ...
    @property
    def _sign(self) -> int: ...


@dataclass(frozen=True)
class Site:
    """The grid of a model, and what sources, ports and monitors have worked out on it: each once for a model."""

    grid: YeeGrid
    cache: dict[Any, Any] = field(default_factory=dict)  # see `once`

    def once(self, key: Any, find: Callable[[], Value]) -> Value:
        """The value of `find()`, which is called once for each key of a model."""
        if key not in self.cache:
            self.cache[key] = find()
        value: Value = self.cache[key]
        return value


@dataclass(frozen=True, kw_only=True)
class Context(Site):
    """Everything that a source, port or monitor may use to express itself as terms."""

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

    @property
    def active(self) -> Triple:
        """Samples along each axis that the engine updates."""
        return active_shape(self.grid, self.boundaries)


def dft_stride(context: Context, frequencies: np.ndarray) -> int:
    """Steps between samples of a running DFT: no alias of the excitation's band falls on a recorded frequency.

    A sample rate f_s folds the field's content at f_s - f onto f; f_s >= 2 (maximum_frequency + f) keeps a
    factor of two in hand.
    """
    highest = context.maximum_frequency + float(np.max(frequencies))
    return max(1, int(0.5 / (highest * context.time_step)))
