"""`nearfield place MODEL`: domains that tile the model, costs and bytes that can be counted, reasons, refusals."""

from __future__ import annotations

import json
import math

import pytest

from nearfield.cli import main

MODEL = """
grid = {kind = "uniform", spacing = "1 mm", cells = [40, 48, 64]}
boundaries = {all = {kind = "cpml", cells = 8}}
steps = 10
"""
CLUSTER = ["--topology", "pack:2 [numa] core:4 pu:1", "--nodes", "2"]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(MODEL)
    return str(path)


def placed(capsys, *arguments: str) -> dict:
    assert main(["place", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_domains_tile_the_model_and_carry_rank_bounds_cells_and_cost(model, capsys):
    found = placed(capsys, model, "--domains", "6", "--ranks", "2")
    assert math.prod(found["arrangement"]) == len(found["domains"]) == 6
    assert {domain["rank"] for domain in found["domains"]} == {0, 1}
    for domain in found["domains"]:
        shape = [high - low for low, high in zip(domain["lower"], domain["upper"])]
        assert domain["cells"] == math.prod(shape) > 0 and domain["cost"] > domain["cells"]
    assert sum(domain["cells"] for domain in found["domains"]) == 40 * 48 * 64
    costs = [domain["cost"] for domain in found["domains"]]
    assert found["imbalance"] == pytest.approx(max(costs) / (sum(costs) / 6))
    assert found["why"] and found["halo_bytes"] > 0


def test_domains_of_one_process_exchange_nothing(model, capsys):
    found = placed(capsys, model, "--domains", "2x2x1")
    assert found["arrangement"] == [2, 2, 1] and found["halo_bytes"] == 0


def test_a_halo_of_one_layer_is_tangential_h_both_ways(model, capsys):
    found = placed(capsys, model, "--domains", "2x1x1", "--ranks", "2", "--depth", "1")
    assert found["depth"] == 1 and found["halo_bytes"] == 4 * (2 + 2) * 48 * 64
    assert [halo["messages"] for halo in found["halos"]] == [1, 1]


def test_a_deep_halo_is_all_components_and_states_of_the_layers_every_so_many_steps(model, capsys):
    found = placed(capsys, model, "--domains", "2x1x1", "--ranks", "2", "--depth", "4")
    layers = 4 * 48 * 64
    in_slabs = 4 * (16 * 64 + 48 * 16)  # of y, of z; the cut lies far from the slabs of x
    each = 4 * (6 * layers + 4 * in_slabs)
    assert [halo["bytes_per_exchange"] for halo in found["halos"]] == [each, each]
    assert found["halo_bytes"] == pytest.approx(2 * each / 4)


def test_ranks_get_the_units_of_the_hosts_in_order(model, capsys):
    found = placed(capsys, model, *CLUSTER, "--bind", "socket")
    assert found["simulated"] and found["ranks"] == 4 and found["threads"] == 4
    places = [(domain["host"], tuple(domain["cores"])) for domain in found["domains"]]
    units = (0, 1, 2, 3), (4, 5, 6, 7)
    assert places == [(host, unit) for host in ("host0", "host1") for unit in units]


def test_a_rank_on_a_whole_host_owns_a_domain_in_each_numa_node(model, capsys):
    found = placed(capsys, model, *CLUSTER, "--bind", "node", "--hosts", "a,b")
    assert found["ranks"] == 2
    assert sorted((d["rank"], d["host"], d["numa"]) for d in found["domains"]) == [
        (0, "a", [0]),
        (0, "a", [1]),
        (1, "b", [0]),
        (1, "b", [1]),
    ]


def test_slow_links_ask_for_deep_halos_and_thin_domains_are_warned_of(model, tmp_path, capsys):
    def profile(latency: float, bandwidth: float) -> list[str]:
        path = tmp_path / "profile.json"
        path.write_text(json.dumps({"messages": {"hosts": {"latency": latency, "bandwidth": bandwidth}}}))
        return ["--profile", str(path)]

    two = [model, "--topology", "core:1 pu:1", "--nodes", "2"]
    assert placed(capsys, *two, *profile(1e-2, 1e12))["depth"] > 1  # each message counts
    fast = placed(capsys, *two, *profile(1e-9, 1e12))
    assert not fast["warnings"]
    assert placed(capsys, *two, *profile(1e-9, 2e7))["depth"] == 1  # each byte counts
    thin = placed(capsys, *two, *profile(1e-9, 1e6))
    assert any("R =" in warning for warning in thin["warnings"])


def test_more_threads_than_cores_are_warned_of(model, capsys):
    assert main(["place", model, *CLUSTER, "--bind", "numa", "--threads", "4"]) == 0
    assert "MORE THREADS THAN CORES" not in capsys.readouterr().err
    for crowded in (["--threads", "5"], ["--threads", "4", "--ranks", "8"]):
        assert main(["place", model, *CLUSTER, "--bind", "numa", *crowded]) == 0
        assert "MORE THREADS THAN CORES" in capsys.readouterr().err


def test_the_text_says_what_came_second_and_why_rows_are_whole(model, capsys):
    assert main(["place", model, "--domains", "4", "--ranks", "2"]) == 0
    text = capsys.readouterr().out
    for words in ("4 domains", "on 2 ranks", "imbalance", "next comes", "rows (along z) are whole", "a step", "R"):
        assert words in text
    assert main(["place", model, "--domains", "1x1x2"]) == 0
    assert "rows (along z) are cut in 2 because the arrangement says so" in capsys.readouterr().out
    assert main(["place", model, *CLUSTER]) == 0
    assert "SIMULATED" in capsys.readouterr().out


def test_rows_that_had_to_be_cut_are_said_to(tmp_path, capsys):
    path = tmp_path / "rod.toml"
    path.write_text(
        'grid = {kind = "uniform", spacing = "1 mm", cells = [3, 3, 64]}\nsteps = 1\nboundaries = {all = "pec"}\n'
    )
    assert main(["place", str(path), "--domains", "4"]) == 0
    assert "rows (along z) had to be cut in 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--domains", "2", "--ranks", "3"], "3 ranks cannot share 2 domains"),
        (["--domains", "2x2"], "such as 2x1x4"),
        (["--domains", "64x1x1"], "do not fit 40 x 48 x 64 samples"),
        (["--domains", "4x1x1", "--ranks", "4", "--depth", "30"], "the depth of their halos"),
        (["--bind", "sofa"], "sofa"),
        (["--topology", "what"], "what"),
        (["--profile", "missing.json"], "missing.json"),
    ],
)
def test_what_cannot_be_is_refused_once_with_exit_code_2(model, arguments, said, capsys):
    assert main(["place", model, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert said in captured.err


@pytest.mark.parametrize("bandwidth", [1e12, 1e7])
def test_a_step_is_priced_as_predict_prices_it(bandwidth, model, tmp_path, capsys):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"messages": {"hosts": {"latency": 1e-6, "bandwidth": bandwidth}}}))
    both = [model, "--topology", "core:2 pu:1", "--nodes", "2", "--profile", str(path), "--bind", "node", "--json"]
    assert main(["predict", *both]) == 0
    wanted = next(each for each in json.loads(capsys.readouterr().out)["all"] if each["exchange"] == "layer")
    assert main(["place", *both, "--depth", "1", "--domains", "x".join(map(str, wanted["counts"]))]) == 0
    found = json.loads(capsys.readouterr().out)
    for name in ("waiting", "halo", "busy"):
        assert found["predicted"][name] == pytest.approx(wanted[name], rel=0.02), name  # the cuts may differ by a cell
    assert bool(found["warnings"]) == (wanted["waiting"] > 0.02 * wanted["step"]) == (bandwidth < 1e10)
