"""`nearfield bench output` and `advise-output`: how fast this machine writes fields, and which way is best."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.commands.predict import columns, save
from nearfield.commands.scaling import counts, names
from nearfield.entry.errors import ModelError
from nearfield.formats.sizes import free_bytes, readable
from nearfield.machine.facts import processor_name
from nearfield.machine.transport import started
from nearfield.measure.advice import SAMPLE, Candidate, best, candidates, fits, keep, kept, line_of, name, where_faster
from nearfield.measure.sweep import FORMATS, PER_DOMAIN, SERVER, WHOLE, Sweep, installed_codecs, measure
from nearfield.measure.sweep_cases import FIELDS

SIZES, DOMAINS, SECONDS = "20,30,40", "1,2", 240.0  # two to three minutes of two cores
WHOLE_SIZES, WHOLE_DOMAINS = ",".join(map(str, range(30, 191, 10))), "1,2,4,8"
FAR = 100  # times what was measured: said to be extrapolated
ASKED = (1, 2, 4, 8, 16, 256)  # domains for which the rules are stated


@dataclass(frozen=True)
class Request:
    """What was asked for; lists as text, `1,2,4`. None: the default."""

    sizes: str | None = None
    domains: str | None = None
    formats: str | None = None
    codecs: str | None = None
    modes: str | None = None
    rounds: int = 3
    seconds: float | None = None
    fields: str | None = None
    full: bool = False

    def sweep(self) -> Sweep:
        """The sweep. Errors: `ModelError`."""
        seconds = self.seconds if self.seconds is not None or self.full else SECONDS
        return Sweep(
            tuple(counts("--sizes", self.sizes or (WHOLE_SIZES if self.full else SIZES))),
            tuple(counts("--domains", self.domains or (WHOLE_DOMAINS if self.full else DOMAINS))),
            tuple(names(self.formats) or FORMATS),
            tuple(names(self.codecs) or installed_codecs()),
            tuple(names(self.modes) or (SERVER, PER_DOMAIN)),
            self.rounds,
            seconds,
            self.fields or (FIELDS[1] if self.full else FIELDS[0]),
        )


def measure_output(request: Request, folder: Path, plot: Path | None, as_json: bool) -> int:
    """Run the sweep, keep its fits, print the tables, draw the figures."""
    if started() > 1:
        raise ModelError("bench output starts the ranks itself; call it without a launcher")
    sweep = request.sweep()
    with console(as_json) as out:
        count = sum(len(sweep.cases(domains)) for domains in set(sweep.domains))
        within = f", within about {sweep.seconds:g} s" if sweep.seconds else ""
        out.note(f"{count} cases, {sweep.rounds} rounds{within}; files go to {folder} and are removed")
        found = measure(sweep, folder, out.note)
        found |= {
            "fits": fits(found["cases"]),
            "when": datetime.now(UTC).isoformat(timespec="minutes"),
            "processor": processor_name(),
        }
        found |= {"rules": rules(found["fits"]), "warnings": warnings_of(found, sweep.rounds)}
        if found["fits"]:
            keep(found)
        if plot is not None:
            from nearfield.report.output_plots import pictures

            found["files"] = save(plot, pictures(found))
        out.answer(found)
        if not as_json:
            out.say(tables(found))
        for warning in found["warnings"]:
            out.note(f"warning: {warning}")
    return 0


def advise_output(ranks: int, points: float, steps: int, folder: Path, as_json: bool) -> int:
    """Print the best way to write so many points at so many steps from so many ranks, and all others beside it."""
    entry = kept()
    found = candidates(entry, ranks, round(points), steps, free_bytes(folder))
    if not found:
        raise ModelError("of one rank only one file was not measured here; run `nearfield bench output` with its modes")
    chosen, why = best(found)
    with console(as_json) as out:
        answer = {
            "ranks": ranks,
            "points": round(points),
            "steps": steps,
            "raw_bytes": round(points) * steps * SAMPLE,
            "best": asdict(chosen) | {"why": why},
            "candidates": [asdict(each) for each in found],
            "rules": rules(entry["fits"]),
            "warnings": cautions(entry, chosen, ranks, round(points) * steps * SAMPLE),
            "measured": {key: entry[key] for key in ("when", "fields", "folder", "processor", "rounds")},
        }
        out.answer(answer)
        if not as_json:
            out.say(advice(answer, found, chosen))
        for warning in answer["warnings"]:
            out.note(f"warning: {warning}")
    return 0


# ---- what is said of a sweep


def warnings_of(found: dict[str, Any], wanted: int) -> list[str]:
    """Where the sweep says less than it should."""
    text = [
        f"{name(each)}: the times do not grow steadily with the bytes; measure larger --sizes or more --rounds"
        for each in found["fits"]
        if not each["reliable"]
    ]
    fitted = {(each["format"], each["codec"], each["mode"]) for each in found["fits"]}
    kinds = dict.fromkeys((row["format"], row["codec"], row["mode"]) for row in found["cases"])
    text += [
        f"{' '.join(kind)}: no fit: too few cases, or times that do not grow with the bytes"
        for kind in kinds
        if kind not in fitted
    ]
    if found["rounds"] < wanted:
        text.append(f"{found['rounds']} of {wanted} rounds: others would have ended beyond --seconds")
    if not found["mpi"] and any(row["domains"] > 1 for row in found["cases"]):
        text.append("there is no MPI here: the domains were those of one process, without communication")
    return text


def rules(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where HDF5 is faster than raw binary, and one file for all than one a domain, by the fits."""
    stated = []
    for each in found:
        others = {
            other["mode"]: other
            for other in found
            if (other["format"], other["codec"]) == (each["format"], each["codec"])
        }
        binary = [other for other in found if other["format"] == "binary" and other["mode"] == each["mode"]]
        if each["format"] == "hdf5" and binary:
            stated.append(rule(each, binary[0], ASKED))
        if each["mode"] == SERVER and PER_DOMAIN in others:
            stated.append(rule(each, others[PER_DOMAIN], ASKED[1:]))
    return stated


def rule(one: dict[str, Any], other: dict[str, Any], asked: Sequence[int]) -> dict[str, Any]:
    """Where one way is faster than another, for several numbers of domains; and whether both lines can be trusted."""
    first, second = line_of(one["seconds"]), line_of(other["seconds"])
    where = {}
    for domains in asked:
        shifted = first.__class__(**{**asdict(first), "start": first.start + one["opening"] - other["opening"]})
        where[str(domains)] = dict(zip(("faster", "raw_bytes"), where_faster(shifted, second, domains)))
    return {"one": name(one), "other": name(other), "domains": where, "reliable": one["reliable"] and other["reliable"]}


def rule_line(each: dict[str, Any]) -> Sequence[str]:
    """The cells of a rule's line."""
    words = {"above": "> ", "below": "< "}
    cells = [
        words[found["faster"]] + readable(found["raw_bytes"]) if found["faster"] in words else found["faster"]
        for found in each["domains"].values()
    ]
    doubt = "" if each["reliable"] else "uncertain"
    return (each["one"], each["other"], *["-"] * (len(ASKED) - len(cells)), *cells, doubt)


CASES = ("points", "format", "codec", "mode", "compute ms", "wait ms", "output s", "spread", "file", "of raw", "MB/s")
FITS = ("format", "codec", "mode", "open s", "start s", "a domain s", "a GB s", "scatter", "bytes / raw")


def tables(found: dict[str, Any]) -> str:
    """Cases, fits, rules, and what was left out."""
    lines = [CASES, *map(case_line, sorted(found["cases"], key=lambda row: (row["size"], row["domains"])))]
    text = [
        columns(lines),
        "",
        f"mean and standard deviation of {found['rounds']} rounds in turn, slowest rank; "
        f"{found['recorded_steps']} steps, all points and components; {found['fields']} fields",
        "",
    ]
    text += [
        columns([FITS, *map(fit_line, found["fits"])]),
        "",
        "seconds = open + start + domains * a domain + GB of samples * a GB; +- one standard error",
        "",
    ]
    text += [*ranks_told(found["cases"]), *buffers_told(found["cases"])]
    if found["rules"]:
        heads = ("faster", "than", *(f"{domains} dom." for domains in ASKED), "")
        text += [
            "",
            columns([heads, *map(rule_line, found["rules"])]),
            "",
            "where, in bytes of samples; alike: within the errors",
            "",
        ]
    text += [left_out(each) for each in found["left_out"]]
    text.append(
        f"{found['seconds']:.0f} s in all"
        + (
            "; the fits are kept, for `nearfield advise-output`"
            if found["fits"]
            else "; nothing could be fitted or kept"
        )
    )
    return "\n".join(text + found.get("files", []))


def case_line(row: dict[str, Any]) -> Sequence[str]:
    """The cells of a case's line."""
    output = row["output"]
    return (
        f"{row['size']}^3 x {row['domains']}",
        row["format"],
        row["codec"],
        row["mode"],
        f"{1e3 * row['compute']['mean']:.1f}",
        f"{1e3 * row['communication']['mean']:.1f}",
        f"{output['mean']:.3f}",
        f"{100 * output['spread']:.0f} %",
        readable(row["bytes"]),
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
        each["format"],
        each["codec"],
        each["mode"],
        f"{each['opening']:.2f}",
        *terms,
        f"{100 * line['scatter']:.0f} %",
        f"{each['bytes']['per_byte']:.3g}",
    )


def ranks_told(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How evenly ranks compute, and what communication takes beside it, where there are several."""
    several = [row for row in rows if row["ranks"] > 1]
    if not several:
        return []
    uneven = statistics.median(row["compute_spread_of_ranks"] for row in several)
    share = statistics.median(row["communication"]["mean"] / row["compute"]["mean"] for row in several)
    return [
        f"several ranks: computation differs by {100 * uneven:.0f} % (standard deviation) among them, "
        f"communication takes {share:.2f} of it (medians of the cases)"
    ]


def buffers_told(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What keeping the whole record takes beside a ring, for the largest case that was measured so."""
    whole = max((row for row in rows if row["mode"] == WHOLE), key=lambda row: row["raw_bytes"], default=None)
    if whole is None:
        return []
    rings = [
        row
        for row in rows
        if row["mode"] == SERVER
        and row["format"] == "hdf5"
        and (row["size"], row["domains"]) == (whole["size"], whole["domains"])
    ]
    beside = "".join(
        f"; ring, {row['codec']}: {readable(row['buffer_bytes'])}, {row['output']['mean']:.3f} s" for row in rings
    )
    return [
        f"{whole['size']}^3 x {whole['domains']}: whole record in memory: {readable(whole['buffer_bytes'])}, "
        f"{whole['output']['mean']:.3f} s{beside}"
    ]


def left_out(each: dict[str, Any]) -> str:
    """One line of what was not measured."""
    what = " ".join(each[key] for key in ("format", "codec", "mode") if each.get(key, "none") != "none")
    return f"left out: {each['size']}^3 x {each['domains']} domains{what and ', ' + what}: {each['why']}"


# ---- what is said of a plan


def cautions(entry: dict[str, Any], chosen: Candidate, ranks: int, raw: int) -> list[str]:
    """Where the advice rests on little."""
    fitted = next(each for each in entry["fits"] if name(each) == name(chosen))
    most, measured = max(fitted["domains"]), fitted["most_raw_bytes"]
    text = []
    if entry["fields"] != FIELDS[0] and chosen.codec != "none":
        text.append(
            "measured on the first steps of a pulse, mostly zeros, which compress better than other fields; "
            "`nearfield bench output --fields filled` measures those"
        )
    if ranks > most:
        text.append(f"{ranks} ranks are extrapolated from up to {most}")
    if raw > FAR * measured:
        text.append(
            f"{readable(raw)} are extrapolated from up to {readable(measured)}: what the system keeps in "
            "memory before it is written may hide the disk's own rate; measure larger --sizes"
        )
    if not chosen.reliable:
        text.append(
            f"the line of {name(chosen)} is not well known; run `nearfield bench output` again in a quiet "
            "minute, with larger --sizes"
        )
    return text


def advice(answer: dict[str, Any], found: Sequence[Candidate], chosen: Candidate) -> str:
    """The best way, the table, how to ask for it."""
    lines = [("format", "codec", "mode", "seconds", "bytes", "of raw", "")]
    for each in found:
        note = "best" if each == chosen else "" if each.fits_on_disk else "more than the disk has"
        note = note or ("" if each.reliable else "uncertain")
        lines.append(
            (
                each.format,
                each.codec,
                each.mode,
                f"{each.seconds:.3g} +- {each.seconds_error:.2g}",
                readable(each.bytes),
                f"{each.bytes / answer['raw_bytes']:.2f}",
                note,
            )
        )
    measured = answer["measured"]
    return "\n".join(
        [
            f"best: {name(chosen)} ({answer['best']['why']}): {chosen.seconds:.3g} +- {chosen.seconds_error:.2g} s, "
            f"{readable(chosen.bytes)}",
            f"in a model: {in_a_model(chosen)}",
            "",
            columns(lines),
            "",
            f"{answer['ranks']} ranks, {answer['points']} points, six components at each of {answer['steps']} steps: "
            f"{readable(answer['raw_bytes'])} of samples in single precision. The seconds are those that a run waits "
            "for its output; what it computes between two recorded steps hides some of them.",
            f"measured {measured['when']} on {measured['processor']}, {measured['rounds']} rounds, "
            f"{measured['fields']} fields, in {measured['folder']}",
        ]
    )


def in_a_model(chosen: Candidate) -> str:
    """What to write into a model file."""
    if chosen.format == "ascii":
        many = "" if chosen.mode == SERVER else ", a snapshot for each domain's box"
        return f'file = {{ format = "ascii" }}{many}'
    codec = f', codec = "{chosen.codec}"' if chosen.codec != "none" else ""
    return f'file = {{ format = "{chosen.format}"{codec}{", per_domain = true" if chosen.mode == PER_DOMAIN else ""} }}'
