"""Time of a step on a cluster, for every binding scheme and exchange, by the model of step_time.py.

Where all cells cost alike the boxes are cut evenly, else balanced as `nearfield place` balances them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.entry.wording import counted
from nearfield.machine.hardware import Hardware, Unit
from nearfield.parallel.decomposition import decompositions, fitting, rough_time
from nearfield.parallel.halo_depth import Tiles, halo_cost
from nearfield.parallel.weights import Weights
from nearfield.plan.boxes import Arrangement
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, domain_bytes
from nearfield.predict.step_time import Boxes, Cluster, Exchange, Job, Placed, Prediction, place

MOST_RANKS = 100_000
MOST_ARRANGEMENTS = 12
MOST_DEPTH = 16
BLOCKING, LAYER = Exchange("blocking", overlap=False), Exchange("layer")
EXCHANGES = (BLOCKING, LAYER, *(Exchange("deep", depth) for depth in (2, 4, 8, MOST_DEPTH)))


def predict(
    job: Job, cluster: Cluster, placed: Placed, exchange: Exchange, arrangements: Sequence[Arrangement] = ()
) -> Prediction:
    """The step of a job with one rank a unit on every host, its boxes arranged as is fastest.

    `arrangements` to choose from; those of `arranged` where none are given. Error: none gives every rank a box.
    """
    choices = arrangements or arranged(job, cluster, placed, exchange)
    predictions = (Boxes(job, cluster, placed, each).predict(exchange) for each in choices)
    return min(predictions, key=lambda each: (each.step, each.halo, each.host_bytes))


def arranged(job: Job, cluster: Cluster, placed: Placed, exchange: Exchange = LAYER) -> list[Arrangement]:
    """Promising ways to cut the job into a box a rank: balanced by cost, even where all cells cost alike."""
    ranks, weights = len(placed.speeds) * cluster.hosts, job.weights
    if ranks > MOST_RANKS:
        raise ModelError(f"{ranks:,} ranks are more than {MOST_RANKS:,}; give fewer nodes or a coarser --bind")
    link, rate = cluster.profile.link("hosts" if cluster.hosts > 1 else "across"), cluster.profile.rates().core * 1e6
    halo = halo_cost(exchange.depth, link, rate, job.number_bytes, exchange.overlap)
    if weights.values.size > 1 or cluster.speeds:
        core, shares = cluster.profile.rates().core, cluster.shares(ranks)
        speeds = [share * speed / core for share, speed in zip(shares, placed.speeds * cluster.hosts)]
        return [each.arrangement for each in decompositions(weights, ranks, ranks, speeds, halo)]
    counts = sorted(fitting(weights, ranks, ranks, halo), key=lambda grouping: rough_time(weights, grouping, halo))
    return [even(job.shape, grouping.counts) for grouping in counts[:MOST_ARRANGEMENTS]]


def even(shape: Triple, counts: Triple) -> Arrangement:
    """Cuts after equal numbers of samples, as nearly as whole samples allow."""
    ends = zip(shape, counts)
    return Arrangement(triple(tuple(n * length // count for n in range(count + 1)) for length, count in ends))


def predict_all(
    job: Job, cluster: Cluster, schemes: Iterable[str], memory: str = "first-touch", ranks: int | None = None
) -> list[Prediction]:
    """Every scheme with every exchange that its boxes are thick enough for; a single rank exchanges nothing.

    Error: the fields do not fit the memory of the hosts.

    `ranks` on each host take the units of the scheme in turn; left out, one rank a unit.
    """
    refuse_too_large(job, cluster)
    found: list[Prediction] = []
    cut: dict[tuple[tuple[float, ...], bool], list[Arrangement]] = {}  # schemes of equal units share the search
    for scheme in schemes:
        placed = place(cluster, scheme, memory, in_turn(cluster.hardware.units(scheme), ranks))
        alone = len(placed.speeds) * cluster.hosts == 1
        for exchange in (LAYER,) if alone else EXCHANGES:
            key = (placed.speeds, exchange.overlap)
            if key not in cut:
                cut[key] = arranged(job, cluster, placed, LAYER if exchange.overlap else BLOCKING)
            if thick := [each for each in cut[key] if thinnest_box(each) >= exchange.depth]:
                found.append(predict(job, cluster, placed, exchange, thick))
    return found


def refuse_too_large(job: Job, cluster: Cluster) -> None:
    """Error: the fields of a host's share are more than its memory."""
    least = least_hosts(job, cluster.hardware)
    if cluster.hosts >= least:
        return
    shape = " x ".join(map(str, job.shape))
    have = f"{counted(cluster.hosts, 'node')} of {gigabytes(cluster.hardware.memory)}"
    raise ModelError(
        f"{shape} samples need {gigabytes(job.bytes)} for their fields alone, more than {have}: such a run would not "
        f"start. Give --nodes {least} or more, or fewer cells"
    )


def least_hosts(job: Job, hardware: Hardware) -> int:
    """The fewest hosts whose memory holds the fields; 1 where it is not known."""
    return max(1, -(-job.bytes // hardware.memory)) if hardware.memory else 1


def gigabytes(size: float) -> str:
    """Such as `12 GB`."""
    return f"{size / 1e9:.3g} GB"


def in_turn(units: Sequence[Unit], ranks: int | None) -> Sequence[Unit]:
    """The units of so many ranks of one host."""
    return units if ranks is None else [units[rank % len(units)] for rank in range(ranks)]


def thinnest_box(arrangement: Arrangement) -> int:
    """Samples across the thinnest box, along the axes that are cut."""
    return min((int(np.diff(cuts).min()) for cuts in arrangement.cuts if len(cuts) > 2), default=MOST_DEPTH)


def best(predictions: Iterable[Prediction]) -> list[Prediction]:
    """The fastest exchange of each scheme, in the order of the schemes."""
    fastest: dict[str, Prediction] = {}
    for each in predictions:
        if each.scheme not in fastest or each.step < fastest[each.scheme].step:
            fastest[each.scheme] = each
    return list(fastest.values())


def job_of_plan(plan: Plan, hardware: Hardware) -> Job:
    """The samples of a plan, what each costs, and the tiles on the cores of a NUMA node."""
    tiles = Tiles.on(plan, hardware, len(hardware.numa[0].cores) or 1)
    size = domain_bytes(plan.active, plan.cpml, plan.precision) * (1 + plan.complex_fields)
    return Job(Weights.of(plan), math.prod(plan.cells), BYTES_OF[plan.precision], tiles, size)
