"""Records of finished excitations as data for JSON, their arrays beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield.records.records import ExcitationRecord, MonitorRecord, Variable, Variables
from nearfield.run.checkpoint.pieces import Piece


class Shelf:
    """Takes arrays and gives each a name."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def put(self, values: np.ndarray) -> str:
        """Keep an array; texts of any length become texts of one."""
        values = values.astype(str) if values.dtype == object else values
        self.pieces.append(Piece(f"finished {len(self.pieces)}", values))
        return self.pieces[-1].name


def description_of(record: ExcitationRecord, put: Callable[[np.ndarray], str]) -> dict[str, Any]:
    """An excitation's record, every array replaced by the name that `put` gave it."""

    def variables(given: Variables) -> dict[str, Any]:
        return {
            name: {"dims": variable.dims, "values": put(variable.array), "attributes": variable.attributes}
            for name, variable in given.items()
        }

    return {
        "energy": variables(record.energy),
        "ports": {name: variables(port) for name, port in record.ports.items()},
        "monitors": {
            name: {"kind": monitor.kind, "entry": monitor.entry, "variables": variables(monitor.variables)}
            for name, monitor in record.monitors.items()
        },
        "waveform": record.waveform and variables(record.waveform),
        "source_end": record.source_end,
    }


def rebuilt(description: dict[str, Any], array: Callable[[str], np.ndarray]) -> ExcitationRecord:
    """The record again; `array` gives the values of a name."""

    def variables(given: dict[str, Any]) -> Variables:
        entries = given.items()
        return {n: Variable(tuple(e["dims"]), array(e["values"]), e["attributes"]) for n, e in entries}

    monitors, end = description["monitors"].items(), description.get("source_end")
    return ExcitationRecord(
        energy=variables(description["energy"]),
        ports={name: variables(port) for name, port in description["ports"].items()},
        monitors={n: MonitorRecord(m["kind"], m["entry"], variables(m["variables"])) for n, m in monitors},
        waveform=description["waveform"] and variables(description["waveform"]),
        source_end=None if end is None else float(end),  # an infinite one is text
    )
