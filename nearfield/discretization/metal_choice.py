"""How a model's metal lies on its grid: on whole cells or followed through them, and which bodies decide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from nearfield.bodies.shapes import Wire
from nearfield.grid.images import in_first_cell
from nearfield.metal import conformal
from nearfield.metal.cautions import and_others
from nearfield.metal.open_edges import open_edges
from nearfield.metal.rods import rods
from nearfield.metal.slanting_chains import shorter_step
from nearfield.metal.slanting_strips import slanting_strips

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid


@dataclass(frozen=True)
class MetalChoice:
    """How metal lies on the grid, and the bodies that decide it, in the order of the structures."""

    method: Literal["staircase", "conformal"]
    off_lines: tuple[FilledShape, ...]  # metal off the grid lines, and what opens it there
    cutting: tuple[FilledShape, ...]  # those that cut cells, for which the time step is shorter; none as a staircase
    open_edges: tuple[FilledShape, ...]  # metal on grid lines with an edge in the open field, if that decides
    slanting: tuple[FilledShape, ...]  # wires along no axis, and strips that act as such

    @property
    def step_for_wires(self) -> float:
        """Factor of the longest stable time step with wires along no axis."""
        return shorter_step(self.slanting)


def metal_choice(model: Model, grid: YeeGrid) -> MetalChoice:
    """What the entry `metal` means for a model: "auto" is conformal where a body of metal is off the grid lines or has
    an edge in the open field."""
    boundaries = model.boundaries
    bodies = [replace(body, shape=in_first_cell(body.shape, grid)) for body in model._bodies]
    thin = rods(bodies, grid, boundaries)
    cutting = tuple(conformal.cutting([body for n, body in enumerate(bodies) if n not in thin], grid, boundaries))
    decided = {body.number for body in cutting}
    decided |= {bodies[n].number for n, rod in thin.items() if isinstance(rod.shape, Wire)}
    off = tuple(body for body in bodies if body.number in decided or conformal.off_lines(body, grid, boundaries))
    decides = model.metal == "auto" and not off
    edges = tuple(open_edges(bodies, grid, boundaries, thin)) if decides else ()
    method = ("conformal" if off or edges else "staircase") if model.metal == "auto" else model.metal
    strips = slanting_strips(bodies, grid, boundaries) if method == "conformal" else ()
    wires = (each for body in (bodies, *(one.acting for one in strips)) for each in body)
    slanting = tuple(body for body in wires if isinstance(body.shape, Wire) and body.shape._slants)
    return MetalChoice(method, off, cutting if method == "conformal" else (), edges, slanting)


def named(bodies: Sequence[FilledShape]) -> str:
    """The first of some bodies, and how many more there are."""
    return bodies[0].label + and_others(bodies)
