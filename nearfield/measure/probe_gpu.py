"""A card: copies to it, from it and within its memory over sizes, each with its line; rates of the update on it."""

from __future__ import annotations

import statistics
from typing import Any

from nearfield.engines.cuda.device import VARIABLE, UsableCard, device
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.measure.bench import Timed, box
from nearfield.measure.probe import Effort, reliable, spread, unsteady
from nearfield.measure.probe_mpi import fit

KINDS = {"to_card": "host to card", "to_host": "card to host", "on_card": "within the card"}
POINTS = (1_000, 10_000, 100_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 25_000_000)
NUMBER_BYTES = 4  # single precision
LONG = 2**30  # bytes of a copy within the card that no cache holds
CELLS, STEPS = 384, 400  # of the box that is timed; its fields leave every cache of a card
QUICK_CELLS, QUICK_STEPS = 128, 200


def probe_gpu(effort: Effort) -> dict[str, Any]:
    """Seconds of copies from 1 kpoint to 25 Mpoint by the card's clock, latency and bandwidth with standard errors, the
    rate of its memory, and million cells a second in single precision. Error: there is no card that can be used."""
    found = device()
    if not isinstance(found, UsableCard):
        raise ModelError(f"probe gpu measures a card, and {VARIABLE} names the make-believe device; unset it")
    copies, warnings = {}, []
    for kind in KINDS:
        copies[kind] = copied(found, kind, effort.passes)
        largest = copies[kind]["sizes"][-1]["seconds"]
        warnings += unsteady(f"copies, {KINDS[kind]}, {POINTS[-1] // 10**6} Mpoint", largest)
        if not reliable(copies[kind]["fit"]):
            warnings.append(f"copies, {KINDS[kind]}: the times follow no line; repeat the probe")
    cells, steps = (QUICK_CELLS, QUICK_STEPS) if effort.quick else (CELLS, STEPS)
    update = {}
    for boundary in ("pec", "cpml"):
        timed = Timed(box(cells, steps, boundary, engine="cuda"))
        timed.seconds(steps)  # kernels are loaded, graphs are made
        update[boundary] = spread([timed.rate(steps) for _ in range(effort.passes)])
        warnings += unsteady(f"update, {boundary}", update[boundary])
    return {
        "name": found.name,
        **found.facts(),
        "passes": effort.passes,
        "copies": copies,
        "memory_bytes_per_second": memory_rate(found, effort.passes),
        "update": {"cells": cells, "steps": steps, "precision": "single", "mcells_per_second": update},
        "warnings": warnings,
    }


def seconds_of(card: UsableCard, kind: str, size: int, passes: int) -> list[float]:
    """Of copies of so many bytes, by the card's clock."""
    devices = core().devices
    try:
        return list(devices.copy_seconds(card.driver.path, card.card.number, kind, size, passes))
    except devices.CardError as error:
        raise ModelError(f"probe gpu: the card {card.name} refuses a copy of {size} bytes: {error}") from None


def memory_rate(card: UsableCard, passes: int) -> dict[str, Any]:
    """Bytes a second that long copies within the card read and write."""
    size = min(LONG, card.free_memory() // 4)
    return spread([2 * size / seconds for seconds in seconds_of(card, "on_card", size, passes)])


def copied(card: UsableCard, kind: str, passes: int) -> dict[str, Any]:
    """Seconds of one kind of copy over sizes, and the line through their medians."""
    rows: list[dict[str, Any]] = []
    for points in POINTS:
        size = points * NUMBER_BYTES
        rows.append({"points": points, "bytes": size, "seconds": spread(seconds_of(card, kind, size, passes))})
    medians = [row["seconds"]["median"] for row in rows]
    line = fit([row["bytes"] for row in rows], medians)
    away = [abs(line["latency"] + row["bytes"] / line["bandwidth"] - time) / time for row, time in zip(rows, medians)]
    return {"sizes": rows, "fit": line, "median_away": statistics.median(away)}
