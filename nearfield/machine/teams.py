"""Which cores a rank of several on this machine gets, and which of their processors each of its threads gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearfield.machine.hardware import Hardware, Unit
from nearfield.machine.placement import crowded, processors_of_threads, shares
from nearfield.machine.processors import Bound, processors_text
from nearfield.machine.system_files import cgroup_limit

Count = int | None  # None: chosen
Processors = tuple[int, ...]
Nodes = tuple[tuple[int, ...], ...]  # for each domain, by the system's numbers


@dataclass(frozen=True)
class Team:
    """The cores of a rank, the processors of its threads, the nodes of its domains."""

    cores: tuple[int, ...]
    processors: tuple[Processors, ...]
    nodes: Nodes


def team_of(
    hardware: Hardware, scheme: str | None, suited: str, sharers: int, rank: int, threads: Count, domains: Count
) -> Team:
    """The team of one of so many ranks; `scheme` is None where the suited one is taken by default."""
    units = units_of_rank(hardware, scheme or suited, sharers, rank)
    cores = tuple(dict.fromkeys(core for unit in units for core in unit.cores))
    granted = (cgroup_limit() or len(cores) * sharers) // sharers
    threads = threads or max(1, min(len(cores), granted))
    if scheme is None and suited == "node" and threads * sharers > len(hardware.cores):
        units, cores = list(hardware.units("node")), tuple(range(len(hardware.cores)))  # the system shares out better
    parts = units_of_domains(hardware, units, domains or min(len(units), threads))
    near = ({hardware.numa[hardware.cores[core].numa].os_index for core in part.cores} for part in parts)
    nodes = tuple(tuple(sorted(numbers)) for numbers in near)
    if scheme == "none":
        return Team(cores, ((),) * threads, nodes)
    return Team(cores, processors_of(hardware, parts, threads, scheme is not None), nodes)


def units_of_rank(hardware: Hardware, scheme: str, ranks_here: int, local_rank: int) -> list[Unit]:
    """Consecutive units for each rank; more ranks than units get part of a unit's cores each, units in turn."""
    units = hardware.units(scheme)
    count = len(units)
    if ranks_here <= count:
        return list(units[local_rank * count // ranks_here : (local_rank + 1) * count // ranks_here])
    unit = units[local_rank % count]
    sharers = -(-(ranks_here - local_rank % count) // count)
    return [Unit(shares(hardware, unit, sharers)[local_rank // count], unit.numa)]


def units_of_domains(hardware: Hardware, units: Sequence[Unit], domains: int) -> list[Unit]:
    """The cores of each domain: whole units, in order, where there are enough of them; else even parts of one."""
    if domains <= len(units):
        groups = [units[d * len(units) // domains : (d + 1) * len(units) // domains] for d in range(domains)]
        return [Unit(tuple(core for unit in group for core in unit.cores), ()) for group in groups]
    counts = [(u + 1) * domains // len(units) - u * domains // len(units) for u in range(len(units))]
    return [Unit(cores, ()) for unit, count in zip(units, counts) for cores in shares(hardware, unit, count)]


def threads_of(domain: int, domains: int, threads: int) -> range:
    """The threads of a domain, as the core's teams have them: domains in order get threads in order."""
    first = domain * threads // domains
    return range(first, max(first + 1, (domain + 1) * threads // domains))


def processors_of(hardware: Hardware, parts: Sequence[Unit], threads: int, pin: bool) -> tuple[Processors, ...]:
    """Processors of each thread: one, where it is pinned and there are enough; else all those of its domains.

    By default threads may move within their unit: two runs that pinned theirs would meet on the same cores.
    """
    places: list[set[int]] = [set() for _ in range(threads)]
    for domain, unit in enumerate(parts):
        mine, all_of_it = threads_of(domain, len(parts), threads), hardware.processors_of(unit)
        if pin and threads >= len(parts) and len(mine) <= len(all_of_it):
            for thread, processor in zip(mine, processors_of_threads(hardware, unit, len(mine))):
                places[thread] = {processor}
        else:
            for thread in mine:
                places[thread] |= set(all_of_it)
    return tuple(tuple(sorted(place)) for place in places)


def crowding_of(hardware: Hardware, team: Team, sharers: int, bound: Bound) -> list[str]:
    """A warning where the threads of all ranks that share this machine must share cores."""
    cores = team.cores if sharers == 1 else range(len(hardware.cores))
    threads = len(team.processors)
    usable = sorted(processor for core in cores for processor in hardware.cores[core].processors)
    ranks = f" ({threads} in each of {sharers} ranks)" if sharers > 1 else ""
    by = f", bound by {bound.by}" if bound.by else ""
    advice = f"Use --threads {max(1, len(cores) // sharers)}" + (" and fewer ranks" if sharers > len(cores) else "")
    if by:
        advice += ", or have this process given more (mpiexec --bind-to none, srun --cpus-per-task)"
    who, where = f"{threads * sharers} threads{ranks}", f"{processors_text(usable)}{by}"
    return crowded(who, threads * sharers, len(cores), len(usable), where, advice)
