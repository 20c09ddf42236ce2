"""Models that a plane wave does not fit: complex fields, half a periodic axis, other symmetry; at an angle media."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.grid.yee import AXES
from nearfield.incident.box import open_faces
from nearfield.media.materials import Medium

if TYPE_CHECKING:
    from nearfield.incident.box import Beam
    from nearfield.lowering.context import Context


def refuse_unfit(context: Context, beam: Beam) -> None:
    """Refuse a model in which the incident wave, along an axis or at an angle, is not what the box's faces add."""
    if context.boundaries.complex_fields:
        raise ModelError(
            f"{beam.who}: a Bloch phase makes the fields complex, and the incident wave is real; use 'periodic' faces, "
            "or a CurrentSheet"
        )
    for axis in range(3):
        ends = beam.first[axis] == 0, beam.last[axis] == context.grid.cells[axis]
        if axis == beam.along and context.grid.closed(axis):
            raise ModelError(
                f"{beam.who}: it travels along {AXES[axis]}, whose faces are periodic, so that what leaves at one end "
                f"comes back at the other; give both {AXES[axis]} faces a CPML, or let it travel along another axis"
            )
        if context.boundaries.face(axis, "low") == "periodic" and ends[0] != ends[1]:
            raise ModelError(
                f"{beam.who}: its box touches one of the two periodic faces across {AXES[axis]}, which are one; let it "
                "span the whole axis, or keep a cell from both"
            )
    _refuse_asymmetric(context.grid.mirrors, beam)
    if beam.along is None:
        _refuse_media(context, beam)


def _refuse_asymmetric(mirrors: Sequence[str | None], beam: Beam) -> None:
    """Refuse planes of symmetry that do not mirror the wave onto itself."""
    travels, electric = beam.travels, beam.electric
    for axis, kind in enumerate(mirrors):
        if kind is None:
            continue
        tangential, name = (electric, "E") if kind == "electric" else (np.cross(travels, electric), "H")
        if travels[axis] == 0.0 and not np.delete(tangential, axis).any():
            continue
        other = {"electric": "magnetic", "magnetic": "electric"}[kind]
        fits = travels[axis] == 0.0 and (electric[axis] == 0.0 or not np.delete(electric, axis).any())
        instead = f'{AXES[axis]} = "{other}" fits it' if fits else "leave the plane out, or choose a direction in it"
        raise ModelError(
            f"{beam.who}: the plane of symmetry across {AXES[axis]} is {kind}, which this wave is not symmetric about: "
            f"it must travel along the plane, and {name} be across it (it travels along {travels.tolist()}, with E "
            f"along {electric.tolist()}); {instead}"
        )


def _refuse_media(context: Context, beam: Beam) -> None:
    """Refuse dispersive and anisotropic media that are not wholly inside the box, a cell from its faces.

    Ends of the box on walls, or on both periodic faces of an axis, are no faces: media may go on there.
    """
    room = [[-np.inf, np.inf] for _ in AXES]
    for axis, side in open_faces(context.grid, beam.first, beam.last):
        node = beam.first[axis] + 1 if side == "low" else beam.last[axis] - 1
        room[axis][side == "high"] = float(context.grid.lines[axis][node])
    for name, medium, bounds in context.coefficients.fillings():
        if not isinstance(medium, Medium) or not (medium.dispersive or medium.anisotropic):
            continue
        low, high = bounds or (np.full(3, -np.inf), np.full(3, np.inf))
        out = [a for a in range(3) if low[a] < room[a][0] or room[a][1] < high[a]]
        if out:
            kind, what = (
                ("dispersive", "without poles") if medium.dispersive else ("anisotropic", "alike along all axes")
            )
            reach = f"it spans {AXES[out[0]]} {low[out[0]]:.6g} to {high[out[0]]:.6g} m"
            raise ModelError(
                f"{beam.who}: the {kind} medium of {name} is not wholly inside its box, a cell from the faces: "
                f"{reach if bounds else 'it is everywhere'}, allowed is {AXES[out[0]]} {room[out[0]][0]:.6g} to "
                f"{room[out[0]][1]:.6g} m; the incident wave at an angle is that of a medium {what}. Enlarge the box, "
                "give constants at the frequency of interest, or let the wave travel along an axis"
            )
