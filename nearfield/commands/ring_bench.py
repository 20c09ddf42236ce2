"""`nearfield ring bench`: tables of how fast bytes go through rings between NUMA nodes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from nearfield.commands.console import console
from nearfield.commands.tables import columns
from nearfield.entry.errors import ModelError
from nearfield.machine.facts import measured_by
from nearfield.machine.hardware import this_machine
from nearfield.measure.ring_bench import Case, Request, Stream, measure, parsed, require, suite

MOST_STREAMS = 64


def whole(bytes: float) -> int:
    """A number of bytes such as 50e9. Raises ModelError where it is not one."""
    if not 1 <= bytes < 2**60:
        raise ModelError(f"bytes={bytes:g}: allowed are 1 to 1e18")
    return int(bytes)


def cases(where: tuple[int, int, int], streams: str | None, chosen: str | None) -> list[Case]:
    """The cases of a suite, of streams that run together, or of one stream."""
    if streams is not None and chosen is not None:
        raise ModelError("streams and suite exclude each other; give one of them")
    if chosen is not None:
        return suite(chosen)
    if streams is None:
        return [Case("Single Stream", (Stream("A", *where),))]
    together = parsed(streams)
    if len(together) > MOST_STREAMS:
        raise ModelError(f"streams: {len(together)} are given; allowed are {MOST_STREAMS}")
    return [Case(f"{len(together)} Streams" if len(together) > 1 else "Single Stream", together)]


def bench_rings(todo: Sequence[Case], request: Request, as_json: bool) -> int:
    """Measure each case, print the table, say what local placement gains."""
    hardware = this_machine()
    for case in todo:
        require(case, hardware, request)
    with console(as_json) as out:
        measured = []
        for case in todo:
            out.note(f"{case.test}: {'; '.join(stream.words() for stream in case.streams)} ...")
            measured.append((case, measure(case, request)))
        rows = [row for _, found in measured for row in found]
        text = [columns([HEADS, *map(line_of, rows)], left=2), *sums(measured), *gain(rows), *remarks(request, rows)]
        out.answer({**measured_by(), "rows": rows}, "\n".join(text))
    return 0 if all(row["verified"] for row in rows) else 1


HEADS = ("Test", "", "Memory", "Writer", "Reader", "MB/s", "in place", "of STREAM", "of copies", "us", "Pages by node")


def line_of(row: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a stream's line."""
    pages = " ".join(f"{node}:{count}" for node, count in enumerate(row["pages_per_node"]) if count)
    return (
        *(str(row[key]) for key in ("test", "stream", "memory", "writer", "reader")),
        f"{row['mb_per_second']:.0f}",
        "-" if row["zero_copy_mb_per_second"] is None else f"{row['zero_copy_mb_per_second']:.0f}",
        f"{row['stream_copy_share']:.0%}",
        f"{row['same_copies_share']:.0%}" if row["same_copies_share"] else "-",
        f"{row['latency_microseconds']:.1f}",
        f"{pages}{', verified' if row['verified'] else ', NOT VERIFIED'}",
    )


def sums(measured: Sequence[tuple[Case, list[dict[str, Any]]]]) -> list[str]:
    """For cases of several streams: each stream's rate and their sum."""
    several = [(case, rows) for case, rows in measured if len(rows) > 1]
    lines = [""] * bool(several)
    for case, rows in several:
        each = ", ".join(
            f"{row['stream']} ({stream.words()}) {row['mb_per_second']:.0f}" for row, stream in zip(rows, case.streams)
        )
        lines.append(
            f"{case.test}: {each}, sum {rows[0]['sum_mb_per_second']:.0f} MB/s; the slowest has "
            f"{rows[0]['fairness']:.0%} of the fastest"
        )
    return lines


def gain(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The gain of memory, writer and reader on one node, where both kinds were measured."""
    local = [row["mb_per_second"] for row in rows if on_one_node(row)]
    remote = [row["mb_per_second"] for row in rows if not on_one_node(row)]
    if not local or not remote:
        return []
    ratio = statistics.median(local) / statistics.median(remote)
    return ["", f"all on one node over the others: {ratio:.2f} times as fast (medians)"]


def on_one_node(row: dict[str, Any]) -> bool:
    """Whether memory, writer, reader and the device, if there is one, are on one node."""
    device = row.get("device")
    return row["memory"] == row["writer"] == row["reader"] == (device["node"] if device else row["memory"])


def remarks(request: Request, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Lines that explain the columns."""
    through = f"{request.blocks} blocks of {request.block_bytes / 1e6:.3g} MB"
    devices = sorted({row["device"]["name"] for row in rows if row["device"]})
    told = [f"device: {name}" for name in devices]
    if devices and not any("opposed" in row["test"] for row in rows):
        told.append("opposed places need two NUMA nodes; this machine has one, and random ones are aligned.")
    return [
        "",
        *told,
        f"{rows[0]['bytes'] / 1e9:.3g} GB a pass through {through}, median of {request.passes}; MB = 1e6 bytes.",
        "MB/s: copied in and copied out. in place: written and read where they lie. of STREAM: the share of what",
        "STREAM copy, by ordinary stores on the same cores and memory, leaves for two copies; streaming stores, which",
        "fetch no lines before they write, pass it by up to a half. of copies: the share of what the same two copies",
        "have there without a ring. us: from a commit to its receipt by a reader that sleeps.",
    ]
