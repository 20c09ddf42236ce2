"""The step of a placed model, by the model of `nearfield predict`: the same links, rates and tiles, its own cuts."""

from __future__ import annotations

from dataclasses import replace

from nearfield.commands.place_model import Placing
from nearfield.machine.placement import memory_policy
from nearfield.parallel.decomposition import Decomposition
from nearfield.plan.boxes import Arrangement
from nearfield.predict.prediction import in_turn, job_of_plan
from nearfield.predict.step_time import Boxes, Cluster, Exchange, Prediction, place


def predicted(placing: Placing) -> Prediction | None:
    """The time of a step of the slowest rank; None for one rank, or where hosts have different numbers of them."""
    machine, depth = placing.machine, placing.halo.depth
    if machine.ranks == 1 or machine.ranks % len(machine.hosts):
        return None
    cluster = Cluster(machine.hardware, len(machine.hosts), placing.profile, tuple(placing.speeds or ()))
    units = in_turn(machine.hardware.units(machine.scheme), machine.ranks_a_host)
    placed = place(cluster, machine.scheme, memory_policy(machine.scheme), units)
    share = min(1.0, machine.threads / placed.threads)  # of a unit's cores
    placed = replace(placed, speeds=tuple(share * speed for speed in placed.speeds), threads=machine.threads)
    job = job_of_plan(placing.plan, machine.hardware)
    exchange = Exchange("layer" if depth == 1 else "deep", depth)
    return Boxes(job, cluster, placed, rank_boxes(placing.best)).predict(exchange)


def rank_boxes(found: Decomposition) -> Arrangement:
    """The ranks' boxes, whatever domains they are cut into."""
    x, y, z = (tuple(found.arrangement.cuts[axis][end] for end in found.grouping.groups(axis)) for axis in range(3))
    return Arrangement((x, y, z))
