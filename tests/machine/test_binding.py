"""What a rank gets: processors for its threads, nodes for its domains, words for what was asked and achieved."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import replace

import pytest
from plans import make_plan

from nearfield import _core
from nearfield.engines.cpu.engine import CpuEngine, Placement
from nearfield.entry.errors import ModelError
from nearfield.machine import binding, pages
from nearfield.machine.binding import resolve
from nearfield.machine.hardware import from_synthetic, this_machine
from nearfield.machine.pages import Locality
from nearfield.machine.processors import Bound, aside
from nearfield.machine.teams import threads_of, units_of_domains, units_of_rank
from nearfield.plan.boxes import Arrangement

SERVER = "pack:2 [numa] l3:2 core:2 pu:2"  # 8 cores: four a node, two a cache; 16 processors
NUMASCALE = "group:72 pack:2 numa:2 core:6 pu:1"  # 1728 cores on 288 nodes


def real(synthetic: str):
    return replace(from_synthetic(synthetic), simulated=False)


def free(hardware, launcher: str = "") -> Bound:
    return Bound(hardware.processors, hardware.processors, hardware.processors, launcher)


@pytest.fixture
def granted(monkeypatch):
    """A system that grants whatever is asked for: these machines are not there."""
    monkeypatch.setattr(binding.processors, "binding_refused", lambda wanted: "")
    monkeypatch.setattr(pages, "policy_refused", lambda policy, nodes: "")
    monkeypatch.setattr(pages, "process_policy", lambda: "default")
    monkeypatch.setattr("nearfield.machine.teams.cgroup_limit", lambda *files: None)


def chosen(synthetic: str, bind: str | None, threads: int | None = None, memory: str | None = None, **more):
    hardware = real(synthetic)
    return resolve(bind, memory, threads, hardware, **{"bound": free(hardware), **more})


@pytest.mark.usefixtures("granted")
@pytest.mark.parametrize(
    ("scheme", "nodes", "memory"),
    [
        ("node", [(0, 1)], "first-touch"),
        ("socket", [(0,), (1,)], "bind"),
        ("numa", [(0,), (1,)], "bind"),
        ("l3", [(0,), (0,), (1,), (1,)], "bind"),
        ("core", [(0,)] * 4 + [(1,)] * 4, "bind"),
        ("none", [(0, 1)], "off"),
    ],
)
def test_a_scheme_gives_a_domain_a_unit_and_pins_a_thread_a_core(scheme, nodes, memory):
    found = chosen(SERVER, scheme)
    assert (list(found.nodes), found.memory) == (nodes, memory)
    # every core is two processors: a thread gets the first
    assert sorted(found.processors) == ([()] * 8 if scheme == "none" else [(2 * core,) for core in range(8)])


@pytest.mark.usefixtures("granted")
def test_by_default_threads_stay_on_their_node_and_may_move_within_it():
    found = chosen(SERVER, None)
    assert (found.scheme, found.memory, found.domains, found.threads) == ("numa", "bind", 2, 8)
    assert set(found.processors) == {tuple(range(8)), tuple(range(8, 16))}
    assert "2 NUMA nodes" in found.reason
    one = chosen("pack:1 [numa] core:4 pu:1", None)
    assert (one.scheme, one.memory, one.processors) == ("node", "first-touch", ((0, 1, 2, 3),) * 4)


@pytest.mark.usefixtures("granted")
def test_ranks_of_a_host_share_its_units_out():
    halves = [chosen(SERVER, "numa", ranks_here=2, local_rank=rank) for rank in range(2)]
    assert [half.nodes for half in halves] == [((0,),), ((1,),)]
    quarters = [chosen(SERVER, "numa", ranks_here=4, local_rank=rank) for rank in range(4)]
    assert sorted(p for quarter in quarters for p in quarter.processors) == [(2 * core,) for core in range(8)]
    assert [quarter.nodes[0] for quarter in quarters] == [(0,), (1,), (0,), (1,)]


@pytest.mark.usefixtures("granted")
def test_a_numascale_of_1728_cores_is_bound_core_by_core():
    found = chosen(NUMASCALE, "numa")
    assert found.processors == tuple((core,) for core in range(1728))
    assert found.nodes == tuple((node,) for node in range(288))
    ranks = [chosen(NUMASCALE, "numa", ranks_here=288, local_rank=rank) for rank in (0, 100, 287)]
    assert [rank.nodes for rank in ranks] == [((0,),), ((100,),), ((287,),)]


def test_threads_go_to_domains_as_in_the_core():
    assert [list(threads_of(d, 2, 5)) for d in range(2)] == [[0, 1], [2, 3, 4]]
    assert [list(threads_of(d, 3, 2)) for d in range(3)] == [[0], [0], [1]]
    hardware = real(SERVER)
    for domains in range(1, 20):
        parts = units_of_domains(hardware, hardware.units("numa"), domains)
        assert len(parts) == domains and {core for part in parts for core in part.cores} == set(range(8))
    for ranks in range(1, 20):
        units = [unit for rank in range(ranks) for unit in units_of_rank(hardware, "l3", ranks, rank)]
        assert {core for unit in units for core in unit.cores} == set(range(8))


@pytest.mark.usefixtures("granted")
def test_fewer_threads_than_units_make_fewer_domains_unless_they_are_given():
    assert chosen(SERVER, "core", 2).nodes == ((0,), (1,))
    one = chosen(SERVER, "numa", 1, domains=2)
    assert one.nodes == ((0,), (1,)) and one.processors == (tuple(range(16)),)  # the thread serves both


@pytest.mark.usefixtures("granted")
def test_interleaved_pages_go_to_every_node():
    assert chosen(SERVER, "numa", memory="interleave").nodes == ((0, 1), (0, 1))


@pytest.mark.usefixtures("granted")
def test_a_binding_from_outside_is_respected_unless_overridden(monkeypatch):
    whole = real(SERVER)
    monkeypatch.setattr(binding, "machine_of", lambda usable: whole)
    first_cache = replace(whole, cores=whole.cores[:2], numa=whole.numa[:1])
    by_srun = Bound((0, 1, 2, 3), whole.processors, whole.processors, "srun")
    by_hand = replace(by_srun, launcher="")

    def asked(bind, bound):
        return resolve(bind, None, None, first_cache, bound=bound)

    assert asked(None, by_srun).processors == ((0, 1, 2, 3),) * 2
    assert "bound by srun" in asked(None, by_srun).reason
    assert asked("numa", by_hand).processors == ((0,), (2,))
    assert len(asked("numa", by_srun).processors) == len(asked("numa!", by_hand).processors) == 8
    assert "over the binding by srun" in asked("numa", by_srun).reason
    assert asked("none", by_srun).processors == ((), ())


@pytest.mark.usefixtures("granted")
def test_a_policy_from_outside_is_respected_unless_overridden(monkeypatch):
    monkeypatch.setattr(pages, "process_policy", lambda: "interleave:0-1")
    assert chosen(SERVER, None).memory == "off" and "interleave:0-1" in chosen(SERVER, None).memory_reason
    assert chosen(SERVER, None, memory="bind").memory == "bind"


@pytest.mark.usefixtures("granted")
def test_more_threads_than_cores_are_a_warning_in_capitals():
    assert chosen(SERVER, None, 8).warnings == chosen(SERVER, None, 4, ranks_here=2).warnings == ()
    [shared] = chosen(SERVER, None, 16).warnings
    assert "MORE THREADS THAN CORES: 16 threads on 8 cores" in shared and "hyper-threads" in shared
    bound = Bound((0, 1), tuple(range(16)), tuple(range(16)), "mpiexec (Open MPI)")
    small = replace(real(SERVER), cores=real(SERVER).cores[:1], numa=real(SERVER).numa[:1])
    [narrow] = resolve(None, None, 4, small, 2, 0, bound=bound).warnings
    assert re.search(r"^! MORE THREADS THAN CORES: 4 threads on 1 core .*mpiexec \(Open", narrow, re.MULTILINE)
    [many] = chosen("pack:1 [numa] core:2 pu:1", None, 1, ranks_here=4).warnings
    assert "4 threads (1 in each of 4 ranks) on 2 cores" in many


@pytest.mark.parametrize(
    ("bind", "memory", "words"),
    [
        ("board", None, "bind='board' is unknown"),
        ("!", None, "bind='!' is unknown"),
        (None, "near", "memory='near' is unknown: first-touch, bind, interleave or off"),
    ],
)
def test_what_does_not_exist_is_refused(bind, memory, words):
    with pytest.raises(ModelError, match=re.escape(words)):
        resolve(bind, memory, 1, this_machine())


def test_a_scheme_without_such_objects_is_refused():
    with pytest.raises(ModelError, match="needs third-level caches"):
        chosen("pack:1 [numa] core:2 pu:1", "l3")


def test_a_machine_that_is_only_described_cannot_be_bound_to():
    with pytest.raises(ModelError, match="SIMULATED"):
        resolve("numa", None, 1, from_synthetic(SERVER))


def test_processors_that_are_not_there_are_refused():
    # this machine has fewer than 1728 processors
    with pytest.raises(ModelError, match="binding 'core' cannot be honoured: cannot bind a thread to processors"):
        chosen(NUMASCALE, "core")


@pytest.mark.skipif(bool(pages.policy_refused("bind", [0])), reason="no NUMA calls on this system")
def test_nodes_that_are_not_there_are_refused(monkeypatch):
    monkeypatch.setattr(binding.processors, "binding_refused", lambda wanted: "")
    with pytest.raises(ModelError, match=r"memory='bind' cannot be honoured: bind on node \d+: no such node"):
        chosen(NUMASCALE, "numa", memory="bind")


def test_threads_and_pages_of_an_engine_lie_where_they_were_to_be():
    found = resolve("core", None, min(4, len(this_machine().cores)), this_machine())
    plan = make_plan((24, 20, 20))
    cuts = [(0, length) for length in plan.active]
    axis = plan.storage_axes[0]
    cuts[axis] = tuple(plan.active[axis] * n // found.domains for n in range(found.domains + 1))
    engine = CpuEngine(
        plan,
        found.threads,
        domains=Arrangement(tuple(cuts)),
        placement=Placement(found.processors, found.memory, found.nodes),
    )
    achieved = found.verify(engine.facts()["thread_ids"])
    assert achieved.words() == "verified" and achieved.processors == found.processors
    share = found.locality(lambda: engine._core.pages(10_000), achieved).share
    assert share is None or share > 0.9


def test_what_was_achieved_is_looked_up():
    def work():
        found = resolve("core", None, 1, this_machine())
        before = found.verify([threading.get_native_id()])
        _core.machine.bind_this_thread(list(found.processors[0]))
        return found, before, found.verify([threading.get_native_id()])

    found, before, after = aside(work)
    assert after.processors == found.processors and after.words() == "verified"
    if len(os.sched_getaffinity(0)) > 1:
        assert before.as_asked == (False,) and before.words().startswith("NOT ACHIEVED: thread 0 may run on processors")
    local = found.locality(lambda: [([4], 4)], after)
    assert local == Locality(1.0, (4,), 4) or len(this_machine().numa) > 1
    facts = found.facts(after, local)
    assert facts["bind"]["verified"] is True and facts["bind"]["asked"] == "core"
    assert facts["memory"]["locality_share"] == local.share and facts["memory"]["policy"] == found.memory
    assert ", verified\n" in found.header(after, local) and "% of 4 pages are local" in found.header(after, local)
    assert found.facts()["bind"]["verified"] is None is found.facts()["memory"]["locality_share"]
