"""`nearfield machine`: this machine, or one that is only described, as rows, as a tree, as a picture, as hwloc XML."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nearfield.commands.cards import card_text, cards_here
from nearfield.commands.console import console, print_answer
from nearfield.commands.tables import rows
from nearfield.commands.writing import written_to
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import write_whole
from nearfield.entry.wording import counted
from nearfield.machine.group_memory import GroupMemory, group_memory
from nearfield.machine.hardware import Hardware, NumaNode, load
from nearfield.machine.placement import default_scheme, memory_policy
from nearfield.machine.topology import available_threads
from nearfield.machine.xml_export import to_xml
from nearfield.report.machine_picture import picture, size, text

PICTURES = {".svg": "svg", ".png": "png"}


def show_machine(topology: str | None, nodes: int, plot: Path | None, emit: str | None, as_json: bool) -> int:
    """Print the machine; with `plot` draw it too; with `emit` print hwloc's XML and nothing else."""
    if emit not in (None, "xml"):
        raise ModelError(f"emit={emit}: allowed is xml, which hwloc and launchers read")
    hardware = load(topology)
    with console(as_json) as out:
        if plot is not None:
            content = drawn(hardware, plot)
            with written_to(plot, "--plot"):
                write_whole(plot.resolve(), content)
            out.note(f"wrote {plot}")
        if emit:
            out.say(to_xml(hardware).rstrip())
        out.answer(facts(hardware, nodes), "" if emit else f"{table(hardware, nodes)}\n\n{text(hardware)}")
    return 0


def drawn(hardware: Hardware, plot: Path) -> bytes:
    """The picture as a file of the kind that its name asks for."""
    kind = PICTURES.get(plot.suffix.lower())
    if kind is None:
        raise ModelError(f"plot={plot}: allowed are names that end in {' or '.join(PICTURES)}")
    if not plot.absolute().parent.is_dir():
        raise ModelError(f"plot={plot}: there is no folder {plot.parent}; make it, or choose another")
    buffer = io.BytesIO()
    picture(hardware).savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def limit_of(hardware: Hardware) -> GroupMemory | None:
    """What the control group grants of this machine's memory; nothing is known of others."""
    return None if hardware.simulated else group_memory()


def cluster(hardware: Hardware, nodes: int) -> dict[str, str]:
    """The rows of a cluster's table; all nodes are alike. What is not known says so."""
    known, limit = hardware.facts, limit_of(hardware)
    cores, processors = len(hardware.cores), len(hardware.processors)
    sizes = {"L1": hardware.l1, "L2": hardware.l2, "L3": hardware.l3}
    caches = ", ".join(f"{name} {size(known)}" for name, known in sizes.items() if known)
    nodes_text = counted(len(hardware.numa), "NUMA node")
    return {
        "Machine": hardware.name + (", SIMULATED: not this machine" if hardware.simulated else ""),
        "CPU type": known.processor or "unknown",
        "Clock speed": f"{known.clock / 1e9:.3g} GHz" if known.clock else "unknown",
        "Number of nodes": str(nodes),
        "Packages a node": str(len(hardware.packages())),
        "Cores a node": f"{cores} ({processors} processors)",
        "Caches": f"{caches} each" if caches else "unknown",
        "Memory a node": f"{size(hardware.memory)} in {nodes_text}" if hardware.memory else f"unknown, {nodes_text}",
        **(
            {}
            if limit is None
            else {"Memory limit": f"{size(limit.limit)} of its control group, {size(limit.free)} left"}
        ),
        "Operating system": known.system or "unknown",
        "Network": hardware.boards.words() if hardware.boards else ", ".join(known.network) or "unknown",
        **({} if hardware.simulated else {"Cards": card_text(cards_here())}),
    }


def table(hardware: Hardware, nodes: int) -> str:
    """The rows of a cluster as text."""
    return rows(cluster(hardware, nodes), 18)


def facts(hardware: Hardware, nodes: int) -> dict[str, Any]:
    """Everything about the machine; sizes in bytes, the clock in Hz."""
    scheme, reason = default_scheme(hardware)
    known = hardware.facts
    return {
        "name": hardware.name,
        "simulated": hardware.simulated,
        "nodes": nodes,
        "processor": known.processor or None,
        "clock_hertz": known.clock or None,
        "system": known.system or None,
        "network": list(known.network),
        **({} if hardware.simulated else cards_here()),
        "packages": len(hardware.packages()),
        "cores": len(hardware.cores),
        "processors": len(hardware.processors),
        "memory_bytes": hardware.memory or None,
        "memory_limit_bytes": limit.limit if (limit := limit_of(hardware)) else None,
        "caches": {"L1": hardware.l1, "L2": hardware.l2, "L3": hardware.l3},
        "numa_nodes": [numa_facts(node) for node in hardware.numa],
        "core_list": [asdict(core) for core in hardware.cores],
        "distances": hardware.distances,
        "boards": hardware.boards.description.model_dump(mode="json") if hardware.boards else None,
        "bind": scheme,
        "reason": reason,
        "table": cluster(hardware, nodes),
    }


def numa_facts(node: NumaNode) -> dict[str, Any]:
    """A NUMA node as plain data."""
    memory = node.memory or None
    return {"index": node.index, "os_index": node.os_index, "memory_bytes": memory, "cores": node.cores}


def check_machine(topology: str | None, as_json: bool) -> int:
    """Print what this process is bound to and what of the system bears on where threads and pages go."""
    if topology is not None:
        raise ModelError(
            f"topology={topology}: --check looks at this process on this machine; a SIMULATED one has "
            "nothing to check. Leave the topology or --check out"
        )
    found, words = checks(load(None)), {True: "on", False: "off"}
    texts = {
        name.replace("_", " "): words.get(value, value)
        for name, value in found.items()
        if value != "" and name != "simulated"
    }
    return print_answer(as_json, found, rows(texts, 18))


def checks(hardware: Hardware) -> dict[str, Any]:
    """Bindings and memory policies of this process and this system; `unknown` where the core does not say."""
    scheme, reason = default_scheme(hardware)
    found: dict[str, Any] = {"simulated": hardware.simulated}
    try:
        from nearfield.machine import pages, processors

        found |= {"this_process": processors.bound().words(), **pages.system_facts()}
    except ImportError:
        found |= {"this_process": "unknown: nearfield/machine/processors.py is missing from this installation"}
    return found | {
        "binding_threads": binding_of_threads(hardware),
        "memory_policies": memory_policies(hardware),
        "default_binding": scheme,
        "reason": reason,
        "default_memory": memory_policy(scheme),
        "default_threads": available_threads(),
    }


def binding_of_threads(hardware: Hardware) -> str:
    """Whether a thread can be bound to each core, tried with one."""
    try:
        from nearfield.machine.processors import binding_refused

        refused = binding_refused(core.processors for core in hardware.cores)
    except (ImportError, AttributeError):
        return "unknown: the compiled core does not know; build it again with `make setup`"
    return f"refused: {refused}" if refused else "granted, tried on every core"


def memory_policies(hardware: Hardware) -> str:
    """Which memory policies the system grants on the nodes that this process may use."""
    try:
        from nearfield import _core

        nodes = [node.os_index for node in hardware.numa]
        answers = {policy: _core.machine.policy_refused(policy, nodes) for policy in ("bind", "interleave")}
    except (ImportError, AttributeError):
        return "unknown: the compiled core does not know; build it again with `make setup`"
    return ", ".join(f"{policy} {f'refused: {why}' if why else 'granted'}" for policy, why in answers.items())
