"""Thin metal that slants to the grid, or is curved: how thick it is, and what the grid makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.curved_gaps import GAP
from nearfield.metal.facing_rims import WIDEST
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.necks import Neck, slanting_gaps
from nearfield.metal.outlines import FlatMetal
from nearfield.metal.patches import cell_near, next_axes
from nearfield.metal.rim_points import UPRIGHT
from nearfield.metal.thickness import mean_thickness
from nearfield.metal.thin_rims import Beads

THIN = 1.5  # cells; thinner walls have both sides in one face (docs/method.md, Thin walls)
OFF = 0.5  # cells by which one side of a followed thin wall lies too far out at most
LEFT = 0.25  # cells by which rims with beads act elsewhere than drawn (docs/method.md, Thin plates)
BOUNDED = 0.1  # cells by which slanting rims of flat metal act further out at most (docs/method.md, Rims of sheets)
NECK_EFFECT = (
    "too narrow to hold together on edges; chains of edges in its middle do, up to half a cell beside it: resonances "
    "are up to 5 % off, and antennas fed between such parts less than 1.5 cells apart have down to 0.6 of their "
    "impedance; take cells of half the size"
)
GAP_EFFECT = "each of its rims has a field of its own: slots ring up to 3 % low; take cells of half the size"


def slanted_walls(
    bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal
) -> Iterator[tuple[FilledShape, float, float, str]]:
    """Metal thinner than `THIN` cells across no axis: body, mean thickness and cell (m), what becomes of it."""
    for body in bodies:
        thickness = mean_thickness(body.shape) if is_metal(body.medium) else np.inf
        if np.isfinite(thickness):
            lower, upper = body.shape.bounds()
            across = [a for a in range(3) if not body.shape._constant_along(a)]
            cell = max(cell_near(grid, a, lower[a], upper[a]) for a in across)
            if thickness < THIN * cell:
                followed = "followed" if metal.follows(body.shape) else "whole cells"
                yield body, thickness, cell, "beads" if _beads(body, metal) else followed


def _beads(body: FilledShape, metal: GridMetal) -> Beads | None:
    """What stands for thin metal with free rims."""
    number = metal.number_of(body.shape)
    return None if number is None else metal.beads.get(number)


def thin_walls_text(cell: float, kind: str) -> str:
    """What becomes of such a wall."""
    off = f"up to {OFF:g} cells ({quantity(OFF * cell, 'm')}) too far out"
    if kind == "beads":
        left = f"some {LEFT:g} cells ({quantity(LEFT * cell, 'm')})"
        return f"it is closed, its free rims act within {left} of where they are drawn, but one of its sides {off}"
    if kind == "followed":
        return f"it is closed, but one of its sides acts {off}, and its rims as far off either way"
    return (
        "it takes the whole cells whose centre it holds, so that it has holes, and steps of a cell "
        f"({quantity(cell, 'm')})"
    )


def moved_walls(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """Their thickness, and what acts; beads along free rims."""
    for body, thickness, cell, kind in slanted_walls(bodies, grid, metal):
        acts = cell if kind == "whole cells" else thickness + OFF * cell
        yield {
            "what": f"{body.label}, its thickness",
            "from": thickness,
            "to": acts,
            "effect": f"its faces lie across no axis; {thin_walls_text(cell, kind)}",
            "cells": abs(acts - thickness) / cell,
        }
        beads = _beads(body, metal)
        if beads:
            yield {
                "what": f"{body.label}, its free rims",
                "from": 0.0,
                "to": beads.drawn_back,
                "effect": f"they have beads {quantity(beads.cell, 'm')} thick, a cell, and are drawn back by "
                f"{quantity(beads.drawn_back, 'm')}, so that they act as far out as drawn",
                "cells": beads.drawn_back / beads.cell,
            }


def moved_slanting_rims(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """Rims along no axis of flat metal, whose field the time step bounds."""
    for body in bodies:
        number = metal.number_of(body.shape)
        if number in metal.followed or number in metal.rods or not metal.follows(body.shape):
            continue
        lower, upper = body.shape.bounds()
        normal = int(np.argmin(np.subtract(upper, lower)))
        start, end = metal.rims_of(body.shape)
        if (np.abs(end - start).min(axis=1) > UPRIGHT * np.hypot(*(end - start).T)).any():
            further = BOUNDED * max(cell_near(grid, a, lower[a], upper[a]) for a in next_axes(normal))
            yield {
                "what": f"{body.label}, its slanting rims",
                "from": 0.0,
                "to": further,
                "effect": f"they act up to {BOUNDED:g} cells ({quantity(further, 'm')}) further out, since the time "
                "step bounds the correction of their field",
                "cells": BOUNDED,
            }


def moved_necks(bodies: Sequence[FilledShape], metal: GridMetal) -> Iterator[Moved]:
    """Of each plane of flat metal the narrowest part along no axis that chains of edges hold together, and the
    narrowest gap along no axis; none that end in a point."""
    for place, flat in metal.sheets.flats.items() if metal.sheets else ():
        own = [body for body in bodies if metal.rimmed_plane(body.shape) == place]
        found = metal.sheets.necks[place] if metal.sheets else []
        yield from _narrowest(found, own, flat, "{label}, {cells:.2g} cells wide along no axis", OFF, NECK_EFFECT)
        gaps = [gap for gap in slanting_gaps(flat, WIDEST) if len(flat.inside) == 1 or gap.width >= GAP * gap.cell]
        what = "gap of {cells:.2g} cells beside {label}, along no axis"
        yield from _narrowest(gaps, own, flat, what, BOUNDED, GAP_EFFECT)


def _narrowest(
    found: Sequence[Neck], bodies: Sequence[FilledShape], flat: FlatMetal, what: str, off: float, effect: str
) -> Iterator[Moved]:
    blunt = [neck for neck in found if not neck.ends]
    for neck in sorted(blunt, key=lambda each: each.width / each.cell)[:1]:
        at = dict(zip(flat.across, neck.points[len(neck.points) // 2].tolist()))
        label = next((body.label for body in bodies if _holds(body, at, flat.margin)), "its copy")
        yield {
            "what": what.format(label=label, cells=neck.width / neck.cell),
            "from": 0.0,
            "to": off * neck.cell,
            "effect": effect,
            "cells": off,
        }


def _holds(body: FilledShape, at: Mapping[int, float], margin: float) -> bool:
    """Whether the box about a body holds a place (m) by axis."""
    low, high = body.shape.bounds()
    return all(low[a] - margin <= q <= high[a] + margin for a, q in at.items())


def thin_slanted_walls(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[str]:
    """Warnings about them."""
    for body, thickness, cell, kind in slanted_walls(bodies, grid, metal):
        cure = "finer cells bring it nearer to where it is"
        if kind == "whole cells":
            cure = f'take metal="conformal", or cells below {quantity(thickness / THIN, "m")}'
        yield (
            f"{body.label}: metal some {quantity(thickness, 'm')} thick, {thickness / cell:.2g} of a cell, whose faces "
            f"lie across no axis: {thin_walls_text(cell, kind)}; {cure}"
        )
