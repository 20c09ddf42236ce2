"""Monitors of whole planes and boxes: the fields at chosen times, and their spectra at chosen frequencies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Times, Whole
from nearfield.entry.schema import tag
from nearfield.grid.yee import AXES, COMPONENTS, is_half
from nearfield.lowering.context import Context, dft_stride
from nearfield.monitors.field_file import FieldFile
from nearfield.monitors.regions import BoxLike, Components, SomeFrequencies, held_region, is_held, over_open_edges
from nearfield.monitors.seams import Seam, odd_across
from nearfield.plan.recorders import DFTBox, Recording, SnapshotBox
from nearfield.records.records import HALF, ODD, Variable, Variables
from nearfield.records.regions import Region, component_number, frequency_axis, time_axis, unit_of


def regular_steps(label: str, every: int, context: Context) -> np.ndarray:
    """Every so many steps of a run. Error: it ends before the first."""
    if every > context.steps:
        raise ModelError(
            f"{label}: every = {every}, but the run has {context.steps} steps, so that nothing would be recorded; "
            "give fewer steps between records, or run longer"
        )
    return np.arange(every, context.steps + 1, every)


class BoxMonitor(BoxLike):
    """A box or plane of field components."""

    if TYPE_CHECKING:

        @property
        def components(self) -> tuple[str, ...] | None: ...

    def _regions(self, context: Context) -> dict[str, Region]:
        """The samples of each component, the box moved to the nearest grid nodes."""
        first, last = self._corners(context)
        names = self.components or COMPONENTS
        return {name: Region.between(context.grid, component_number(name), first, last) for name in names}

    def _seams(self, context: Context) -> dict[int, Seam]:
        """The seams of periodic axes on which it lies as a plane, by axis; what goes to a file has one side alone."""
        first, last = self._corners(context)
        flat = [axis for axis in range(3) if first[axis] == last[axis] and getattr(self, "file", None) is None]
        return {axis: seam for axis in flat if (seam := Seam.at(context.grid, axis, first[axis])) is not None}

    def _parts(self, context: Context) -> dict[str, list[Region]]:
        """The regions of each component, one, and of a plane on a seam those on both sides of it."""
        found = {name: [region] for name, region in self._regions(context).items()}
        for name, axis, seam in ((n, *each) for n in found for each in self._seams(context).items()):
            if is_half(component_number(name), axis):
                found[name] = [side for part in found[name] for side in seam.sides(part)]
        return found

    def _held(self, context: Context) -> list[Region]:
        """The part of each region that the engine holds."""
        parts = [part for own in self._parts(context).values() for part in own]
        return [held_region(part, context) for part in parts if is_held(part, context)]

    def _joined(
        self, context: Context, parts: list[Region], taken: list[np.ndarray | None], leading: int
    ) -> np.ndarray:
        """The samples of a component from those of its parts; `leading`: how many times or frequencies."""
        values = [over_open_edges(part, own, context, leading) for part, own in zip(parts, taken)]
        for axis, seam in reversed(self._seams(context).items()):
            if is_half(parts[0].component, axis):
                values = [seam.joined(*pair) for pair in zip(values[::2], values[1::2])]
        return values[0]

    def _notes(self, context: Context, component: int) -> dict[str, str]:
        """The attributes of a component."""
        odd = odd_across(context, component, *self._corners(context))
        return {"units": unit_of(component)} | ({ODD: odd} if odd else {})

    def _positions(self, context: Context) -> Variables:
        """The coordinates of the box's nodes and half nodes along each axis."""
        variables: Variables = {}
        for number in (0, 1, 3, 4):  # two of E, two of H: every axis both ways
            variables |= Region.between(context.grid, number, *self._corners(context)).coordinates(context.grid)
        for axis, seam in self._seams(context).items():
            variables[AXES[axis] + HALF] = replace(variables[AXES[axis] + HALF], values=seam.places)
        return {name: variables[name] for axis in AXES for name in (axis, axis + HALF)}


class Snapshot(BoxMonitor):
    """The fields in a plane or box at chosen times, each component on its own Yee positions (V/m, A/m).

    Give either `times` (each moved to the nearest step) or `every` (steps between snapshots). E is taken at m dt, H
    at (m + 1/2) dt. Shapes (time, x, y, z).

    >>> import nearfield as nf
    >>> nf.Snapshot("cut", (0, 0, 0), (1e-2, 1e-2, 0), "Ez", every=20).components
    ('Ez',)
    """

    kind: Literal["snapshot"] = tag("snapshot")
    components: Components | None = None
    """Which components; all six when left out."""
    times: Annotated[Times, Field(min_length=1)] | None = None
    """When (s)."""
    every: Annotated[Whole, Field(ge=1)] | None = None
    """Or: every so many steps."""
    file: FieldFile | None = None
    """A file of its own, written while the run goes on; left out, the result holds it, in memory until the end."""

    @model_validator(mode="after")
    def _one_schedule(self) -> Snapshot:
        if (self.times is None) == (self.every is None):
            given = "neither" if self.times is None else "both"
            raise ValueError(f"give either times (s) or every (steps); {given} given")
        if self.times is not None and min(self.times) < 0:
            raise ValueError(f"times begin at 0 s, given {min(self.times):.6g} s")
        return self

    def _steps(self, context: Context) -> np.ndarray:
        """The steps after which snapshots are taken, sorted."""
        if self.every is not None:
            return regular_steps(self._label, self.every, context)
        times = np.asarray(self.times)
        steps = np.unique(np.maximum(np.rint(times / context.time_step).astype(np.int64), 1))
        if steps[-1] > context.steps:
            end = context.steps * context.time_step
            raise ModelError(
                f"{self._label}: time {times.max():.6g} s lies after the end of the run at {end:.6g} s "
                f"({context.steps} steps); ask for an earlier time or run longer"
            )
        return steps

    def _terms(self, context: Context) -> list[SnapshotBox]:
        """One copy of each component."""
        steps, kept = self._steps(context), self.file is None
        return [SnapshotBox(held.component, held.lower, held.upper, steps, kept) for held in self._held(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The components over time, those taken so far; nothing where they are in a file."""
        if self.file is not None:
            return {}
        left, variables = iter(recordings), self._positions(context)
        steps = self._steps(context)[: len(recordings[0].time) if recordings else 0]
        for name, parts in self._parts(context).items():
            region, half = parts[0], parts[0].component >= 3
            taken = [next(left) if is_held(part, context) else None for part in parts]
            axis = time_axis(taken[0].time if taken[0] else (steps + 0.5 * half) * context.time_step, half)
            values = self._joined(context, parts, [None if each is None else each.values for each in taken], len(steps))
            values = values if context.boundaries.complex_fields else values.real
            variables |= axis
            variables[name] = Variable((*axis, *region.dims), values, self._notes(context, region.component))
        return variables


class FieldDFT(BoxMonitor):
    """The spectra of the fields in a plane or box at chosen frequencies, each component on its own Yee positions.

    F(f) = integral F(t) exp(-j 2 pi f t) dt over the run (V/m s, A/m s), summed while the run goes on;
    `result.per_source()[name]` divides by the source's spectrum. Shapes (frequency, x, y, z), complex.

    >>> import nearfield as nf
    >>> nf.FieldDFT("cut", (0, 0, 0), (1e-2, 1e-2, 0), frequencies=["7.5 GHz"]).frequencies
    (7500000000.0,)
    """

    kind: Literal["field-dft"] = tag("field-dft")
    frequencies: SomeFrequencies
    """Frequencies (Hz)."""
    components: Components | None = None
    """Which components; all six when left out."""

    def _terms(self, context: Context) -> list[DFTBox]:
        """One running sum of each component."""
        frequencies = np.asarray(self.frequencies)
        stride = dft_stride(context, frequencies)
        return [DFTBox(held.component, held.lower, held.upper, frequencies, stride) for held in self._held(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The spectra of the components."""
        left = iter(recordings)
        variables = frequency_axis(np.asarray(self.frequencies)) | self._positions(context)
        for name, parts in self._parts(context).items():
            taken = [next(left).values if is_held(part, context) else None for part in parts]
            values = self._joined(context, parts, taken, len(self.frequencies))
            attributes = self._notes(context, parts[0].component)
            attributes["units"] += " s"
            variables[name] = Variable(("frequency", *parts[0].dims), values, attributes)
        return variables
