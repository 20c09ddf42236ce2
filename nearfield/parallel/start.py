"""The engine of this rank for a plan: domains, halos, tiles, threads and pages, as chosen or as given."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

from nearfield.engines import ENGINES, UNDIVIDED, chosen_engine
from nearfield.engines.cpu.tiling import Tiling
from nearfield.engines.cpu.tuning import Choice, choose
from nearfield.engines.cuda.device import device
from nearfield.engines.protocol import Engine, LocalEngine, Placement
from nearfield.entry.counts import threads_given
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.machine.binding import Binding, resolve
from nearfield.machine.device_messages import messages_are_direct
from nearfield.machine.hardware import this_machine
from nearfield.machine.processors import bound
from nearfield.machine.profile import load_profile
from nearfield.machine.transport import Alone, Ranks, agreed, world
from nearfield.machine.watchdog import LIMIT, SHORTEST
from nearfield.parallel.decomposition import Decomposition, decompose, parse_domains
from nearfield.parallel.halo_depth import Crew, Tiles, cheapest, depths_for
from nearfield.parallel.part import PlanPart, held_box
from nearfield.parallel.ranks import RankEngine
from nearfield.parallel.speeds import MEASURE, parsed_speeds, speeds_of
from nearfield.parallel.timeline import Span, Timeline, gathered
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.boxes import Arrangement
from nearfield.plan.plan import ROW_LENGTHS, Plan
from nearfield.plan.sizes import LANES

OVERLAPS = ("auto", "split", "host-buffer", "none", "blocking")
PAGES_LOOKED_AT = 20000  # pages whose NUMA node is asked for


@dataclass(frozen=True)
class Parallel:
    """Spread of a run: domains in all (8, "8", "2x1x4"), a binding scheme, a memory policy, layers of halos.

    What is None is chosen. `overlap`: "split" makes cut faces first, so that messages travel under the rest;
    "host-buffer" has a thread of its own make them a second time, while all else is made in one piece; "none" waits for
    them at once; "blocking" lets one pair of ranks talk after the other. "auto" is "split": by the model of
    `nearfield.predict.overlap` no machine that is probed is faster by another one, a buffer being a strict one. No bit
    of a result depends on it.
    `patience`: seconds (1 or more) without a sign of life after which a rank counts as lost, and the run ends.
    `timeline`: note what each rank does in a block of steps (`RunOptions.trace`).
    `speeds`: ranks own boxes by their speeds, "2,1" one a rank, or "measure": each is timed for a second before the
    run. Left out, by the profiles of their hosts (`nearfield probe`), where those differ by 5 % or more.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(nf.Grid.uniform(1e-3, (20, 20, 20)), boundaries=nf.Boundaries(nf.PEC), steps=1)
    >>> sim.run(threads=1, parallel=nf.Parallel(domains="2x1x2")).facts["domains"]
    4
    """

    domains: int | str | Triple | None = None
    bind: str | None = None
    memory: str | None = None
    halo_depth: int | None = None
    overlap: str = "auto"
    patience: float = LIMIT
    timeline: bool = False
    speeds: str | None = None


@dataclass(frozen=True, eq=False)
class Started:
    """A rank's engine by its name, and the choices behind it."""

    name: str
    engine: Engine
    choice: Choice
    binding: Binding
    decomposition: Decomposition | None  # None: one domain
    depth: int  # of halos
    ranks: Alone

    @property
    def local(self) -> LocalEngine:
        """The rank's own engine."""
        return self.engine.local

    def facts(self) -> dict[str, Any]:
        """Domains, binding, memory and locality as plain data; the same keys for any number of ranks."""
        achieved = self.binding.verify(self.local.facts()["thread_ids"])
        found = self.binding.locality(lambda: self.local.pages(PAGES_LOOKED_AT), achieved)
        own = {
            "host": platform.node(),
            **self.binding.facts(achieved, found),
            "header": self.binding.header(achieved, found),
        }
        cut = self.decomposition and self.decomposition.arrangement
        counts = cut.counts if cut else (1, 1, 1)
        return {
            "ranks": self.ranks.size,
            "domains": math.prod(counts),
            "arrangement": list(counts),
            "cuts": [list(ends) for ends in cut.cuts] if cut else None,
            "rank_arrangement": list(self.decomposition.grouping.ranks) if self.decomposition else [1, 1, 1],
            "overlap": self.engine.overlap if isinstance(self.engine, RankEngine) else None,
            "messages": self.messages,
            "imbalance": self.decomposition.imbalance if self.decomposition else 1.0,
            "halo_depth": self.depth,
            "placement": self.ranks.everywhere(own),
        }

    @property
    def messages(self) -> str | None:
        """Whether messages of ranks on devices are "direct", from device to device, or "staged" on the host."""
        if not isinstance(self.engine, RankEngine) or self.name != "cuda":
            return None
        return "direct" if self.engine.direct else "staged"

    def timeline(self) -> list[list[Span]] | None:
        """What each rank did in the latest block of steps, on rank 0 alone; None where nobody noted it."""
        noted = self.engine.timeline if isinstance(self.engine, RankEngine) else None
        return gathered(noted, self.ranks) if noted else None

    def seconds(self) -> dict[str, list[float]]:
        """Where each rank's time went: compute, pack, wait (s), and exchanges made; nothing for one rank."""
        if not isinstance(self.engine, RankEngine):
            return {}
        own = self.engine.seconds | {"exchanges": self.engine.exchanges}
        return {name: [each[name] for each in self.ranks.everywhere(own)] for name in own}


def start(
    plan: Plan,
    threads: int | None = None,
    schedule: str = "tiled",
    tiling: str | Tiling | None = None,
    parallel: Parallel | None = None,
    engine: str = "auto",
) -> Started:
    """The engine of this rank for a plan. Errors: `ModelError` for what cannot be honoured, on every rank alike."""
    wishes, ranks = parallel or Parallel(), world()
    if wishes.overlap == "auto":
        wishes = replace(wishes, overlap="split")
    if not wishes.patience >= SHORTEST:
        raise ModelError(f"patience {wishes.patience:g} s with silent ranks is too short; give {SHORTEST:g} s or more")
    ranks.watch(wishes.patience)
    threads = threads_given(threads)
    name = chosen_engine(engine, only_cpu=wishes_of_cpu(tiling, parallel)).name
    if name in UNDIVIDED:
        refuse_spread(name, threads, tiling, wishes, ranks)
        bind = "none" if ranks.size > 1 else None  # it leaves its threads to the system
        threads, schedule, tiling = threads or 1, "stepwise", None
        wishes = replace(wishes, domains=ranks.size, bind=bind)
    domains = None if wishes.domains is None else parse_domains(wishes.domains)
    plan = with_uncut_rows(plan, domains)
    starter = Starter(plan, name, wishes, ranks, place_of(ranks), threads, schedule, tiling)
    most, choice = agreed(ranks, starter.first_choice)
    direct = all(ranks.everywhere(agreed(ranks, starter.direct)))
    domains = domains or sum(ranks.everywhere(most.domains))
    if domains in (1, (1, 1, 1)) and ranks.size == 1:
        return starter.started(choice, None)
    speeds = speeds_of(wishes.speeds, plan, ranks, name, choice.machine.threads, choice.tiling)
    found, depth = agreed(ranks, lambda: division(plan, domains, ranks, choice, wishes, speeds), at_root=True)
    if ranks.size == 1:
        return starter.started(choice, found)
    own = found.grouping.box(ranks.rank, found.arrangement)
    choice = starter.choice(PlanPart(plan, own, held_box(own, depth, plan)).plan, most.threads)
    return starter.started(choice, found, depth, direct)


@dataclass(frozen=True, eq=False)
class Starter:
    """What a rank is asked for, and how its engine is made of that. `place`: see `place_of`."""

    plan: Plan
    name: str
    wishes: Parallel
    ranks: Alone
    place: tuple[int, int, list[tuple[int, ...]]]
    threads: int | None
    schedule: str
    tiling: str | Tiling | None

    def binding(self, threads: int | None, domains: int | None) -> Binding:
        """Processors and memory for so many threads and domains."""
        sharers, number, bound_ranks = self.place
        asked = self.wishes.bind, self.wishes.memory, threads, this_machine(), sharers, number
        return resolve(*asked, domains=domains, ranks_bound=bound_ranks)

    def choice(self, plan: Plan, available: int) -> Choice:
        """Tiles and threads of a plan; a core is left to host buffers."""
        available = max(1, available - (self.wishes.overlap == "host-buffer" and self.ranks.size > 1))
        return choose(plan, self.threads, self.schedule, self.tiling, available)

    def first_choice(self) -> tuple[Binding, Choice]:
        """Those of the whole plan. Error: a depth or an overlap that cannot be."""
        depths_for(self.plan, self.wishes.halo_depth)
        parsed_speeds(self.wishes.speeds, self.ranks.size, timed=MEASURE)
        if self.wishes.overlap not in OVERLAPS:
            raise ModelError(f"overlap '{self.wishes.overlap}' is unknown; allowed: {', '.join(OVERLAPS)}")
        most = self.binding(self.threads, None)
        return most, self.choice(self.plan, most.threads)

    def direct(self) -> bool:
        """Whether messages leave from the memory of this rank's device. Error: they are to, and cannot."""
        if self.ranks.size == 1 or self.name != "cuda":
            return False
        return messages_are_direct(device().in_process, self.wishes.overlap == "host-buffer")

    def started(self, choice: Choice, found: Decomposition | None, depth: int = 0, direct: bool = False) -> Started:
        """The engine, on its share of the domains."""
        count = len(found.grouping.domains_of(self.ranks.rank)) if found else 1
        binding = self.binding(choice.machine.threads, count)
        options: dict[str, Any] = {"threads": binding.threads, "tiling": choice.tiling, "placement": placement(binding)}
        engine: Engine
        if found and self.ranks.size > 1:
            spread = cast(Ranks, self.ranks), found.arrangement, found.grouping, depth, self.wishes.overlap
            options["timeline"] = Timeline() if self.wishes.timeline else None
            engine = RankEngine(self.plan, *spread, engine=self.name, direct=direct, **options)
        else:
            engine = ENGINES[self.name](self.plan, domains=found and found.arrangement, **options)
        return Started(self.name, engine, choice, binding, found, depth, self.ranks)


def refuse_spread(
    engine: str, threads: int | None, tiling: str | Tiling | None, wishes: Parallel, ranks: Alone
) -> None:
    """Refuse what an engine of one piece (`UNDIVIDED`) would leave unused."""
    if ranks.size > 1 and engine == "reference":
        raise ModelError(f'engine "{engine}" runs on one rank, and here are {ranks.size}; start it without a launcher')
    asked = wishes_of_cpu(tiling, wishes)
    if not asked and engine == "reference" and threads not in UNASKED:
        asked = f"threads {threads}"
    if asked:
        raise ModelError(
            f'{asked} cannot be had with engine "{engine}", {UNDIVIDED[engine]}; leave it out, or take engine "cpu"'
        )


UNASKED = (None, 1, "1", "auto", (1, 1, 1), "none", "off")


def wishes_of_cpu(tiling: str | Tiling | None, wishes: Parallel | None) -> str:
    """What is asked that only the CPU engine does, such as "tiles 8x16"; empty: nothing."""
    wishes = wishes or Parallel()
    asked = {"tiles": tiling, "domains": wishes.domains, "bind": wishes.bind}
    asked |= {"memory": wishes.memory, "halo_depth": wishes.halo_depth}
    return next((f"{name} {value}" for name, value in asked.items() if value not in UNASKED), "")


def with_uncut_rows(plan: Plan, domains: int | Triple | None) -> Plan:
    """The plan with rows along an axis that these domains leave whole, where there is one."""
    if not isinstance(domains, tuple) or domains[plan.unit_axis] == 1 or min(domains) > 1:
        return plan
    shortest, longest = ROW_LENGTHS
    whole = [axis for axis in range(3) if domains[axis] == 1]
    fitting = [axis for axis in whole if shortest <= plan.active[axis] <= longest]
    return replace(plan, rows_axis=max(fitting or whole, key=lambda axis: (plan.active[axis], axis)))


def place_of(ranks: Alone) -> tuple[int, int, list[tuple[int, ...]]]:
    """Ranks on this host, this one's number among them, and the processors that each of them started with."""
    processors = ranks.everywhere(tuple(bound().processors))
    here = [rank for rank, host in enumerate(ranks.hosts) if host == ranks.hosts[ranks.rank]]
    return len(here), here.index(ranks.rank), [processors[rank] for rank in here]


def placement(binding: Binding) -> Placement:
    return Placement(binding.processors, binding.memory, binding.nodes)


def division(
    plan: Plan,
    domains: int | Triple,
    ranks: Alone,
    choice: Choice,
    wishes: Parallel,
    speeds: Sequence[float] | None = None,
) -> tuple[Decomposition, int]:
    """The decomposition and the depth of halos that are the fastest by the model. Error: none fits."""
    weights, halo = Weights.of(plan), HaloCost()
    if ranks.size > 1:
        overlap = wishes.overlap in ("split", "host-buffer")
        crew = Crew(len(set(ranks.hosts)), len(this_machine().numa), choice.machine.threads, ranks.size, domains)
        halos = crew.halo_costs(plan, depths_for(plan, wishes.halo_depth), load_profile(None), overlap)
        tiles = Tiles.of(choice.tiling, choice.rows, choice.machine)
        halo = cheapest(weights, domains, ranks.size, halos, tiles, overlap)
    found = decompose(weights, domains, ranks.size, speeds, halo)
    if found.grouping.ranks[plan.weighed_axis] > 1:
        found = in_blocks(found, plan.weighed_axis)
    return found, halo.depth


def in_blocks(found: Decomposition, axis: int) -> Decomposition:
    """The decomposition with ranks cut at multiples of 16 along an axis, since energy is summed in such blocks."""
    cuts, ends = list(found.arrangement.cuts[axis]), found.grouping.groups(axis)[1:-1]
    for end in ends:
        cuts[end] = LANES * round(cuts[end] / LANES)
    if any(low >= high for low, high in pairwise(cuts)):
        raise ModelError(
            f"{found.grouping.ranks[axis]} ranks along {'xyz'[axis]} are too many for {cuts[-1]} samples: each needs "
            f"{LANES}, in which energy is summed; give fewer ranks or another arrangement"
        )
    every = list(found.arrangement.cuts)
    every[axis] = tuple(cuts)
    return replace(found, arrangement=Arrangement(triple(every)))
