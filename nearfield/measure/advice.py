"""Format, codec and mode that suit this machine: lines through measured output times, stored and evaluated.

    seconds = start + domains * per_domain + bytes * per_byte      bytes: of the samples, before a codec

by least squares on relative deviations; no coefficient is below zero. Bytes of files follow the same form. Errors are
one standard deviation.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.formats.sizes import readable
from nearfield.machine.machine_file import MachineFile
from nearfield.measure.sweep_cases import FIELDS, PER_DOMAIN, SERVER

STORE = MachineFile("output.json")
SAMPLE = 24  # bytes of a point and step: six components, single precision
NAMES = ("start", "per_domain", "per_byte")
ALIKE = 0.25  # relative difference of times above which they never count as equal, however large the errors


@dataclass(frozen=True)
class Line:
    """start + domains * per_domain + bytes * per_byte, with what is known of it."""

    start: float
    per_domain: float
    per_byte: float
    covariance: tuple[tuple[float, ...], ...]  # of the three coefficients
    scatter: float  # relative standard deviation of one value
    count: int = 0

    def errors(self) -> dict[str, float]:
        """Standard errors of the coefficients."""
        return {f"{name}_error": math.sqrt(max(self.covariance[n][n], 0.0)) for n, name in enumerate(NAMES)}

    def at(self, domains: float, raw: float) -> tuple[float, float]:
        """The value, and its standard error for one more run."""
        place = np.array([1.0, domains, raw])
        value = float(place @ [self.start, self.per_domain, self.per_byte])
        return value, math.sqrt(max(float(place @ self.covariance @ place), 0.0) + (self.scatter * value) ** 2)

    @property
    def reliable(self) -> bool:
        """Whether the slope is known to a half of itself."""
        return self.per_byte > 0 and self.errors()["per_byte_error"] < 0.5 * self.per_byte


def fit(
    domains: Sequence[float], raw: Sequence[float], values: Sequence[float], typical: Sequence[float] | None = None
) -> Line | None:
    """The line through values; `typical` are their expected sizes (default: themselves). None: too few to have errors.

    A column that does not vary (one number of domains) is left out, and so is, one by one, what comes out below zero.
    """
    value = np.asarray(values, float)
    design = np.stack([np.ones(len(value)), np.asarray(domains, float), np.asarray(raw, float)], axis=1)
    weights = 1 / np.asarray(values if typical is None else typical, float)
    used = [0, *(n for n in (1, 2) if np.ptp(design[:, n]) > 0)]
    while 2 in used and len(value) > len(used):
        scale = np.abs(design[:, used]).max(axis=0)
        weighted = design[:, used] / scale * weights[:, None]
        found = np.linalg.lstsq(weighted, value * weights, rcond=None)[0]
        if found.min() < 0:
            used.remove(used[int(np.argmin(found))])
            continue
        scatter = math.sqrt(np.square(weighted @ found - value * weights).sum() / (len(value) - len(used)))
        whole, covariance = np.zeros(3), np.zeros((3, 3))
        whole[used] = found / scale
        covariance[np.ix_(used, used)] = scatter**2 * np.linalg.pinv(weighted.T @ weighted) / np.outer(scale, scale)
        start, per_domain, per_byte = map(float, whole)
        return Line(start, per_domain, per_byte, tuple(map(tuple, covariance.tolist())), scatter, len(value))
    return None


def fits(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A fit for each format, codec and mode of a sweep's rows; one domain's file counts for both modes.

    Through the medians of the rounds, so that a round in which something else ran does not count.
    """
    rows, found = list(rows), []
    for way in dict.fromkeys((row["format"], row["codec"], row["mode"]) for row in rows):
        modes = {way[2]: None, SERVER: 1} if way[2] == PER_DOMAIN else {way[2]: None}  # domains; None: any
        alike = [row for row in rows if (row["format"], row["codec"]) == way[:2] and row["mode"] in modes]
        mine = [row for row in alike if modes[row["mode"]] in (None, row["domains"])]
        domains, raw, size = ([row[name] for row in mine] for name in ("domains", "raw_bytes", "bytes"))
        seconds = fit(domains, raw, [statistics.median(row["output"]["values"]) for row in mine])
        sizes = fit(domains, raw, size)
        if not seconds or not sizes or not seconds.per_byte > 0:
            continue
        opening = [value for row in mine if row["mode"] == way[2] for value in row["opening"]["values"]]
        middle = statistics.median(opening)
        error = statistics.median(abs(value - middle) for value in opening)
        fitted = {"format": way[0], "codec": way[1], "mode": way[2], "opening": middle, "opening_error": error}
        fitted |= {"domains": sorted(set(domains)), "most_raw_bytes": max(raw), "reliable": seconds.reliable}
        lines = {"seconds": asdict(seconds) | seconds.errors(), "bytes": asdict(sizes) | sizes.errors()}
        found.append(fitted | lines)
    return found


def line_of(stored: dict[str, Any]) -> Line:
    """The line of an entry that `fits` made."""
    return Line(**{name: stored[name] for name in (*NAMES, "covariance", "scatter", "count")})


def keep(found: dict[str, Any]) -> str:
    """Store a sweep's fits as this machine's, beside those of the other kind of fields; why it could not, else ""."""
    entry = {name: found[name] for name in ("fields", "fits", "folder", "rounds", "when", "processor")}
    return STORE.keep(STORE.entries() | {found["fields"]: entry})


def stored_fits() -> dict[str, Any]:
    """This machine's fits: of filled fields where there are any. Error: there are none."""
    entries = STORE.entries()
    for fields in FIELDS:
        entry = entries.get(fields)
        if isinstance(entry, dict) and entry.get("fits"):
            return entry
    raise ModelError(
        "no fit of output is kept on this machine; run `nearfield bench output` first (minutes), in a folder on the "
        "disk that the runs will write to, with the sizes and domains that it takes by itself: few cannot be fitted"
    )


@dataclass(frozen=True)
class Candidate:
    """A way to write, with its predicted time and size."""

    format: str
    codec: str
    mode: str
    seconds: float
    seconds_error: float
    bytes: float
    bytes_error: float
    reliable: bool
    fits_on_disk: bool = True


def candidates(entry: dict[str, Any], ranks: int, points: int, steps: int, free: float = math.inf) -> list[Candidate]:
    """All ways that were measured, the fastest first, for all points at every step. `free`: bytes on the disk."""
    found, raw = [], points * steps * SAMPLE
    for each in entry["fits"]:
        if each["mode"] == SERVER or (each["mode"] == PER_DOMAIN and ranks > 1):
            way = each["format"], each["codec"], each["mode"]
            seconds, error = line_of(each["seconds"]).at(ranks, raw)
            size, size_error = line_of(each["bytes"]).at(ranks, raw)
            seconds, error = each["opening"] + seconds, math.hypot(error, each["opening_error"])
            found.append(Candidate(*way, seconds, error, size, size_error, each["reliable"], size < free))
    return sorted(found, key=lambda each: each.seconds)


def best(found: Sequence[Candidate]) -> tuple[Candidate, str]:
    """The one to take, and why: the fastest, or what is as fast within the errors and smaller. Error: none fits.

    The fastest has the least time with its error added, so that a line which is not well known counts as slow.
    """
    fitting = [each for each in found if each.fits_on_disk]
    if not fitting:
        least = min(found, key=lambda each: each.bytes)
        raise ModelError(
            f"no format fits on the disk: the smallest, {name(least)}, takes {readable(least.bytes)}; "
            "record a smaller box, fewer steps or less precision, or give another folder with --output"
        )
    fastest = min(fitting, key=lambda each: each.seconds + each.seconds_error)

    def alike(each: Candidate) -> bool:
        error = math.hypot(each.seconds_error, fastest.seconds_error)
        return each.seconds - fastest.seconds <= min(error, ALIKE * fastest.seconds)

    chosen = min(filter(alike, fitting), key=lambda each: (each.bytes, each.seconds))
    if chosen == fastest:
        return chosen, "the fastest"
    share = chosen.bytes / fastest.bytes
    return chosen, f"as fast as {name(fastest)} within the errors, with {100 * share:.0f} % of its bytes"


def name(way: Candidate | dict[str, Any]) -> str:
    """`hdf5 zstd:1, one file` of a candidate or a fit."""
    entry = way if isinstance(way, dict) else asdict(way)
    return f"{entry['format']}{'' if entry['codec'] == 'none' else ' ' + entry['codec']}, {entry['mode']}"


def where_faster(one: Line, other: Line, domains: float) -> tuple[str, float | None]:
    """Range in which the first is faster: `always`, `never`, `above` or `below` so many bytes of samples, or `alike`.

    Starts, and slopes, that differ by less than their common standard error count as equal.
    """
    place = np.array([1.0, domains, 0.0])
    ahead = other.at(domains, 0.0)[0] - one.at(domains, 0.0)[0]
    steeper = one.per_byte - other.per_byte
    unsure = math.sqrt(sum(max(float(place @ line.covariance @ place), 0.0) for line in (one, other)))
    ahead = ahead if abs(ahead) > unsure else 0.0
    steeper = steeper if abs(steeper) > math.hypot(*(line.errors()["per_byte_error"] for line in (one, other))) else 0.0
    if ahead * steeper > 0:
        return ("below" if steeper > 0 else "above"), ahead / steeper
    if ahead == steeper == 0:
        return "alike", None
    return ("always" if ahead > 0 or steeper < 0 else "never"), None
