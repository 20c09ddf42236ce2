"""`nearfield bench scaling`: how this machine's rate depends on binding, ranks and threads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nearfield.commands.console import console
from nearfield.commands.tables import columns, counts, names, save_as
from nearfield.commands.writing import refuse_unwritable
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import this_machine
from nearfield.machine.pages import POLICIES
from nearfield.machine.profile import load_profile
from nearfield.machine.transport import started
from nearfield.measure.bench_scaling import ANTENNA, bench_scaling, cases, points, schemes_of
from nearfield.parallel.decomposition import times
from nearfield.parallel.launch import launcher, require_mpi4py

MOST = 4096  # ranks, and threads of a rank
MOST_A_CORE = 4  # ranks: Fig. 5 of Zhao, Chen and Yu has two


@dataclass(frozen=True)
class Request:
    """Options of the command; lists as text, `1,2,4`."""

    cells: int
    steps: int
    rounds: int
    cases: str = "box,antenna"
    antenna: Path | None = None
    bind: str | None = None
    ranks: str | None = None
    threads: str | None = None
    profile: Path | None = None
    memory: str | None = None
    hosts: Path | None = None


def measure_scaling(request: Request, plot: Path | None, as_json: bool) -> int:
    """Run all points in turn, print the table, draw it; 1 where runs of one case end in different fields, 2 where every
    point was refused."""
    if started() > 1:
        raise ModelError("bench scaling starts the ranks itself; call it without a launcher, over hosts with --hosts")
    if plot is not None and plot.suffix.lower() != ".png":
        raise ModelError(f"--plot {plot}: pictures are PNG; give a name that ends in .png")
    hardware, profile = this_machine(), load_profile(request.profile)
    same = schemes_of(hardware, names(request.bind))
    chosen = cases(names(request.cases) or (), request.cells, request.steps, request.antenna or ANTENNA, hardware)
    ranks, threads = (counts(f"--{name}", getattr(request, name), MOST) for name in ("ranks", "threads"))
    if ranks and max(ranks) > MOST_A_CORE * len(hardware.cores):
        raise ModelError(
            f"--ranks {max(ranks)}: that many ranks on {len(hardware.cores)} cores would stall this "
            f"machine; give at most {MOST_A_CORE * len(hardware.cores)}"
        )
    policies, hosts = policies_of(request.memory), hosts_in(request.hosts)
    if plot is not None:
        refuse_unwritable(plot, "--plot")
    with console(as_json) as out:
        wanted = points(chosen, list(same), len(hardware.cores), ranks, threads, policies, hosts)
        out.note(f"{len(wanted)} points, {request.rounds} rounds")
        found = bench_scaling(wanted, same, request.rounds, hardware, profile, out.note)
        if plot is not None:
            from nearfield.report.scaling_plots import scaling

            found["files"] = [save_as(plot, scaling(found))]
        out.answer(found, readable(found))
    if all("refused" in point for point in found["points"]):
        return ModelError.exit_code
    return 0 if found["checksums_agree"] else 1


def policies_of(given: str | None) -> list[str | None]:
    """The memory policies to compare; left out, the one that goes with each scheme. Error: there is no such policy."""
    wanted = names(given)
    if wanted is None:
        return [None]
    if unknown := [name for name in wanted if name not in POLICIES]:
        raise ModelError(f"--memory {given}: '{unknown[0]}' is unknown; allowed: {', '.join(POLICIES)}, with commas")
    return list(dict.fromkeys(wanted))


def hosts_in(path: Path | None) -> list[str]:
    """Names in a file, one a line; what follows a # is a comment. Error: no file, no name, two on a line, one twice."""
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ModelError(f"--hosts {path}: {why}; give a file with a host's name on each line") from None
    found = [words for line in text.splitlines() if (words := line.partition("#")[0].split())]
    flat = [name for words in found for name in words]
    if not found or any(len(words) > 1 for words in found) or len(set(flat)) < len(flat):
        wrong = "has no name" if not found else "has two names on a line, or one twice"
        raise ModelError(f"--hosts {path} {wrong}; give a host's name on each line, each once")
    require_mpi4py()
    launcher()
    return flat


RATIO = "predicted_over_measured"
RATES = ("Mcells/s", "lowest", "highest", "minutes", "predicted", "predicted / measured", "local pages")
HEADS = ("case", "hosts", "bind", "memory", "ranks x threads", "boxes", "halo", *RATES)


def line(point: dict) -> tuple[str, ...]:
    """The cells of a point's line."""
    where = (point["case"], str(point["hosts"]), point["bind"], point["memory"])
    how = (*where, f"{point['ranks']} x {point['threads']}")
    if "refused" in point:
        return (*how, *["-"] * 8, "refused")
    predicted, ratio, local = (point[name] for name in ("predicted_mcells_per_second", RATIO, "locality_share"))
    return (
        *how,
        times(point["rank_arrangement"]),
        str(point["halo_depth"] or "-"),
        *(f"{point[name]:.0f}" for name in ("mcells_per_second", "lowest", "highest")),
        f"{point['minutes']:.3g}",
        f"{predicted:.0f}" if predicted else "-",
        f"{ratio:.2f}" if ratio else "-",
        f"{local:.0%}" if local is not None else "unknown",
    )


def readable(found: dict) -> str:
    """The table, what it is of, and what was refused or assumed."""
    how = f"median of {found['rounds']} rounds, all points in turn; halo in layers; predicted from the profile:"
    same = {first: ", ".join(rest[1:]) for first, rest in found["schemes"].items() if rest[1:]}
    text = [
        columns([HEADS, *map(line, found["points"])]),
        "",
        *(f"{name}: nearfield bench {words}" for name, words in found["cases"].items()),
        *(f"bind {first} stands for {others} too: the same cores here" for first, others in same.items()),
        f"{how} {found['profile']}",
        *(f"assumed: {each}" for each in found["assumptions"]),
        *sorted({f"refused: {point['refused']}" for point in found["points"] if "refused" in point}),
    ]
    return "\n".join(text if found["checksums_agree"] else [*text, "FAIL: runs of one case end in different fields"])
