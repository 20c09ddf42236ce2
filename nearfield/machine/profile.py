"""Results of probes of a machine: rates of the update, of memory and of messages; a JSON file, or this machine's own.

    {"format": "nearfield profile", "version": 1, "name": "node17",
     "fdtd":      {"pec":  {"core": 950, "numa": 1900, "cores": 2}, "cpml": {...}},     million cells a second
     "triad":     {"core": 14.5, "numa": [26.7], "all": 26.7},                          GB/s, as STREAM counts
     "bandwidth": [[21.0, 12.5], [12.4, 21.1]],                           GB/s, node of the cores x node of the memory
     "latency":   [[92, 140], [141, 93]],                                 ns, likewise
     "messages":  {"numa":   {"latency": 4e-7, "bandwidth": 8e9,          s and B/s: time = latency + bytes / bandwidth
                              "busy": 3e-10},                             s a byte that the processor spends on it
                   "across": {...}, "hosts": {...}},
     "gpu":       {"name": "NVIDIA H200", "to_card": {"latency": 9e-6, "bandwidth": 5e10}, "to_host": {...},
                   "on_card": {...}, "memory": 4.3e12,       copies; B/s read and written by long ones within it
                   "update": {"pec": 50000, "cpml": 47000}, "cells": 512},          million cells a second
     "sources":   {"fdtd": "measured ...", "messages.hosts": "assumed: ..."}}

`core` is one core alone, `numa` all `cores` cores of one NUMA node together. Messages pass between processes: within
a NUMA node, across the nodes of one host, between hosts. Every part may be missing: a stated assumption stands in.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable
from nearfield.entry.schema import Schema
from nearfield.machine.machine_file import MachineFile
from nearfield.machine.machine_rate import LARGE, known_rate

STORED = MachineFile("profile.json")
SATURATED = 0.8  # rate of a NUMA node over cores times the rate of one: below, memory and not the cores is the limit
WHERE = {"numa": "within a NUMA node", "across": "between NUMA nodes of one host", "hosts": "between hosts"}

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Matrix = tuple[tuple[Positive, ...], ...]


class Rates(Schema):
    """Million cells a second of the update: of one core alone, and of all cores of one NUMA node."""

    core: Positive
    numa: Positive
    cores: int = Field(ge=1)
    "Cores that made `numa`."
    cells: int = Field(default=200, ge=1)
    "Along each side of the box that was timed."

    @property
    def ceiling(self) -> float:
        """Rate that memory allows; infinite where the cores that were measured did not reach it."""
        return self.numa if self.numa < SATURATED * self.cores * self.core else float("inf")

    def of(self, busy: int) -> float:
        """Million cells a second of so many busy cores on one NUMA node, together."""
        each = self.core if busy < self.cores else self.numa / self.cores
        return min(busy * each, self.ceiling)


class Triad(Schema):
    """Memory rate in GB/s as STREAM counts it: one core, each NUMA node, all of them."""

    core: Positive | None = None
    numa: tuple[Positive, ...] = ()
    all: Positive | None = None


class Link(Schema):
    """Messages between two processes: time = latency + bytes / bandwidth, with standard errors where it was fitted."""

    latency: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    "s."
    bandwidth: Positive
    "B/s."
    busy: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    "s a byte that is sent, while as many come: what the processor spends on packing and moving it."
    latency_error: float | None = Field(default=None, ge=0)
    bandwidth_error: float | None = Field(default=None, ge=0)

    def seconds(self, size: float, messages: float = 1) -> float:
        """Seconds that so many messages of `size` bytes in all take one after the other."""
        return messages * self.latency + size / self.bandwidth


class Gpu(Schema):
    """A card: copies to it, from it and within its memory, of pinned memory of the host; rates of the update."""

    name: str
    to_card: Link
    to_host: Link
    on_card: Link
    update: dict[Literal["pec", "cpml"], Positive]
    "Million cells a second in single precision, by walls."
    cells: int = Field(ge=1)
    "Along each side of the box that was timed."
    memory: Positive | None = None
    "B/s that copies within it read and write, which no cache holds."


ASSUMED_LINKS = {  # typical servers, in round numbers
    "numa": Link(latency=0.5e-6, bandwidth=6e9, busy=0.3e-9),
    "across": Link(latency=1e-6, bandwidth=5e9, busy=0.4e-9),
    "hosts": Link(latency=20e-6, bandwidth=1.15e9, busy=0.5e-9),
}
LINK_NAMES = {"numa": "shared memory", "across": "shared memory", "hosts": "10 Gbit/s Ethernet"}
REMOTE = "memory of another NUMA node"  # how an assumption about it begins
ASSUMED_REMOTE = 0.6  # bandwidth of another NUMA node's memory over that of one's own


class Profile(Schema):
    """Known rates of a machine."""

    format: Literal["nearfield profile"] = "nearfield profile"
    version: Literal[1] = 1
    name: str = "unnamed"
    fdtd: dict[Literal["pec", "cpml"], Rates] = Field(default_factory=dict)
    triad: Triad | None = None
    bandwidth: Matrix = ()
    latency: Matrix = ()
    messages: dict[Literal["numa", "across", "hosts"], Link] = Field(default_factory=dict)
    gpu: Gpu | None = None
    sources: dict[str, str] = Field(default_factory=dict)

    @field_validator("bandwidth", "latency")
    @classmethod
    def _square(cls, matrix: Matrix) -> Matrix:
        if any(len(row) != len(matrix) for row in matrix):
            lengths = sorted({len(row) for row in matrix})
            raise ValueError(f"{len(matrix)} rows of {lengths} values; a node x node matrix is square")
        return matrix

    def rates(self, boundary: str = "pec") -> Rates:
        """Rates of the update, those without CPML where no others are known; assumed ones where none are."""
        found = self.fdtd.get(boundary) or self.fdtd.get("pec")  # type: ignore[call-overload]
        core = known_rate("single", 1, LARGE).mcells_per_second
        return found or Rates(core=core, numa=core, cores=1)

    def link(self, where: str) -> Link:
        """Messages of one kind (a key of WHERE); an assumption where they were not measured."""
        return self.messages.get(where) or ASSUMED_LINKS[where]  # type: ignore[call-overload]

    @property
    def remote(self) -> float:
        """Bandwidth of the memory of other NUMA nodes over that of the own one."""
        count = len(self.bandwidth)
        if count < 2:
            return ASSUMED_REMOTE
        own = fmean(self.bandwidth[i][i] for i in range(count))
        return fmean(self.bandwidth[i][j] for i in range(count) for j in range(count) if i != j) / own

    def assumptions(self) -> tuple[str, ...]:
        """One sentence for each number that was not measured."""
        said = [f"{name}: {text}" for name, text in self.sources.items() if text.startswith("assum")]
        if not self.fdtd:
            rate = known_rate("single", 1, LARGE)
            said.append(f"update: {rate.mcells_per_second:.0f} Mcells/s a core, {rate.source}, and no limit of memory")
        elif self.rates().ceiling == float("inf"):
            cores = self.rates().cores
            said.append(
                f"update: {cores} core{'s' * (cores > 1)} did not reach the limit of the memory; more cores of "
                "a NUMA node are taken to scale"
            )
        for where, link in ASSUMED_LINKS.items():
            if where not in self.messages:
                said.append(
                    f"messages {WHERE[where]}: {link.latency * 1e6:g} us, {link.bandwidth / 1e9:g} GB/s, "
                    f"{link.busy * 1e9:g} ns of the processor a byte ({LINK_NAMES[where]})"
                )
        if len(self.bandwidth) < 2:
            said.append(f"{REMOTE}: {ASSUMED_REMOTE:g} of the bandwidth of the own one")
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """The contents of the JSON file."""
        return self.model_dump(mode="json", exclude_none=True)


def load_profile(given: str | Path | None = None) -> Profile:
    """The profile in a file; without one this machine's own, as `nearfield probe` stored it, empty before that.

    What `nearfield probe --json` prints holds its profile under that name, and is taken as well.
    Error: a file that is missing, is no JSON, or holds anything else than the docstring of this module says.
    """
    if given is None:
        return this_profile()
    remedy = "`nearfield probe --json` writes one"
    try:
        entries = json.loads(Path(given).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"profile {given}: {error.strerror or error}; {remedy}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"profile {given} is not JSON ({error}); {remedy}") from None
    if isinstance(entries, dict) and isinstance(entries.get("profile"), dict):
        entries = entries["profile"]
    return profile_of(entries, f"profile {given}")


def profile_of(entries: Any, name: str) -> Profile:
    """A profile of the entries of a JSON object; `name` opens the error."""
    try:
        return Profile.model_validate(entries)
    except ValidationError as error:
        raise ModelError(f"{readable(error, Profile, entries, name)}\n`nearfield probe --json` writes one") from None


def this_profile() -> Profile:
    """The profile that is stored of this machine; an empty one where there is none, or none that is usable."""
    with contextlib.suppress(ValidationError):
        if entries := STORED.entries():
            return Profile.model_validate(entries)
    return Profile(name="none, this machine was not probed")


def store(profile: Profile) -> str:
    """Keep the profile of this machine for `check`, `place` and `predict`; why it could not be, else ""."""
    return STORED.keep(profile.as_dict())
