"""`nearfield place`: which rank runs where, as a table or as a launcher's file; with a model, its domains as well."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import console
from nearfield.commands.place_model import Cluster, Placing, Request, domain_places, place_domains
from nearfield.commands.place_predicted import predicted
from nearfield.commands.place_text import domains_text, reasons, warnings
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.launchers import emit as launcher_lines
from nearfield.machine.launchers import ranges
from nearfield.machine.placement import NAMES, Rank, crowding, default_scheme, host_names, memory_policy, ranks
from nearfield.parallel.halo_sizes import halo_sizes

if TYPE_CHECKING:
    from nearfield.parallel.halo_sizes import HaloSize
    from nearfield.predict.step_time import Prediction

SHOWN = 40  # ranks in the table


def place(model: Path | None, cluster: Cluster, emit: str | None, cut: dict[str, Any], as_json: bool) -> int:
    """Place the domains of a model, which `cut` describes, or the ranks of a machine."""
    if model is not None and not model.is_file():
        raise ModelError(f"{model}: there is no such model file")
    if model is not None and emit is None:
        return place_model(Request(**vars(cluster), model=model, **cut), as_json)
    given = [f"--{name}" for name, value in cut.items() if value is not None]
    if given:
        raise ModelError(f"{given[0]} says how a model is cut up: name a model file, and leave --emit out")
    if cluster.topology is None and model is None and emit is None:
        raise ModelError(
            "nothing to place: name a model file, or a machine with --topology (an hwloc XML file or a "
            'synthetic string such as "pack:2 [numa] core:4 pu:1")'
        )
    return place_ranks(cluster, emit, as_json)


def place_ranks(cluster: Cluster, emit: str | None, as_json: bool = False) -> int:
    """Print the ranks of a cluster, or what launcher `emit` takes.

    Then stdout has that and nothing else, and nothing at all where anything is refused. More threads than a rank's
    cores are warned of on stderr.
    """
    hardware = load(cluster.topology)
    scheme, reason = (cluster.bind, f"--bind {cluster.bind}") if cluster.bind else default_scheme(hardware)
    placed = ranks(hardware, scheme, host_names(cluster.nodes, cluster.hosts))
    lines = launcher_lines(emit, hardware, scheme, placed) if emit else []
    smallest = min((rank.unit for rank in placed), key=lambda unit: len(unit.cores))
    crowded = crowding(hardware, smallest, cluster.threads) if cluster.threads else []
    with console(as_json) as out:
        answer = facts(hardware, scheme, reason, placed) | {"launcher": emit, "lines": lines, "warnings": crowded}
        out.answer(answer, "\n".join(lines) if emit else table(hardware, scheme, reason, placed))
        for warning in crowded:
            out.note(warning)
    return 0


def facts(hardware: Hardware, scheme: str, reason: str, placed: tuple[Rank, ...]) -> dict[str, Any]:
    """The ranks as plain data; cores and NUMA nodes by logical index, processors by the system's number."""
    return {
        "machine": hardware.name,
        "simulated": hardware.simulated,
        "bind": scheme,
        "reason": reason,
        "memory": memory_policy(scheme),
        "ranks": [
            {
                "rank": rank.number,
                "host": rank.host,
                "cores": list(rank.unit.cores),
                "numa": list(rank.unit.numa),
                "processors": list(hardware.processors_of(rank.unit)),
            }
            for rank in placed
        ],
    }


def table(hardware: Hardware, scheme: str, reason: str, placed: tuple[Rank, ...]) -> str:
    """The ranks, a line each; of many only the first."""
    mark = "SIMULATED, not this machine: " if hardware.simulated else ""
    more = [f"   ... and {len(placed) - SHOWN} more ranks"] if len(placed) > SHOWN else []
    text = [
        f"{mark}{hardware.name}",
        f"binding {scheme}: each rank has {NAMES[scheme]} ({reason})",
        f"memory  {memory_policy(scheme)}",
        "",
        f"{'rank':>6}  {'host':14} {'threads':>7}  {'NUMA':8} processors",
        *(
            f"{rank.number:6d}  {rank.host:14} {len(rank.unit.cores):7d}  {ranges(rank.unit.numa):8} "
            f"{ranges(hardware.processors_of(rank.unit))}"
            for rank in placed[:SHOWN]
        ),
        *more,
        "",
        "--emit rankfile, prrte, hydra or slurm writes what a launcher takes",
    ]
    return "\n".join(text)


def place_model(request: Request, as_json: bool = False) -> int:
    """Print the domains of a model. Error: the model is refused, or cannot be cut so."""
    with console(as_json) as out:
        placing = place_domains(request)
        sizes, step = halo_sizes(placing.plan, placing.best, placing.halo.depth), predicted(placing)
        out.answer(model_facts(request, placing, sizes, step), domains_text(request, placing, sizes, step))
        out.warn(*warnings(placing, sizes, step))
        for crowded in placing.machine.crowding():
            out.note(crowded)
    return 0


def model_facts(request: Request, placing: Placing, sizes: list[HaloSize], step: Prediction | None) -> dict[str, Any]:
    """The JSON object."""
    best, machine = placing.best, placing.machine
    return {
        "model": str(request.model),
        "samples": placing.plan.active,
        "hardware": machine.hardware.name,
        "simulated": machine.hardware.simulated,
        "nodes": len(machine.hosts),
        "bind": machine.scheme,
        "ranks": machine.ranks,
        "threads": machine.threads,
        "domains": [asdict(place) for place in domain_places(placing)],
        "arrangement": best.arrangement.counts,
        "cuts": best.arrangement.cuts,
        "rank_arrangement": best.grouping.ranks,
        "unit_axis": "xyz"[placing.plan.unit_axis],
        "imbalance": best.imbalance,
        "depth": placing.halo.depth,
        "halo_bytes": sum(size.bytes_per_step for size in sizes),
        "predicted": step and step.as_dict(),
        "halos": [size.as_dict() for size in sizes],
        "why": "; ".join(reasons(placing)),
        "warnings": [*warnings(placing, sizes, step), *machine.crowding()],
    }
