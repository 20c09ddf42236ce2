"""Whether a far-field surface encloses what radiates: what reaches through it is missing from the pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.discretization.refusals import edges_of, features
from nearfield.grid.yee import AXES
from nearfield.monitors.radiation import on_walls

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

Extent = tuple[np.ndarray, np.ndarray]  # lower and upper corner (m)


def open_far_field_surfaces(setup: Discretization) -> Iterator[str]:
    """Far-field surfaces that do not enclose every structure, source and port."""
    for who, monitor in features(setup.simulation, ("monitor",)):
        if monitor.kind != "far-field":
            continue
        nodes = monitor._box(setup.context)
        surface = tuple(np.array([setup.grid.lines[a][corner[a]] for a in range(3)]) for corner in nodes)
        walls = on_walls(setup.context, *nodes)
        for extents, passed in ((structures(setup), walls | behind_ports(setup)), (currents(setup), walls)):
            yield from crossings(setup, who, surface, extents, passed)


def crossings(
    setup: Discretization, who: str, surface: Extent, extents: Iterator[tuple[str, Extent]], passed: set
) -> Iterator[str]:
    """What reaches through a surface, but for the sides `passed`."""
    for name, extent in extents:
        sides = [AXES[axis] + "_" + side for axis, side in sides_crossed(setup, surface, extent, passed)]
        if sides:
            yield (
                f"{who}: {name} reaches beyond the surface at {', '.join(sides)}, and what flows out there is "
                "missing from the pattern; enlarge the space between it and the CPML, or give the monitor a larger "
                "lower and upper"
            )


def behind_ports(setup: Discretization) -> set[tuple[int, str]]:
    """The sides through which guides leave behind their ports: what passes there is what was reflected."""
    ports = (port for port in setup.simulation.ports if port.kind == "waveguide")
    return {(port._along, "low" if port._sign > 0 else "high") for port in ports}


def sides_crossed(
    setup: Discretization, surface: Extent, extent: Extent, walls: set[tuple[int, str]]
) -> list[tuple[int, str]]:
    """The sides of the surface, but for those on walls, beyond which something reaches."""
    crossed = []
    for axis in range(3):
        spare = 1e-6 * float(setup.grid.primary(axis).min())
        if extent[0][axis] < surface[0][axis] - spare and (axis, "low") not in walls:
            crossed.append((axis, "low"))
        if extent[1][axis] > surface[1][axis] + spare and (axis, "high") not in walls:
            crossed.append((axis, "high"))
    return crossed


def structures(setup: Discretization) -> Iterator[tuple[str, Extent]]:
    """Every structure's name and extent."""
    for number, structure in enumerate(setup.simulation.structures):
        name = f"structure {structure.name!r}" if structure.name else f"structures[{number}]"
        yield name, tuple(np.asarray(corner, dtype=float) for corner in structure.shape.bounds())


def currents(setup: Discretization) -> Iterator[tuple[str, Extent]]:
    """Every source's, port's and element's name and extent on the grid."""
    for who, item in features(setup.simulation, ("source", "port", "element")):
        if item.kind == "waveguide":
            yield who, (np.array(item.lower), np.array(item.upper))
            continue
        lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
        for component, *index in edges_of(item, setup.grid):
            for axis, line in enumerate(setup.grid.component_axes(component)):
                at = line[np.asarray(index[axis])]
                lower[axis], upper[axis] = min(lower[axis], at.min()), max(upper[axis], at.max())
        yield who, (lower, upper)
