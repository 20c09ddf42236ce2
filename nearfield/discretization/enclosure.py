"""Warnings about far-field surfaces that do not enclose what radiates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.discretization.refusals import edges_of, features
from nearfield.grid.boundaries import SIDES
from nearfield.grid.yee import AXES
from nearfield.media.materials import Medium
from nearfield.monitors.radiation import on_walls

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

FOREIGN = 2.0, 10.0  # % of a far-field surface in other matter; the boards of patches take 4, half spaces half of it
NAMED = 3  # bodies in one message

Extents = list[tuple[str, np.ndarray]]  # name and (lower and upper corner, m)


def open_far_field_surfaces(setup: Discretization) -> Iterator[str]:
    """Far-field surfaces that do not enclose every structure, source and port, or lie in matter of several kinds."""
    monitors = {monitor.name: monitor for monitor in setup.simulation.monitors if monitor.kind == "far-field"}
    media = {body.label for body in setup.simulation._bodies if isinstance(body.medium, Medium)}
    filled: dict[str, list[str]] = {}
    for who, monitor, name, sides in crossings(setup):
        if name in media and foreign_share(setup, monitors[monitor]) > FOREIGN[1]:
            filled.setdefault(monitor, []).append(name)
            continue
        yield (
            f"{who}: {name} reaches beyond the surface at {', '.join(f'{AXES[axis]}_{side}' for axis, side in sides)}, "
            "and what flows out there is missing from the pattern; enlarge the space between it and the CPML, or give "
            "the monitor a larger lower and upper"
        )
    for monitor, names in filled.items():
        yield (
            f"monitor {monitor!r}: {foreign_share(setup, monitors[monitor]):.2g} % of its surface lies in other matter "
            f"({', '.join(names[:NAMED])}) than the rest. A far field is that of one medium all around: what leaves "
            "within a half space or a thick board radiates otherwise, and a larger surface is no better (a dipole over "
            "a half space of eps_r 4: 6 to 70 % off). Let such bodies end inside the surface; a ground plane can be a "
            "PEC wall of the grid, and the power that goes into each side is that of `Flux` planes"
        )


def foreign_share(setup: Discretization, monitor: Any) -> float:
    """% of a far-field surface that lies in other matter than the rest."""
    return 100.0 * float(monitor._foreign(setup.context))


def crossings(setup: Discretization) -> Iterator[tuple[str, str, str, list[tuple[int, str]]]]:
    """Far-field monitors (label and name), what reaches beyond their surfaces, and at which sides."""
    for who, monitor in features(setup.simulation, ("monitor",)):
        if monitor.kind != "far-field":
            continue
        nodes = monitor._box(setup.context)
        surface = np.array([[line[n] for line, n in zip(setup.grid.lines, corner)] for corner in nodes])
        walls = on_walls(setup.context, *nodes)
        for extents, passed in ((structures(setup), walls | behind_ports(setup)), (currents(setup), walls)):
            for name, extent in extents:
                sides = [side for side in sides_crossed(setup, surface, extent) if side not in passed]
                if sides:
                    yield who, monitor.name, name, sides


def behind_ports(setup: Discretization) -> set[tuple[int, str]]:
    """The sides through which guides leave behind their ports: only reflected waves pass there."""
    return {(port._along, SIDES[port._sign < 0]) for port in setup.simulation.ports if port.kind == "waveguide"}


def sides_crossed(setup: Discretization, surface: np.ndarray, extent: np.ndarray) -> list[tuple[int, str]]:
    """The sides of a surface beyond which something reaches; both as lower and upper corner (m)."""
    spare = 1e-6 * np.array([setup.grid.primary(axis).min() for axis in range(3)])
    beyond = extent[0] < surface[0] - spare, extent[1] > surface[1] + spare
    return [(axis, side) for axis in range(3) for side, crossed in zip(SIDES, beyond) if crossed[axis]]


def structures(setup: Discretization) -> Extents:
    """Every structure's name and extent."""
    return [(body.label, np.array(body.shape.bounds())) for body in setup.simulation._bodies]


def currents(setup: Discretization) -> Extents:
    """Every source's, port's and element's name and extent on the grid."""
    found = []
    for who, item in features(setup.simulation, ("source", "port", "element")):
        ends = [np.array((item.lower, item.upper))] if item.kind == "waveguide" else []
        for component, *index in edges_of(item, setup.context):
            places = [line[np.asarray(part)] for line, part in zip(setup.grid.component_axes(component), index)]
            ends.append(np.array([[p.min() for p in places], [p.max() for p in places]]))
        found += [(who, np.array((np.min(ends, axis=0)[0], np.max(ends, axis=0)[1])))] if ends else []
    return found
