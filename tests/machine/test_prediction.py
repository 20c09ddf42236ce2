"""Predictions by hand-made machines whose times can be worked out on paper, and the paper's own cluster."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.engines.cpu.tiling import Machine, Rows, choose_tiling, replay
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Unit, from_synthetic, load
from nearfield.machine.profile import Profile
from nearfield.parallel.decomposition import even_speeds, shared_speeds
from nearfield.parallel.halo_depth import Tiles
from nearfield.parallel.weights import Weights
from nearfield.plan.boxes import Grouping, indices
from nearfield.predict import step_time
from nearfield.predict.paper import AGREES, Paper
from nearfield.predict.prediction import BLOCKING, EXCHANGES, LAYER, best, even, predict, predict_all
from nearfield.predict.step_time import Cluster, Exchange, Job, place

SERVER = from_synthetic("pack:2 [numa(memory=6GB)] l3:1(size=8MB) core:4 pu:1")
CORE, NUMA, REMOTE = 10.0, 20.0, 0.5  # Mcells/s: four cores of a NUMA node do as much as two
LATENCY, BANDWIDTH = 1e-4, 1e8
LINK = {"latency": LATENCY, "bandwidth": BANDWIDTH}
PROFILE = Profile(
    fdtd={"pec": {"core": CORE, "numa": NUMA, "cores": 4}},
    bandwidth=((10.0, 5.0), (5.0, 10.0)),
    messages={"numa": LINK, "across": LINK, "hosts": LINK},
)
SHAPE = (64, 64, 64)


def job(shape=SHAPE) -> Job:
    uniform = Weights.uniform(shape)
    return Job(Weights(shape, uniform.storage_axes, uniform.edges, uniform.values, row=0.0), int(np.prod(shape)))


def slabs(exchange: Exchange, hosts: int = 2, scheme: str = "node", profile: Profile = PROFILE):
    cluster = Cluster(SERVER, hosts, profile)
    placed = place(cluster, scheme)
    return predict(job(), cluster, placed, exchange, [even(SHAPE, (hosts * len(placed.speeds), 1, 1))])


def test_cores_of_a_numa_node_share_its_rate():
    cluster = Cluster(SERVER, 1, PROFILE)
    assert place(cluster, "core").speeds == pytest.approx((NUMA / 4,) * 8)
    assert place(cluster, "socket").speeds == pytest.approx((NUMA,) * 2)
    assert place(cluster, "node").speeds == pytest.approx((2 * NUMA,))
    assert place(cluster, "core", units=[Unit((0,), (0,)), Unit((4,), (1,))]).speeds == (CORE, CORE)
    assert place(cluster, "core", units=[Unit((0,), (0,))] * 2).speeds == (CORE / 2, CORE / 2)


@pytest.mark.parametrize(
    ("scheme", "memory", "share"),
    [
        ("node", "first-touch", 0.0),
        ("node", "off", 0.5),
        ("socket", "off", 0.0),
        ("socket", "interleave", 0.5),
        ("none", "first-touch", 0.5),
    ],
)
def test_remote_pages_slow_by_their_share_and_bandwidth(scheme, memory, share):
    placed = place(Cluster(SERVER, 1, PROFILE), scheme, memory)
    assert placed.remote_share == share
    assert sum(placed.speeds) == pytest.approx(2 * NUMA / (1 - share + share / REMOTE))
    assert placed.ideal == pytest.approx(2 * NUMA)


def test_a_blocking_layer_takes_two_components_and_a_message_a_face():
    found = slabs(BLOCKING)
    halo = LATENCY + 2 * 4 * 64 * 64 / BANDWIDTH
    assert found.compute == pytest.approx(32 * 64 * 64 / (2 * NUMA * 1e6))
    assert found.halo == found.waiting == pytest.approx(halo)
    assert found.step == pytest.approx(found.compute + halo)
    assert found.mcells_per_second == pytest.approx(64**3 / found.step / 1e6)
    assert found.efficiency == pytest.approx(found.compute / found.step)
    assert found.messages == 1 and found.host_bytes == 2 * 4 * 64 * 64


def test_overlap_hides_up_to_the_time_of_the_interior():
    hidden = slabs(LAYER)
    assert hidden.waiting == 0 and hidden.step == hidden.compute and hidden.halo > 0
    slow = replaced_bandwidth(1e6)
    shown = slabs(LAYER, profile=slow)
    interior = 31 * 64 * 64 / (2 * NUMA * 1e6)  # all but the layer at the cut
    assert shown.waiting == pytest.approx(shown.halo - interior)


def test_what_keeps_the_processor_busy_is_not_hidden():
    busy = Profile(**PROFILE.as_dict() | {"messages": {"hosts": LINK | {"busy": 5e-9}}})
    layer, blocking = (slabs(kind, profile=busy) for kind in (LAYER, BLOCKING))
    assert layer.busy == blocking.busy == pytest.approx(5e-9 * 2 * 4 * 64 * 64)
    assert layer.waiting == 0 and layer.step == pytest.approx(layer.compute + layer.busy)
    assert blocking.step == pytest.approx(slabs(BLOCKING).step)  # it is part of the exchange that is waited for


def test_one_layer_makes_a_wedge_in_shallow_tiles_and_without_overlap_the_whole_box():
    def with_tiles(exchange, depth):
        cluster = Cluster(SERVER, 2, PROFILE)
        tiled = replace(job(), tiles=Tiles(depth, {1: 1.5}))
        return predict(tiled, cluster, place(cluster, "node"), exchange, [even(SHAPE, (2, 1, 1))]).compute

    plain = slabs(LAYER).compute
    wedge = (1 + 4 / 2) / 32  # of the box, along the one cut
    assert with_tiles(LAYER, 4) == pytest.approx(plain * (1 + 0.5 * wedge))
    assert with_tiles(BLOCKING, 4) == with_tiles(LAYER, 16) == pytest.approx(1.5 * plain)  # 33 layers are needed
    assert with_tiles(Exchange("deep", 2), 4) == pytest.approx(slabs(Exchange("deep", 2)).compute)


def replaced_bandwidth(bandwidth: float, latency: float = LATENCY) -> Profile:
    link = {"latency": latency, "bandwidth": bandwidth}
    return Profile(**PROFILE.as_dict() | {"messages": {"numa": link, "across": link, "hosts": link}})


@pytest.mark.parametrize("depth", [2, 4])
def test_deep_halos_send_all_components_once_in_so_many_steps_and_compute_layers_twice(depth):
    found = slabs(Exchange("deep", depth))
    again = (depth - 1) / 2  # layers a step beyond the one cut, the mean of depth - 1 ... 0
    assert found.compute == pytest.approx((32 + again) * 64 * 64 / (2 * NUMA * 1e6))
    assert found.messages == 1 / depth
    assert found.halo == pytest.approx(LATENCY / depth + 6 * 4 * 64 * 64 / BANDWIDTH)


def test_deep_halos_carry_the_edges_and_corners_of_their_layers():
    cluster = Cluster(SERVER, 4, PROFILE)
    placed = place(cluster, "node")
    found = predict(job(), cluster, placed, Exchange("deep", 2), [even(SHAPE, (2, 2, 1))])
    grown = (34 * 34 - 32 * 32) * 64  # samples that a rank receives in two steps
    assert found.host_bytes == pytest.approx(6 * 4 * grown / 2)


def test_latency_favours_deep_halos_and_bandwidth_one_layer():
    def fastest(profile):
        cluster = Cluster(SERVER, 8, profile)
        return best(predict_all(job(), cluster, ["node"]))[0]

    assert fastest(replaced_bandwidth(1e12, latency=5e-3)).exchange == "deep"
    assert fastest(replaced_bandwidth(2e6, latency=0.0)).exchange == "layer"


def test_the_ranks_of_a_host_share_its_link():
    cluster = Cluster(SERVER, 2, PROFILE)
    placed = place(cluster, "socket")
    (sides,) = [predict(job(), cluster, placed, BLOCKING, [even(SHAPE, (2, 2, 1))])]
    face = 2 * 4 * 32 * 64
    assert sides.host_bytes == 2 * face  # both ranks of a host send across
    assert sides.halo == pytest.approx(2 * LATENCY + face / BANDWIDTH + 2 * face / BANDWIDTH)


def test_copies_within_a_numa_node_share_its_memory():
    shared = Profile(**PROFILE.as_dict() | {"triad": {"numa": [0.01, 0.01]}})
    plain, slowed = (slabs(BLOCKING, hosts=1, scheme="core", profile=each) for each in (PROFILE, shared))
    copied = (2 * 3 + 1) * 2 * 4 * 64 * 64  # three cuts inside a NUMA node, seen from both sides, and one to the other
    assert slowed.halo == pytest.approx(4 * copied / 0.01e9)
    assert slowed.halo > plain.halo


def test_one_rank_waits_for_nobody():
    (found,) = predict_all(job(), Cluster(SERVER, 1, PROFILE), ["node"])
    assert (found.halo, found.waiting, found.messages, found.efficiency) == (0, 0, 0, pytest.approx(1.0))


def test_every_scheme_is_predicted_with_every_exchange():
    found = predict_all(job(), Cluster(SERVER, 2, PROFILE), ["node", "socket", "core", "none"])
    assert {(each.scheme, each.exchange) for each in found} == {
        (scheme, each.name) for scheme in ("node", "socket", "core", "none") for each in EXCHANGES[:3]
    }
    assert [each.scheme for each in best(found)] == ["node", "socket", "core", "none"]
    assert all(0 < each.efficiency <= 1 + 1e-12 for each in found)


def test_ranks_take_the_units_in_turn_and_share_cores_in_time():
    cluster = Cluster(SERVER, 2, PROFILE)
    (four,) = best(predict_all(job(), cluster, ["socket"], ranks=4))
    (two,) = best(predict_all(job(), cluster, ["socket"], ranks=2))
    assert (four.ranks, two.ranks) == (8, 4)
    assert four.compute == pytest.approx(two.compute)  # twice as many boxes of half the size at half the speed


def test_too_many_ranks_are_refused():
    with pytest.raises(ModelError, match="ranks"):
        predict_all(job(), Cluster(SERVER, 100_000, PROFILE), ["core"])
    with pytest.raises(ModelError, match="do not fit"):
        predict_all(job(), Cluster(SERVER, 10_000, PROFILE), ["core"])


def test_thousands_of_cores_are_predicted():
    giant = from_synthetic("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1")
    found = best(predict_all(job((600,) * 3), Cluster(giant, 2, PROFILE), ["numa", "core"]))
    assert [each.ranks for each in found] == [576, 3456]


def test_owners_of_many_domains_are_found_at_once(monkeypatch):
    grouping = Grouping((5, 4, 3), (2, 3, 1))
    given = np.arange(1.0, 7.0)
    owners = [grouping.rank_of(index) for index in indices(grouping.counts)]
    wanted = even_speeds(grouping) * given[owners].reshape(grouping.counts)
    calls, own = [], Grouping.groups
    monkeypatch.setattr(Grouping, "groups", lambda self, axis: calls.append(axis) or own(self, axis))
    assert (shared_speeds(grouping, given) == wanted).all()
    assert len(calls) == 6  # not once a domain


def test_distances_are_looked_up_once_a_numa_node(monkeypatch):
    machine, calls = load("numascale"), []
    own = step_time.remote_time
    monkeypatch.setattr(step_time, "remote_time", lambda *given: calls.append(given) or own(*given))
    place(Cluster(machine, 1, Profile(fdtd=PROFILE.fdtd)), "core", "bind")
    assert not calls
    place(Cluster(machine, 1, Profile(fdtd=PROFILE.fdtd)), "core", "interleave")
    assert len(calls) == 288


def test_tiles_that_wait_for_each_other_cost_one_process_of_many_threads_most_of_them():
    machine = load("numascale")
    tiled = replace(
        job((1000,) * 3), tiles=Tiles(0, {}, Rows(1000, 1000, 1000, 24_500), Machine(6, 2**15, 2**19, 0, 9e9))
    )
    cluster = Cluster(machine, 1, PROFILE)
    one, numa = (predict(tiled, cluster, place(cluster, scheme), BLOCKING) for scheme in ("node", "numa"))
    assert numa.pipeline == 1.0 and numa.threads == 6
    # the replay of the tiles that suit 1728 threads best, in calls of 100 steps, far below 1
    rows, crowd = Rows(1000, 1000, 1000, 24_500), Machine(1000, 2**15, 2**19, 0, 1.5e12)
    assert one.pipeline <= replay(1000, 1000, choose_tiling(rows, crowd), 100, 1000) * 1000 / 1728
    assert 0.1 < one.pipeline < 0.6 and one.efficiency == pytest.approx(one.pipeline / one.links)


def test_what_crosses_the_links_between_boards_slows_all_of_them():
    machine = load("numascale")
    cluster = Cluster(machine, 1, PROFILE)
    placed = place(cluster, "numa")
    assert placed.links == machine.boards.slower(range(72)) and placed.ideal == pytest.approx(288 * NUMA)
    assert sum(placed.speeds) == pytest.approx(288 * NUMA / placed.links)
    assert place(cluster, "numa", units=machine.units("numa")[:4]).links == 1.0  # one board


def test_pages_on_other_nodes_cost_by_their_distance_where_no_matrix_was_measured():
    machine, unknown = load("numascale"), Profile(fdtd=PROFILE.fdtd)
    found = place(Cluster(machine, 1, unknown), "none", "off")
    table = np.array(machine.distances)
    far = table[~np.eye(288, dtype=bool)].mean() / 10
    slower = 1 + (1 - 1 / 288) * (far - 1)
    assert sum(found.speeds) == pytest.approx(found.ideal / found.links / slower)
    board = place(Cluster(machine, 1, unknown), "socket", "off", machine.units("socket")[:1])
    assert board.ideal / sum(board.speeds) == pytest.approx(1 + 0.5 * (1.6 - 1))  # two dies at 16


def test_fields_that_do_not_fit_the_memory_of_the_nodes_are_refused(capsys):
    line = ["predict", "box", "--topology", "pack:2 [numa(memory=6GB)] core:4 pu:1"]
    assert main([*line, "--cells", "2000"]) == 2
    said = capsys.readouterr().err
    assert "195 GB" in said and "1 node of 12 GB" in said and "--nodes 17" in said
    large = replace(job((600,) * 3), bytes=13 * 10**9)
    with pytest.raises(ModelError, match="--nodes 2"):
        predict_all(large, Cluster(SERVER, 1, PROFILE), ["socket"])
    assert predict_all(large, Cluster(SERVER, 2, PROFILE), ["socket"])


def test_rates_are_drawn_over_the_numbers_of_nodes_that_hold_the_fields(tmp_path):
    line = ["predict", "box", "--topology", "pack:2 [numa(memory=1GB)] core:2 pu:1", "--bind", "node", "--nodes", "3"]
    assert main([*line, "--cells", "400", "--plot", str(tmp_path)]) == 0  # 1.6 GB on one node


def test_the_cluster_of_the_paper_is_calibrated_to_one_point_only():
    points = {(each.figure, each.what.split(",")[0]): each for each in Paper.load().points()}
    assert points["6", "bound to CPUs"].ratio == pytest.approx(1, abs=0.002)  # four digits of the rate
    assert points["7", "with NUMA policy"].ratio == pytest.approx(points["6", "bound to CPUs"].predicted / 5400)
    assert len(points) == 7


def test_where_the_paper_and_the_prediction_disagree_a_reason_is_given():
    for point in Paper.load().points():
        assert bool(point.why) == (abs(point.ratio - 1) > AGREES)


def test_the_published_times_are_more_efficient_than_can_be():
    published, predicted = Paper.load().efficiencies()
    assert published == pytest.approx(120 * 4 / (23 * 18))
    assert published > 1 > predicted


def test_the_antenna_is_fastest_bound_to_cpus_and_every_binding_has_its_own_time_without_the_policy():
    rows = Paper.load().antenna_rows()
    assert [(row["figure"], row["hosts"]) for row in rows[::6]] == [("11", 4), ("12", 18)]
    for hosts in (4, 18):
        some = {(row["bind"], row["policy"]): row for row in rows if row["hosts"] == hosts}
        assert max(some.values(), key=lambda row: row["mcells_per_second"]) is some["socket", True]
        without = [some[bind, False]["mcells_per_second"] for bind in ("node", "socket", "core")]
        assert len(set(without)) == 3  # 1, 2 and 8 ranks a node exchange differently
        assert [some[bind, False]["ranks"] / hosts for bind in ("node", "socket", "core")] == [1, 2, 8]
        for row in some.values():
            steps = row["minutes"] * 60 * row["mcells_per_second"] * 1e6 / (569 * 569 * 1144)
            assert steps == pytest.approx(20000)


def test_processes_that_share_cores_unevenly_lose():
    rates = Paper.load().one_node().y
    assert rates[6] < rates[5] and rates[8] < rates[7] / 1.5  # 4 + 3 on two CPUs; nine on eight cores


def test_all_pages_on_one_cpu_is_the_slowest_and_half_remote_lies_between():
    with_policy, half, one = (curve.y[-1] for curve in Paper.load().policy())
    assert one < 3400 < half < with_policy


def test_the_command_prints_every_scheme_as_json(capsys, tmp_path):
    file = tmp_path / "p.json"
    file.write_text(json.dumps(PROFILE.as_dict()))
    arguments = ["predict", "box", "--cells", "64", "--topology", "pack:2 [numa] core:2 pu:1", "--nodes", "2"]
    assert main([*arguments, "--profile", str(file), "--plot", str(tmp_path / "plots"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["scheme"] for each in answer["schemes"]] == ["node", "socket", "numa", "core", "none"]
    assert answer["simulated"] and answer["nodes"] == 2 and answer["cells"] == 64**3
    assert {"step", "compute", "halo", "waiting", "efficiency"} <= set(answer["all"][0])
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["nodes.png", "step.png"]


def test_the_command_says_what_it_assumed(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path))
    assert main(["predict", "--cells", "48", "--boundary", "cpml", "--nodes", "2", "--topology", "core:2 pu:1"]) == 0
    text = capsys.readouterr().out
    assert "SIMULATED" in text and "assumed: update" in text and "between hosts" in text and "efficiency" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bind", "moon"], "moon"),
        (["--memory", "moon"], "moon"),
        (["--topology", "moon"], "moon"),
        (["--profile", "nowhere.json"], "nowhere"),
        (["--cells", "8", "--boundary", "cpml"], "CPML"),
        (["--cells", "2", "--nodes", "4"], "fit"),
        (["--ranks", "3", "--nodes", "2"], "multiple"),
        (["--ranks", "100000", "--topology", "numascale"], "--ranks 1728 or fewer"),
    ],
)
def test_wrong_arguments_are_refused(capsys, arguments, said):
    assert main(["predict", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_figures_of_the_paper_are_drawn_and_explained(capsys, tmp_path):
    assert main(["predict", "--paper", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "116 %" in text and "assumed" in text and "calibrated" in text and "1.55" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figure_5.png",
        "figure_6.png",
        "figure_7.png",
        "figures_11_12.png",
    ]


def test_double_precision_takes_twice_as_long_and_sends_twice_the_bytes():
    cluster = Cluster(SERVER, 2, PROFILE)
    placed, cuts = place(cluster, "node"), [even(SHAPE, (2, 1, 1))]
    single, double = (predict(Job(job().weights, 64**3, size), cluster, placed, BLOCKING, cuts) for size in (4, 8))
    assert double.compute == pytest.approx(2 * single.compute) and double.host_bytes == 2 * single.host_bytes


def test_a_scaled_rate_scales_the_step():
    faster = Profile(**PROFILE.as_dict() | {"fdtd": {"pec": {"core": 2 * CORE, "numa": 2 * NUMA, "cores": 4}}})
    assert slabs(BLOCKING, profile=faster).compute == pytest.approx(slabs(BLOCKING).compute / 2)
