"""The text of `nearfield place MODEL`: the tables, the reasons and the warnings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nearfield.commands.place_model import Placing, Request, domain_places
from nearfield.commands.tables import columns
from nearfield.entry.wording import counted, memory
from nearfield.machine.launchers import ranges
from nearfield.parallel.decomposition import Decomposition, shared_speeds, times
from nearfield.parallel.halo_sizes import HaloSize
from nearfield.parallel.weights import Weights
from nearfield.plan.boxes import indices
from nearfield.predict.step_time import Prediction

MOST_SHOWN = 64  # domains, and ranks, in the text
DOUBLE_WORK = 0.25  # share of cells computed twice, above which a warning is given
NOTABLE = 0.02  # share of the work
WAITED = 0.02  # share of a step that a rank waits for halos, above which a warning is given


def domains_text(request: Request, placing: Placing, sizes: Sequence[HaloSize], step: Prediction | None) -> str:
    machine, best, unit = placing.machine, placing.best, "xyz"[placing.plan.unit_axis]
    of_ranks = f" on {counted(machine.ranks, 'rank')} ({times(best.grouping.ranks)})" if machine.ranks > 1 else ""
    simulated = ", SIMULATED" if machine.hardware.simulated else ""
    hosts = f"{counted(len(machine.hosts), 'host')}, --bind {machine.scheme}"
    where = f"\nmachine {machine.hardware.name}{simulated}, {hosts}"
    count = math.prod(best.arrangement.counts)
    text = [
        f"{request.model}: {times(placing.plan.active)} samples, rows along {unit}{where if machine.described else ''}",
        f"{counted(count, 'domain')}, {times(best.arrangement.counts)}{of_ranks}, "
        f"{counted(machine.threads, 'thread')} a rank",
        "",
        *domain_table(placing),
        "",
        f"imbalance {best.imbalance:.3f} (slowest domain over the mean)",
    ]
    if machine.ranks > 1:
        text += ["", *halo_table(placing, sizes), "", *step_text(step)]
    else:
        text += ["halo: none, all domains share one process's memory"]
    return "\n".join([*text, *(f"why: {reason}" for reason in reasons(placing))])


def step_text(step: Prediction | None) -> list[str]:
    """A line about the time of a step, where it was predicted."""
    if step is None:
        return []
    times_of = f"{1e3 * step.step:.3g} ms, of which the slowest rank waits {1e3 * step.waiting:.3g} ms for halos"
    return [f"a step takes {times_of} (a prediction, as `nearfield predict` makes it)", ""]


def domain_table(placing: Placing) -> list[str]:
    """A line for each domain."""
    described = placing.machine.described
    lines = [["domain", "rank", "x", "y", "z", "cells", "cost", *(["where"] if described else [])]]
    for place in domain_places(placing, MOST_SHOWN):
        spans = [f"{low}:{high}" for low, high in zip(place.lower, place.upper)]
        where = [f"{place.host} numa {ranges(place.numa)} cores {ranges(place.cores)}"] if described else []
        cells = f"{place.cells:,}", f"{place.relative_cost:.3f}"
        lines.append([str(place.domain), str(place.rank), *spans, *cells, *where])
    return table(lines, math.prod(placing.best.arrangement.counts), "domains")


def halo_table(placing: Placing, sizes: Sequence[HaloSize]) -> list[str]:
    """A line for each rank."""
    depth = placing.halo.depth
    lines = [["rank", f"halo of {counted(depth, 'layer')}", "a step", "messages", "R"]]
    for size in sizes[:MOST_SHOWN]:
        bytes_sent = memory(size.bytes_per_exchange), memory(size.bytes_per_step)
        lines.append([str(size.rank), *bytes_sent, f"{size.messages / depth:.3g} a step", f"{size.surface_ratio:.1f}"])
    return table(lines, len(sizes), "ranks")


def table(lines: Sequence[Sequence[str]], count: int, what: str) -> list[str]:
    """Columns, and how many lines were left out."""
    more = [f"... {count - MOST_SHOWN} {what} more; --json lists all"] if count > MOST_SHOWN else []
    return [columns(lines, left=0), *more]


def reasons(placing: Placing) -> list[str]:
    """Sentences: the best and the second arrangement, the slowest domain, the rows, the depth of the halos."""
    best = placing.best
    if best.costs.size == 1:
        return ["one domain: nothing is cut and nothing exchanged"]
    said = [best_text(placing.decompositions), slowest_text(placing)]
    dear = placing.weights.total / math.prod(placing.weights.shape) - 1
    if dear > NOTABLE:
        said.append(
            f"CPML, media and what is recorded make {percent(dear / (1 + dear))} of the work and lie unevenly; "
            "domains that hold more of it have fewer cells"
        )
    said.append(rows_text(placing))
    if math.prod(best.grouping.ranks) > 1:
        how = "as --depth says" if placing.depth_given else "the fastest of those that fit, by latency and bandwidth"
        said.append(f"halos are {counted(placing.halo.depth, 'layer')} deep, {how}")
    return said


def best_text(found: Sequence[Decomposition]) -> str:
    """The first and the second."""
    if len(found) == 1:
        return f"{cut_text(found[0])} is the one that --domains names, or the only one that fits"
    first, second = found[:2]
    behind = second.slowest / first.slowest - 1
    dearer = float(second.costs.mean() / first.costs.mean()) - 1
    faces = "its faces or rows are dearer" if dearer > behind / 2 else f"its imbalance is {second.imbalance:.3f}"
    near = f"{percent(behind)} slower: {faces}" if behind > 5e-4 else "as fast"
    return (
        f"of {len(found)} arrangements computed {cut_text(first)} has the fastest slowest domain; next comes "
        f"{cut_text(second)}, {near}"
    )


def cut_text(decomposition: Decomposition) -> str:
    """The arrangement, and whose domains they are: `4 x 2 x 1 on 2 x 1 x 1 ranks`."""
    text, ranks = times(decomposition.arrangement.counts), decomposition.grouping.ranks
    return f"{text} on {times(ranks)} ranks" if math.prod(ranks) > 1 else text


def slowest_text(placing: Placing) -> str:
    """A sentence about the slowest domain: the share of its time for its faces."""
    best = placing.best
    number = int(best.costs.argmax())
    index = list(indices(best.arrangement.counts))[number]
    own = own_work(placing.weights, best, placing.speeds)[index]
    part, ranks = percent(1 - own / best.slowest), math.prod(best.grouping.ranks)
    full = f" ({percent(placing.halo.hidden)} of the exchange is hidden behind its update)" if ranks > 1 else ""
    return f"the slowest is domain {number}: {part} of its time is for its faces{full}"


def own_work(weights: Weights, decomposition: Decomposition, speeds: list[float] | None) -> np.ndarray:
    """Time of every domain for its own samples alone."""
    cuts = [np.array(ends) for ends in decomposition.arrangement.cuts]
    work = weights.work([ends[:-1] for ends in cuts], [ends[1:] for ends in cuts])
    return work / shared_speeds(decomposition.grouping, speeds)


def rows_text(placing: Placing) -> str:
    """Whether rows are cut, and why."""
    unit, weights = placing.plan.unit_axis, placing.weights
    name, parts = "xyz"[unit], placing.best.arrangement.counts[unit]
    begun = f"each part of a row costs as much as {weights.row:.0f} cells to begin"
    if parts == 1:
        return f"rows (along {name}) are whole: {begun}"
    if not isinstance(placing.domains, int):
        return f"rows (along {name}) are cut in {parts} because the arrangement says so; {begun}"
    across = times([n for axis, n in enumerate(weights.shape) if axis != unit])
    return f"rows (along {name}) had to be cut in {parts}: so many domains do not fit {across} rows; {begun}"


def warnings(placing: Placing, sizes: Sequence[HaloSize], step: Prediction | None) -> list[str]:
    """Reasons why the run is slower than it need be."""
    machine, halo, said = placing.machine, placing.halo, []
    if step is not None and step.waiting > WAITED * step.step:
        least = min(size.surface_ratio for size in sizes)
        said.append(
            f"a rank waits {percent(step.waiting / step.step)} of its time for halos: they take {1e3 * step.halo:.3g} "
            f"ms of a step of {1e3 * step.step:.3g} ms, more than what is made meanwhile (R = {least:.1f} cells for "
            "each cell of its faces). Use fewer ranks of more threads"
        )
    repeated = [grown / size.cells - 1 for grown, size in zip(grown_cells(placing), sizes)]
    if max(repeated) > DOUBLE_WORK:
        said.append(
            f"rank {repeated.index(max(repeated))} computes {percent(max(repeated))} more cells than it owns; "
            f"{halo.depth} layers are deep for so thin a box. Use --depth 1 or fewer ranks"
        )
    units = len(machine.hardware.units(machine.scheme))
    if machine.described and machine.ranks_a_host > units:
        said.append(
            f"{machine.ranks_a_host} ranks on {counted(units, 'unit')} of a host: they share cores. Use "
            f"--ranks {units * len(machine.hosts)} or smaller units (--bind)"
        )
    return said


def grown_cells(placing: Placing) -> list[float]:
    """Cells that each rank computes in a step, the mean over an exchange."""
    whole, layers = placing.best.arrangement.whole, placing.halo.repeated
    cells = []
    for box in placing.best.grouping.boxes(placing.best.arrangement):
        ends = zip(box.lower, box.upper, whole.upper)
        cells.append(math.prod(min(high + layers, last) - max(low - layers, 0) for low, high, last in ends))
    return cells


def percent(part: float) -> str:
    """`3.2 %`."""
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"
