"""`nearfield probe`: what this machine's memory, messages and cores do, as text, JSON and pictures."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nearfield.commands.console import Console, console
from nearfield.commands.probe_text import readable
from nearfield.commands.tables import save
from nearfield.commands.writing import make_folder
from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.machine.facts import processor_name
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.machine_rate import remember_rate
from nearfield.machine.profile import store, this_profile
from nearfield.machine.transport import started as started_ranks
from nearfield.measure import probe, probe_mpi
from nearfield.measure.probe import Effort
from nearfield.measure.probe_latency import probe_latency
from nearfield.measure.probe_simulated import MakeBelieve
from nearfield.measure.probe_stream import probe_scale, probe_stream

PARTS = ("stream", "latency", "mpi", "fdtd", "gpu")
REAL = ("mpi", "fdtd", "gpu")  # those that cannot be simulated
Finder = Callable[[], dict[str, Any] | None]


def probe_machine(
    part: str | None, scale: bool, quick: bool, simulate: str | None, plot: Path | None, as_json: bool
) -> int:
    """Measure one part or all; what is found joins this machine's profile."""
    if part not in (None, *PARTS):
        raise ModelError(f"probe '{part}' is unknown; allowed: {', '.join(PARTS)}, or none for all of them")
    if scale and part != "stream":
        raise ModelError("--scale belongs to `nearfield probe stream`: the triad over growing numbers of cores")
    if simulate is not None and part in REAL:
        raise ModelError(f"`probe {part}` cannot be simulated; --simulate is for stream and latency")
    if part != "mpi" and started_ranks() > 1:
        raise ModelError(f"started on {started_ranks()} ranks that would all measure at once; start one, or probe mpi")
    hardware = load(simulate)
    if plot is not None:
        make_folder(plot, "--plot", "the pictures")
    with console(as_json) as out:
        found = measured(out, part, scale, quick, hardware)
        if found is None:  # a rank which is not the first
            return 0
        answer = found | {"files": save(plot, pictures(found))} if plot is not None else found
        out.answer(answer, readable(answer))
        out.warn(*warnings_of(answer))
    return 0


def measured(out: Console, part: str | None, scale: bool, quick: bool, hardware: Hardware) -> dict[str, Any] | None:
    """The chosen part, or all that can be measured here; None on a rank which is not the first."""
    simulated, effort = hardware.simulated, Effort.of(quick)
    memory = MakeBelieve(hardware) if simulated else None
    finders = finders_of(hardware, memory, effort, scale)
    found: dict[str, Any] = {}
    omitted: dict[str, str] = {}
    for name in (part,) if part else PARTS:
        try:
            if part is None:
                refuse_absent(name, hardware, simulated)
                out.note(f"{name} ...")
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
        "machine": hardware.name if simulated else processor_name(),
        "simulated": simulated,
        "cores": len(hardware.cores),
        "numa_nodes": len(hardware.numa),
        "quick": quick,
        **found,
        "omitted": omitted,
        "sources": dict(hardware.boards.description.sources) if hardware.boards else {},
    }
    if not simulated and not scale:
        profile = probe.profile_from(found, processor_name(), this_profile())
        if why := store(profile):
            answer["not_kept"] = why
        remember(found)
        answer["profile"] = profile.as_dict()
    return answer


def placed(name: str, finder: Finder) -> dict[str, Any] | None:
    """Results of a part. Error: the system refuses to place its threads or pages, or to start ranks."""
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
    from nearfield.measure.probe_gpu import probe_gpu
    from nearfield.measure.probe_update import probe_fdtd

    def loops() -> probe.Memory:
        return memory or probe.compiled_memory()

    stream = probe_scale if scale else probe_stream
    return {
        "stream": lambda: stream(hardware, loops(), effort),
        "latency": lambda: probe_latency(hardware, loops(), effort),
        "mpi": lambda: probe_mpi.probe_mpi(hardware, effort.quick),
        "fdtd": lambda: probe_fdtd(hardware, effort),
        "gpu": lambda: probe_gpu(effort),
    }


def refuse_absent(part: str, hardware: Hardware, simulated: bool) -> None:
    """Error: this part of the whole probe cannot be measured here."""
    if simulated and part in REAL:
        raise ModelError("not simulated")
    if part == "mpi":
        if importlib.util.find_spec("mpi4py") is None:
            raise ModelError("mpi4py is not installed")
        probe_mpi.launcher()


def warnings_of(answer: dict[str, Any]) -> list[str]:
    return [text for part in ("scale", *PARTS) for text in answer.get(part, {}).get("warnings", ())]


def pictures(found: dict[str, Any]) -> dict[str, Any]:
    """One figure a part that has one."""
    from nearfield.report import probe_plots

    drawers = {"stream": probe_plots.stream, "scale": probe_plots.scale}
    drawers |= {"latency": probe_plots.matrices, "mpi": probe_plots.messages}
    note = f"SIMULATED, {found['machine']}" if found["simulated"] else found["machine"]
    drawn = {part: drawer(found[part], note) for part, drawer in drawers.items() if part in found}
    if len(found.get("scale", {}).get("matrix", {}).get("rows", ())) > 1:
        drawn["matrix"] = probe_plots.matrices(found["scale"]["matrix"], note)
    return drawn
