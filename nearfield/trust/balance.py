"""Balance of powers: what a port accepts against what comes out again, where all that takes power is added up.

Nothing adds up what media, walls and resistors take, nor what leaves along bodies past a far-field surface. Where there
is some of that, a missing share is no error that can be told from a loss, and its verdict is "unknown".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.discretization.enclosure import crossings
from nearfield.discretization.resolution import has_cpml, takers_inside
from nearfield.entry.errors import NearfieldError
from nearfield.trust.entries import Recorded, Trust, judged

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

MADE = 101.0, 103.0  # % of the accepted power that is radiated
LOST = 2.0, 5.0  # % of the power that goes in and comes out nowhere, where nothing takes any
NAMED = 3  # takers that a text names
Takers = dict[str, Any]


def power_takers(setup: Discretization) -> Takers:
    """Names of what takes power besides ports: `inside` the model, `open` (CPML), `past` each far-field surface."""
    past: dict[str, list[str]] = {}
    for _, monitor, name, _ in crossings(setup):
        past.setdefault(monitor, []).append(f"{name}, past the surface")
    model = setup.simulation
    return {"inside": takers_inside(model), "open": ["the CPML"] if has_cpml(model) else [], "past": past}


def port_balance(result: Recorded, source: str, outgoing: np.ndarray) -> Iterator[Trust]:
    """The power into all ports, `source` driven (share that comes out, over frequency), against that out of them."""
    name, facts = f"power balance, {source} driven", result.record.facts
    finite = outgoing[np.isfinite(outgoing)]
    if facts.get("lossless"):
        text = "largest part of the power in that comes out of no port; nothing in this model takes any"
        missing = 100 * float(np.abs(1 - finite).max()) if finite.size else float("nan")
        yield judged(name, missing, *LOST, text, "%")
        return
    record = result.record.excitations.get(source)
    antenna = record is not None and any(each.kind == "far-field" for each in record.monitors.values())
    takers: Takers | None = facts.get("takers")
    if takers and finite.size and not antenna:
        text = "largest part of the power in that comes out of no port"
        yield _unless_taken(name, 100 * float((1 - finite).max()), [*takers["inside"], *takers["open"]], text)


def far_field_balance(result: Recorded, excitation: str, monitor: str, far_field: Any) -> Iterator[Trust]:
    """The power that a port accepts against what is radiated."""
    try:
        radiated = far_field.radiation_efficiency.values
        accepted, available = result.excitation(excitation).port_powers(far_field.frequencies)
    except NearfieldError:  # the excitation is no port
        return
    name, facts = f"power balance, {monitor}, {excitation} driven", result.record.facts
    radiated, part = (values[np.isfinite(radiated)] for values in (radiated, accepted / available))
    largest = 100 * float(radiated.max()) if radiated.size else float("nan")
    if not largest <= MADE[0]:
        yield judged(name, largest, *MADE, "of the accepted power are radiated; more than all cannot be", "%")
        return
    missing = 100 * float(((1 - radiated) * np.where(np.isfinite(part), part, 1.0)).max())
    text = "largest part of the power available that the port accepts and the antenna does not radiate"
    takers: Takers | None = facts.get("takers")
    others = [f"port {port!r}" for port in result.excitation(excitation).record.ports if port != excitation]
    known = ["media"] if takers is None else [*takers["inside"], *takers["past"].get(monitor, ())]
    yield _unless_taken(name, missing, [*known, *others], text)


def _unless_taken(name: str, missing: float, takers: Sequence[str], text: str) -> Trust:
    """A missing share (%): unknown where something takes power and nothing says how much."""
    found = judged(name, missing, *LOST, f"{text}; nothing known takes any", "%")
    if found.verdict in ("good", "unknown") or not takers:
        return found
    takers = list(dict.fromkeys(takers))  # a lossy board that also passes through the surface is named once
    more = f" and {len(takers) - NAMED} more" if len(takers) > NAMED else ""
    by = f"{', '.join(takers[:NAMED])}{more}"
    why = f"{text}: lost to {by}, or by an error, and nothing adds up which; a `Flux` about a body says what it takes"
    return Trust(name, "unknown", found.value, found.limit, why, "%")
