"""The bytes that a run moves, beside what the memory gives: how far its rate lies above or below the memory's roofline.

The roofline is what one sweep of E and H a step could reach from memory: the rate of a triad on as many threads over 12
numbers a cell. Tiles make several steps in cache, so a run may exceed it; its own traffic is then a share of what the
memory gives. The traffic is the tiles' model (docs/performance.md), with recording boxes as if nothing of them stayed
in cache.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from nearfield.engines.cpu.tiling import Tiling
from nearfield.machine.machine_rate import known_triad
from nearfield.machine.profile import load_profile
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, traffic_bytes_per_cell

FIELD_NUMBERS = 12  # of a cell, that a sweep of E and H reads and writes


def moved_bytes(plan: Plan, ran: dict[str, Any]) -> float:
    """Bytes a cell and step between memory and caches, of fields and CPML; `ran`: facts of the engine, with tiles, or
    on a card with what the cut moves."""
    if "moved_bytes" in ran:
        return float(ran["moved_bytes"] / np.prod(plan.cells, dtype=float))
    tiles = (ran.get(f"tile_{each.name}", 0) for each in fields(Tiling))
    stepwise = traffic_bytes_per_cell(plan.cells, plan.cpml, plan.precision)
    return stepwise * Tiling(*tiles).traffic * (1 + plan.complex_fields)


def recorded_bytes(plan: Plan, steps: int) -> float:
    """Bytes a cell and step of recording boxes: sums are read and written, copies written, nothing stays in cache."""
    values = sum(term.moved_numbers(steps) for term in plan.recorders)
    return values * BYTES_OF[plan.precision] / float(np.prod(plan.cells, dtype=float))


def memory_rate(threads: int) -> float | None:
    """Bytes a second of a triad on so many threads, as `tune`, `doctor` or `probe` measured it here; None: none did."""
    if rate := known_triad(threads):
        return rate
    profile = load_profile(None)
    found, measured = profile.triad, profile.sources.get("stream", "").startswith("measured")
    if found is None or found.core is None or found.all is None or not measured:
        return None
    return 1e9 * min(threads * found.core, found.all)


def roofline_facts(
    plan: Plan, ran: dict[str, Any], steps: int, mcells_per_second: float, threads: int
) -> dict[str, Any]:
    """Bytes moved a cell and step; where the memory's rate is known, the multiple of its roofline and the share used.

    `threads`: of all ranks of one host; 0: the ranks have several, whose memories nobody measured together.
    """
    moved = moved_bytes(plan, ran) + recorded_bytes(plan, max(steps, 1))
    rate = memory_rate(threads) if threads else None
    found = {"moved_bytes_per_cell": moved, "triad_gb_per_second": rate and rate / 1e9}
    if not rate:
        return found | {"roofline_multiple": None, "memory_share": None}
    roofline = rate / (FIELD_NUMBERS * BYTES_OF[plan.precision] * (1 + plan.complex_fields))
    cells = mcells_per_second * 1e6
    return found | {"roofline_multiple": cells / roofline, "memory_share": cells * moved / rate}


def copy_facts(plan: Plan, ran: dict[str, Any], steps: int, mcells_per_second: float) -> dict[str, Any]:
    """Of a run on a card: bytes moved a cell and step by how the domain is cut, recordings included; the rate at which
    the card copies within its memory and the share of it used, where `probe gpu` measured this card.

    Both of the part that this rank has: its cells make as many steps as all."""
    moved = moved_bytes(plan, ran) + recorded_bytes(plan, max(steps, 1))
    known = load_profile(None).gpu
    rate = known.memory if known and known.name == ran["device"] else None
    share = mcells_per_second * 1e6 * moved / rate if rate else None
    return {"moved_bytes_per_cell": moved, "copy_gb_per_second": rate and rate / 1e9, "copy_share": share}


def copy_text(facts: dict[str, Any], device: str) -> str:
    """The line of a run's summary."""
    moved = f"memory of {device}: {facts['moved_bytes_per_cell']:.1f} bytes a cell and step"
    if facts["copy_share"] is None:
        return f"{moved}; `nearfield probe gpu` measures the card's rate, which this is then held against"
    return (
        f"{moved}, {100 * facts['copy_share']:.0f} % of the {facts['copy_gb_per_second']:.0f} GB/s at which it copies"
    )


def roofline_text(facts: dict[str, Any]) -> str:
    """The line of a run's summary."""
    moved = f"memory: {facts['moved_bytes_per_cell']:.1f} bytes a cell and step by the tiles' model"
    if facts["roofline_multiple"] is None:
        return f"{moved}; `nearfield tune` measures the memory's rate, which this is then held against"
    share, triad = 100 * facts["memory_share"], facts["triad_gb_per_second"]
    multiple = f"{facts['roofline_multiple']:.2g} times the memory roofline"
    return f"{moved}, {share:.0f} % of a triad's {triad:.1f} GB/s; {multiple}"
