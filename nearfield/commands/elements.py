"""`nearfield elements`: the dissipation elements of a scalar field in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearfield.commands.console import print_answer
from nearfield.commands.element_fields import QUANTITIES, field_of_monitor, monitor_named, times_of
from nearfield.commands.streams import write
from nearfield.commands.tables import rows
from nearfield.commands.tables import save as save_figures
from nearfield.commands.writing import refuse_folder
from nearfield.dissipation.elements import Request, analysed
from nearfield.dissipation.grids import periods_of
from nearfield.dissipation.labelled import closed_lines
from nearfield.dissipation.memory import Keeper, bytes_of
from nearfield.dissipation.partition import Elements
from nearfield.dissipation.reading import read_field
from nearfield.dissipation.storing import refuse_other, save
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.machine.schedule import counted as counted_blocks
from nearfield.machine.transport import agreed, world
from nearfield.pictures.style import figure_of

Given = tuple[Mapping[str, np.ndarray], Mapping[str, str], bool]
NO_GAIN = 0.8  # of the lines of `trace`, above which those of `hybrid` save no time to speak of (white noise: 0.99)
LARGE = 32**3  # points of a field, below which an analysis takes no time to speak of


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    field: str
    spacing: str | None
    periodic: str
    method: str
    quantity: str | None
    at: str | None
    persistence: str | None
    output: Path | None
    plots: Path | None
    trajectories: int | None
    along: str | None
    threads: int | None
    memory: str | None = None
    scratch: Path | None = None
    chunk: int | None = None
    arc_length: str | None = None
    element: str | None = None
    excitation: str | None = None


def find_elements(wish: Wish, as_json: bool) -> int:
    """Read the field, find its elements, print their numbers and means."""
    refuse_unused(wish)
    beside = Path() if wish.output is None else wish.output.parent
    with ExitStack() as stack:
        keeper = Keeper(stack, wish.method, beside, wish.scratch, bytes_of(wish.memory), world())
        return analyse(wish, keeper, as_json)


def analyse(wish: Wish, keeper: Keeper, as_json: bool) -> int:
    """The same with the field where `keeper` puts it; all ranks analyse, the first one writes."""
    field, distances, facts = field_of_wish(wish, keeper)
    others = {name: read_field(f"{wish.field.rpartition(':')[0]}:{name}").values for name in names_of(wish.along)}
    scale = 1.0 if distances is None else distances
    request = Request(scale, wish.periodic, wish.method, wish.threads, wish.persistence, wish.chunk)
    agreed(keeper.ranks, lambda: refuse_places(wish), at_root=True)
    found = analysed(field, request, keeper.place)
    if keeper.ranks.rank:
        keeper.ranks.from_root(None)
        return 0
    code = tell(wish, found, (others, facts, distances is None), keeper, as_json)
    keeper.ranks.from_root(None)  # others wait, so that one that fails is not taken for a success
    return code


def tell(wish: Wish, found: Elements, given: Given, keeper: Keeper, as_json: bool) -> int:
    """Write what was wished for and print the answer. `given`: fields for lines, facts, whether lengths are cells."""
    others, facts, in_cells = given
    answer = found.summary()
    if wish.element is not None:
        refuse_element(found, wish.element)
    if wish.output is not None:
        lines = None if wish.trajectories is None else found.trajectories(wish.trajectories, others, wish.threads)
        arcs = None if wish.arc_length is None else found.arc_length(lines_of(wish.arc_length), wish.threads)
        answer["output"] = str(save(found, wish.output, facts, lines, arcs))
        answer |= {} if arcs is None else arcs.attrs
        if lines is not None:
            answer["lines_that_end_elsewhere"] = lines.attrs["lines_that_end_elsewhere"]
    if wish.plots is not None:
        pictures = {name: figure_of(axes) for name, axes in found.plot.all().items()}
        answer["plots"] = save_figures(wish.plots, pictures, "--plots")
        if wish.element is not None:
            answer["plots"].append(str(page_of_element(found, wish.element, wish.plots)))
    answer |= {
        "field": facts["source"],
        "shape": found.labels.shape,
        "spacing": found.spacing,
        "periodic": "".join(axis for axis, closed in zip("xyz", found.periodic) if closed),
        "method": found.method,
        "traced": found.traced,
        "unresolved": found.unresolved,
        "persistence": found.persistence,
        "simplified": found.simplified,
        "ranks": keeper.ranks.size,
        "schedule": counted_blocks(),
    }
    remarks = warnings(found)
    if keeper.remark:
        answer["storage"] = keeper.remark
        write(sys.stderr, keeper.remark)
    return print_answer(as_json, answer, readable(facts["source"], found, in_cells), remarks)


def refuse_places(wish: Wish) -> None:
    """Error, before the work: the file or the folder for what was wished for cannot be written."""
    if wish.output is not None:
        refuse_folder(wish.output.parent, "--output", wish.output.name)
    if wish.plots is not None:
        refuse_folder(wish.plots, "--plots", "the pictures")


def refuse_unused(wish: Wish) -> None:
    """Error: an option that needs another one, or a file of data sets; an output that would replace another file."""
    if wish.output is not None:
        refuse_other(wish.output)
        source = Path(wish.field.rpartition(":")[0] or wish.field)
        if wish.output.exists() and source.exists() and wish.output.samefile(source):
            raise ModelError(f"--output {wish.output} is the field's own file; name another")
    if wish.trajectories is not None and wish.output is None:
        raise ModelError(f"--trajectories {wish.trajectories} are written to the file of --output; name it")
    if wish.arc_length is not None and wish.output is None:
        raise ModelError(f"--arc-length {wish.arc_length}: the lengths are written to the file of --output; name it")
    if wish.arc_length is not None:
        lines_of(wish.arc_length)
    if wish.element is not None and wish.plots is None:
        raise ModelError(f"--element {wish.element}: its page is written into the folder of --plots; name one")
    if wish.along is not None and wish.trajectories is None:
        raise ModelError(f"--along {wish.along}: fields are interpolated along --trajectories; say how many")
    if wish.along is not None and ":" not in wish.field:
        raise ModelError(f"--along {wish.along} names data sets of the field's own HDF5 file; {wish.field} is none")


def lines_of(given: str) -> int | None:
    """Lines an element of `--arc-length 20`, None for `all`. Error: neither."""
    if given == "all":
        return None
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise ModelError(f"--arc-length {given}: give the number of lines an element, 1 or more, or all")


def names_of(along: str | None) -> list[str]:
    """Data sets of `--along A,B`."""
    return [] if along is None else [name.strip() for name in along.split(",")]


def field_of_wish(wish: Wish, keeper: Keeper) -> tuple[np.ndarray, Sequence[float | np.ndarray] | None, dict[str, str]]:
    """The values, their spacing where one is known, and where they are from: `source`, `run` of a run's monitor."""
    if monitor := monitor_named(wish.field):
        if wish.spacing is not None:
            raise ModelError(f"--spacing {wish.spacing}: the grid of a run's monitor is in its result; leave it out")
        path, name = monitor
        asked = wish.quantity, wish.at, wish.periodic, wish.excitation
        values, lines, what, run = field_of_monitor(path, name, *asked)
        return keeper.take(values), lines, {"source": f"{wish.field}, {what}", "run": run}
    if wish.excitation is not None:
        raise ModelError(f"--excitation {wish.excitation}: names one of a run's, RESULT:MONITOR; {wish.field} is none")
    first, last = times_of(wish.at)
    if first != last:
        raise ModelError(f"--at {wish.at}: means over times are of a run's snapshots, RESULT:MONITOR; give one time")
    given = read_field(wish.field, first, wish.method, keeper.take)
    values = part_of(given.values, wish.quantity, wish.field)
    facts = {"source": wish.field if wish.quantity is None else f"{wish.quantity} of {wish.field}"}
    if wish.spacing is not None or given.lines is None:
        return values, spacings(wish.spacing, wish.field), facts
    facts["source"] += ", spacing by the coordinates in the file"
    return values, closed_lines(given.lines, periods_of(wish.periodic, values.ndim)), facts


def part_of(values: np.ndarray, quantity: str | None, label: str) -> np.ndarray:
    """The magnitude, real or imaginary part of complex values. Error: none is chosen; values that are real."""
    if values.dtype.kind != "c":
        if quantity is not None:
            raise ModelError(
                f"--quantity {quantity}: {label} holds real values, taken as they are; quantities choose from a run's "
                f"monitor, RESULT:MONITOR: {QUANTITIES}"
            )
        return values
    if quantity is None or quantity not in PARTS:
        raise ModelError(f"{label} is complex, and only real values have maxima; say --quantity: {', '.join(PARTS)}")
    return PARTS[quantity](values)


PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"magnitude": np.abs, "real": np.real, "imaginary": np.imag}


def refuse_element(found: Elements, element: str) -> None:
    """Error, before anything is written: there is no such element."""
    from nearfield.report.element_page import chosen

    chosen(found, element)


def page_of_element(found: Elements, element: str, folder: Path) -> Path:
    """Write the page of one element into a folder. Error: there is no such element, it cannot be written."""
    from nearfield.report.element_page import chosen, show_element

    number = chosen(found, element)
    return show_element(found, number, folder / f"element-{number}.html")


def spacings(given: str | None, field: str) -> Sequence[float | np.ndarray] | None:
    """Numbers of `0.1` or `0.1,0.1,0.2`; other words name the coordinates of an axis in the field's own file.

    Error: no such data set.
    """
    if given is None:
        return None
    return [distance(word, field, given) for word in given.split(",")]


def distance(word: str, field: str, given: str) -> float | np.ndarray:
    """A number, or the coordinates that the word names."""
    try:
        return float(word)
    except ValueError:
        file = field.rpartition(":")[0]
        if not file or not word.strip():
            raise ModelError(
                f"--spacing {given}: give a number, or one for each axis as 0.1,0.1,0.2; in place of one, for "
                "fields in HDF5 files, the data set with the coordinates of the axis"
            ) from None
    try:
        return read_field(f"{file}:{word}").values
    except ModelError as error:
        raise ModelError(f"--spacing {given}: '{word}' is no number, and {error}") from None


def warnings(found: Elements) -> list[str]:
    """What was not found by the definition, and what gained nothing."""
    said = []
    if found.unresolved:
        lines = counted(found.unresolved, "gradient line")
        why = "ended at saddles, displaced or not, and took the end of the path of steepest neighbours"
        said.append(f"{lines} of {found.traced:,} {why}")
    share = found.traced / (2 * found.labels.size)  # of the lines that `trace` follows, up and down from each point
    if found.method == "hybrid" and share > NO_GAIN and found.labels.size >= LARGE:
        said.append(
            f"neighbours differ nearly everywhere: hybrid follows {100 * share:.0f} % of the lines of trace, and "
            "took as long; elements of a few points may be noise: smooth the field, or use --method discrete"
        )
    return said


def readable(given: str, found: Elements, in_cells: bool) -> str:
    """Numbers and means in words."""
    unit = " cells" if in_cells else ""
    axes = "".join(axis for axis, closed in zip("xyz", found.periodic) if closed)
    lines = {
        "elements": f"{len(found):,} ({found.pairs:,} pairs of extrema)",
        "extrema": f"{len(found.maxima):,} maxima, {len(found.minima):,} minima",
        "mean length": f"{found.length.mean():.6g}{unit}",
        "mean difference": f"{found.difference.mean():.6g}",
        "left out": f"{found.simplified:,} extrema of persistence below {found.persistence:.4g}",
        "points": f"{found.labels.size / len(found):.4g} an element",
        "rate": f"{found.points_per_second / 1e6:.3g} Mpoint/s, {found.seconds:.3g} s ({found.method})",
    }
    if not found.persistence:
        del lines["left out"]
    shape = " x ".join(map(str, found.labels.shape))
    closed = f"periodic along {', '.join(axes)}" if axes else "not periodic"
    return f"{given}: {shape} points, {closed}\n{rows(lines, 16)}"
