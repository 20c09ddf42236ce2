"""Warnings about structures that begin or end inside a CPML, which is meant for what goes on without end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE
from nearfield.metal.cautions import and_others

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.discretization.discretization import Discretization


def ends_in_layers(setup: Discretization) -> Iterator[str]:
    """A warning that names the structure which ends deepest in a layer."""
    model = setup.simulation
    found = [
        (*end, body)
        for body in model._bodies
        if body.medium != model.background and setup.grid.reached_by(*body.shape.bounds())
        for end in _ends(setup, body)
    ]
    if found:
        deep, depth, face, body = max(found, key=lambda each: each[0])
        others = list({id(each[3]) for each in found})
        yield (
            f"{body.label}{and_others(others)} ends in the CPML at {face}, {deep:.2g} of its {depth} cells deep: "
            "the layer takes the fields about such an end, and waves return where structures change along its depth. "
            "Let it end before the layer, or run through it to the end of the grid"
        )


def _ends(setup: Discretization, body: FilledShape) -> Iterator[tuple[float, int, str]]:
    """(cells from the layer's begin, its cells, face) of each end of a body that lies within a layer."""
    ends = body.shape.bounds()
    for axis, (first, last) in enumerate(setup.boundaries.interior(setup.grid)):
        line, slack = setup.grid.lines[axis], SAMPLE_TOLERANCE * float(setup.grid.primary(axis).min())
        for name, begin, outer in (("low", first, 0), ("high", last, line.size - 1)):
            low, high = sorted((float(line[begin]), float(line[outer])))
            for end in (end[axis] for end in ends):
                if low + slack < end < high - slack:
                    part = (end - line[begin]) / (line[outer] - line[begin])
                    yield abs(outer - begin) * float(part), abs(outer - begin), f"{AXES[axis]}_{name}"
