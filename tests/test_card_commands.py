"""What users see of a card, which a stand-in plays: choices, refusals, checks, runs that end early, cubins on disk."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from test_engine_choice import MM, assert_same_bits, model

import nearfield as nf
from nearfield.cli import main
from nearfield.engines import chosen_engine
from nearfield.engines.cuda import cubins
from nearfield.engines.cuda.device import usable_card
from nearfield.engines.cuda.sizes import device_bytes
from nearfield.measure.bench import bench_box


@pytest.fixture
def file(tmp_path):
    """A small model on disk."""
    path = tmp_path / "small.toml"
    path.write_text(model().to_toml(), encoding="utf-8")
    return path


def said_by(capsys) -> str:
    """What a command printed on stderr, in one line."""
    return " ".join(capsys.readouterr().err.split())


def test_auto_takes_a_usable_card_with_the_same_bits_and_says_so(card):
    cpu, found = model().run(engine="cpu"), model().run()
    assert_same_bits(cpu, found)
    assert (found.facts["engine"], found.facts["device"]) == ("cuda", "Stand-in")
    assert "Stand-in (sm_90" in found.facts["engine_choice"]
    assert "engine_choice" not in cpu.facts
    box = [bench_box(24, 30, 1, "cpml", engine=name) for name in ("auto", "cpu")]
    assert [each["device"] for each in box] == ["Stand-in", None]
    assert box[0]["checksum"] == box[1]["checksum"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"devices": 0}, "shows no card"),
        ({"version": 11080}, r"too old: it knows CUDA 11\.8, needed is 12\.0"),
        ({"version": 12040}, r"too old for the compiler: it knows CUDA 12\.4, NVRTC 13\.5 needs 13\.0"),
        ({"architecture": 70}, r"architecture 7\.0; kernels are made for 7\.5"),
        ({"architecture": 120}, r"makes no code for Stand-in \(sm_120.*only sm_80, sm_90"),
        ({"memory": 2e7}, r"too full: the run needs 6\d\.\d+ MiB on it, 19\.07 MiB are free"),
    ],
)
def test_a_card_that_cannot_be_used_is_refused_in_one_message_and_auto_takes_the_cpu(
    card, capsys, tmp_path, file, settings, why
):
    card.has(**settings)
    out = tmp_path / "out"
    assert main(["run", str(file), "--engine", "cuda", "--output", str(out)]) == 2
    printed = said_by(capsys)
    assert re.search(why, printed) and 'engine "cpu"' in printed and printed.count("error") == 1
    assert not out.exists()
    found = model().run()
    assert found.facts["engine"] == "cpu" and re.search(why, found.facts["engine_choice"])


def test_a_card_without_room_for_the_coefficients_is_refused_before_a_step(card):
    """Blocks of 16 cells of which no two are alike: 192 bytes each."""
    numbers = np.random.default_rng(1).integers(1, 20, (20, 20, 20))
    voxels = nf.Voxels(array=numbers.tolist(), spacing="2 mm")
    media = {number: nf.Medium(2 + number / 10) for number in range(1, 20)}
    walls = nf.Boundaries(nf.PEC)
    sim = nf.Simulation(
        nf.Grid.uniform(MM, (40, 40, 40)), structures=[nf.Structure(voxels, media)], boundaries=walls, steps=5
    )
    card.has(memory=device_bytes(sim._setup().plan) + 2e5)
    with pytest.raises(nf.ModelError, match=r"too full: the run needs .* MiB on it"):
        sim.run(engine="cuda")


def test_without_a_compiler_the_message_says_what_to_install(card, monkeypatch):
    monkeypatch.setenv("NEARFIELD_NVRTC", "/no/such/library.so")
    with pytest.raises(nf.ModelError, match=r'NVRTC.*was not found; install the extra "cuda" \(pip install "nearfield'):
        model().run(engine="cuda")


def test_auto_is_the_cpu_where_something_is_asked_that_the_cpu_alone_does(card):
    assert chosen_engine("auto").name == "cuda"
    for options, why in (({"tiling": "8x16"}, "tiles 8x16"), ({"parallel": nf.Parallel(domains=2)}, "domains 2")):
        facts = model().run(threads=1, **options).facts
        assert (facts["engine"], facts["engine_choice"]) == ("cpu", f"{why} is for the CPU")


def test_check_says_what_a_run_needs_on_the_card_and_what_is_free_there(card, capsys, file):
    assert main(["check", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["engine"], found["device_free_bytes"]) == ("cuda", 2**30)
    assert 64 * 2**20 < found["device_memory_bytes"] < 70 * 2**20
    assert "Stand-in" in found["engine_why"] and "assumed from the memory of Stand-in" in found["rate_source"]
    assert found["mcells_per_second"] > 10000  # not that of the make-believe device
    card.has(memory=2e7)
    check = model(engine="cuda").check()
    assert any("on the card, 19.07 MiB are free there" in warning for warning in check.warnings)
    assert check.memory_bytes < model().check().memory_bytes + check.device_memory_bytes


def test_a_card_lost_under_way_ends_the_run_with_its_checkpoint_kept(card, capsys, tmp_path, file):
    out = tmp_path / "out"
    command = ["run", str(file), "--engine", "cuda", "--output", str(out), "--no-report"]
    card.has(fail_after=400)
    assert main([*command, "--checkpoint", "every 10 steps"]) == 4
    printed = said_by(capsys)
    assert "the card Stand-in failed after step" in printed and "Traceback" not in printed
    card.has()
    resumed = nf.resume(out, engine="cpu")
    assert_same_bits(model().run(engine="cpu"), resumed)


# ---- cubins on disk


def test_cubins_are_kept_and_damaged_ones_are_made_again(card):
    found, folder = usable_card(), cubins.folder()
    made = cubins.cubins(found.compiler, "sm_90")
    files = sorted(folder.glob("*.cubin"))
    assert len(files) == len(made) >= 10
    times = [path.stat().st_mtime_ns for path in files]
    assert cubins.cubins(found.compiler, "sm_90") == made
    assert [path.stat().st_mtime_ns for path in files] == times
    whole = files[0].read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:-1] + b"x"):
        files[0].write_bytes(damaged)
        assert cubins.cubins(found.compiler, "sm_90") == made
        assert files[0].read_bytes() == whole
    assert sorted(folder.iterdir()) == files


def test_the_key_of_a_cubin_tells_its_text_headers_target_and_compiler_apart(card):
    compiler, texts = usable_card().compiler, cubins.kernel_texts()
    changed = texts | {"cell/curl.h": texts["cell/curl.h"] + b"\n"}
    other = type(compiler)(compiler.path, (12, 9), compiler.architectures)
    cases = (
        (compiler, "sm_90", texts),
        (compiler, "sm_80", texts),
        (compiler, "sm_90", changed),
        (other, "sm_90", texts),
    )
    keys = {cubins.key(one, target, "half_step.cu", each) for one, target, each in cases}
    assert len({*keys, cubins.key(compiler, "sm_90", "poles.cu", texts)}) == len(cases) + 1


def test_a_folder_that_cannot_be_written_costs_time_alone(card, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "file"))
    assert model().run(engine="cuda").facts["device"] == "Stand-in"


# ---- what is told of the machine


@pytest.mark.parametrize("command", [pytest.param("doctor", marks=pytest.mark.slow), "machine"])
def test_the_card_is_listed_or_why_there_is_none(card, capsys, command):
    assert main([command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gpu"] == "Stand-in (sm_90, 1 GiB), driver for CUDA 13.0, NVRTC 13.5"
    assert (found["cards"][0]["architecture"], found["cards_reason"]) == ("sm_90", "")
    card.has(version=11000)
    assert main(["machine"]) == 0
    assert "needed is 12.0" in capsys.readouterr().out


def test_a_runs_facts_state_card_driver_and_registers(card):
    facts = model(precision="double").run().facts
    expected = {"card": "sm_90", "driver": "13.0", "nvrtc": "13.5", "card_memory": 2**30}
    assert {name: facts[name] for name in expected} == expected
    assert facts["kernels"]["half_step_electric_double"] == 42 and len(facts["kernels"]) > 5


# ---- nearfield probe gpu


@pytest.mark.slow
def test_probe_gpu_finds_the_numbers_of_a_modelled_card_and_predict_uses_them(card, capsys, monkeypatch):
    """The stand-in's clock runs by a model: a copy takes a latency and its bytes over a rate."""
    monkeypatch.setattr("nearfield.measure.probe_gpu.QUICK_CELLS", 24)
    monkeypatch.setattr("nearfield.measure.probe_gpu.QUICK_STEPS", 3)
    modelled = {"to_card": 26e9, "to_host": 21e9, "on_card": 2.1e12}
    card.has(latency=1.5e-5, **modelled)
    assert main(["probe", "gpu", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for kind, bandwidth in modelled.items():
        copies = found["gpu"]["copies"][kind]
        line = copies["fit"]
        # the clock is single precision of milliseconds: 1e-7 of a time, of which the longest differs by most
        assert abs(line["bandwidth"] / bandwidth - 1) < 1e-4 and abs(line["latency"] / 1.5e-5 - 1) < 1e-4
        assert line["bandwidth_error"] < 1e-4 * bandwidth
        assert [row["points"] for row in copies["sizes"]][-6:] == [n * 10**6 for n in (1, 2, 4, 8, 16, 25)]
    kept = found["profile"]["gpu"]
    assert kept["name"] == "Stand-in" and kept["update"]["cpml"] > 0
    assert main(["predict", "--overlap", "--cells", "100", "--json"]) == 0
    node = json.loads(capsys.readouterr().out)
    assert node["machine"].startswith("Stand-in, one a node")
    both_ways = 2 * 1.5e-5 + 2 * 4 * 100**2 * (1 / 26e9 + 1 / 21e9)
    assert abs(node["seconds"]["copies"] / (2 * both_ways) - 1) < 1e-3
    assert abs(node["seconds"]["update"] / (100**3 / (1e6 * kept["update"]["pec"])) - 1) < 1e-6
    assert "measured on Stand-in" in model().check().rate_source


@pytest.mark.parametrize("command", [["probe", "gpu"], ["ring", "bench", "--suite", "gpu"]])
def test_measuring_a_card_that_is_not_there_says_so(command, monkeypatch, capsys):
    monkeypatch.setenv("NEARFIELD_DEVICE", "")
    monkeypatch.setenv("NEARFIELD_CUDA_DRIVER", "/no/such/library.so")
    assert main(command) == 2
    assert "no NVIDIA driver was found" in said_by(capsys)
