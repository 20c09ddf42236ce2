"""`nearfield place`: which rank runs where, as a table or as a launcher's file; with a model, its domains as well."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.launchers import emit as launcher_lines
from nearfield.machine.launchers import ranges
from nearfield.machine.placement import NAMES, Rank, crowding, default_scheme, host_names, memory_policy, ranks

SHOWN = 40  # ranks in the table


@dataclass(frozen=True)
class Cluster:
    """The machines that were asked for, what each rank gets of them, and the threads of a rank."""

    topology: str | None = None
    nodes: int = 1
    bind: str | None = None
    hosts: str | None = None
    threads: int | None = None


def place(model: Path | None, cluster: Cluster, emit: str | None, cut: dict[str, Any], as_json: bool) -> int:
    """The part of `place` that was asked for: domains of a model, cut up as `cut` says, or ranks of a machine."""
    if model is not None and not model.is_file():
        raise ModelError(f"{model}: there is no such model file")
    if model is not None and emit is None:
        from nearfield.commands.place_model import Request, place_model

        return place_model(Request(model, **vars(cluster), **cut), as_json)
    given = [f"--{name}" for name, value in cut.items() if value is not None]
    if given:
        raise ModelError(f"{given[0]} says how a model is cut up: name a model file, and leave --emit out")
    if cluster.topology is None and model is None and emit is None:
        raise ModelError(
            "nothing to place: name a model file, or a machine with --topology (an hwloc XML file or a "
            'synthetic string such as "pack:2 [numa] core:4 pu:1")'
        )
    return place_ranks(cluster.topology, cluster.nodes, cluster.bind, emit, cluster.hosts, cluster.threads, as_json)


def place_ranks(
    topology: str | None,
    nodes: int,
    bind: str | None,
    emit: str | None,
    hosts: str | None,
    threads: int | None = None,
    as_json: bool = False,
) -> int:
    """Print the ranks of `nodes` hosts of this machine or of `topology`, or what launcher `emit` takes.

    Then stdout has that and nothing else, and nothing at all where anything is refused. More `threads` than a rank's
    cores are warned of on stderr.
    """
    hardware = load(topology)
    suited, why = default_scheme(hardware)
    scheme, reason = (suited, why) if bind is None else (bind, f"--bind {bind}")
    placed = ranks(hardware, scheme, host_names(nodes, hosts))
    lines = launcher_lines(emit, hardware, scheme, placed) if emit else []
    smallest = min((rank.unit for rank in placed), key=lambda unit: len(unit.cores))
    warnings = crowding(hardware, smallest, threads) if threads else []
    with console(as_json) as out:
        out.answer(facts(hardware, scheme, reason, placed) | {"launcher": emit, "lines": lines, "warnings": warnings})
        if not as_json:
            out.say("\n".join(lines) if emit else table(hardware, scheme, reason, placed))
        for warning in warnings:
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
    lines = [
        f"{mark}{hardware.name}",
        f"binding {scheme}: each rank has {NAMES[scheme]} ({reason})",
        f"memory  {memory_policy(scheme)}",
        "",
        f"{'rank':>6}  {'host':14} {'threads':>7}  {'NUMA':8} processors",
    ]
    for rank in placed[:SHOWN]:
        lines.append(
            f"{rank.number:6d}  {rank.host:14} {len(rank.unit.cores):7d}  {ranges(rank.unit.numa):8} "
            f"{ranges(hardware.processors_of(rank.unit))}"
        )
    if len(placed) > SHOWN:
        lines.append(f"   ... and {len(placed) - SHOWN} more ranks")
    return "\n".join([*lines, "", "--emit rankfile, prrte, hydra or slurm writes what a launcher takes"])
