"""Ports, sources, elements and monitors as boxes with arrows, for the viewer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import quantity
from nearfield.grid.yee import AXES
from nearfield.pictures.objects import MONITORS, PORT, SOURCE
from nearfield.pictures.style import FAINT, INK

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

Corners = tuple[tuple[float, ...], tuple[float, ...]]


class Placing(Protocol):
    """A frame: metres to units of the scene."""

    def place(self, points: Any) -> np.ndarray: ...


def corners(item: Any) -> Corners | None:
    """Lower and upper corner of a port, source or monitor, whatever it calls them; None where it has none."""
    for first, second in (("lower", "upper"), ("start", "end"), ("position", "position")):
        a, b = getattr(item, first, None), getattr(item, second, None)
        if a is not None and b is not None:
            return tuple(map(min, a, b)), tuple(map(max, a, b))
    return None


def surface_of(monitor: Any, grid: YeeGrid, model: Model) -> tuple[list[float], list[float]] | None:
    """The corners of a far-field surface, its own or the default; None where it cannot lie."""
    try:
        nodes = monitor._box(SimpleNamespace(grid=grid, boundaries=model.boundaries, guides=model._guides))
    except ModelError:
        return None
    lower, upper = ([float(grid.lines[axis][end[axis]]) for axis in range(3)] for end in nodes)
    return lower, upper


def objects_of(model: Model, grid: YeeGrid, frame: Placing) -> list[dict[str, Any]]:
    """All of them, in the order of the model."""
    groups = {"port": model.ports, "source": model.sources, "element": model.elements, "monitor": model.monitors}
    found = []
    for group, items in groups.items():
        for number, item in enumerate(items):
            ends = surface_of(item, grid, model) if item.kind == "far-field" else corners(item)
            if ends is not None:
                found.append(object_of(item, group, number, np.array(ends), frame))
    return found


def object_of(item: Any, group: str, number: int, ends: np.ndarray, frame: Placing) -> dict[str, Any]:
    """One of them: box, colour, arrows, signs of a port's terminals, and what the pointer shows."""
    own = {"port": PORT, "source": SOURCE, "element": INK}
    colour = own[group] if group in own else MONITORS.get(item.kind, (FAINT, ""))[0]
    lower, upper = frame.place(ends).tolist()
    sizes = " x ".join(quantity(float(size), "m") for size in ends[1] - ends[0])
    return {
        "name": getattr(item, "name", None) or f"{group} {number}",
        "group": group,
        "kind": item.kind,
        "colour": colour,
        "lower": lower,
        "upper": upper,
        "text": f"{item.kind}, {sizes}{details(item)}",
        "arrows": arrows_of(item, ends, frame),
        "signs": signs_of(item, ends, frame) if group in ("port", "element") else [],
    }


def details(item: Any) -> str:
    """What else the pointer shows of it."""
    circuit = item.kind in ("lumped", "microstrip") and hasattr(item, "impedance")
    text = [f"{item.impedance:g} ohm"] if circuit else []
    if (plane := getattr(item, "reference_plane", None)) is not None:
        text.append(f"reference plane at {quantity(float(plane), 'm')}")
    text += [str(getattr(item, name)) for name in ("component", "axis") if isinstance(getattr(item, name, None), str)]
    return "".join(f", {each}" for each in text)


def arrows_of(item: Any, ends: np.ndarray, frame: Placing) -> list[dict[str, Any]]:
    """Directions of it: along which its voltage or current counts, and into which its waves go."""
    found: list[tuple[np.ndarray, str]] = []
    if isinstance(axis := getattr(item, "axis", None), str) and axis in AXES:
        found.append((np.eye(3)[AXES.index(axis)], "polarity"))
    if (start := getattr(item, "start", None)) is not None:
        found.append((np.subtract(item.end, start), "polarity"))
    heading = getattr(item, "propagation", None) or getattr(item, "direction", None)
    if hasattr(item, "travels"):
        found += [(item.travels, "propagation"), (item.electric, "polarity")]
    elif isinstance(heading, str) and heading[-1:] in AXES:
        found.append((np.eye(3)[AXES.index(heading[-1])] * (-1 if heading[0] == "-" else 1), "propagation"))
    origin = frame.place(ends.mean(axis=0)).tolist()
    return [
        {"from": origin, "along": (along / np.linalg.norm(along)).tolist(), "what": what}
        for along, what in found
        if np.linalg.norm(along) > 0
    ]


def signs_of(item: Any, ends: np.ndarray, frame: Placing) -> list[dict[str, Any]]:
    """A port's minus at its lower terminal and plus at its upper one."""
    axis = getattr(item, "axis", None)
    if not isinstance(axis, str) or axis not in AXES:
        return []
    signs = []
    for text, end in (("−", ends[0]), ("+", ends[1])):
        place = ends.mean(axis=0)
        place[AXES.index(axis)] = end[AXES.index(axis)]
        signs.append({"at": frame.place(place).tolist(), "text": text})
    return signs
