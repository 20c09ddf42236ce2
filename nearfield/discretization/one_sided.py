"""Warnings about models with planes of symmetry that are not symmetric: what lies above counts twice, below not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.points_inside import points_inside
from nearfield.bodies.shapes import Wire
from nearfield.discretization.refusals import IMAGED, features, has_image
from nearfield.entry.wording import quantity
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid
from nearfield.metal.cautions import and_others

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

LOOKED_AT = 200  # points of a structure
ALIKE = 0.02  # part of them whose images may be of other media: rounding of meshes and voxels


def one_sided(setup: Discretization) -> Iterator[str]:
    """All warnings, plane by plane."""
    model, grid = setup.simulation, setup.grid
    for axis in (axis for axis, kind in enumerate(grid.mirrors) if kind):
        middle = float(grid.lines[axis][grid.cells[axis] // 2])
        plane = f"the plane of symmetry across {AXES[axis]} at {quantity(middle, 'm')}"
        yield from _bodies(model._bodies, grid, axis, middle, plane)
        entries = features(model, ("source", "port", "element"))
        alone = [
            (who, each)
            for who, each in entries
            if each.kind != "plane-wave" and not has_image(model, each, grid, axis)  # a wave must mirror itself
        ]
        if alone:
            others = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
            both = "; impedances and S are those of both together" if hasattr(alone[0][1], "resistance") else ""
            draw = "Leave" if alone[0][1].kind not in IMAGED else "Draw it too, or leave"
            yield (
                f"{alone[0][0]}{others}: no image beyond {plane} is drawn, but the run has one there all the same, "
                f"driven with it{both}. {draw} the plane out"
            )


def _bodies(bodies: Sequence[FilledShape], grid: YeeGrid, axis: int, middle: float, plane: str) -> Iterator[str]:
    """A warning about structures that have no image."""
    slack = SAMPLE_TOLERANCE * min(float(grid.primary(a).min()) for a in range(3))
    first, last = ([float(line[end]) for line in grid.lines] for end in (0, -1))
    found = []
    for body in bodies:
        at = points_inside(body.shape, first, last, LOOKED_AT)
        image = at.copy()
        image[axis] = 2 * middle - at[axis]
        wire = isinstance(body.shape, Wire)
        differ = _off_wires(bodies, image, slack) if wire else _differ(bodies, at, image, slack)
        if differ.size and float(differ.mean()) > ALIKE:
            found.append(body)
    if found:
        yield (
            f"{found[0].label}{and_others(found)}: no image beyond {plane} is drawn, and the run takes the model below "
            "the plane to mirror that above: what lies above is there twice, what lies below alone is left out. Draw "
            "the whole model, or leave the plane out"
        )


def _differ(bodies: Sequence[FilledShape], at: np.ndarray, image: np.ndarray, slack: float) -> np.ndarray:
    """Which points lie in another medium than their images, but for rounding."""
    here, there = _medium_at(bodies, at), _medium_at(bodies, image)
    differ = np.array([one != other for one, other in zip(here, there)], dtype=bool)
    for body in bodies if differ.any() else ():
        if not isinstance(body.shape, Wire):
            near = np.asarray(body.shape.contains(image[0], image[1], image[2], slack))
            differ &= ~(near & np.array([one == body.medium for one in here]))
    return differ


def _off_wires(bodies: Sequence[FilledShape], at: np.ndarray, slack: float) -> np.ndarray:
    """Which points lie on no wire."""
    off = np.ones(at.shape[1], dtype=bool)
    for shape in (body.shape for body in bodies):
        for start, end in pairwise(np.array(shape.points)) if isinstance(shape, Wire) else ():
            along = end - start
            part = np.clip((at.T - start) @ along / (along @ along), 0.0, 1.0)
            off &= np.linalg.norm(at.T - start - part[:, None] * along, axis=1) > slack
    return off


def _medium_at(bodies: Sequence[FilledShape], at: np.ndarray) -> list[Any]:
    """The medium of the last body that holds each point; None of the background."""
    found: list[Any] = [None] * at.shape[1]
    for body in bodies:
        if not isinstance(body.shape, Wire):
            for number in np.flatnonzero(np.asarray(body.shape.contains(*at))):
                found[number] = body.medium
    return found
