"""What each CPML sends back of fields with a Bloch phase along it, whose angle at every frequency is known.

Where the wave number along the layer is above that of its medium, fields are evanescent there: the layer turns what
the wall behind it sends back, but weakens it little, so that its distance and thickness must do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.discretization.cpml import LOOKED_AT, travels
from nearfield.discretization.enclosure import currents, structures
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.levels import decibels
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML, layer_extent
from nearfield.grid.yee import AXES
from nearfield.media.materials import Medium
from nearfield.trust.entries import Trust, judged
from nearfield.trust.walls import RETURNED, factors, half_phase, reflection

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization


class Return(NamedTuple):
    """What a layer returns at the frequency at which it returns most."""

    level: float  # dB; of evanescent fields, where they come from
    axis: int
    side: str
    medium: Medium
    frequency: float  # Hz
    depth: float  # m in which evanescent fields fall to 1/e; infinite of waves


def oblique_wall_trust(setup: Discretization) -> Iterator[Trust]:
    """The CPML that returns most in a cell with a Bloch phase, of all frequencies at which fields are recorded.

    Where records are over time the band counts, and is no reason for "bad": nobody says that its worst is looked at.
    """
    if not any(setup.boundaries.phases(setup.grid)) or not setup.band[1] > 0.0:
        return
    wanted = recorded(setup)
    frequencies = wanted if wanted.size else np.linspace(*setup.band, LOOKED_AT + 2)[1:-1]
    found = [
        each
        for (axis, side), media in setup.layer_media.items()
        for medium in media
        if (each := most_returned(setup, axis, side, medium, frequencies)) is not None
    ]
    if found:
        worst = max(found, key=lambda each: each.level)
        entry = judged("CPML return", worst.level, *RETURNED, said(setup, worst), "dB")
        yield replace(entry, verdict="warn") if entry.verdict == "bad" and not wanted.size else entry


def recorded(setup: Discretization) -> np.ndarray:
    """The frequencies (Hz) within the band of the monitors; none where others record over time."""
    monitors = [getattr(monitor, "frequencies", None) for monitor in setup.simulation.monitors]
    if setup.simulation.ports or not all(monitors):
        return np.zeros(0)
    wanted = np.unique([float(each) for own in monitors for each in own or ()])
    return wanted[(wanted >= setup.band[0]) & (wanted <= setup.band[1])]


def most_returned(
    setup: Discretization, axis: int, side: str, medium: Medium, frequencies: np.ndarray
) -> Return | None:
    """What a layer returns at most, of either polarisation alike, where its medium carries waves."""
    index = np.sqrt(medium.relative_permittivity(frequencies) * medium.relative_permeability(frequencies) + 0j)
    frequencies = frequencies[travels(index)]
    if not frequencies.size:
        return None
    permittivity, permeability = medium.relative_permittivity(frequencies), medium.relative_permeability(frequencies)
    nodes, halves = factors(setup, axis, side, frequencies)
    cells = setup.boundaries.cpml_cells(axis)[side == "high"]
    turn = 2j * np.sin(np.pi * frequencies * setup.time_step)
    seen = permittivity + (along_layer(setup, axis) / turn) ** 2 / permeability  # by E along the layer
    sent, before = np.abs(reflection(nodes, halves, cells, turn, seen, permeability)), halves[cells]
    step = VACUUM_SPEED * setup.time_step
    decay = -2.0 * half_phase(before, turn, seen, permeability).imag * before.real / step  # 1/m
    evanescent = ~travels(np.sqrt(seen * permeability + 0j))
    way = np.where(evanescent, np.exp(-2.0 * decay * room_before(setup, axis, side)), 1.0)
    levels = decibels(np.maximum(sent * way, 1e-15))
    at = int(np.argmax(levels))
    depth = 1.0 / float(decay[at]) if evanescent[at] else np.inf
    return Return(float(levels[at]), axis, side, medium, float(frequencies[at]), depth)


def along_layer(setup: Discretization, axis: int) -> float:
    """K of the phases along a layer: the grid's own wave number, times c dt."""
    grid, square = setup.grid, 0.0
    for other, phase in enumerate(setup.boundaries.phases(grid)):
        if phase and other != axis:
            cell = float(grid.lines[other][-1] - grid.lines[other][0]) / grid.cells[other]
            square += (2.0 * VACUUM_SPEED * setup.time_step / cell * np.sin(0.5 * phase / grid.cells[other])) ** 2
    return float(np.sqrt(square))


def room_before(setup: Discretization, axis: int, side: str) -> float:
    """Distance (m) of a layer from the nearest source or face of a body in front of it."""
    layer, line = setup.boundaries.face(axis, side), setup.grid.lines[axis]
    assert isinstance(layer, CPML)
    inner, outward = layer_extent(layer, line, side == "low")[0], 1.0 if side == "high" else -1.0
    places = np.ravel([extent[:, axis] for _, extent in (*structures(setup), *currents(setup))])
    rooms = outward * (inner - places)
    return float(rooms[rooms > 0.0].min(initial=float(line[-1] - line[0])))


def said(setup: Discretization, worst: Return) -> str:
    """What the number is, and what to do."""
    layer, line = setup.boundaries.face(worst.axis, worst.side), setup.grid.lines[worst.axis]
    assert isinstance(layer, CPML)
    where = f"{AXES[worst.axis]}_{worst.side} in {worst.medium.name or 'the background'}"
    at = quantity(worst.frequency, "Hz")
    if np.isfinite(worst.depth):
        room, thick = room_before(setup, worst.axis, worst.side), layer_extent(layer, line, worst.side == "low")[1]
        return (
            f"of fields that are evanescent before the CPML at {where} at {at}, by the Bloch phase, where they come "
            f"from: they fall to 1/e in {quantity(worst.depth, 'm', 3)}, it is {quantity(room, 'm', 3)} from there to "
            f"the layer and {quantity(thick, 'm', 3)} through it. More space before it returns less, more cells of "
            "CPML only a little"
        )
    index = abs(complex(np.sqrt(worst.medium.relative_permittivity(worst.frequency) + 0j)))
    index *= abs(complex(np.sqrt(worst.medium.relative_permeability(worst.frequency) + 0j)))
    k = along_layer(setup, worst.axis) / (VACUUM_SPEED * setup.time_step)
    sine = min(1.0, k * VACUUM_SPEED / (2.0 * np.pi * worst.frequency * index))
    return (
        f"of a plane wave from the CPML at {where} at {at}, {np.degrees(np.arcsin(sine)):.3g} degrees off its normal "
        "by the Bloch phase, the most of all faces, media and frequencies that are recorded (over time: of the pulse). "
        "More cells of CPML return less; orders of a grating that are nearer to grazing come back more"
    )
