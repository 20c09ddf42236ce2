"""The static field about a right-angled corner of metal, as the grid's edges and faces across it see it.

With distances U and V from the corner's line, and metal where U < 0 and V < 0, the field that grows without bound is
the gradient of phi in phi + j psi = (w exp(-j pi/4))^(2/3), w = U + j V (Meixner 1972): phi is the potential, or the
vector potential along the corner, known on nodes and 0 in metal, psi the flux, or the magnetic tension, known on cell
centres. With any single value of psi on each centre the grid has exactly phi on its nodes if its links count with

    m = (change of psi along the dual link/its length)/(change of phi along the link/its length)

The gradient of phi points out of the metal, between the two axes: m is positive everywhere. Of centres in metal psi is
that of the surface next to them; of the cell that holds the corner it is 0, as on the corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

POWER = 2.0 / 3.0  # of the distance, with which phi grows in the three quarters of space about the corner
LARGEST = 1e3  # m of links at a small part of a cell from metal


@dataclass(frozen=True)
class Lattice:
    """Nodes and cell centres along an axis: signed distances from a corner (m), positive outside its metal.

    `centres` has one before the first node and one after the last; `way` is 1 where distances grow with the index,
    else -1.
    """

    nodes: np.ndarray
    centres: np.ndarray
    way: int


class Links(NamedTuple):
    """Links along an axis: their open part; m, the factor of eps of edges, and of 1/mu of faces that hold a link and go
    along the corner; and the energy of the field in them (in units of cells)."""

    opened: np.ndarray
    factor: np.ndarray
    energy: np.ndarray


def corner_links(u: Lattice, v: Lattice, margin: float) -> tuple[Links, ...]:
    """The links along u (nodes - 1, nodes) and along v (nodes, nodes - 1); `margin` (m): distance below which points
    lie on the metal."""
    cell = min(np.abs(np.diff(each.nodes)).min() for each in (u, v))
    across = np.meshgrid(u.nodes, v.nodes, indexing="ij")
    phi = np.where((across[0] <= margin) & (across[1] <= margin), 0.0, _field(*across).real)
    psi = flux_at_centres(u, v, margin)
    found = []
    for axis, (along, beside) in enumerate(((u, v), (v, u))):
        length, dual = np.abs(np.diff(along.nodes)), np.abs(np.diff(beside.centres))
        rows = phi.swapaxes(0, axis)
        opened = np.where(beside.nodes <= margin, _open_part(along, margin)[:, None], 1.0)
        voltage = np.diff(rows, axis=0) * along.way
        flux = np.diff(psi.swapaxes(0, axis)[1:-1], axis=1) * beside.way * (1 - 2 * axis)
        slope = np.where(voltage > 0.0, voltage, np.inf) / length[:, None]
        factor = np.minimum(flux / dual / slope, LARGEST)
        factor = np.where((factor > 0.0) | (voltage <= 0.0), factor, 1.0)  # cells that hold the corner may ask less
        energy = factor * voltage**2 / length[:, None] * cell ** (1.0 - 2.0 * POWER)
        found.append(Links(*(values.swapaxes(0, axis) for values in (opened, factor, energy))))
    return tuple(found)


def _open_part(along: Lattice, margin: float) -> np.ndarray:
    """Part of the links of a row that crosses the metal which lies outside it."""
    ends = np.sort(np.stack((along.nodes[:-1], along.nodes[1:])), axis=0)
    part = np.clip(ends, 0.0, None)
    opened = (part[1] - part[0]) / (ends[1] - ends[0])
    return np.where(ends[1] <= margin, 0.0, opened)


def _field(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """phi + j psi."""
    angle = np.arctan2(v, u)
    angle = np.clip(np.where(angle < -0.75 * np.pi, angle + 2.0 * np.pi, angle), -0.5 * np.pi, np.pi)
    return np.hypot(u, v) ** POWER * np.exp(1j * POWER * (angle - 0.25 * np.pi))


def flux_at_centres(u: Lattice, v: Lattice, margin: float) -> np.ndarray:
    """psi on cell centres."""
    at = np.meshgrid(u.centres, v.centres, indexing="ij")
    metal = (at[0] < 0.0) & (at[1] < 0.0)
    ends = np.meshgrid(_outer_ends(u), _outer_ends(v), indexing="ij")
    cornered = metal & (ends[0] >= -margin) & (ends[1] >= -margin)
    on_u = metal & (at[0] >= at[1])
    places = np.where(on_u | cornered, 0.0, at[0]), np.where((metal & ~on_u) | cornered, 0.0, at[1])
    return _field(*places).imag


def _outer_ends(along: Lattice) -> np.ndarray:
    """Of cells about all centres the end that is farther outside metal."""
    first, last = 2.0 * along.centres[0] - along.nodes[0], 2.0 * along.centres[-1] - along.nodes[-1]
    nodes = np.concatenate(([first], along.nodes, [last]))
    return np.maximum(nodes[:-1], nodes[1:])
