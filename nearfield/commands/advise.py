"""`nearfield advise-output`: the best format, codec and mode for recorded fields on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nearfield.commands.console import print_answer
from nearfield.commands.output import rules, way
from nearfield.commands.tables import columns
from nearfield.entry.errors import ModelError
from nearfield.formats.sizes import free_bytes
from nearfield.formats.sizes import readable as amount
from nearfield.measure.advice import SAMPLE, Candidate, best, candidates, name, stored_fits
from nearfield.measure.sweep import PER_DOMAIN, SERVER
from nearfield.measure.sweep_cases import FIELDS

FAR = 100  # ratio of bytes to the most that were measured, above which the advice is called extrapolated


def advise(ranks: int, points: float, steps: int, folder: Path, as_json: bool) -> int:
    """Print the best way to write so many points at so many steps from so many ranks, and all others beside it."""
    entry, points = stored_fits(), round(points)
    found = candidates(entry, ranks, points, steps, free_bytes(folder))
    if not found:
        raise ModelError("of one rank only one file was not measured here; run `nearfield bench output` with its modes")
    chosen, why = best(found)
    raw = points * steps * SAMPLE
    warnings = cautions(entry, chosen, ranks, raw)
    answer = {
        "ranks": ranks,
        "points": points,
        "steps": steps,
        "raw_bytes": raw,
        "best": asdict(chosen) | {"why": why},
        "candidates": [asdict(each) for each in found],
        "rules": rules(entry["fits"]),
        "warnings": warnings,
        "measured": {key: entry[key] for key in ("when", "fields", "folder", "processor", "rounds")},
    }
    return print_answer(as_json, answer, readable(answer, found, chosen), warnings)


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
            f"{amount(raw)} are extrapolated from up to {amount(measured)}: what the system keeps in "
            "memory before it is written may hide the disk's own rate; measure larger --sizes"
        )
    if not chosen.reliable:
        text.append(
            f"the line of {name(chosen)} is not well known; run `nearfield bench output` again in a quiet "
            "minute, with larger --sizes"
        )
    return text


def readable(answer: dict[str, Any], found: Sequence[Candidate], chosen: Candidate) -> str:
    """The best way, the table, how to ask for it."""
    heads = ("format", "codec", "mode", "seconds", "bytes", "of raw", "")
    lines = [heads, *(line(each, chosen, answer["raw_bytes"]) for each in found)]
    measured = answer["measured"]
    return (
        f"best: {name(chosen)} ({answer['best']['why']}): {seconds(chosen)} s, {amount(chosen.bytes)}\n"
        f"in a model: {in_a_model(chosen)}\n\n{columns(lines)}\n\n"
        f"{answer['ranks']} ranks, {answer['points']} points, six components at each of {answer['steps']} steps: "
        f"{amount(answer['raw_bytes'])} of samples in single precision. The seconds are those that a run waits "
        "for its output; the computation between two recorded steps hides some of them.\n"
        f"measured {measured['when']} on {measured['processor']}, {measured['rounds']} rounds, "
        f"{measured['fields']} fields, in {measured['folder']}"
    )


def seconds(each: Candidate) -> str:
    """Predicted seconds with their standard error."""
    return f"{each.seconds:.3g} +- {each.seconds_error:.2g}"


def line(each: Candidate, chosen: Candidate, raw: int) -> tuple[str, ...]:
    """The cells of a candidate's line."""
    doubt = "" if each.reliable else "uncertain"
    note = "best" if each == chosen else doubt if each.fits_on_disk else "more than the disk has"
    return (*way(asdict(each)), seconds(each), amount(each.bytes), f"{each.bytes / raw:.2f}", note)


def in_a_model(chosen: Candidate) -> str:
    """The entry of a model file for this way of writing."""
    if chosen.format == "ascii":
        return 'file = { format = "ascii" }' + ("" if chosen.mode == SERVER else ", a snapshot for each domain's box")
    codec = f', codec = "{chosen.codec}"' if chosen.codec != "none" else ""
    pieces = ", per_domain = true" if chosen.mode == PER_DOMAIN else ""
    return f'file = {{ format = "{chosen.format}"{codec}{pieces} }}'
