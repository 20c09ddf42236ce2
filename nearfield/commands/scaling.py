"""`nearfield bench scaling`: how this machine's rate depends on binding, ranks and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nearfield.commands.console import console
from nearfield.commands.predict import columns
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import this_machine
from nearfield.machine.profile import load_profile
from nearfield.machine.transport import started
from nearfield.measure.bench_scaling import ANTENNA, bench_scaling, cases, points, schemes_of

MOST = 4096  # ranks, and threads of a rank
MOST_A_CORE = 4  # ranks: Fig. 5 of Zhao, Chen and Yu has two


@dataclass(frozen=True)
class Request:
    """What was asked for; lists as text, `1,2,4`."""

    cells: int
    steps: int
    rounds: int
    cases: str = "box,antenna"
    antenna: Path | None = None
    bind: str | None = None
    ranks: str | None = None
    threads: str | None = None
    profile: Path | None = None


def measure_scaling(request: Request, plot: Path | None, as_json: bool) -> int:
    """Run all points in turn, print the table, draw it; 1 where runs of one case end in different fields."""
    if started() > 1:
        raise ModelError("bench scaling starts the ranks itself; call it without a launcher")
    if plot is not None and plot.suffix.lower() != ".png":
        raise ModelError(f"--plot {plot}: pictures are PNG; give a name that ends in .png")
    hardware, profile = this_machine(), load_profile(request.profile)
    same = schemes_of(hardware, names(request.bind))
    chosen = cases(names(request.cases) or (), request.cells, request.steps, request.antenna or ANTENNA, hardware)
    ranks, threads = counts("--ranks", request.ranks), counts("--threads", request.threads)
    if ranks and max(ranks) > MOST_A_CORE * len(hardware.cores):
        raise ModelError(
            f"--ranks {max(ranks)}: that many ranks on {len(hardware.cores)} cores would stall this "
            f"machine; give at most {MOST_A_CORE * len(hardware.cores)}"
        )
    with console(as_json) as out:
        wanted = points(chosen, list(same), len(hardware.cores), ranks, threads)
        out.note(f"{len(wanted)} points, {request.rounds} rounds")
        found = bench_scaling(wanted, same, request.rounds, hardware, profile, out.note)
        if plot is not None:
            draw(found, plot)
            found["files"] = [str(plot)]
        out.answer(found)
        if not as_json:
            out.say(readable(found))
    return 0 if found["checksums_agree"] else 1


def names(given: str | None) -> list[str] | None:
    """The words of `a,b`."""
    return None if given is None else [word.strip() for word in given.split(",")]


def counts(option: str, given: str | None) -> list[int] | None:
    """The numbers of `1,2,4`. Error: something else."""
    if given is None:
        return None
    words = [word.strip() for word in given.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST for word in words):
        raise ModelError(f"{option} {given}: give whole numbers from 1 to {MOST} with commas between them, such as 1,2")
    return sorted({int(word) for word in words})


HEADS = (
    "case",
    "bind",
    "ranks x threads",
    "boxes",
    "halo",
    "Mcells/s",
    "lowest",
    "highest",
    "predicted",
    "predicted / measured",
)


def line(point: dict) -> Sequence[str]:
    """The cells of a point's line."""
    how = (point["case"], point["bind"], f"{point['ranks']} x {point['threads']}")
    if "refused" in point:
        return (*how, *["-"] * 6, "refused")
    predicted, ratio = point["predicted_mcells_per_second"], point["predicted_over_measured"]
    return (
        *how,
        " x ".join(map(str, point["rank_arrangement"])),
        str(point["halo_depth"] or "-"),
        *(f"{point[name]:.0f}" for name in ("mcells_per_second", "lowest", "highest")),
        f"{predicted:.0f}" if predicted else "-",
        f"{ratio:.2f}" if ratio else "-",
    )


def readable(found: dict) -> str:
    """The table, what it is of, and what was refused or assumed."""
    text = [columns([HEADS, *map(line, found["points"])]), ""]
    text += [f"{name}: nearfield bench {words}" for name, words in found["cases"].items()]
    text += [
        f"bind {first} stands for {', '.join(rest[1:])} too: the same cores here"
        for first, rest in found["schemes"].items()
        if rest[1:]
    ]
    text.append(
        f"median of {found['rounds']} rounds, all points in turn; halo in layers; predicted from the profile: "
        f"{found['profile']}"
    )
    text += [f"assumed: {each}" for each in found["assumptions"]]
    text += sorted({f"refused: {point['refused']}" for point in found["points"] if "refused" in point})
    if not found["checksums_agree"]:
        text.append("FAIL: runs of one case end in different fields")
    return "\n".join(text)


def draw(found: dict, plot: Path) -> None:
    """Write the picture."""
    from nearfield.entry.whole_file import write_whole
    from nearfield.pictures.style import png_bytes
    from nearfield.report.scaling_plots import scaling

    plot.parent.mkdir(parents=True, exist_ok=True)
    write_whole(plot, png_bytes(scaling(found)))
