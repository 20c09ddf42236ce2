"""`nearfield ring`: the rings in this machine's shared memory, what passed through one, the removal of stale ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError
from nearfield.stream import names
from nearfield.stream.rings import Ring, pages, remove, ring, rings

MEANING = {"open": "", "closed": "readers drain it", "orphaned": "its writer died", "stale": "nobody uses it"}


def list_rings(as_json: bool) -> int:
    """Print a line for each ring of this user."""
    found = rings()
    with console(as_json) as out:
        out.answer({"folder": str(names.folder()), "rings": [summary(one) for one in found]})
        if not as_json:
            lines = [line_of(one) for one in found] or [f"no ring in {names.folder()}"]
            if any(one.stale for one in found):
                lines.append("`nearfield ring rm --stale` removes what nobody uses")
            out.say("\n".join(lines))
    return 0


def summary(one: Ring) -> dict[str, Any]:
    """A ring in a few entries; those of an unreadable one are null."""
    facts = one.facts
    return {
        "name": one.name,
        "path": str(one.path),
        "state": one.state,
        "reason": one.reason or None,
        "blocks": facts.get("ring_blocks"),
        "block_bytes": facts.get("block_bytes"),
        "total_bytes": facts.get("total_bytes"),
        "writer": facts.get("writer"),
        "epoch": facts.get("epoch"),
        "readers": len(facts["readers"]) if facts else None,
        "committed": facts.get("blocks"),
    }


def line_of(one: Ring) -> str:
    """Name, state, size, parties."""
    if not one.facts:
        return f"{one.name:24} {one.state:10} {one.reason}"
    facts = one.facts
    alive = sum(reader["alive"] for reader in facts["readers"])
    writer = f"writer {facts['writer']['pid']}" if facts["writer"]["alive"] else "no writer"
    return (
        f"{one.name:24} {one.state:10} {facts['ring_blocks']} x {facts['block_bytes']} bytes, {writer}, "
        f"{alive} reader{'s' * (alive != 1)}, {facts['blocks']} blocks committed"
    )


def show_ring(name: str, as_json: bool) -> int:
    """Print all that one ring knows of itself, and where its pages lie."""
    one = ring(name)
    if not one.facts:
        raise ModelError(one.reason)
    where = pages(one)
    with console(as_json) as out:
        out.answer(
            {
                "name": one.name,
                "state": one.state,
                **one.facts,
                "pages_per_node": where["by_node"],
                "pages": where["pages"],
            }
        )
        if not as_json:
            out.say("\n".join(told(one, where)))
    return 0


def told(one: Ring, where: dict[str, Any]) -> list[str]:
    """The same in words."""
    facts, levels = one.facts, one.facts["fill_levels"]
    state = f"{one.state}, {MEANING[one.state]}" if MEANING[one.state] else one.state
    lines = [
        f"{one.name}: {state}; made {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(facts['created']))}",
        f"writer   process {facts['writer']['pid']}{'' if facts['writer']['alive'] else ', ended'}, "
        f"number {facts['epoch'] + 1} of this ring",
        f"blocks   {facts['ring_blocks']} of {facts['block_bytes']} bytes; {facts['blocks']} committed, "
        f"{facts['bytes'] / 1e6:.1f} MB",
        f"waited   {facts['seconds_waited']:.3f} s for a free block; {facts['dropped']} dropped, "
        f"{facts['readers_died']} readers died",
        f"pages    {placed(where)}",
        "in use   " + ", ".join(f"{n}: {times}" for n, times in enumerate(levels) if times) + " (blocks: how often)",
    ]
    for reader in facts["readers"]:
        lines.append(
            f"reader   process {reader['pid']}{'' if reader['alive'] else ', ended'}, {reader['policy']}: "
            f"{reader['received']} received, {reader['dropped']} dropped, {reader['pending']} pending, "
            f"{reader['held']} held; waited for {reader['seconds_waited_for']:.3f} s"
        )
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
    doomed = [ring(name) for name in dict.fromkeys(chosen)]
    for one in doomed:
        if one.state == "unreadable":
            raise ModelError(one.reason)
        if not one.stale:
            raise ModelError(f"ring '{one.name}' is in use ({line_of(one).split(maxsplit=2)[2]}). End its processes")
    doomed += [one for one in rings() if stale and one.stale and one.name not in chosen]
    for one in doomed:
        remove(one)
    with console(as_json) as out:
        out.answer({"removed": [one.name for one in doomed]})
        if not as_json:
            out.say("\n".join(f"removed {one.name}" for one in doomed) or "nothing to remove")
    return 0
