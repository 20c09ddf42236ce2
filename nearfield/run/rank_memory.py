"""Memory of one rank of several, before they are started: of its part of the fields, and of what it records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearfield.engines.cpu.pole_sizes import pole_bytes
from nearfield.entry.triples import Triple
from nearfield.entry.wording import memory
from nearfield.parallel.decomposition import decompose
from nearfield.parallel.part import PlanPart, held_box
from nearfield.parallel.start import in_blocks
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.sizes import domain_bytes, term_bytes

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.plan.plan import Plan


@dataclass(frozen=True)
class RankMemory:
    """Bytes of the rank that holds most of `ranks`; its own box of `samples`, halos come on top."""

    ranks: int
    samples: Triple
    fields: int  # with halos, CPML, poles and what surfaces remember
    terms: int  # of its part of sources, ports and monitors
    recordings: int  # of all ranks, which rank 0 puts together at the end of an excitation

    @property
    def total(self) -> int:
        """Bytes of any rank but the first."""
        return self.fields + self.terms

    @property
    def first(self) -> int:
        """Bytes of rank 0, which holds all recordings besides."""
        return self.total + self.recordings

    def __str__(self) -> str:
        nx, ny, nz = self.samples
        return (
            f"{memory(self.total)} of each of {self.ranks} ({nx} x {ny} x {nz} samples and halos), "
            f"{memory(self.first)} of rank 0, with the recordings of all"
        )


def rank_memory(setup: Discretization, ranks: int, surface_bytes: int = 0, domains: Triple | None = None) -> RankMemory:
    """The memory of the rank with the largest box, cut as a run would be, with halos as thin as can be.

    `surface_bytes`: what surfaces of the whole model remember, taken to be shared evenly. `domains` along x, y, z: left
    out, one a rank, cut in the way that is fastest. Error: `ModelError`, so many ranks do not fit.
    """
    plan, precision = setup.plan, setup.simulation.precision
    held = largest_part(plan, ranks, domains)
    parts = 1 + plan.complex_fields
    fields = domain_bytes(held.plan.active, held.plan.cpml, precision) * parts + pole_bytes(held.plan)
    terms, _ = term_bytes(held.plan.terms, setup.expected_steps, precision)
    _, recorded = term_bytes(plan.terms, setup.expected_steps, precision)
    return RankMemory(ranks, held.own.shape, fields + surface_bytes // ranks, terms, recorded)


def largest_part(plan: Plan, ranks: int, domains: Triple | None = None) -> PlanPart:
    """The part of the rank that holds most samples."""
    found = decompose(Weights.of(plan), domains or ranks, ranks, halo=HaloCost(plan.reach))
    if found.grouping.ranks[plan.weighed_axis] > 1:
        found = in_blocks(found, plan.weighed_axis)
    boxes = found.grouping.boxes(found.arrangement)
    parts = [PlanPart(plan, own, held_box(own, plan.reach, plan)) for own in boxes]
    return max(parts, key=lambda part: part.held.size)
