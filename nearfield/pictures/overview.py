"""One picture of a result by name, or the one that its run was made for; what notebooks show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError
from nearfield.pictures.curves import draw_energy, draw_signals, draw_spectra, draw_statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PREFERRED = ("far-field", "field-dft", "snapshot", "flux", "probe", "voltage", "current")  # kinds of monitors
SIGNALS = ("probe", "voltage", "current")
FIELDS = ("field-dft", "snapshot")


def draw_result(result: Any, what: str | None, ax: Axes | None) -> Any:
    """The axes of "sparameters", "energy", a port's or a monitor's recording; left out, of the first there is."""
    title = str(result.title)
    if what == "sparameters" or (what is None and result.record.sparameters):
        return result.sparameters.plot(ax)
    if not result.excitations:
        raise ModelError(f"this result holds nothing to draw: no excitation ended, the run is {result.status}")
    excitation = result.excitation()
    monitors = excitation.record.monitors
    kinds = {monitor.kind: name for name, monitor in reversed(monitors.items())}
    if what is None:
        name = next((kinds[kind] for kind in PREFERRED if kind in kinds), "energy")
        if name == "energy" or monitors[name].kind not in SIGNALS:
            return draw_result(result, name, ax)
        kind, unit = monitors[name].kind, excitation[name].attrs.get("units")
        alike = [each for each, monitor in monitors.items() if monitor.kind == kind]
        found = {each: excitation[each] for each in alike if excitation[each].attrs.get("units") == unit}
        return draw_signals(found, ax, title or "Recorded signals", label="" if len(found) == 1 else kind.capitalize())
    if what == "energy":
        energies = {name: result.excitation(name).energy for name in result.excitations}
        return draw_energy(energies, ax, title or "Field energy")
    if what in monitors and monitors[what].kind == "flux":
        return draw_spectra({what: excitation[what]}, ax, title or "Power through surfaces", label="Power spectrum")
    if what in monitors and monitors[what].kind == "elements":
        return draw_statistics({what: excitation[what]}, ax, title)
    if what in monitors:
        return excitation[what].plot(ax=ax)
    if what in excitation.record.ports:
        return excitation.port(what).plot(ax=ax)
    known = ["sparameters"] * bool(result.record.sparameters) + ["energy", *excitation.record.ports, *monitors]
    raise ModelError(f"no {what!r} to draw in this result; there is: {', '.join(map(repr, known))}")


def field_to_animate(result: Any, monitor: str | None) -> Any:
    """The field of a monitor, or of the first of snapshots, then of spectra. Error: there is none."""
    if not result.excitations:
        raise ModelError(f"this result holds no field: no excitation ended, the run is {result.status}")
    monitors = result.excitation().record.monitors
    fields = [name for kind in reversed(FIELDS) for name, each in monitors.items() if each.kind == kind]
    if monitor is None and fields:
        monitor = fields[0]
    if monitor is None or monitor not in fields:
        given = "none is there" if monitor is None else f"given {monitor!r}"
        listed = ", ".join(map(repr, fields)) or "none"
        raise ModelError(f"an animation needs a Snapshot or FieldDFT monitor, {given}; those of this result: {listed}")
    return result[monitor]


def result_rows(result: Any) -> dict[str, str]:
    """What a result holds, for the table in notebooks."""
    facts = result.facts
    runs = facts.get("runs", {}).values()
    steps = " + ".join(f"{run.get('steps', 0):,}" for run in runs)
    verdicts = [entry.verdict for entry in result.trust]
    words = [word for word in ("bad", "warn", "unknown", "good") if word in verdicts]
    trust = ", ".join(f"{verdicts.count(word)} {word}" for word in words)
    warnings = list(facts.get("warnings", []))
    return {
        "status": str(result.status),
        "cells": f"{facts['cells']:,}" if isinstance(facts.get("cells"), int) else "",
        "steps": steps,
        "excitations": ", ".join(result.excitations),
        "monitors": ", ".join(result.excitation().monitors) if result.excitations else "",
        "trust": trust,
        "warnings": "; ".join(warnings[:3]) + (f"; and {len(warnings) - 3} more" if len(warnings) > 3 else ""),
    }
