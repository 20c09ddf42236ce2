"""`nearfield ring`: the rings in this machine's shared memory, what passed through one, the removal of stale ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from nearfield.commands.console import print_answer
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.stream import names
from nearfield.stream.rings import Ring, pages, remove, rings
from nearfield.stream.rings import ring as ring_named

MEANING = {"open": "", "closed": "readers drain it", "orphaned": "its writer died", "stale": "no process uses it"}


def list_rings(as_json: bool) -> int:
    """Print a line for each ring of this user."""
    found = rings()
    lines = [line_of(ring) for ring in found] or [f"no ring in {names.folder()}"]
    if any(ring.stale for ring in found):
        lines.append("`nearfield ring rm --stale` removes all that no process uses")
    answer = {"folder": str(names.folder()), "rings": [summary(ring) for ring in found]}
    return print_answer(as_json, answer, "\n".join(lines))


def summary(ring: Ring) -> dict[str, Any]:
    """A ring in a few entries; null where it is unreadable."""
    facts = ring.facts
    return {
        "name": ring.name,
        "path": str(ring.path),
        "state": ring.state,
        "reason": ring.reason or None,
        "blocks": facts.get("ring_blocks"),
        **{key: facts.get(key) for key in ("block_bytes", "total_bytes", "writer", "epoch")},
        "readers": len(facts["readers"]) if facts else None,
        "committed": facts.get("blocks"),
    }


def line_of(ring: Ring) -> str:
    """Name, state, size, parties."""
    if not ring.facts:
        return f"{ring.name:24} {ring.state:10} {ring.reason}"
    facts = ring.facts
    alive = sum(reader["alive"] for reader in facts["readers"])
    writer = f"writer {facts['writer']['pid']}" if facts["writer"]["alive"] else "no writer"
    return (
        f"{ring.name:24} {ring.state:10} {facts['ring_blocks']} x {facts['block_bytes']} bytes, {writer}, "
        f"{counted(alive, 'reader')}, {facts['blocks']} blocks committed"
    )


def show_ring(name: str, as_json: bool) -> int:
    """Print all that one ring knows of itself, and where its pages lie."""
    ring = ring_named(name)
    if not ring.facts:
        raise ModelError(ring.reason)
    where = pages(ring)
    places = {"pages_per_node": where["by_node"], "pages": where["pages"]}
    answer = {"name": ring.name, "state": ring.state, **ring.facts, **places}
    return print_answer(as_json, answer, "\n".join(ring_text(ring, where)))


def ring_text(ring: Ring, where: dict[str, Any]) -> list[str]:
    """Lines about one ring, its readers and its pages."""
    facts, levels = ring.facts, ring.facts["fill_levels"]
    state = f"{ring.state}, {MEANING[ring.state]}" if MEANING[ring.state] else ring.state
    lines = [
        f"{ring.name}: {state}; made {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(facts['created']))}",
        f"writer   process {facts['writer']['pid']}{'' if facts['writer']['alive'] else ', ended'}, "
        f"number {facts['epoch'] + 1} of this ring",
        f"blocks   {facts['ring_blocks']} of {facts['block_bytes']} bytes; {facts['blocks']} committed, "
        f"{facts['bytes'] / 1e6:.1f} MB",
        f"waited   {facts['seconds_waited']:.3f} s for a free block; {facts['dropped']} dropped, "
        f"{facts['readers_died']} readers died",
        f"pages    {placed(where)}",
        "in use   " + ", ".join(f"{n}: {times}" for n, times in enumerate(levels) if times) + " (blocks: how often)",
    ]
    lines += [
        f"reader   process {reader['pid']}{'' if reader['alive'] else ', ended'}, {reader['policy']}: "
        f"{reader['received']} received, {reader['dropped']} dropped, {reader['pending']} pending, "
        f"{reader['held']} held; waited for {reader['seconds_waited_for']:.3f} s"
        for reader in facts["readers"]
    ]
    return lines


def placed(where: dict[str, Any]) -> str:
    """Pages by node, such as `512 on node 0`."""
    if "reason" in where:
        return f"{where['pages']}, {where['reason']}"
    found = ", ".join(f"{count} on node {node}" for node, count in enumerate(where["by_node"]) if count)
    return f"{found} of {sum(where['by_node'])} looked up, {where['pages']} in all"


def remove_rings(chosen: Sequence[str], stale: bool, as_json: bool) -> int:
    """Remove rings by name, or all that nobody uses; one that is in use is refused, before any is removed."""
    if not chosen and not stale:
        raise ModelError("name the rings to remove, or give --stale for all that nobody uses")
    removed = [ring_named(name) for name in dict.fromkeys(chosen)]
    for ring in removed:
        if ring.state == "unreadable":
            raise ModelError(ring.reason)
        if not ring.stale:
            raise ModelError(f"ring '{ring.name}' is in use ({line_of(ring).split(maxsplit=2)[2]}). End its processes")
    removed += [ring for ring in rings() if stale and ring.stale and ring.name not in chosen]
    for ring in removed:
        remove(ring)
    text = "\n".join(f"removed {ring.name}" for ring in removed) or "nothing to remove"
    return print_answer(as_json, {"removed": [ring.name for ring in removed]}, text)
