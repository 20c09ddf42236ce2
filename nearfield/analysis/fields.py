"""Fields as users meet them: components on their own Yee positions, or brought to common ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import FREQUENCY, LENGTH, TIME, Quantity, read_one
from nearfield.entry.wording import quantity
from nearfield.records.records import HALF, ODD, Variables, labelled

if TYPE_CHECKING:
    import xarray
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

ANOTHER = 0.01  # part of a frequency by which the nearest that was recorded is another


class FieldResult(Mapping):
    """Field components by name, each a DataArray on its own Yee positions; `collocated()` puts them on common ones."""

    def __init__(self, variables: Variables, scale: np.ndarray | None = None) -> None:
        self.variables = variables
        self.scale = scale

    def __getitem__(self, component: str) -> xarray.DataArray:
        if component not in list(self):
            raise ModelError(f"component {component!r} was not recorded; recorded: {', '.join(self)}")
        if self.scale is None:
            return labelled(self.variables, component)
        variable = self.variables[component]
        array = labelled(self.variables, component, variable.array * self.scale.reshape(-1, 1, 1, 1))
        return array.assign_attrs(units=variable.attributes["units"].removesuffix(" s") + " per unit of the source")

    def __contains__(self, component: object) -> bool:
        return component in list(self)

    def __iter__(self):
        return (name for name in self.variables if name[0] in "EH" and len(name) == 2)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def collocated(self) -> xarray.Dataset:
        """All components at the cell centres (of a plane: at its cells' centres on the plane), averaged to there.

        H stays half a time step later than E in a snapshot: `time` is E's. Spectra have no such shift. Where a
        component jumps between samples the mean is that of both sides: on a face of metal half of the normal E and of
        the tangential H above it; take a plane a cell above, or a `Probe`, which reads its own side. On a wall of the
        grid the other side is the image: of a PMC wall normal E and tangential H are 0. Error: samples were left out
        (`sample_every`), so that none lie beside a centre.
        """
        if self._lacks_samples:
            raise ModelError(
                "fields with sample_every above 1 lack the samples beside a cell's centre, so they cannot be brought "
                'there; write them with positions = "cells", which averages first, or with sample_every = 1'
            )
        return collocate(self)

    @property
    def _lacks_samples(self) -> bool:
        """Whether samples were left out along some axis."""
        halves = [axis for axis in "xyz" if axis in self.variables and axis + HALF in self.variables]
        return any(_thinned(self.variables[axis].array, self.variables[axis + HALF].array) for axis in halves)

    def pictured(self) -> Mapping[str, xarray.DataArray]:
        """The components as pictures take them: at the cell centres; of thinned samples the first one where it lies."""
        if self._lacks_samples:
            first = next(iter(self))
            return {first: self[first]}
        return {str(name): values for name, values in self.collocated().data_vars.items()}

    def plot(
        self,
        part: str | None = None,
        at: Any = None,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        ax: Axes | None = None,
    ) -> Any:
        """The field on planes: spectra as magnitude in dB, snapshots as signed values, at most six; returns the axes.

        part: one component, such as "Ez"; left out, abs(E) of a spectrum, the strongest component of a snapshot.
        at: the frequency (Hz, or "10 GHz") or time (s, or "1.2 ns") nearest to which. x, y or z: where a box is cut
        (m, or "3 mm"); left out, the middle of its thinnest side. ax: axes for one picture.
        """
        from nearfield.pictures.planes import draw_field
        from nearfield.pictures.style import shown

        return shown(draw_field)(self._chosen(part), ax, None, self._place(at), _cut(x=x, y=y, z=z))

    def animate(
        self,
        path: str | Path | None = None,
        part: str | None = None,
        at: Any = None,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        frames: int | None = None,
        frames_per_second: float = 15.0,
    ) -> FuncAnimation:
        """The field in motion: snapshots in their order, or a spectrum through one period at a frequency.

        path: `.html` (a page with all in it), `.gif`, or `.mp4` where ffmpeg is installed; left out, nothing is
        written, and a notebook shows it by `.to_jshtml()`. frames: at most so many, evenly chosen; left out, all
        snapshots, or 24 a period. The others are those of `plot`. Returns matplotlib's animation. Error: `ModelError`.
        """
        from nearfield.pictures.animation import animated, save

        film = animated(self._chosen(part), self._place(at), _cut(x=x, y=y, z=z), frames, frames_per_second)
        if path is not None:
            save(film, Path(path), frames_per_second)
        return film

    def _chosen(self, part: str | None) -> Mapping[str, xarray.DataArray]:
        """The components to draw. Error: the one named was not recorded."""
        return self.pictured() if part is None else {part: self[part]}

    def _place(self, at: Any) -> float | None:
        """A frequency (Hz) or time (s) as typed; warns where what was recorded nearest to it is another."""
        if at is None:
            return None
        along = self[next(iter(self))]
        spectrum = along.dims[0] == "frequency"
        asked = read_one("at", at, Quantity(FREQUENCY if spectrum else TIME))
        recorded = along[along.dims[0]].values if along.dims[0] in along.coords else np.empty(0)
        if recorded.size:
            nearest = float(recorded[np.argmin(np.abs(recorded - asked))])
            spacing = float(np.ptp(recorded)) / max(recorded.size - 1, 1)
            if abs(nearest - asked) > (ANOTHER * asked if spectrum else 0.5 * spacing * (1 + 1e-9)):
                ends = (recorded.min(), recorded.max())
                given, taken, low, high = (
                    quantity(float(x), "Hz" if spectrum else "s") for x in (asked, nearest, *ends)
                )
                warnings.warn(
                    f"nothing was recorded at {given}; shown is the nearest, {taken}; "
                    f"recorded: {recorded.size}, {low} to {high}",
                    stacklevel=3,
                )
        return asked

    def __repr__(self) -> str:
        first = self[next(iter(self))]
        sizes = " x ".join(f"{size} {name}" for name, size in first.sizes.items())
        return f"<nearfield.FieldResult {', '.join(self)}: {sizes}>"

    def _repr_html_(self) -> str:
        from nearfield.pictures.notebook import picture_and_table

        first = self[next(iter(self))]
        rows = {"components": ", ".join(self)} | {str(dim): str(size) for dim, size in first.sizes.items()}
        return picture_and_table("Fields", rows, self.plot)


def _cut(**places: Any) -> dict[str, float]:
    """Where a box is cut (m): at most one of x, y, z. Error: several."""
    given = {axis: read_one(axis, place, Quantity(LENGTH)) for axis, place in places.items() if place is not None}
    if len(given) > 1:
        raise ModelError(f"given {' and '.join(given)}; a box is cut across one of x, y, z, so give one of them")
    return given


def _thinned(nodes: np.ndarray, halves: np.ndarray) -> bool:
    """Whether the midway samples do not lie midway between the nodes that are there."""
    if nodes.size == 1:
        return False  # a plane
    slack = 1e-6 * float(np.ptp(nodes)) / nodes.size
    return nodes.size != halves.size + 1 or not np.allclose(0.5 * (nodes[:-1] + nodes[1:]), halves, rtol=0, atol=slack)


def collocate(field: FieldResult) -> xarray.Dataset:
    """All components at the cell centres, and on the plane itself along an axis without extent.

    The mean of the two samples beside a centre; linear interpolation to a plane: second order on any grid. Fields
    that were written at the cell centres are there already.
    """
    import xarray

    stored = field.variables
    centred = not any(axis + HALF in stored for axis in "xyz")
    axes = {axis: nodes_and_centres(stored, axis, centred) for axis in "xyz"}
    first = field[next(iter(field))]
    leading = str(first.dims[0])
    coordinates: dict[str, Any] = {leading: first.coords[leading].variable}
    for axis, (nodes, halves) in axes.items():
        coordinates[axis] = (axis, nodes if nodes.size == 1 else halves, {"units": "m"})
    dims = (leading, "x", "y", "z")
    values = {name: field[name].values if centred else _moved(field, name, axes) for name in field}
    return xarray.Dataset({name: (dims, values[name], field[name].attrs) for name in field}, coordinates)


def nodes_and_centres(stored: Variables, axis: str, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places (m) of the grid lines and of the cell centres along an axis; files state those that components lie on.

    Without the lines all components lie at the centres; without the centres these are midway between the lines.
    """
    if centred or axis not in stored:
        centres = stored[axis if centred else axis + HALF].array
        return centres, centres
    nodes = stored[axis].array
    return nodes, stored[axis + HALF].array if axis + HALF in stored else 0.5 * (nodes[:-1] + nodes[1:])


def _moved(field: FieldResult, name: str, axes: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    values = field[name].values
    for position, axis in enumerate("xyz", start=1):
        half = axis + HALF in field.variables[name].dims
        nodes, halves = axes[axis]
        if axis not in field.variables:
            continue  # at the centres already
        if nodes.size == 1:
            if half:
                odd = axis in field.variables[name].attributes.get(ODD, "")
                values = np.zeros_like(values) if odd else _on_plane(values, position, nodes[0], halves)
        elif not half:
            values = 0.5 * (_part(values, position, slice(1, None)) + _part(values, position, slice(None, -1)))
    return values


def _part(values: np.ndarray, axis: int, part: slice) -> np.ndarray:
    return values[(slice(None),) * axis + (part,)]


def _on_plane(values: np.ndarray, axis: int, node: float, halves: np.ndarray) -> np.ndarray:
    if halves.size == 1:  # on a PEC wall there is one side only, of which the other is the even image
        return values
    above = (node - halves[0]) / (halves[1] - halves[0])
    return (1 - above) * _part(values, axis, slice(0, 1)) + above * _part(values, axis, slice(1, 2))
