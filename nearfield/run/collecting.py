"""The record of one excitation: what the engine recorded, and then what is derived from it, each part guarded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from nearfield.discretization.discretization import Discretization, Feature
from nearfield.entry.attempts import Attempts
from nearfield.monitors.regions import Monitor
from nearfield.plan.recorders import Recording
from nearfield.records.records import MonitorRecord, Variable, Variables

RAW = "raw"  # kind of a monitor whose recordings could not be made into its own variables


class Collector:
    """Makes labelled arrays of an excitation's recordings; where that fails it warns and keeps them as they are."""

    def __init__(self, setup: Discretization, recordings: list[Recording], excitation: str, attempts: Attempts) -> None:
        self.setup, self.recordings, self.excitation, self.attempts = setup, recordings, excitation, attempts
        _, self.ports, self.monitors = setup.lowered
        self.own: dict[str, Variables] = {}  # of monitors, before anything is derived

    def port_records(self) -> dict[str, Variables]:
        """Every port's variables."""
        return {name: self._collected(feature, f"port {name!r}")[0] for name, feature in self.ports.items()}

    def monitor_records(self, file_of: Callable[[str, str], Path | None]) -> dict[str, MonitorRecord]:
        """Every monitor as it was recorded."""
        found = {}
        for name, feature in self.monitors.items():
            own, whole = self._collected(feature, f"{feature.item.kind} {name!r}")
            kind, entry = feature.item.kind, feature.item.model_dump(mode="json")
            if whole:
                self.own[name] = own
            found[name] = MonitorRecord(kind if whole else RAW, entry, own, file_of(name, self.excitation))
            found[name].variables = self._seen(name, own)
        return found

    @property
    def derives(self) -> bool:
        """Whether anything is derived from the record."""
        return bool(self.ports) or any(
            type(self.monitors[name].item).complete is not Monitor.complete for name in self.own
        )

    def derived(self, records: dict[str, MonitorRecord]) -> dict[str, MonitorRecord]:
        """The monitors with what takes long to derive from them."""
        found = dict(records)
        for name, own in self.own.items():
            item = self.monitors[name].item
            what = f"{item.kind} {name!r} of excitation {self.excitation!r}: what is derived from its record"
            variables = self.attempts.at(what, partial(item.complete, own), own)
            if variables is not own:
                found[name] = replace(records[name], variables=self._seen(name, variables))
        return found

    def _seen(self, name: str, variables: Variables) -> Variables:
        """The variables with the parts of the field that they saw."""
        what = f"{name!r} of excitation {self.excitation!r}: whether it saw total or scattered fields"
        return self.attempts.at(
            what, lambda: self.setup.seen(self.monitors[name], variables, self.excitation), variables
        )

    def _collected(self, feature: Feature, label: str) -> tuple[Variables, bool]:
        """The variables of a port or monitor and True, or its bare recordings and False."""
        recordings = feature.own(self.recordings)
        found = self.attempts.at(
            f"{label} of excitation {self.excitation!r}: the labels of its record",
            lambda: feature.item._collect(self.setup.context, recordings, self.excitation),
            None,
        )
        return (bare(recordings), False) if found is None else (found, True)


def bare(recordings: list[Recording]) -> Variables:
    """Recordings without labels, each with dims of its own."""
    found: Variables = {}
    for number, recording in enumerate(recordings):
        dims = tuple(f"recording_{number}_axis_{axis}" for axis in range(recording.values.ndim))
        found[f"recording_{number}"] = Variable(dims, recording.values, {"units": ""})
        if recording.time.size:
            found[f"time_{number}"] = Variable((f"time_{number}_axis",), recording.time, {"units": "s"})
    return found
