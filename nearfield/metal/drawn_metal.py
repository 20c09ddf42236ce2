"""What stands for bodies of metal on the grid: themselves, beads about the rims of thin slanting ones, wires for strips
narrower than a cell and for thin rods; and the edges that each of them takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Solid, Wire
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.conductors import Conductors
from nearfield.metal.contacts import joining_edges
from nearfield.metal.metal import Body, EdgeBox, Owned, body_of, kind_of
from nearfield.metal.narrow_strips import narrow_strips
from nearfield.metal.patches import Patch, at_samples
from nearfield.metal.rods import rods
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.slanting_chains import SlantingWire, slanting_wire
from nearfield.metal.thin_rims import beads_of
from nearfield.metal.wire_edges import Chain, chain_of
from nearfield.metal.wire_ends import Edges, WireEnd, ends_of, free_ends, without_ends
from nearfield.metal.wire_lattice import ON_LINE


@dataclass(frozen=True)
class Part:
    """What stands for a body, or for a piece of it, with its edges and nodes; the body's number; the ends of a wire
    that lie between lines; edges that join it to solid metal on its sides."""

    number: int
    body: FilledShape
    on_grid: Body
    ends: list[WireEnd] = field(default_factory=list)
    joints: tuple[EdgeBox, ...] = ()

    @property
    def owned(self) -> Owned:
        """With its medium."""
        return self.on_grid, self.body.medium

    @property
    def shape(self) -> Solid:
        return self.on_grid.shape

    @property
    def wire(self) -> Wire | None:
        """It, if it is a wire along axes."""
        return self.shape if isinstance(self.shape, Wire) and not self.shape._slants else None

    @property
    def joined(self) -> Body:
        """It on the grid, with the edges that join it on its sides."""
        return replace(self.on_grid, edges=self.on_grid.edges + self.joints)

    def with_edges(self, more: Sequence[EdgeBox]) -> Part:
        """With further edges."""
        return replace(self, on_grid=replace(self.on_grid, edges=self.on_grid.edges + tuple(more)))


class DrawnMetal:
    """`parts` of all bodies but resistive sheets, in their order; `beads`, `strips` and `rods` by number of a body.

    `conformal`: metal may cut cells; otherwise all bodies stand for themselves. `gaps`: edges of circuits, where wires
    do not end. `chains`: wires with a radius or an end between lines, strips and rods among them; `slanting`: those
    along no axis.
    """

    def __init__(
        self,
        grid: YeeGrid,
        boundaries: Boundaries,
        bodies: Sequence[FilledShape],
        conformal: bool,
        gaps: Sequence[Edges],
    ) -> None:
        self._grid, self._boundaries = grid, boundaries
        self.beads = beads_of(bodies, grid, boundaries, gaps) if conformal else {}
        self.strips = narrow_strips(bodies, grid, boundaries, gaps) if conformal else {}
        self.rods = rods(bodies, grid, boundaries) if conformal else {}
        shapes = {number: beads.parts for number, beads in self.beads.items()}
        shapes |= {number: rod.wires for number, rod in self.rods.items()}
        shapes |= {number: (strip.wire,) for number, strip in self.strips.items()}
        parts = [
            Part(number, body, body_of(shape, kind_of(body.medium), grid, boundaries))
            for number, body in enumerate(bodies)
            if not isinstance(body.medium, ResistiveSheet)
            for shape in shapes.get(number, (body.shape,))
        ]
        parts = [
            part.with_edges(self.strips[part.number].joints) if part.number in self.strips else part for part in parts
        ]
        if conformal:
            drawn = [self.rods[part.number].shape if part.number in self.rods else part.shape for part in parts]
            joining = joining_edges([part.on_grid for part in parts], drawn, grid)
            parts = [replace(part.with_edges(more.ends), joints=more.sides) for part, more in zip(parts, joining)]
        parts = self._ended(parts, gaps)
        self.chains = [self._chain(part, wire) for part in parts if (wire := part.wire) and (wire.radius or part.ends)]
        self.parts = [self._joined(part) for part in parts]
        self.slanting = self._slanting()

    def _ended(self, parts: Sequence[Part], gaps: Sequence[Edges]) -> list[Part]:
        """Wires without the edges that free ends cover in part, and with these ends."""
        ends = [list(ends_of(wire, self._grid)) if (wire := part.wire) else [] for part in parts]
        if not any(ends):
            return list(parts)
        drawn, samples = Conductors(self._grid, self._boundaries, [p.joined for p in parts]), SampleNumbers(self._grid)

        def conducts(component: int, *index: np.ndarray) -> np.ndarray:
            return at_samples(self._grid, index, lambda *where: [drawn.take(Patch(component, *where))])[0] > 0

        found = []
        for part, own in zip(parts, ends):
            free = free_ends(samples, own, gaps, conducts)
            kept = replace(part.on_grid, edges=without_ends(part.on_grid.edges, free))
            found.append(replace(part, on_grid=kept, ends=free))
        return found

    def _chain(self, part: Part, own: Wire) -> Chain:
        strip, rod = self.strips.get(part.number), self.rods.get(part.number)
        edges, charge = (strip.free, strip.charge) if strip else (part.on_grid.edges, ON_LINE)
        if rod:
            charge = next(at for wire, at in zip(rod.wires, rod.charges) if wire is own)
        return chain_of(own, part.body.name, edges, part.ends, charge)

    def _joined(self, part: Part) -> Part:
        """A part with all its edges, of a rod's first wire those too that join its wires."""
        rod = self.rods.get(part.number)
        across = rod.joints(part.on_grid.edges) if rod and part.shape is rod.wires[0] else ()
        return part.with_edges((*part.joints, *across))

    def _slanting(self) -> list[SlantingWire]:
        return [
            slanting_wire(part.shape, part.body.name, self._grid)
            for part in self.parts
            if isinstance(part.shape, Wire) and part.shape._slants and part.on_grid.edges
        ]
