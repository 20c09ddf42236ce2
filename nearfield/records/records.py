"""The neutral form of everything a run records: labelled arrays, in memory or in a file.

The HDF5 writer, the reader and xarray need to know nothing else; an author of a port or monitor returns `Variable`s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    import xarray

    from nearfield.grid.yee import YeeGrid

HALF = "_half"  # a dim of this ending lies midway between grid lines or time steps; users see it without
ODD = "odd_across"  # attribute of a component: the axes of PMC walls on which its plane lies, where it is 0
PARTS = ("_re", "_im")  # a complex component is stored in files as two of these endings; users see one without


@dataclass(frozen=True)
class Variable:
    """A labelled array: its dims, its values, and attributes, of which `units` is always one.

    The coordinate along a dim is the sibling variable of the same name. Samples midway between grid lines (or half a
    step later in time) have dims of their own, `x_half` beside `x`. `values` is an array, or stands for one in a file.
    """

    dims: tuple[str, ...]
    values: Any
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def array(self) -> np.ndarray:
        """The values in memory, read now if they lie in a file."""
        return np.asarray(self.values)


Variables = dict[str, Variable]


@dataclass
class MonitorRecord:
    """The recording of one monitor: its kind, its entry in the model, and its variables or the file that holds them."""

    kind: str
    entry: dict[str, Any]
    variables: Variables
    file: Path | None = None


@dataclass
class ExcitationRecord:
    """The recordings of one run of the time loop, in which one port (or `sources`) was on.

    `energy` holds `time` and `energy`; `waveform` holds `time` and `value` of the source, all samples that were used,
    and is None where the sources of the run have different waveforms. `ports[name]` holds `voltage` and `current`.
    `source_end` (s) is when the last source is off, infinite of one that never ends; None in files that lack it.
    """

    energy: Variables = field(default_factory=dict)
    ports: dict[str, Variables] = field(default_factory=dict)
    monitors: dict[str, MonitorRecord] = field(default_factory=dict)
    waveform: Variables | None = None
    source_end: float | None = None


class Excitation(Protocol):
    """The results of one excitation as analysis reads them; `nearfield.results.ExcitationResult` is one."""

    name: str
    record: ExcitationRecord

    @property
    def monitors(self) -> tuple[str, ...]: ...
    def __getitem__(self, name: str) -> Any: ...
    def source(self, frequencies: Any) -> np.ndarray: ...
    def port_powers(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass
class RunRecord:
    """Everything that a result holds, as plain data, which `write_result` writes and `read_record` reads."""

    model_text: str
    grid: YeeGrid
    media: dict[str, dict[str, Any]]
    facts: dict[str, Any]
    status: str  # "done" | "diverged" | "interrupted" | "failed"
    excitations: dict[str, ExcitationRecord]
    sparameters: Variables | None = None
    title: str = ""


def plain(dim: str) -> str:
    """The dim as users see it."""
    return dim.removesuffix(HALF)


def labelled(variables: Variables, name: str, values: np.ndarray | None = None) -> xarray.DataArray:
    """One variable as an xarray.DataArray with its coordinates, which `.plot()` draws; `values` replaces its own."""
    from nearfield.pictures.arrays import Recording

    variable = variables[name]
    axes = {plain(dim): variables[dim] for dim in variable.dims if dim in variables}
    coordinates = {dim: (dim, axis.array, axis.attributes) for dim, axis in axes.items()}
    array = variable.array if values is None else values
    return Recording(array, coordinates, [plain(dim) for dim in variable.dims], name, variable.attributes)
