"""What the viewer's page draws: bodies, ports, sources, monitors, boundaries, grid, and what `check` says.

Places are in units of the scene, in which the grid's longest side is `SIZE` long about the origin; `metres_a_unit`
gives lengths back. Arrays are base64 of little-endian numbers.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.discretization.discretization import grid_of
from nearfield.discretization.excitations import band_of
from nearfield.discretization.resolution import wave_axes
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import FIRST_STEPS, ModelError
from nearfield.entry.wording import duration, memory, quantity
from nearfield.grid.yee import AXES, SIDES
from nearfield.media.materials import Medium, written
from nearfield.media.surface_media import Conductor
from nearfield.pictures.objects import MAGNETIC_WALL
from nearfield.pictures.style import METAL
from nearfield.run.check import Check, examine
from nearfield.viewer.media_map import media_map, names_of_media
from nearfield.viewer.objects import objects_of
from nearfield.viewer.triangles import MOST_FACES, surface_of

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

SIZE = 10.0  # of the grid's longest side in the scene
DIELECTRICS = ("#6FA8D0", "#EDBB50", "#74BF9A", "#B18FC4", "#E5956A", "#AEB45E", "#8E9BA8")
WORDS = {"pec": METAL, "pmc": MAGNETIC_WALL}
SHOWN_MOVES = 200  # of what the grid moves


@dataclass(frozen=True)
class Frame:
    """How metres become units of the scene."""

    centre: np.ndarray
    metres: float  # a unit

    @classmethod
    def of(cls, grid: YeeGrid) -> Frame:
        """The frame of a grid."""
        ends = np.array([(line[0], line[-1]) for line in grid.lines])
        return cls(ends.mean(axis=1), float(np.ptp(ends, axis=1).max()) / SIZE)

    def place(self, points: Any) -> np.ndarray:
        """Points (..., 3) in m, in the scene."""
        return (np.asarray(points, dtype=float) - self.centre) / self.metres


def packed(values: Any, kind: str) -> dict[str, str]:
    """An array as base64: kind "f4", "u4", "u2" or "u1"."""
    return {"type": kind, "data": base64.b64encode(np.asarray(values, dtype=f"<{kind}").tobytes()).decode("ascii")}


def scene_of(model: Model) -> dict[str, Any]:
    """Everything that the page draws. Error: the model has no grid; what else would be refused is told in the page."""
    grid = grid_of(model)
    frame = Frame.of(grid)
    problem, check = "", None
    try:
        check = examine(model)
    except ModelError as error:
        problem = f"{error} ({FIRST_STEPS})"
    colours, moved = media_colours(model), check.moved if check else ()
    names = names_of_media(model)[1]
    return {
        "title": model.title,
        "size": SIZE,
        "metres_a_unit": frame.metres,
        "metric": True,
        "problem": problem,
        "facts": facts_of(model, grid, check),
        "warnings": list(check.warnings) if check else [],
        "moved": [{"what": each["what"], "effect": each["effect"]} for each in moved[:SHOWN_MOVES]],
        "moved_more": max(0, len(moved) - SHOWN_MOVES),
        "media": [{"name": name, "colour": colour, "text": text} for name, (colour, text) in colours.items()],
        "bodies": [body_of(body, frame, name, colours[name][0]) for body, name in zip(model._bodies, names)],
        "objects": objects_of(model, grid, frame),
        "grid": [packed((line - middle) / frame.metres, "f4") for line, middle in zip(grid.lines, frame.centre)],
        "origin": frame.centre.tolist(),
        "layers": layers_of(model, grid, frame),
        "planes": [
            {"axis": axis, "at": float((plane_at(grid, axis) - frame.centre[axis]) / frame.metres), "kind": kind}
            for axis, kind in enumerate(model.symmetry.kinds)
            if kind
        ],
        "map": packed_map(model, grid, colours, check.highest_frequency if check else 0.0),
    }


def plane_at(grid: YeeGrid, axis: int) -> float:
    """Where a plane of symmetry lies (m): in the middle."""
    return 0.5 * float(grid.lines[axis][0] + grid.lines[axis][-1])


def media_colours(model: Model) -> dict[str, tuple[str, str]]:
    """Colour and description of each medium by its name: metal is copper, others take colours in turn."""
    found: dict[str, tuple[str, str]] = {}
    others = 0
    for body, name in zip(model._bodies, names_of_media(model)[1]):
        if name in found:
            continue
        medium = body.medium
        if isinstance(medium, str):
            found[name] = (WORDS[medium], {"pec": "perfect conductor", "pmc": "perfect magnetic"}[medium])
        elif isinstance(medium, Conductor):
            found[name] = (METAL, f"conductor, {medium.conductivity:.3g} S/m")
        else:
            found[name] = (DIELECTRICS[others % len(DIELECTRICS)], described(medium))
            others += 1
    return found


def described(medium: Any) -> str:
    """The constants of a medium that are not those of vacuum."""
    given: dict[str, Any] = {name: getattr(medium, name, None) for name in type(medium).model_fields}
    text = [f"εr {written(given['permittivity'], 4)}"] if "permittivity" in given else []
    text += [f"µr {written(given['permeability'], 4)}"] if given.get("permeability", 1.0) != 1.0 else []
    text += [f"{written(given['conductivity'], 3)} S/m"] if given.get("conductivity") else []
    text += [f"{given['resistance']:.4g} ohm a square"] if given.get("resistance") else []
    poles = len(given.get("poles") or ()) + len(given.get("magnetic_poles") or ())
    return ", ".join(text + ([f"{poles} poles"] if poles else []))


def body_of(body: FilledShape, frame: Frame, medium: str, colour: str) -> dict[str, Any]:
    """One body: triangles, colour, and what the pointer shows."""
    lower, upper = (np.array(end) for end in body.shape.bounds())
    corners, triangles = surface_of(body.shape, frame.metres * SIZE, MOST_FACES)
    sizes = " x ".join(quantity(float(size), "m") for size in upper - lower)
    return {
        "name": body.name or f"structure {body.number}",
        "medium": medium,
        "colour": colour,
        "flat": bool((lower == upper).any()) and body.shape.kind != "wire",
        "text": f"{body.shape.kind}, {sizes}",
        "from": ", ".join(quantity(float(value), "m") for value in lower),
        "lower": frame.place(lower).tolist(),
        "upper": frame.place(upper).tolist(),
        "triangles": len(triangles),
        "corners": packed(frame.place(corners), "f4"),
        "index": packed(triangles, "u4"),
    }


def layers_of(model: Model, grid: YeeGrid, frame: Frame) -> list[dict[str, Any]]:
    """What each face of the grid is: the box of its CPML, or the wall."""
    found = []
    for axis in range(3):
        for side, cells in zip((0, 1), model.boundaries.cpml_cells(axis)):
            ends = np.array([(line[0], line[-1]) for line in grid.lines]).T
            line, face = grid.lines[axis], model.boundaries.face(axis, side)
            inner = line[min(cells, line.size - 1)] if side == 0 else line[max(0, line.size - 1 - cells)]
            ends[1 - side, axis] = inner
            name = face if isinstance(face, str) else face.kind
            lower, upper = frame.place(ends).tolist()
            label = f"{name} at {AXES[axis]} {SIDES[side]}"
            found.append({"name": label, "kind": name, "lower": lower, "upper": upper, "cells": cells})
    return found


def packed_map(model: Model, grid: YeeGrid, colours: dict[str, tuple[str, str]], frequency: float) -> dict[str, Any]:
    """The media on a lattice of cells, and the wavelength in each at a frequency (Hz), in units of the scene.

    A wavelength is 0 in metal and where nothing is excited, a cell's length along an axis that carries no waves.
    """
    found, frame = media_map(model, grid), Frame.of(grid)
    low = band_of(model)[0]
    lengths = [wavelength(medium, frequency, low) / frame.metres for medium in found.fills]
    along = [axis in wave_axes(grid) for axis in range(3)]
    return {
        "shape": list(found.media.shape),
        "media": packed(found.media.transpose(2, 1, 0), f"u{found.media.itemsize}"),  # x runs fastest
        "places": [packed((at - middle) / frame.metres, "f4") for at, middle in zip(found.places, frame.centre)],
        "cells": [packed(waves * cells / frame.metres, "f4") for waves, cells in zip(along, found.cells)],
        "names": found.names,
        "colours": ["", *(colours[name][0] for name in found.names[1:])],  # one sees through the background
        "wavelengths": lengths,
        "frequency": quantity(frequency, "Hz") if frequency else "",
        "every": found.every,
    }


def wavelength(medium: Any, frequency: float, low: float) -> float:
    """Wavelength (m) at the upper end of a band from `low` (Hz), as `check` has it; 0 in metal and at 0 Hz."""
    waves = isinstance(medium, Medium) and frequency > 0.0
    return VACUUM_SPEED / (medium.index_at(frequency, low) * frequency) if waves else 0.0


def facts_of(model: Model, grid: YeeGrid, check: Check | None) -> list[list[str]]:
    """Rows of the table: what, and its value."""
    counts = " x ".join(str(count) for count in grid.cells)
    lengths = [grid.primary(axis) for axis in range(3)]
    smallest, largest = (quantity(float(bound(map(bound, lengths))), "m") for bound in (min, max))
    extent = " x ".join(quantity(float(line[-1] - line[0]), "m") for line in grid.lines)
    rows = [["cells", f"{counts} = {int(np.prod(grid.cells, dtype=np.int64)):,}"]]
    rows += [["cell size", f"{smallest} to {largest}"], ["extent", extent]]
    rows += [[name, value if isinstance(value, str) else f"{value:g}"] for name, value in model.parameters.items()]
    if check:
        highest = quantity(check.highest_frequency, "Hz") if check.highest_frequency else "none excited"
        rows += [
            ["time step", quantity(check.time_step, "s")],
            ["steps", f"at most {check.steps:,}"],
            ["highest frequency", highest],
            ["memory", memory(check.memory_bytes)],
            ["time", duration(check.predicted_seconds)],
            *([["metal", str(check.metal)]] if check.metal else []),
        ]
    return rows
