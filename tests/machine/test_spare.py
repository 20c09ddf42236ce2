"""Processors that the threads of a run leave free, under every binding."""

from __future__ import annotations

import pytest

from nearfield.machine.hardware import SCHEMES, from_synthetic
from nearfield.machine.spare import left_free
from nearfield.machine.teams import team_of

TWO_CORES = "l3:1 core:2 pu:1"
SERVER = "pack:2 [numa] l3:2 core:2 pu:1"  # 8 cores


def places(machine, scheme, threads, sharers=1):
    return [
        place
        for rank in range(sharers)
        for place in team_of(machine, scheme, "node", sharers, rank, threads, None).processors
    ]


@pytest.mark.parametrize("scheme", [None, *SCHEMES])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_leave_as_many_of_two_processors_under_every_binding(monkeypatch, scheme, threads):
    monkeypatch.setattr("nearfield.machine.teams.cgroup_limit", lambda: None)
    machine = from_synthetic(TWO_CORES)
    spare = left_free(places(machine, scheme, threads), machine.processors)
    assert spare.count == 2 - threads
    assert 1 in spare.processors


@pytest.mark.parametrize("scheme", [None, *SCHEMES])
@pytest.mark.parametrize(("threads", "ranks"), [(7, 1), (3, 2), (1, 5)])
def test_threads_of_several_ranks_count_once_each(monkeypatch, scheme, threads, ranks):
    monkeypatch.setattr("nearfield.machine.teams.cgroup_limit", lambda: None)
    machine = from_synthetic(SERVER)
    spare = left_free(places(machine, scheme, threads, ranks), machine.processors)
    assert spare.count == 8 - threads * ranks
    assert len(spare.processors) >= spare.count


def test_what_is_free_follows_threads_that_can_move_but_not_those_that_cannot():
    chained = left_free([(0,), (1, 2), (2, 3)], range(4))
    assert (chained.count, chained.processors) == (1, (1, 2, 3))
    full = left_free([(0, 1), (0, 1), (0, 1), (2, 3)], range(4))
    assert (full.count, full.processors) == (1, (2, 3))


def test_where_none_is_free_a_process_may_run_on_all():
    assert left_free([(0, 1), (0, 1)], range(2)).processors == (0, 1)
    assert left_free([], range(2)).count == 2
    quota = left_free([(), ()], range(64), granted=2)  # a container of two processors on a host of 64
    assert (quota.count, len(quota.processors)) == (0, 64)


def test_threads_of_the_largest_machine_are_counted():
    every = range(1728)
    spare = left_free([tuple(every)] * 1727, every)
    assert (spare.count, len(spare.processors)) == (1, 1728)
