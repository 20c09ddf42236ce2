"""All that a model's grid moves to its lines, with the size of the effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nearfield.bodies.geometry import FilledShape
from nearfield.coefficients.films import moved_faces
from nearfield.discretization.refusals import features
from nearfield.entry.wording import quantity
from nearfield.grid.images import in_first_cell
from nearfield.grid.moves import Moved
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.close_edges import close_edges
from nearfield.metal.moves import moved_metal
from nearfield.metal.patches import cell_near
from nearfield.metal.slanting_strips import moved_strips, slanting_strips
from nearfield.monitors.moves import moved_monitors
from nearfield.monitors.radiation import FarField
from nearfield.ports.moves import moved_entries

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization


def moves(setup: Discretization) -> list[Moved]:
    """Bodies first, then ports, elements and sources, far-field surfaces, each in the order of the model."""
    model, grid, bodies = setup.simulation, setup.grid, acting_bodies(setup)
    metal = list(moved_metal(bodies, grid, setup.coefficients.metal))
    return [
        *metal,
        *moved_strips(setup.coefficients.redrawn),
        *moved_faces(bodies, setup.coefficients.carriers, grid),
        *close_edges(bodies, grid, model.boundaries, setup.coefficients.metal),
        *stepped(setup, bodies, [one["what"] for one in metal]),
        *moved_entries(features(model, ("port", "element", "source")), grid),
        *moved_monitors(features(model, ("monitor",)), setup.context),
        *(one for monitor in model.monitors if isinstance(monitor, FarField) for one in monitor._moved(setup.context)),
    ]


def acting_bodies(setup: Discretization) -> list[FilledShape]:
    """The bodies that reach into the grid; of one drawn wholly beyond a periodic cell the copy in there that acts,
    unless a body of the same medium lies in its place. Flat metal that touches as the rectangles that act."""
    grid, bodies = setup.grid, setup.simulation._bodies
    copies = [replace(body, shape=in_first_cell(body.shape, grid)) for body in bodies]
    taken = {_place(copy, grid) for body, copy in zip(bodies, copies) if copy.shape is body.shape}
    found = []
    for body, copy in zip(bodies, copies):
        if not grid.reached_by(*copy.shape.bounds()):
            continue
        if copy.shape is body.shape:
            found.append(body)
        elif (place := _place(copy, grid)) not in taken:
            taken.add(place)
            drawn = [one for one in setup.coefficients.drawn if one.number == body.number and one.medium is body.medium]
            found.append(next((one for one in drawn if _place(one, grid) == place), copy))
    for flat in setup.coefficients.redrawn:
        members = [id(body.shape) for body in flat.drawn]
        if any(id(body.shape) in members for body in found):
            rest = [body for body in found if id(body.shape) not in members]
            own = [body for body in flat.acting if grid.reached_by(*body.shape.bounds())]
            found = sorted([*rest, *own], key=lambda body: body.number)
    return found


def _place(body: FilledShape, grid: YeeGrid) -> tuple[object, ...]:
    """What bodies share that lie in one place: kind, medium, and corners to a thousandth of the shortest cell."""
    unit = 1e-3 * min(float(grid.primary(axis).min()) for axis in range(3))
    return (body.shape.kind, body.medium_name, *(round(at / unit) for corner in body.shape.bounds() for at in corner))


def stepped(setup: Discretization, bodies: Sequence[FilledShape], listed: Sequence[str]) -> Iterator[Moved]:
    """Curved and slanted metal among bodies on whole cells and edges, if no other entry of the list is about it."""
    follows = setup.coefficients.metal.follows
    numbers = {body.number for body in setup.metal_choice.off_lines}
    whole = [] if setup.metal == "conformal" else slanting_strips(bodies, setup.grid, setup.simulation.boundaries)
    fallen = {one.drawn[0].number for one in whole}
    for body in (body for body in bodies if body.number in numbers):
        curved = sum(body.shape._constant_along(axis) for axis in range(3)) < 2
        known = any(each.startswith(body.label) for each in listed)
        if not is_metal(body.medium) or not curved or known or follows(body.shape):
            continue
        lower, upper = body.shape.bounds()
        cell = max(cell_near(setup.grid, axis, lower[axis], upper[axis]) for axis in range(3))
        follow = "" if setup.metal == "conformal" else '; metal="conformal" follows it'
        if body.number in fallen:
            follow = ', and it is so narrow that it falls into pieces, without a current; metal="conformal" mends it'
        yield {
            "what": f"{body.label}, its curved or slanted faces",
            "from": 0.0,
            "to": 0.5 * cell,
            "effect": f"they lie on whole cells and edges, up to half a cell off, {quantity(0.5 * cell, 'm')}{follow}",
            "cells": 0.5,
        }
