"""`nearfield bench output`: how fast this machine writes fields in each format, codec and mode."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.commands.scaling import hosts_in
from nearfield.commands.tables import columns, counts, names, save
from nearfield.commands.writing import make_folder
from nearfield.entry.errors import ModelError
from nearfield.formats.sizes import readable as amount
from nearfield.machine.facts import processor_name
from nearfield.machine.transport import started
from nearfield.measure.advice import fits, keep, line_of, name, where_faster
from nearfield.measure.sweep import FORMATS, PER_DOMAIN, SERVER, WHOLE, Sweep, installed_codecs, measure
from nearfield.measure.sweep_cases import FIELDS

SIZES, DOMAINS, SECONDS = "20,30,40", "1,2", 240.0  # two to three minutes of two cores
WHOLE_SIZES, WHOLE_DOMAINS = ",".join(map(str, range(30, 191, 10))), "1,2,4,8"
MOST = 4096  # points along an axis, and domains
DOMAIN_COUNTS = (1, 2, 4, 8, 16, 256)  # for which the rules are stated


@dataclass(frozen=True)
class Request:
    """Options of the command; lists as text, `1,2,4`. None: the default."""

    sizes: str | None = None
    domains: str | None = None
    formats: str | None = None
    codecs: str | None = None
    modes: str | None = None
    rounds: int = 3
    seconds: float | None = None
    fields: str | None = None
    full: bool = False
    hosts: Path | None = None

    def sweep(self) -> Sweep:
        """The sweep. Errors: `ModelError`."""
        seconds = self.seconds if self.seconds is not None or self.full else SECONDS
        sizes, domains = (WHOLE_SIZES, WHOLE_DOMAINS) if self.full else (SIZES, DOMAINS)
        return Sweep(
            tuple(counts("--sizes", self.sizes or sizes, MOST) or ()),
            tuple(counts("--domains", self.domains or domains, MOST) or ()),
            tuple(names(self.formats) or FORMATS),
            tuple(names(self.codecs) or installed_codecs()),
            tuple(names(self.modes) or (SERVER, PER_DOMAIN)),
            self.rounds,
            seconds,
            self.fields or (FIELDS[1] if self.full else FIELDS[0]),
            tuple(hosts_in(self.hosts)),
        )


def measure_output(request: Request, folder: Path, plot: Path | None, as_json: bool) -> int:
    """Run the sweep, keep its fits, print the tables, draw the figures."""
    if started() > 1:
        raise ModelError("bench output starts the ranks itself; call it without a launcher, over hosts with --hosts")
    sweep = request.sweep()
    if plot is not None:
        make_folder(plot, "--plot", "the figures")
    with console(as_json) as out:
        count = sum(len(sweep.cases(domains)) for domains in set(sweep.domains))
        within = f", within about {sweep.seconds:g} s" if sweep.seconds else ""
        out.note(f"{count} cases, {sweep.rounds} rounds{within}; files go to {folder} and are removed")
        found = measure(sweep, folder, out.note)
        when = datetime.now(UTC).isoformat(timespec="minutes")
        found |= {"fits": fits(found["cases"]), "when": when, "processor": processor_name()}
        found |= {"rules": rules(found["fits"]), "warnings": warnings_of(found, sweep.rounds)}
        if found["fits"] and (why := keep(found)):
            found["not_kept"] = why
        if plot is not None:
            from nearfield.report.output_plots import pictures

            found["files"] = save(plot, pictures(found))
        out.answer(found, readable(found))
        out.warn(*found["warnings"])
    return 0


def warnings_of(found: dict[str, Any], wanted: int) -> list[str]:
    """Where the sweep says less than it should."""
    unsteady = "the times do not grow steadily with the bytes; measure larger --sizes or more --rounds"
    text = [f"{name(each)}: {unsteady}" for each in found["fits"] if not each["reliable"]]
    kinds = dict.fromkeys(map(way, found["cases"]))
    missing = "no fit: too few cases, or times that do not grow with the bytes"
    text += [f"{' '.join(kind)}: {missing}" for kind in kinds if kind not in map(way, found["fits"])]
    if found["rounds"] < wanted:
        text.append(f"{found['rounds']} of {wanted} rounds: more would have exceeded --seconds")
    if not found["mpi"] and any(row["domains"] > 1 for row in found["cases"]):
        text.append("there is no MPI here: the domains were those of one process, without communication")
    return text


def way(row: dict[str, Any]) -> tuple[str, str, str]:
    """Format, codec and mode."""
    return row["format"], row["codec"], row["mode"]


def rules(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where HDF5 is faster than raw binary, and one file for all than one a domain, by the fits."""
    lines, stated = {way(each): each for each in found}, []
    for (form, codec, mode), each in lines.items():
        binary, pieces = lines.get(("binary", "none", mode)), lines.get((form, codec, PER_DOMAIN))
        if form == "hdf5" and binary:
            stated.append(rule(each, binary, DOMAIN_COUNTS))
        if mode == SERVER and pieces:
            stated.append(rule(each, pieces, DOMAIN_COUNTS[1:]))
    return stated


def rule(one: dict[str, Any], other: dict[str, Any], counts: Sequence[int]) -> dict[str, Any]:
    """Where one way is faster than another, for several numbers of domains; and whether both lines can be trusted."""
    first, second = line_of(one["seconds"]), line_of(other["seconds"])
    where = {}
    shifted = replace(first, start=first.start + one["opening"] - other["opening"])
    for domains in counts:
        where[str(domains)] = dict(zip(("faster", "raw_bytes"), where_faster(shifted, second, domains)))
    return {"one": name(one), "other": name(other), "domains": where, "reliable": one["reliable"] and other["reliable"]}


def rule_line(each: dict[str, Any]) -> Sequence[str]:
    """The cells of a rule's line."""
    words = {"above": "> ", "below": "< "}
    cells = [
        words[found["faster"]] + amount(found["raw_bytes"]) if found["faster"] in words else found["faster"]
        for found in each["domains"].values()
    ]
    doubt = "" if each["reliable"] else "uncertain"
    return (each["one"], each["other"], *["-"] * (len(DOMAIN_COUNTS) - len(cells)), *cells, doubt)


CASES = ("points", "format", "codec", "mode", "compute ms", "wait ms", "output s", "spread", "file", "of raw", "MB/s")
FITS = ("format", "codec", "mode", "open s", "start s", "a domain s", "a GB s", "scatter", "bytes / raw")


def readable(found: dict[str, Any]) -> str:
    """Cases, fits, rules, and what was left out."""
    text = [
        columns([CASES, *map(case_line, sorted(found["cases"], key=lambda row: (row["size"], row["domains"])))]),
        "",
        f"mean and standard deviation of {found['rounds']} rounds in turn, slowest rank; "
        f"{found['recorded_steps']} steps, all points and components; {found['fields']} fields",
        "",
        columns([FITS, *map(fit_line, found["fits"])]),
        "",
        "seconds = open + start + domains * a domain + GB of samples * a GB; +- one standard error",
        "",
        *communication(found["cases"]),
        *buffers(found["cases"]),
    ]
    if found["rules"]:
        heads = ("faster", "than", *(f"{domains} dom." for domains in DOMAIN_COUNTS), "")
        table = columns([heads, *map(rule_line, found["rules"])])
        text += ["", table, "", "where, in bytes of samples; alike: within the errors", ""]
    text += map(left_out, found["left_out"])
    kept = "the fits are kept, for `nearfield advise-output`" if found["fits"] else "nothing could be fitted or kept"
    kept = f"the fits are {found['not_kept']}" if "not_kept" in found else kept
    return "\n".join([*text, f"{found['seconds']:.0f} s in all; {kept}", *found.get("files", [])])


def case_line(row: dict[str, Any]) -> Sequence[str]:
    """The cells of a case's line."""
    output = row["output"]
    return (
        f"{row['size']}^3 x {row['domains']}",
        *way(row),
        f"{1e3 * row['compute']['mean']:.1f}",
        f"{1e3 * row['communication']['mean']:.1f}",
        f"{output['mean']:.3f}",
        f"{100 * output['spread']:.0f} %",
        amount(row["bytes"]),
        f"{row['bytes'] / row['raw_bytes']:.2f}",
        f"{row['raw_bytes'] / output['mean'] / 1e6:.0f}",
    )


def fit_line(each: dict[str, Any]) -> Sequence[str]:
    """The cells of a fit's line."""
    line = each["seconds"]
    terms = [
        f"{factor * line[part]:.3g} +- {factor * line[part + '_error']:.1g}"
        for part, factor in (("start", 1), ("per_domain", 1), ("per_byte", 1e9))
    ]
    return (
        *way(each),
        f"{each['opening']:.2f}",
        *terms,
        f"{100 * line['scatter']:.0f} %",
        f"{each['bytes']['per_byte']:.3g}",
    )


def communication(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line about the spread of computation over several ranks, and the time of communication."""
    several = [row for row in rows if row["ranks"] > 1]
    if not several:
        return []
    uneven = statistics.median(row["compute_spread_of_ranks"] for row in several)
    share = statistics.median(row["communication"]["mean"] / row["compute"]["mean"] for row in several)
    return [
        f"several ranks: computation differs by {100 * uneven:.0f} % (standard deviation) among them, "
        f"communication takes {share:.2f} of it (medians of the cases)"
    ]


def buffers(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line that compares memory and time of a whole record with a ring, for the largest measured case."""
    whole = max((row for row in rows if row["mode"] == WHOLE), key=lambda row: row["raw_bytes"], default=None)
    if whole is None:
        return []

    def alike(row: dict[str, Any]) -> bool:
        same = all(row[key] == whole[key] for key in ("size", "domains"))
        return same and row["mode"] != WHOLE and row["format"] == "hdf5"

    def cost(row: dict[str, Any]) -> str:
        return f"{amount(row['buffer_bytes'])}, {row['output']['mean']:.3f} s"

    rings = sorted(filter(alike, rows), key=lambda row: row["codec"] != whole["codec"])  # the same file first
    ring = {SERVER: "ring", PER_DOMAIN: "a ring a domain"}
    beside = "".join(f"; {ring[row['mode']]}, {row['codec']}: {cost(row)}" for row in rings)
    return [f"{whole['size']}^3 x {whole['domains']}: whole record in memory: {cost(whole)}{beside}"]


def left_out(each: dict[str, Any]) -> str:
    """One line of what was not measured."""
    what = " ".join(each[key] for key in ("format", "codec", "mode") if each.get(key, "none") != "none")
    return f"left out: {each['size']}^3 x {each['domains']} domains{what and ', ' + what}: {each['why']}"
