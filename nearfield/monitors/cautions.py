"""Warnings about monitors: frequencies outside the pulse, places in CPMLs and metal, boxes through a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.wording import quantity
from nearfield.grid.meshing import corners_of
from nearfield.grid.yee import AXES, COMPONENTS, is_half
from nearfield.lowering.interpolation import point_samples
from nearfield.lowering.one_sided import silent
from nearfield.monitors.seams import Seam, odd_across
from nearfield.sources.edges import flat_axes

if TYPE_CHECKING:
    from nearfield.grid.boundaries import Boundaries
    from nearfield.grid.yee import YeeGrid
    from nearfield.lowering.context import Context

SLOW = 1e-5  # of the highest frequency; a period takes a million steps
Labelled = Sequence[tuple[str, Any]]  # entries with their names in messages


def frequencies_outside_band(monitors: Labelled, band: tuple[float, float]) -> Iterator[str]:
    """Monitors at frequencies that the excitation hardly holds; a continuous wave has no band."""
    low, high = band
    for who, monitor in monitors if high > low else ():
        slow = [f for f in getattr(monitor, "frequencies", ()) or () if f < SLOW * high]
        if slow:
            times = float(f"{high / slow[0]:.1g}")
            yield (
                f"{who}: {quantity(slow[0], 'Hz')} is some {times:,.0f} times below the highest frequency of the "
                "excitation, and no run lasts a period of it; is a frequency in GHz or MHz given as Hz?"
            )
            continue
        outside = [f for f in getattr(monitor, "frequencies", ()) or () if not 0.999 * low <= f <= 1.001 * high]
        if outside:
            yield (
                f"{who}: {quantity(outside[0], 'Hz')} lies outside the band of the excitation, {quantity(low, 'Hz')} "
                f"to {quantity(high, 'Hz')} (20 dB down); expect noise there"
            )


def monitors_in_cpml(monitors: Labelled, grid: YeeGrid, boundaries: Boundaries) -> Iterator[str]:
    """Monitors that reach into a CPML, where fields are no fields of the model; one warning each."""
    for who, monitor in monitors:
        for axis, (low, high) in enumerate(map(boundaries.cpml_cells, range(3))):
            first, last = grid.lines[axis][low], grid.lines[axis][grid.cells[axis] - high]
            spare = 1e-6 * float(grid.primary(axis).min())
            if any(corner[axis] < first - spare or corner[axis] > last + spare for corner in corners_of(monitor)):
                yield (
                    f"{who} reaches into the CPML along {AXES[axis]} (free space ends at {first:.6g} and "
                    f"{last:.6g} m), where fields are damped; keep it between"
                )
                break


def probes_in_metal(monitors: Labelled, context: Context) -> Iterator[str]:
    """Probes where their field is zero."""
    for who, monitor in monitors:
        if monitor.kind == "probe":
            component = COMPONENTS.index(monitor.component)
            index, _ = point_samples(context, component, monitor.position)
            if silent(context, component, np.stack(index)).all():
                yield f"{who} lies in a conductor, where {monitor.component} is zero; move it out"


def one_sided_planes(monitors: Labelled, context: Context) -> Iterator[str]:
    """Planes whose file has the half samples of one side alone where the other side differs; one warning each."""
    for who, monitor in monitors:
        if getattr(monitor, "file", None) is None:
            continue
        first, last = monitor._corners(context)
        components = [COMPONENTS.index(name) for name in monitor.components or COMPONENTS]
        odd = "".join(odd_across(context, component, first, last) for component in components)
        flat = [a for a in range(3) if first[a] == last[a] and any(is_half(each, a) for each in components)]
        seams = [AXES[axis] for axis in flat if Seam.at(context.grid, axis, first[axis])]
        own = monitor.kind == "elements"
        what, advice = ("it takes", "") if own else ("its file has", ", or leave `file` out")
        for axis in dict.fromkeys((*odd, *seams)):
            yield (
                f"{who} lies on {'a PMC wall' if axis in odd else 'the seam of a periodic axis'} across {axis}, and "
                f"{what} samples midway between lines along {axis} on one side of it alone: they stand for the "
                f"plane half a cell off. Move it by a cell{advice}"
            )


def walls_without_flux(monitors: Labelled, context: Context) -> Iterator[str]:
    """Boxes of flux on walls that take power, which those faces do not count; one warning each."""
    for who, monitor in monitors if context.boundaries.conductor is not None else ():
        if monitor.kind != "flux" or flat_axes(monitor.lower, monitor.upper):
            continue
        corners, ends = monitor._corners(context), ((0, 0, 0), context.grid.cells)
        faces = [(a, side) for side in (0, 1) for a in range(3) if corners[side][a] == ends[side][a]]
        if any(context.boundaries.face(*face) == "pec" for face in faces):
            yield (
                f"{who} has faces on walls that lose power (`conductor` of the boundaries), and does not count what "
                "these take; let it end a cell before them to count it"
            )


def cut_sources(monitors: Labelled, sources: Labelled, context: Context) -> Iterator[str]:
    """Boxes of flux through the samples that share a point current: part of its power leaves outside."""
    grid = context.grid
    for who, monitor in monitors:
        if monitor.kind != "flux" or any(a == b for a, b in zip(monitor.lower, monitor.upper)):
            continue
        first, last = ([grid.nearest_node(a, q) for a, q in enumerate(end)] for end in (monitor.lower, monitor.upper))
        lower = [line[n] if n > 0 else -np.inf for line, n in zip(grid.lines, first)]
        upper = [line[n] if n < line.size - 1 else np.inf for line, n in zip(grid.lines, last)]
        for source, item in sources:
            if not hasattr(item, "position"):
                continue
            component = item._component
            index, _ = point_samples(context, component, item.position)
            samples = zip(grid.component_axes(component), grid.in_cell(index))
            places = [axis[part] for axis, part in samples]
            inside = all(low < place.min() and place.max() < high for place, low, high in zip(places, lower, upper))
            apart = any(place.max() < low or place.min() > high for place, low, high in zip(places, lower, upper))
            if not inside and not apart:
                yield (
                    f"{who}: its surface cuts the samples that share {source}, so the power through it is not that of "
                    "the whole current; keep the box at least 3 cells away from it"
                )
