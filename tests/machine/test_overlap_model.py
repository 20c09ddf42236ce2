"""The model of hidden exchange: every number of Kim and Park's tables worked out, limits, and the command."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import from_synthetic
from nearfield.machine.profile import Link, Profile
from nearfield.measure.probe_mpi import fit
from nearfield.parallel.weights import Weights
from nearfield.predict.overlap import HIDING, METHODS, SHIPPED, OverlapNode, load_node, overlap, probed_node
from nearfield.predict.prediction import BLOCKING, LAYER, even, predict
from nearfield.predict.step_time import Cluster, Job, place

# Worked by hand from Eqs. (1) to (10) with Tables 2 and 3, rounded to five digits or more.
OVER_R = {  # split, host buffer, strict, not hidden; Mpoint/s
    50: (218.09, 194.77, 178.13, 184.84),
    100: (436.18, 389.55, 356.26, 319.90),
    150: (654.26, 584.32, 534.38, 422.91),
    200: (872.35, 779.10, 712.51, 504.07),
    240: (1046.82, 934.91, 855.01, 557.57),
    250: (1066.45, 973.87, 890.64, 569.66),
    276.47: (1077.00, 1076.98, 984.94, 599.54),
    300: (1084.95, 1084.95, 1068.77, 623.77),
    360: (1100.87, 1100.87, 1100.87, 677.39),
    500: (1123.96, 1123.96, 1123.96, 770.07),
    1000: (1155.10, 1155.10, 1155.10, 934.44),
}
OVER_NODES = {  # limit, hidden, not hidden, blocking ring, blocking chain; Mpoint/s
    1: (1188.02, 1100.87, 677.39, 677.39, 1100.87),
    2: (2376.04, 2201.74, 1354.79, 1354.79, 1677.42),
    3: (3564.06, 3302.61, 2032.18, 1704.37, 2032.18),
    4: (4752.08, 4403.47, 2709.58, 1956.83, 2272.49),
    5: (5940.10, 5504.34, 3386.97, 2147.72, 2446.04),
    6: (7128.12, 6605.21, 4064.36, 2297.10, 2577.26),
}
NEAR = {"rel": 1e-4}


def paper(**changed) -> OverlapNode:
    node = load_node("s4")
    return OverlapNode(**{name: getattr(node, name) for name in node.model_fields_set} | changed)


def answer(capsys, *options: str) -> dict:
    assert main(["predict", "--overlap", *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_times_of_a_step_are_those_of_the_first_four_equations():
    node = paper()
    assert node.copying == pytest.approx(1.53532e-3, **NEAR) and node.messaging == pytest.approx(13.08381e-3, **NEAR)
    assert node.computing("split", 360) == pytest.approx(20.92893e-3, **NEAR)
    assert node.exchanging("split") == pytest.approx(14.67300e-3, **NEAR)
    assert node.exchanging("host_buffer") == pytest.approx(16.42934e-3, **NEAR)


def test_the_command_prints_thresholds_and_both_sweeps(capsys):
    found = answer(capsys, "--tables", "s4")
    assert found["r0"] == pytest.approx({"split": 243.87, "host_buffer": 276.47, "host_buffer_strict": 304.97}, **NEAR)
    assert found["efficiency"] == pytest.approx(0.92664, **NEAR)
    assert [row["r"] for row in found["fig5"]] == list(OVER_R)
    for row in found["fig5"]:
        assert [row[name] for name in METHODS[:4]] == pytest.approx(OVER_R[row["r"]], **NEAR)
    assert [row["nodes"] for row in found["fig6"]] == list(OVER_NODES)
    for row in found["fig6"]:
        names = ("limit", "split", "none", "blocking_ring", "blocking_chain")
        assert [row[name] for name in names] == pytest.approx(OVER_NODES[row["nodes"]], **NEAR)
        assert row["host_buffer"] == row["host_buffer_strict"] == row["split"]  # R = 360 is above all thresholds


def test_more_layers_of_the_host_buffer_raise_its_threshold(capsys):
    assert answer(capsys, "--tables", "s4", "--buffer-layers", "4")["r0"]["host_buffer"] == pytest.approx(
        338.58, **NEAR
    )


def test_double_precision_moves_twice_the_bytes():
    node = paper(number_bytes=8)
    assert [node.copying, node.messaging] == pytest.approx([2.7466e-3, 23.6478e-3], **NEAR)
    assert [node.threshold(method) for method in HIDING] == pytest.approx([439.97, 450.08, 501.07], **NEAR)


@pytest.mark.parametrize("method", HIDING)
def test_both_branches_meet_at_the_threshold_and_the_rate_grows_with_the_grid(method):
    node = paper(launch_latency=20e-6)
    threshold = node.threshold(method)
    assert node.computing(method, threshold) == pytest.approx(node.exchanging(method), rel=1e-12)
    rates = [node.rate(method, ratio) for ratio in (1, 0.5 * threshold, threshold, 2 * threshold, 1e9)]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(node.device, rel=1e-6)  # the rest is t_copy / (R A), 3e-8 of 1 / G
    assert rates[1] == pytest.approx(rates[2] / 2, rel=1e-12)  # below the threshold the rate is linear in R


def test_without_copies_hidden_messages_cost_nothing():
    node = paper(transfer=None)
    assert node.rate("split", 360, 6) == pytest.approx(6 * node.device, rel=1e-12)


def test_a_threshold_below_zero_is_always_hidden():
    node = paper(message={"latency": 0.0, "bandwidth": 1e12}, host=1e12)
    assert node.threshold("host_buffer") == 0.0 and node.step("host_buffer", 1) == node.computing("host_buffer", 1)


def test_launches_add_to_the_update_and_a_split_one_has_twice_as_many():
    node, latency = paper(launch_latency=20e-6), 20e-6
    assert node.step("none", 360) - paper().step("none", 360) == pytest.approx(2 * latency)
    assert node.step("split", 360) - paper().step("split", 360) == pytest.approx(4 * latency)
    assert paper().threshold("split") - node.threshold("split") == pytest.approx(2 * latency * node.device / node.plane)


def test_a_fit_of_timings_recovers_the_tables():
    # the paper's way: times over 1 to 25 million points, their slope and intercept
    sizes = [4e6 * millions for millions in range(1, 26)]
    for link in (paper().transfer, paper().message):
        found = fit(sizes, [link.seconds(size) for size in sizes])
        assert found["bandwidth"] == pytest.approx(link.bandwidth, rel=1e-9)
        assert found["latency"] == pytest.approx(link.latency, rel=1e-9)


LINK = {"latency": 1e-4, "bandwidth": 1e8, "busy": 2e-9}
PROFILE = Profile(fdtd={"pec": {"core": 10.0, "numa": 20.0, "cores": 4}}, messages={"hosts": LINK})


@pytest.mark.parametrize(("method", "exchange"), [("none", BLOCKING), ("split", LAYER)])
def test_a_probed_machine_gives_the_step_that_predict_gives(method, exchange):
    # three hosts in a row: the middle one has two neighbours, as the model's nodes; rows that cost nothing to begin
    shape, uniform = (96, 64, 64), Weights.uniform((96, 64, 64))
    job = Job(Weights(shape, uniform.storage_axes, uniform.edges, uniform.values, row=0.0), 96 * 64 * 64)
    cluster = Cluster(from_synthetic("[numa] core:4 pu:1"), 3, PROFILE)
    step = predict(job, cluster, place(cluster, "node"), exchange, [even(shape, (3, 1, 1))]).step
    node, _ = probed_node(PROFILE, (32, 64, 64))
    assert node.step(method, 32) == pytest.approx(step, rel=1e-9)


def test_a_machine_without_a_card_says_so_and_still_answers(capsys, tmp_path):
    profile = tmp_path / "profile.json"
    scaling = {"fdtd": {"pec": {"core": 10.0, "numa": 40.0, "cores": 4}}, "messages": {"hosts": LINK}}
    profile.write_text(json.dumps(Profile(**scaling).as_dict()), encoding="utf-8")
    found = answer(capsys, "--profile", str(profile), "--cells", "64", "--nodes", "3")
    assert "probe gpu" in found["assumptions"][0] and "one of the 4 cores" in found["assumptions"][1]
    assert found["fig6"][-1]["limit"] == pytest.approx(3 * 40.0) and 64.0 in [row["r"] for row in found["fig5"]]
    # three cores of 10 Mcells/s remain beside the one that updates the buffer
    assert found["fig5"][-1]["host_buffer"] <= 30.0 < found["fig5"][-1]["split"] <= 40.0


def test_the_figures_are_drawn_and_the_table_is_readable(capsys, tmp_path):
    assert main(["predict", "--overlap", "--tables", "s4", "--plot", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "243.87" in text and "92.66 %" in text and "6605.21" in text
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["figure_5.png", "figure_6.png"]


@pytest.mark.parametrize(("given", "shown"), [([], 6), (["--nodes", "1"], 1), (["--nodes", "2"], 2)])
def test_as_many_nodes_are_shown_as_are_asked_for(given, shown, capsys):
    assert main(["predict", "--overlap", "--tables", "s4", "--json", *given]) == 0
    assert len(json.loads(capsys.readouterr().out)["fig6"]) == shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tables", "s4"], "--tables without --overlap"),
        (["--overlap", "--tables", "nothing.json"], "nothing.json: No such file"),
        (["--overlap", "box"], "MODEL: predict --overlap models"),
        (["--overlap", "--tables", "s4", "--profile", "p.json"], "both describe the machine"),
        (["--overlap", "--tables", "s4", "--buffer-layers", "-1"], "buffer_layers"),
        (["--overlap", "--tables", "s4", "--nodes", "0"], "--nodes"),
    ],
)
def test_what_cannot_be_modelled_is_refused(options, words, capsys):
    assert main(["predict", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_file_with_other_entries_is_refused(tmp_path):
    entries = json.loads(SHIPPED["s4"].read_text(encoding="utf-8"))
    file = tmp_path / "tables.json"
    file.write_text(json.dumps(entries | {"device": -1}), encoding="utf-8")
    with pytest.raises(ModelError, match="device"):
        load_node(str(file))
    file.write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="not JSON"):
        load_node(str(file))


def test_the_sweep_of_a_file_without_ratios_surrounds_the_thresholds():
    shown = [row["r"] for row in overlap(paper(ratios=()))["fig5"]]
    assert shown == sorted(shown) and shown[0] < 243 and shown[-1] > 2 * 304 and 360.0 in shown


def cards_and_cores(count: int) -> Iterator[OverlapNode]:
    """Nodes as probes of any machine make them: devices no slower than a quarter of a host's core, links of all kinds.

    A host buffer is two layers at either face.
    """
    draw = random.Random(19)
    for _ in range(count):
        host = 10 ** draw.uniform(7, 9.5)
        link, transfer = (
            Link(latency=10 ** draw.uniform(-7, -3), bandwidth=10 ** draw.uniform(7, 11)) for _ in range(2)
        )
        yield OverlapNode(
            device=host * 10 ** draw.uniform(-0.6, 3),
            host=host,
            message=link,
            transfer=draw.choice([transfer, None]),
            cells=(draw.randint(1, 2000), draw.randint(1, 2000), draw.randint(1, 2000)),
            buffer_layers=4,
        )


def test_auto_is_split_because_no_machine_that_is_probed_is_faster_by_another_method():
    """A buffer whose copies wait for kernels and messages, as the product's do, never wins; nor does hiding nothing."""
    for node in cards_and_cores(500):
        split = node.step("split", node.ratio)
        assert split <= node.step("host_buffer_strict", node.ratio) * (1 + 1e-12), node
        assert node.ratio < 1 or split <= node.step("none", node.ratio) * (1 + 1e-12), node
