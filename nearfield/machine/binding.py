"""Binding of this process: which processors each of its threads gets, on which nodes the pages of each domain go.

`resolve` decides before a run, `Binding.verify` and `Binding.locality` check the result afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.machine import pages, processors
from nearfield.machine.hardware import SCHEMES, Hardware, assemble
from nearfield.machine.pages import POLICIES, Locality
from nearfield.machine.placement import default_scheme, memory_policy
from nearfield.machine.processors import Bound, processors_text
from nearfield.machine.system_files import NODES, SYSTEM, examine, nodes_in, ranges
from nearfield.machine.teams import Nodes, Processors, crowding_of, team_of, threads_of

Counts = Sequence[tuple[Sequence[int], int]]


@dataclass(frozen=True)
class Achieved:
    """Processors that the threads of a run may use, as the kernel says, and whether they are the requested ones."""

    processors: tuple[Processors, ...]
    as_asked: tuple[bool, ...]

    def words(self) -> str:
        """Such as `verified`, or which threads are elsewhere."""
        if all(self.as_asked):
            return "verified"
        wrong = [t for t, right in enumerate(self.as_asked) if not right]
        return f"NOT ACHIEVED: thread {wrong[0]} may run on {processors_text(self.processors[wrong[0]])}"


@dataclass(frozen=True)
class Binding:
    """The request, the choice with its reason, and where threads and pages of this rank go."""

    asked: str | None
    scheme: str
    reason: str
    memory_asked: str | None
    memory: str
    memory_reason: str
    bound: Bound  # the binding at the start of this process
    processors: tuple[Processors, ...]  # for each thread; () leaves it where it is
    nodes: Nodes
    warnings: tuple[str, ...] = ()

    @property
    def threads(self) -> int:
        return len(self.processors)

    @property
    def domains(self) -> int:
        return len(self.nodes)

    def verify(self, thread_ids: Iterable[int]) -> Achieved:
        """Processors of the threads, as the kernel says while they are alive."""
        found = processors.allowed(thread_ids)
        wanted = [mine or self.bound.processors for mine in self.processors]
        return Achieved(found, tuple(have == want for have, want in zip(found, wanted)))

    def locality(self, look: Callable[[], Counts], achieved: Achieved) -> Locality:
        """The locality share, of the threads as they are bound and of the pages that `look` finds.

        `look` returns for each domain the pages on each node and how many there are in all; it may raise OSError.
        """
        node = {processor: pages.node_of(processor) for mine in achieved.processors for processor in mine}
        try:
            counts = look()
        except OSError as refused:
            one_node = len(nodes_in(SYSTEM / NODES)) <= 1
            return Locality(1.0, reason="one NUMA node") if one_node else Locality(None, reason=str(refused.strerror))
        near = [[node[processor] for processor in mine] for mine in achieved.processors]  # nodes of each thread
        places = [[near[thread] for thread in threads_of(n, len(counts), len(near))] for n in range(len(counts))]
        return pages.locality(counts, places)

    def facts(self, achieved: Achieved | None = None, found: Locality | None = None) -> dict[str, Any]:
        """All of it as plain data; `verified` and `locality_share` are null where nothing was looked up."""
        bind: dict[str, Any] = {"asked": self.asked, "scheme": self.scheme, "reason": self.reason}
        bind |= {"process": self.bound.words(), "threads": [ranges(mine) for mine in self.processors]}
        bind |= {"achieved": None, "verified": None}
        if achieved:
            bind["achieved"] = [ranges(mine) for mine in achieved.processors]
            bind["verified"] = all(achieved.as_asked)
        memory: dict[str, Any] = {"asked": self.memory_asked, "policy": self.memory, "reason": self.memory_reason}
        memory |= {"nodes": [list(nodes) for nodes in self.nodes], "pages_by_node": None, "locality_share": None}
        if found:
            memory |= {"pages_by_node": list(found.by_node), "locality_share": found.share}
        return {"bind": bind, "memory": memory | pages.system_facts()}

    def header(self, achieved: Achieved | None = None, found: Locality | None = None) -> str:
        """One line on the threads and one on the memory."""
        state = f", {achieved.words()}" if achieved else ""
        share = f", {found.words()}" if found else ""
        reason = self.reason if self.asked else f"by default: {self.reason}"
        memory_reason = self.memory_reason if self.memory_asked else f"by default: {self.memory_reason}"
        threads = f"binding {self.scheme} ({reason}); {self.where()}{state}"
        return f"{threads}\nmemory {self.memory} ({memory_reason}){share}"

    def where(self) -> str:
        """Such as `4 threads, one each on processors 0-3`."""
        threads = counted(self.threads, "thread")
        places = list(dict.fromkeys(self.processors))
        if () in places:
            return f"{threads}, free to move"
        if len(places) == self.threads > 1 and all(len(place) == 1 for place in places):
            return f"{threads}, one each on {processors_text([place[0] for place in places])}"
        return f"{threads} on " + "; ".join(map(processors_text, places))


def resolve(
    bind: str | None,
    memory: str | None,
    threads: int | None,
    hardware: Hardware,
    ranks_here: int = 1,
    local_rank: int = 0,
    *,
    domains: int | None = None,
    bound: Bound | None = None,
    ranks_bound: Sequence[Sequence[int]] | None = None,
) -> Binding:
    """Decide where the threads of a rank run and where its pages lie.

    `bind` is one of SCHEMES, with `!` to go beyond any binding from outside, or None for the default; `memory` one of
    POLICIES or None. `threads` and `domains` are of this rank (None: one for each core, for each unit of the scheme).
    `hardware` is what this process may use, as `this_machine()` says; `ranks_bound` the processors that each rank of
    this host started with, where they are known: equal ones are shared by the ranks. Domains are counted as the core
    counts them.

    Raises ModelError for what cannot be honoured: no such scheme or objects, a policy that the system forbids.
    """
    scheme, wide = scheme_asked(bind)
    if hardware.simulated:
        why = f"{hardware.name} is not this machine, so nothing can be bound to it"
        raise ModelError(f"binding is SIMULATED: {why}. Leave the topology out, or use `nearfield place`")
    bound = bound or processors.bound()
    alone = ranks_here == 1 or (len(set(map(tuple, ranks_bound))) > 1 if ranks_bound else bound.by_launcher)
    over = bool(bound.by) and (wide or (scheme not in (None, "none") and bound.by_launcher and alone))
    if over:
        hardware, alone = machine_of(bound.reachable), ranks_here == 1
    sharers = 1 if alone else ranks_here
    suited, why = default_scheme(hardware)
    if bind:
        why = f"--bind {bind}" + (f", over the binding by {bound.by}" if over else "")
    elif bound.by:
        why = f"within {bound.words()}; {why}"
    team = team_of(hardware, scheme, suited, sharers, local_rank if sharers > 1 else 0, threads, domains)
    require_binding(bind, team.processors)
    policy, reason, nodes = memory_chosen(memory, scheme or suited, team.nodes, hardware)
    warnings = crowding_of(hardware, team, sharers, bound)
    return Binding(bind, scheme or suited, why, memory, policy, reason, bound, team.processors, nodes, tuple(warnings))


def scheme_asked(bind: str | None) -> tuple[str | None, bool]:
    """The scheme, and whether a binding from outside is to be overridden."""
    scheme = bind.removesuffix("!") if bind else None
    if scheme is not None and scheme not in SCHEMES:
        allowed = f"{', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}; with ! at its end it overrides"
        raise ModelError(f"bind='{bind}' is unknown: {allowed} what a launcher or taskset has bound")
    return scheme, bool(bind) and bind != scheme


def machine_of(usable: Iterable[int]) -> Hardware:
    """This machine as far as these processors go."""
    root, distances, facts = examine(usable=frozenset(usable))
    return assemble(root, "this machine", False, distances, facts)


def require_binding(bind: str | None, places: Sequence[Processors]) -> None:
    """Refuse a binding that the system does not grant, before anything runs."""
    wanted = [place for place in places if place]
    able = hasattr(os, "sched_setaffinity")
    why = processors.binding_refused(wanted) if able else "this system cannot bind threads"
    if wanted and why:
        raise ModelError(f"binding '{bind or 'by default'}' cannot be honoured: {why}. Use --bind none")


def memory_chosen(memory: str | None, scheme: str, nodes: Nodes, hardware: Hardware) -> tuple[str, str, Nodes]:
    """The memory policy, why, and the nodes of each domain; one that was asked for and is not granted is refused."""
    if memory is not None and memory not in POLICIES:
        raise ModelError(f"memory='{memory}' is unknown: {', '.join(POLICIES[:-1])} or {POLICIES[-1]}")
    before = pages.process_policy()
    if memory is None and before != "default":
        return "off", f"this process was started with {before}", nodes
    policy = memory or memory_policy(scheme)
    if policy == "interleave":
        nodes = (tuple(node.os_index for node in hardware.numa if node.cores),) * len(nodes)
    refused = pages.policy_refused(policy, sorted({node for mine in nodes for node in mine}))
    if not refused:
        return policy, f"--memory {memory}" if memory else f"goes with {scheme}", nodes
    if memory:
        remedy = "Use --memory first-touch, which needs no permission and places pages as well, or --memory off"
        raise ModelError(f"memory='{memory}' cannot be honoured: {refused}. {remedy}")
    return "first-touch", f"the system refuses {refused}", nodes
