"""Which parameters move rims of flat metal that run along no axis, whose derivatives are rough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.outlines import straight_sides
from nearfield.bodies.shapes import Rectangular, Solid
from nearfield.media.surface_media import is_metal

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.studies.touched import Models
    from nearfield.studies.varied import Varied

ALONG = 1e-9  # of a side's length: what lies so near to an axis runs along it


def said_of_round_rims(given: Sequence[Varied], compared: Sequence[Models]) -> str | None:
    """What round and turned rims make of derivatives; None where no parameter moves one."""
    names = [each.name for each, models in zip(given, compared) if _moves_round_rims(models[0], models[1])]
    if not names:
        return None
    return (
        f"{', '.join(names)}: rims of flat metal along no axis move, of which the grid makes more or less as they pass "
        "nodes: S leaps by up to 0.02 within 0.02 cells, and these derivatives are 3 to 18 % off differences over "
        "+-0.02 cells, 7 to 29 % off those over +-0.3 cells, more where a rim passes a node (a round hole of a whole "
        "number of cells: a factor of 5). Take smaller cells, or slopes of a `sweep` over half a cell"
    )


def _moves_round_rims(model: Discretization, beside: Discretization) -> bool:
    metal = model.coefficients.metal
    bodies, others = model.simulation._bodies, beside.simulation._bodies
    planes = {n: metal.rimmed_plane(body.shape) for n, body in enumerate(bodies) if is_metal(body.medium)}
    planes |= {n: _plane(body.shape, model) for n, body in enumerate(bodies) if planes.get(n, 0) is None}
    for number, (body, other) in enumerate(zip(bodies, others)):
        if is_metal(body.medium):
            met = [planes[number]]
        else:  # a later body of another medium cuts what it holds
            met = [plane for n, plane in planes.items() if n < number and plane and _crosses(body.shape, plane, model)]
        changed = list(_changed(body.shape, other.shape))
        if any(plane and _round_in(shape, plane[0]) for plane in met for shape in changed):
            return True
    return False


def _plane(shape: Solid, model: Discretization) -> tuple[int, int] | None:
    """(normal, node) of a body without thickness."""
    flat = [a for a, (low, high) in enumerate(zip(*shape.bounds())) if low == high]
    return (flat[0], model.grid.nearest_node(flat[0], shape.bounds()[0][flat[0]])) if len(flat) == 1 else None


def _changed(own: Solid, other: Solid) -> Iterator[Solid]:
    """A shape that differs from another, or the parts of it that do."""
    if isinstance(own, Difference) and isinstance(other, Difference) and len(own.minus) == len(other.minus):
        for part, beside in zip((own.body, *own.minus), (other.body, *other.minus)):
            yield from _changed(part, beside)
    elif own != other:
        yield own


def _crosses(shape: Solid, plane: tuple[int, int], model: Discretization) -> bool:
    lower, upper = shape.bounds()
    return bool(lower[plane[0]] < model.grid.lines[plane[0]][plane[1]] < upper[plane[0]])


def _round_in(shape: Solid, normal: int) -> bool:
    """Whether the outline of a shape in a plane has sides along no axis."""
    if isinstance(shape, Rectangular):
        return False
    sides = straight_sides(shape, normal)
    if sides is None:
        return True
    along = np.abs(sides[1] - sides[0])
    return bool((along.min(axis=1) > ALONG * along.max(axis=1)).any())
