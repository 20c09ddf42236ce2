"""Warnings about metal that the grid changes: sheets off its lines, bare wires, thin conductors and thin rods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Cylinder, Sheet, Sphere, Wire
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import Conductor, is_metal
from nearfield.metal.conformal import off_lines, too_slight
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.patches import is_grain, margin_of, next_axes, pair
from nearfield.metal.skin import THICK
from nearfield.metal.skin_fit import WIDEST
from nearfield.metal.thickness import least_thickness
from nearfield.metal.wire_lattice import edge_radius

SNAP = 0.1  # cells; a sheet that is moved less draws no warning


def moved_sheets(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[str]:
    """Sheets between grid lines, which are moved to the nearest one."""
    for body in bodies:
        if not isinstance(body.shape, Sheet):
            continue
        axis = body.shape._normal
        line, place = grid.lines[axis], body.shape.lower[axis]
        if not line[0] <= place <= line[-1]:
            continue
        node = grid.nearest_node(axis, place)
        if abs(line[node] - place) > SNAP * grid.primary(axis)[min(node, line.size - 2)]:
            yield (
                f"{body.label}, a sheet at {AXES[axis]}={place:.6g} m, lies between grid lines and is "
                f"moved to {line[node]:.6g} m; put a grid line there"
            )


def bare_wires(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[str]:
    """Wires that act with the radius of metal edges, which the cells set."""
    bare = [(body, body.shape) for body in bodies if isinstance(body.shape, Wire) and body.shape.radius is None]
    for body, wire in bare[:1]:
        start, end = wire.points[:2]
        axis = next(a for a in range(3) if start[a] != end[a])
        node = pair(grid.nearest_node(a, start[a]) for a in next_axes(axis))
        yield (
            f"{body.label}{and_others(bare)}: a wire without `radius` acts with that of metal edges, which the cells "
            f"set: {quantity(edge_radius(grid, axis, node), 'm')} here; give the radius that it has"
        )


def uncut_sheets(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[str]:
    """Bodies of other media drawn through flat metal so closely that they cut nothing out of it."""
    margin, found = margin_of(grid), []
    ends = np.array([body.shape.bounds() for body in bodies]).reshape(-1, 2, 3)
    for number, body in enumerate(bodies):
        low, high = ends[number]
        flat = [axis for axis in range(3) if high[axis] - low[axis] <= margin]
        if not is_metal(body.medium) or len(flat) != 1:
            continue
        axis, across = flat[0], list(next_axes(flat[0]))
        through = ((ends[:, 0] < high - margin) & (ends[:, 1] > low + margin))[:, across].all(axis=1)
        through &= (ends[:, 0, axis] < low[axis] - margin) & (ends[:, 1, axis] > high[axis] + margin)
        node = grid.nearest_node(axis, low[axis])
        for other in np.flatnonzero(through & (np.arange(len(bodies)) > number)).tolist():
            hole = bodies[other]
            first, last = (grid.nearest_node(axis, end) for end in ends[other, :, axis])
            if not is_metal(hole.medium) and not first < node < last and hole.shape._constant_along(axis):
                found.append((hole.label, body.label, AXES[axis]))
    for hole_label, label, axis_name in found[:1]:
        yield (
            f"{hole_label}{and_others(found)} is drawn through {label}, but ends along {axis_name} less than half a "
            "cell from it, so it cuts nothing out; let it reach a cell beyond on both sides, or cut the sheet by a "
            "Difference, whose rims act where they are drawn"
        )


def rims_on_anisotropic_media(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, metal: GridMetal
) -> Iterator[str]:
    """Rims off the lines of flat metal at a medium whose permittivities differ: their field is that of an isotropic
    one."""
    margin, found = margin_of(grid), []
    unlike = [body for body in bodies if isinstance(body.medium, Medium) and np.ptp(body.medium.permittivity) > 0.0]
    for body in bodies if unlike else ():
        if metal.rimmed_plane(body.shape) and off_lines(body, grid, boundaries):
            low, high = (np.array(end) for end in body.shape.bounds())
            ends = (np.array(other.shape.bounds()) for other in unlike)
            if any((first <= high + margin).all() and (last >= low - margin).all() for first, last in ends):
                found.append(body)
    for body in found[:1]:
        yield (
            f"{body.label}{and_others(found)}: flat metal off the grid's lines at a medium whose permittivities differ "
            "along the axes; the field of its rims is corrected as in an isotropic one: permittivities of 9.4 and 11.6 "
            "put eps_eff of a strip 4 cells wide and high 0.9 % off, half the cells 0.4 %, rims on the lines 0.04 %"
        )


def thin_conductors(bodies: Sequence[FilledShape], band: tuple[float, float]) -> Iterator[str]:
    """Good conductors that fields go through at the low end of the band (Hz)."""
    low, high = band
    thin = []
    for body in bodies:
        size = least_thickness(body.shape)
        if isinstance(body.medium, Conductor) and size > 0.0:
            frequency = (THICK * body.medium.skin_depth(1.0) / size) ** 2
            if high and frequency > max(low, high / WIDEST):
                thin.append((frequency, body.number, size, body.label, body.medium.label()))
    for frequency, _, size, label, medium in sorted(thin)[-1:]:
        yield (
            f"{label}{and_others(thin)}: {quantity(size, 'm')} of {medium} are less "
            f"than {THICK:g} skin depths below {quantity(frequency, 'Hz')}; there fields go through and losses are "
            "others than those of thick metal, which it counts as here"
        )


def thin_rods(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal, conformal: bool) -> Iterator[str]:
    """Round metal with a radius below a cell that does not act as a rod: conformal metal does not follow it, and
    slanting rods are bare edges."""
    thin = [body for body in bodies if is_metal(body.medium) and too_slight(body.shape, grid)]
    thin = [body for body in thin if not metal.rod_of(body.shape)]
    thin = [body for body in thin if conformal or not any(body.shape._constant_along(a) for a in range(3))]
    for body in thin[:1]:
        assert isinstance(body.shape, Cylinder | Sphere)
        slants = isinstance(body.shape, Cylinder) and not any(body.shape._constant_along(a) for a in range(3))
        chain = (
            " and a chain of edges, up to 1.7 times as long as it, on which waves are some 8 % slow" if slants else ""
        )
        yield (
            f"{body.label}{and_others(thin)}: a radius of {quantity(body.shape.radius, 'm')} is less than a "
            f"cell across it, so conformal metal does not follow it and it takes whole cells{chain}; take smaller "
            "cells there, or for a thin rod a Wire with its radius"
        )


def idle_metal(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[str]:
    """Metal between the lines of the grid, which takes no edge of it; grains are among the `lost_bodies`."""
    idle = [body for body in bodies if body.number in metal.idle and not is_grain(grid, *body.shape.bounds())]
    lost = list({body.number: body for body in reversed(idle)}.values())[::-1]  # the first piece of each structure
    for body in lost[:1]:
        size = np.subtract(*body.shape.bounds()[::-1])
        yield (
            f"{body.label}{and_others(lost)}: metal of {' x '.join(quantity(part, 'm') for part in size)} lies between "
            "the lines of the grid, takes no edge of it and has no effect; put lines of the grid at its ends, or make "
            "the cells there at most half as large as it"
        )


def and_others(found: Sequence[object]) -> str:
    """` and 2 more` where there are three."""
    return f" and {len(found) - 1} more" if len(found) > 1 else ""
