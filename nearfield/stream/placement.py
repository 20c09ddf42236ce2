"""Memory of a ring: its NUMA nodes, and whether there is room for it."""

from __future__ import annotations

from numbers import Integral

from nearfield.entry.errors import ModelError
from nearfield.machine.group_memory import free_memory
from nearfield.machine.pages import policy_refused
from nearfield.machine.system_files import NODES, SYSTEM, node_memory, numbers_in, text


def nodes_with_memory() -> list[int]:
    """NUMA nodes that have memory, by the system's numbers; 0 where the system names none."""
    return sorted(numbers_in(text(SYSTEM / NODES / "has_memory"))) or [0]


def wanted_nodes(memory: int | str | None) -> tuple[str, list[int]]:
    """The memory policy of a ring and its nodes. Raises ModelError for a node that is not there or is refused."""
    if memory is None:
        return "off", []
    here = nodes_with_memory()
    if memory == "interleave":
        nodes = here
    elif isinstance(memory, Integral) and not isinstance(memory, bool):
        nodes = [int(memory)]
        if memory not in here:
            raise ModelError(no_such_node("memory", memory))
    else:
        raise ModelError(f"memory={memory!r}: allowed are the number of a NUMA node, 'interleave', or nothing")
    policy = "interleave" if memory == "interleave" else "bind"
    if why := policy_refused(policy, nodes):
        raise ModelError(f"memory={memory!r} cannot be honoured: {why}. Leave memory out")
    return policy, nodes


def no_such_node(what: str, node: int) -> str:
    """The message for a node that this machine has not."""
    here = ", ".join(map(str, nodes_with_memory()))
    return f"{what}={node}: there is no NUMA node {node} with memory on this machine; it has {here}"


def require_room(wanted: int, nodes: list[int]) -> None:
    """Refuse a ring that this machine, or its one node, has no memory for: shared memory counts as used memory."""
    free, where = (node_memory(nodes[0]), f"node {nodes[0]}") if len(nodes) == 1 else (free_memory(), "this machine")
    if free and wanted > free:
        raise ModelError(
            f"a ring of {wanted / 1e6:.0f} MB needs more memory than {where} has left, "
            f"{free / 1e6:.0f} MB. Use fewer or smaller blocks"
        )
