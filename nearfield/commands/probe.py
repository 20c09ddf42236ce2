"""`nearfield probe`: what this machine's memory, messages and cores do, as text, JSON and pictures."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nearfield.commands.console import Console, console
from nearfield.commands.predict import columns, save
from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.machine.facts import processor_name
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.machine_rate import remember_rate
from nearfield.machine.profile import WHERE, store, this_profile
from nearfield.machine.transport import started as started_ranks
from nearfield.measure import probe, probe_mpi
from nearfield.measure.probe import Effort
from nearfield.measure.probe_latency import probe_latency
from nearfield.measure.probe_simulated import MakeBelieve
from nearfield.measure.probe_stream import LOOPS, probe_scale, probe_stream

PARTS = ("stream", "latency", "mpi", "fdtd")
BETWEEN = WHERE | {"processes": "between processes that the system may move"}
Finder = Callable[[], dict[str, Any] | None]


def probe_machine(
    part: str | None, scale: bool, quick: bool, simulate: str | None, plot: Path | None, as_json: bool
) -> int:
    """Measure one part or all; what is found joins this machine's profile."""
    if part not in (None, *PARTS):
        raise ModelError(f"probe '{part}' is unknown; allowed: {', '.join(PARTS)}, or none for all of them")
    if scale and part != "stream":
        raise ModelError("--scale belongs to `nearfield probe stream`: the triad over growing numbers of cores")
    if simulate is not None and part in ("mpi", "fdtd"):
        raise ModelError(f"`probe {part}` cannot be simulated; --simulate is for stream and latency")
    if part != "mpi" and started_ranks() > 1:
        raise ModelError(f"started on {started_ranks()} ranks that would all measure at once; start one, or probe mpi")
    with console(as_json) as out:
        found = measured(out, part, scale, quick, simulate)
        if found is None:  # a rank which is not the first
            return 0
        answer = found | {"files": save(plot, pictures(found))} if plot is not None else found
        out.answer(answer)
        if not as_json:
            out.say(readable(answer))
        for warning in warnings_of(answer):
            out.note(f"warning: {warning}")
    return 0


def measured(out: Console, part: str | None, scale: bool, quick: bool, simulate: str | None) -> dict[str, Any] | None:
    """The parts that were asked for; of all parts, those that are there."""
    hardware, effort = load(simulate), Effort.of(quick)
    memory = MakeBelieve(hardware) if simulate else None
    finders = finders_of(hardware, memory, effort, scale)
    found: dict[str, Any] = {}
    omitted = {}
    for name in (part,) if part else PARTS:
        if part is None and (why := absent(name, hardware, simulate is not None)):
            omitted[name] = why
            out.note(f"{name}: left out, {why}")
            continue
        if part is None:
            out.note(f"{name} ...")
        try:
            each = placed(name, finders[name])
        except NearfieldError as error:
            if part is not None:
                raise
            omitted[name] = str(error)
            out.note(f"{name}: left out, {error}")
            continue
        if each is None:
            return None
        found["scale" if scale else name] = each
    answer = {
        "machine": processor_name() if simulate is None else hardware.name,
        "simulated": simulate is not None,
        "cores": len(hardware.cores),
        "numa_nodes": len(hardware.numa),
        "quick": quick,
        **found,
    }
    answer["omitted"] = omitted
    if simulate is None and not scale:
        profile = probe.profile_from(found, processor_name(), this_profile())
        store(profile)
        remember(found)
        answer["profile"] = profile.as_dict()
    return answer


def placed(name: str, finder: Finder) -> dict[str, Any] | None:
    """What a part finds. Error: the system refuses to place its threads or pages, or to start ranks."""
    try:
        return finder()
    except OSError as error:
        why = error.strerror or error
        raise ModelError(
            f"probe {name}: the system refuses what it needs, as placing threads or pages ({why}); this "
            "process may be confined, by a container or a control group"
        ) from None


def remember(found: dict[str, Any]) -> None:
    """Tell `check` the rate of the update, which it keeps with those of `bench box`."""
    if "fdtd" in found:
        rate, cells = found["fdtd"]["boundaries"]["pec"]["numa"], found["fdtd"]["cells"] ** 3
        median = rate["mcells_per_second"]["median"]
        seconds = found["fdtd"]["passes"] * found["fdtd"]["steps"] * cells / median / 1e6
        remember_rate(median, "single", rate["threads"], seconds, cells)


def finders_of(hardware: Hardware, memory: probe.Memory | None, effort: Effort, scale: bool) -> dict[str, Finder]:
    """Each part's measurement; the compiled core is asked for only where it is needed."""
    from nearfield.measure.probe_update import probe_fdtd

    def loops() -> probe.Memory:
        return memory or probe.compiled_memory()

    stream = probe_scale if scale else probe_stream
    return {
        "stream": lambda: stream(hardware, loops(), effort),
        "latency": lambda: probe_latency(hardware, loops(), effort),
        "mpi": lambda: probe_mpi.probe_mpi(hardware, effort.quick),
        "fdtd": lambda: probe_fdtd(hardware, effort),
    }


def absent(part: str, hardware: Hardware, simulated: bool) -> str:
    """Why a part of the whole probe is left out; "" where it is not."""
    if simulated and part in ("mpi", "fdtd"):
        return "not simulated"
    if part != "mpi":
        return ""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    try:
        probe_mpi.launcher()
    except NearfieldError as error:
        return str(error)
    return ""


def warnings_of(answer: dict[str, Any]) -> list[str]:
    """Of all parts."""
    return [text for part in ("scale", *PARTS) for text in answer.get(part, {}).get("warnings", ())]


def readable(answer: dict[str, Any]) -> str:
    """A block of lines a part."""
    simulated = "  SIMULATED: made-up numbers, nothing was measured" if answer["simulated"] else ""
    nodes = answer["numa_nodes"]
    text = [f"machine: {answer['machine']}, {answer['cores']} cores, {nodes} NUMA node{'s' * (nodes > 1)}{simulated}"]
    tellers = {"stream": tell_stream, "scale": tell_scale, "latency": tell_latency, "mpi": tell_mpi, "fdtd": tell_fdtd}
    text += [teller(answer[part]) for part, teller in tellers.items() if part in answer]
    if "profile" in answer:
        text.append("kept as this machine's profile, for check, place and predict")
    return "\n\n".join(text)


def tell_stream(found: dict[str, Any]) -> str:
    """STREAM's table a NUMA node, and all together."""
    blocks = [f"STREAM, best of {found['passes']}; {found['rule']}"]
    groups = [("one core", found["core"]), *((f"node {each['node']}", each) for each in found["nodes"])]
    if len(found["nodes"]) > 1:
        groups.append(("all", found["all"]))
    for name, each in groups:
        lines = [("function", "best MB/s", "min s", "median s", "max s", "spread")]
        for loop in LOOPS:
            seconds = each[loop]["seconds"]
            lines.append(
                (
                    loop,
                    f"{1e3 * each[loop]['best_gb_per_second']:.1f}",
                    f"{seconds['min']:.6f}",
                    f"{seconds['median']:.6f}",
                    f"{seconds['max']:.6f}",
                    f"{100 * seconds['spread']:.1f} %",
                )
            )
        size = each["array_bytes"] / 1e6
        blocks.append(f"{name}: {each['placement']}; each array {size:.0f} MB\n{columns(lines)}")
    blocks.append(f"triad of all over the sum of the nodes: {100 * found['share_of_sum']:.0f} %")
    return "\n\n".join(blocks)


def tell_scale(found: dict[str, Any]) -> str:
    """The triad over numbers of cores."""
    lines = [("cores", "NUMA nodes", "best MB/s", "over 1 core", "min s", "median s", "max s", "placement")]
    for point in found["points"]:
        seconds = (f"{point['seconds'][name]:.6f}" for name in ("min", "median", "max"))
        lines.append(
            (
                str(point["cores"]),
                str(point["numa_nodes"]),
                f"{1e3 * point['best_gb_per_second']:.0f}",
                f"{point['over_first']:.2f}",
                *seconds,
                point["placement"],
            )
        )
    return f"triad over cores, best of {found['passes']}; {found['rule']}\n{columns(lines)}"


def tell_latency(found: dict[str, Any]) -> str:
    """Both matrices, median with least and most."""
    blocks = []
    for title, name, digits in (
        ("read bandwidth, GB/s", "bandwidth_gb_per_second", 1),
        ("latency of a load, ns", "latency_ns", 0),
    ):
        head = ("cores of node \\ memory of node", *map(str, found["columns"]))
        lines = [
            head,
            *((str(node), *(cell_text(cell, digits) for cell in row)) for node, row in zip(found["rows"], found[name])),
        ]
        how = f"median (least..most) of {found['passes']}, {found['bytes'] / 2**20:.0f} MiB"
        blocks.append(f"{title}: {how}\n{columns(lines)}")
    blocks.append("\n".join(dict.fromkeys(found["placements"])))
    return "\n\n".join(blocks)


def cell_text(cell: dict[str, float], digits: int) -> str:
    """ "21.0 (20.1..21.4)"."""
    return f"{cell['median']:.{digits}f} ({cell['min']:.{digits}f}..{cell['max']:.{digits}f})"


def tell_mpi(found: dict[str, Any]) -> str:
    """A table a pair: size, half a round trip, bandwidth one way and both ways; then the fit."""
    blocks = [f"messages through mpi4py over {found['library']}; MB = 10^6 B, a window of {found['window']} messages"]
    for pair in found["pairs"]:
        lines = [("Size", "Latency (us)", "min", "max", "Bandwidth (MB/s)", "Bidirectional (MB/s)")]
        for row in pair["sizes"]:
            times = (f"{1e6 * row['latency'][name]:.2f}" for name in ("median", "min", "max"))
            rates = (f"{row[name]['median'] / 1e6:.2f}" for name in ("bandwidth", "bidirectional"))
            lines.append((str(row["bytes"]), *times, *rates))
        line = pair["fit"]
        blocks.append(
            f"# {BETWEEN[pair['where']]}: {pair['binding']}\n{columns(lines)}\n"
            f"fit: latency {1e6 * line['latency']:.2f} +- {1e6 * line['latency_error']:.2f} us, "
            f"bandwidth {line['bandwidth'] / 1e6:.0f} +- {line['bandwidth_error'] / 1e6:.0f} MB/s; "
            f"the processor spends {1e9 * line['busy']:.2g} ns a byte"
        )
    return "\n\n".join(blocks)


def tell_fdtd(found: dict[str, Any]) -> str:
    """Rates of the update by walls and cores."""
    lines = [("walls", "Mcells/s", "min", "max", "placement")]
    for boundary, each in found["boundaries"].items():
        for name in ("core", "numa"):
            rates = (f"{each[name]['mcells_per_second'][which]:.0f}" for which in ("median", "min", "max"))
            lines.append((boundary.upper(), *rates, f"{each[name]['placement']}, {each[name]['isa']}"))
    head = (
        f"update of a box of {found['cells']}^3 cells, {found['precision']} precision, "
        f"median of {found['passes']} runs of {found['steps']} steps"
    )
    return f"{head}\n{columns(lines)}"


def pictures(found: dict[str, Any]) -> dict[str, Any]:
    """One figure a part that has one."""
    from nearfield.report import probe_plots

    drawers = {
        "stream": probe_plots.stream,
        "scale": probe_plots.scale,
        "latency": probe_plots.matrices,
        "mpi": probe_plots.messages,
    }
    note = "SIMULATED" if found["simulated"] else found["machine"]
    return {part: drawer(found[part], note) for part, drawer in drawers.items() if part in found}
