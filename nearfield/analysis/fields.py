"""Fields as users meet them: components on their own Yee positions, or brought to common ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.records.records import HALF, Variables, labelled

if TYPE_CHECKING:
    import xarray


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

    def __iter__(self):
        return (name for name in self.variables if name[0] in "EH" and len(name) == 2)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def collocated(self) -> xarray.Dataset:
        """All components at the cell centres (of a plane: at its cells' centres on the plane), averaged to there.

        H stays half a time step later than E in a snapshot: `time` is E's. Spectra have no such shift. Error: samples
        were left out (`sample_every`), so that none lie beside a centre.
        """
        halves = [axis for axis in "xyz" if axis + HALF in self.variables]
        if any(_thinned(self.variables[axis].array, self.variables[axis + HALF].array) for axis in halves):
            raise ModelError(
                "fields with sample_every above 1 lack the samples beside a cell's centre, so they cannot be brought "
                'there; write them with positions = "cells", which averages first, or with sample_every = 1'
            )
        return collocate(self)


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
    axes = {axis: (stored[axis].array, stored[axis if centred else axis + HALF].array) for axis in "xyz"}
    first = field[next(iter(field))]
    leading = str(first.dims[0])
    coordinates: dict[str, Any] = {leading: first.coords[leading].variable}
    for axis, (nodes, halves) in axes.items():
        coordinates[axis] = (axis, nodes if nodes.size == 1 else halves, {"units": "m"})
    dims = (leading, "x", "y", "z")
    values = {name: field[name].values if centred else _moved(field, name, axes) for name in field}
    return xarray.Dataset({name: (dims, values[name], field[name].attrs) for name in field}, coordinates)


def _moved(field: FieldResult, name: str, axes: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    values = field[name].values
    for position, axis in enumerate("xyz", start=1):
        half = axis + HALF in field.variables[name].dims
        nodes, halves = axes[axis]
        if nodes.size == 1:
            values = _on_plane(values, position, nodes[0], halves) if half else values
        elif not half:
            values = 0.5 * (_part(values, position, slice(1, None)) + _part(values, position, slice(None, -1)))
    return values


def _part(values: np.ndarray, axis: int, part: slice) -> np.ndarray:
    return values[(slice(None),) * axis + (part,)]


def _on_plane(values: np.ndarray, axis: int, node: float, halves: np.ndarray) -> np.ndarray:
    if halves.size == 1:  # on a wall there is one side only
        return values
    above = (node - halves[0]) / (halves[1] - halves[0])
    return (1 - above) * _part(values, axis, slice(0, 1)) + above * _part(values, axis, slice(1, 2))
