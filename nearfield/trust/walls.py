"""What each CPML sends back: the layer as it is stepped, in one dimension, exactly.

At the frequency w, with z = exp(j w dt) and D = z^(1/2) - z^(-1/2), the steps of a wave across a layer are

    D eps_r E_i = -F_i (eta0 H_(i+1/2) - eta0 H_(i-1/2)),     D mu_r eta0 H_(i+1/2) = -F_(i+1/2) (E_(i+1) - E_i),
    F = c dt/(kappa length) + drive/(1 - decay/z)             (the recursion of psi, summed)

from E = 0 at the wall inwards; before the layer the waves to and fro are the grid's own. Of a wave of the wave number
k along the layer, K = 2 (c dt/length) sin(k length/2), E along the layer sees eps_r + K^2/(D^2 mu_r) in place of
eps_r; H along it, of the other polarisation, mu_r + K^2/(D^2 eps_r), and the reflection is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.discretization.cpml import LOOKED_AT, travels
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.levels import decibels
from nearfield.grid.boundaries import cpml_profile
from nearfield.grid.yee import AXES, SIDES
from nearfield.media.materials import Medium
from nearfield.trust.entries import Trust, judged

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

RETURNED = -60.0, -40.0  # dB: 0.1 % and 1 % of the field that reaches the layer


def wall_trust(setup: Discretization) -> Iterator[Trust]:
    """The CPML that returns most, of all faces, media and frequencies at which half a wave fits the grid."""
    if any(setup.boundaries.phases(setup.grid)):  # oblique_walls.py
        return
    longest = max(float(line[-1] - line[0]) for line in setup.grid.lines)
    low, high = max(setup.band[0], 0.5 * VACUUM_SPEED / longest), setup.band[1]
    if not high > low:
        return
    frequencies = np.geomspace(low, high, LOOKED_AT)
    found = [
        (largest_return(setup, axis, side, medium, frequencies), axis, side, medium.name or "the background")
        for (axis, side), media in setup.layer_media.items()
        for medium in media
    ]
    known = [each for each in found if np.isfinite(each[0])]
    if known:
        value, axis, side, name = max(known)
        text = (
            f"of a plane wave at normal incidence from the CPML at {AXES[axis]}_{side} in {name}, the most of all "
            "faces, media and frequencies of the pulse; more at grazing incidence. More cells of CPML return less"
        )
        yield judged("CPML return", value, *RETURNED, text, "dB")


def largest_return(setup: Discretization, axis: int, side: str, medium: Medium, frequencies: np.ndarray) -> float:
    """Largest reflection (dB) of a layer in a medium over frequencies at which waves travel there; NaN without any."""
    permittivity, permeability = medium.relative_permittivity(frequencies), medium.relative_permeability(frequencies)
    index = np.sqrt(permittivity * permeability)
    carried = travels(index)
    if not carried.any():
        return float("nan")
    nodes, halves = factors(setup, axis, side, frequencies[carried])
    cells = setup.boundaries.cpml_cells(axis)[side == "high"]
    turn = 2j * np.sin(np.pi * frequencies[carried] * setup.time_step)
    returned = reflection(nodes, halves, cells, turn, permittivity[carried], permeability[carried])
    return float(decibels(np.abs(returned).max()))


def factors(setup: Discretization, axis: int, side: str, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F at nodes and at half nodes (place, frequency), from the wall inwards."""
    grid, step = setup.grid, VACUUM_SPEED * setup.time_step
    low, high = (setup.boundaries.face(axis, end) for end in SIDES)
    profiles = cpml_profile(low, high, grid, axis, setup.time_step)
    z = np.exp(2j * np.pi * frequencies * setup.time_step)
    nodes, halves = (
        (step / (profile.kappa * length))[:, None] + profile.drive[:, None] / (1 - profile.decay[:, None] / z)
        for profile, length in zip(profiles, (grid.dual(axis), grid.primary(axis)))
    )
    return (nodes, halves) if side == "low" else (nodes[::-1], halves[::-1])


def reflection(
    nodes: np.ndarray,
    halves: np.ndarray,
    cells: int,
    turn: np.ndarray,
    permittivity: np.ndarray,
    permeability: np.ndarray,
) -> np.ndarray:
    """B/A at the inner face of a layer of so many cells, E = A + B there; `turn` is D, (frequency,)."""
    electric, magnetic = np.zeros_like(turn), np.ones_like(turn)
    for cell in range(cells):
        electric = electric + turn * permeability * magnetic / halves[cell]
        magnetic = magnetic + turn * permittivity * electric / nodes[cell + 1]
    before = halves[cells]  # c dt over the cell before the layer, where waves go both ways
    half = half_phase(before, turn, permittivity, permeability)
    admittance = before * 2j * np.sin(half) / (turn * permeability)
    # E = A + B at the face, H half a cell before it = Y (A exp(j k d/2) - B exp(-j k d/2))
    forward = electric * admittance * np.exp(-1j * half) + magnetic
    backward = electric * admittance * np.exp(1j * half) - magnetic
    found: np.ndarray = backward / forward
    return found


def half_phase(before: np.ndarray, turn: np.ndarray, permittivity: np.ndarray, permeability: np.ndarray) -> np.ndarray:
    """k d/2 of waves that decay over cells for which F is `before`."""
    half = np.arcsin(-1j * turn * np.sqrt(permittivity * permeability + 0j) / (2 * before))
    found: np.ndarray = np.where(half.imag > 0, -half, half)
    return found
