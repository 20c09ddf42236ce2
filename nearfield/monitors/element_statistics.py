"""A monitor that finds the dissipation elements of a scalar field while the run goes on, and keeps their statistics."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Whole
from nearfield.entry.schema import tag
from nearfield.lowering.context import Context
from nearfield.monitors.field_file import FieldFile
from nearfield.monitors.fields import BoxMonitor, regular_steps
from nearfield.plan.recorders import Recording, SnapshotBox
from nearfield.records.records import Variables

KINDS = {"E": "E", "H": "H", "intensity": "E", "energy": "EH", "S": "EH"}
LEAST_CELLS = 4  # along an axis: those of the interpolant


class ElementStatistics(BoxMonitor):
    """Dissipation elements of a scalar field in a plane or box every so many steps, found beside the run.

    The fields go through a ring in shared memory to another process, on processors that the run leaves free where it
    leaves any, which brings them to the cell centres and finds the elements. `result[name]` is a Dataset over `time`:
    `elements`, `pairs`, `maxima`, `minima`, `mean_length` (m), `mean_difference`, `highest`, `lowest`, `seconds`.
    `check` and `run` say before what this costs. The box takes four cells or more along each axis, or one. Along a
    periodic axis that it fills, elements go on across its faces.

    >>> import nearfield as nf
    >>> nf.ElementStatistics("spots", (0, 0, 0), (1e-2, 1e-2, 0), every=20, quantity="Ez").components
    ('Ez',)
    """

    kind: Literal["elements"] = tag("elements")
    every: Annotated[Whole, Field(ge=1)]
    """Steps between two analyses."""
    quantity: Literal["E", "H", "intensity", "energy", "S", "Ex", "Ey", "Ez", "Hx", "Hy", "Hz"] = "energy"
    """`energy` (of E and H with the constants of vacuum, J/m^3), `intensity` (V^2/m^2), `S` (W/m^2), `E` or `H`
    (magnitudes), or one component."""
    method: Literal["discrete", "trace", "hybrid"] = "hybrid"
    """As of `elements`; `discrete` is some ten times as fast."""

    @property
    def components(self) -> tuple[str, ...]:
        """The components that the quantity is made of."""
        kinds = KINDS.get(self.quantity)
        return (self.quantity,) if kinds is None else tuple(kind + axis for kind in kinds for axis in "xyz")

    @property
    def file(self) -> FieldFile:
        """How components come to the process beside the run; what it keeps are statistics."""
        return FieldFile(positions="cells")

    def _analysis(self, context: Context) -> dict[str, Any]:
        """What the process beside the run does with them; `periods` (m) of the periodic axes that the box fills."""
        grid, (first, last) = context.grid, self._corners(context)
        filled = [a for a in range(3) if grid.closed(a) and last[a] - first[a] == grid.lines[a].size - 1]
        periods = {"xyz"[a]: float(grid.lines[a][-1] - grid.lines[a][0]) for a in filled}
        return {"quantity": self.quantity, "method": self.method, "periods": periods}

    def _steps(self, context: Context) -> np.ndarray:
        """The steps after which elements are found."""
        return regular_steps(self._label, self.every, context)

    def _terms(self, context: Context) -> list[SnapshotBox]:
        """One copy of each component. Error: too few cells, complex fields."""
        if context.boundaries.complex_fields:
            raise ModelError(
                f"{self._label}: fields between Bloch walls are complex, and only real ones have maxima; take a "
                "field-dft monitor and `nearfield elements RESULT:MONITOR --quantity E`"
            )
        cells = [high - low for low, high in zip(*self._corners(context))]
        if max(cells) == 0 or any(0 < count < LEAST_CELLS for count in cells):
            raise ModelError(
                f"{self._label} covers {' x '.join(map(str, cells))} cells; elements need {LEAST_CELLS} or more along "
                "each axis, or none along an axis of a plane; make the box larger"
            )
        steps = self._steps(context)
        return [SnapshotBox(held.component, held.lower, held.upper, steps, False) for held in self._held(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """Nothing: the statistics are in a file."""
        return {}
