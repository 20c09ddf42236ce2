"""A user's choice of engine: the same bits, told in the result, refused in words where it cannot be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from typer.testing import CliRunner

import nearfield as nf
from nearfield.cli import app, main
from nearfield.engines import ENGINES, UNDIVIDED
from nearfield.measure.bench import bench_box
from nearfield.parallel.start import Parallel, refuse_spread

MM = 1e-3


def model(**entries):
    """A box with a dispersive block, a CPML, a point current and a port, 40 steps for each of two excitations."""
    pulse = nf.Gaussian("20 GHz", delay=0)
    return nf.Simulation(
        nf.Grid.uniform(MM, (12, 10, 9)),
        structures=[
            nf.Structure(nf.Box((2 * MM,) * 3, (5 * MM,) * 3), nf.Medium(2.2, poles=[nf.Debye(2.0, "8 ps")])),
            nf.Structure(nf.Box((7 * MM, 3 * MM, MM), (9 * MM, 5 * MM, 2 * MM)), "pec"),
        ],
        boundaries=nf.Boundaries(nf.PEC, z_high=nf.CPML(3)),
        sources=[nf.PointCurrent((6 * MM, 7 * MM, 4.5 * MM), "z", pulse)],
        ports=[nf.LumpedPort("a", (8 * MM, 4 * MM, 0), (8 * MM, 4 * MM, MM), "z", inductance=1e-9, waveform=pulse)],
        monitors=[
            nf.Probe("p", (3 * MM, 3 * MM, 3.5 * MM)),
            nf.FieldDFT("d", (2 * MM,) * 3, (6 * MM, 6 * MM, 2 * MM), "5 GHz"),
        ],
        excitations=["sources", "a"],
        steps=40,
        **entries,
    )


def assert_same_bits(one, other):
    """Every recorded number of both runs."""
    assert one.record.excitations.keys() == other.record.excitations.keys()
    for name, excitation in one.record.excitations.items():
        twin = other.record.excitations[name]
        for kind in ("ports", "monitors"):
            entries, twins = getattr(excitation, kind), getattr(twin, kind)
            assert entries.keys() == twins.keys()
            for key in entries:
                parts, copies = (getattr(each, "variables", each) for each in (entries[key], twins[key]))
                for variable in parts:
                    assert np.array_equal(parts[variable].values, copies[variable].values), (name, key, variable)


@pytest.mark.parametrize("name", UNDIVIDED)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_all_engines_give_the_same_bits(precision, name):
    cpu, other = (model(precision=precision).run(engine=each) for each in ("cpu", name))
    assert_same_bits(cpu, other)
    assert (cpu.facts["engine"], other.facts["engine"], other.facts["threads"]) == ("cpu", name, 1)
    assert other.facts["warnings"] == cpu.facts["warnings"]
    assert (cpu.facts.get("device"), other.facts.get("device")) == (None, "host" if name == "cuda" else None)


def test_the_models_own_choice_holds_and_a_runs_goes_before_it():
    assert get_args(nf.Simulation.model_fields["engine"].annotation) == ("auto", *ENGINES)
    own = model(engine="reference")
    assert own.run().facts["engine"] == "reference"
    assert own.run(engine="auto").facts["engine"] == "cpu"
    assert model().run().facts["engine"] == "cpu"
    assert nf.Solver(own)._engine.facts()["isa"] == "numpy"


@pytest.mark.parametrize(
    ("name", "source"), [("reference", "in NumPy, on one core"), ("cuda", "on the make-believe device, on one core")]
)
def test_checks_know_the_engine(name, source):
    check = model(engine=name).check()
    assert (check.engine, check.threads, check.rate_source) == (name, 1, source)
    assert check.memory_bytes > model().check().memory_bytes


NAMES = list(ENGINES)
ROUND = list(zip(NAMES, NAMES[1:] + NAMES[:1]))  # each once before another and once after one


@pytest.mark.parametrize(
    ("first", "second"),
    [*ROUND, *(pytest.param(*both, marks=pytest.mark.slow) for both in permutations(ENGINES, 2) if both not in ROUND)],
)
def test_checkpoints_of_one_engine_resume_on_the_other(tmp_path, first, second):
    whole = model().run()
    model().run(output=tmp_path / "result.h5", checkpoint="every 25 steps", engine=first)
    again = nf.resume(tmp_path, engine=second)
    assert again.facts["engine"] == second
    assert_same_bits(whole, again)


@pytest.mark.parametrize("name", UNDIVIDED)
def test_what_an_engine_of_one_piece_cannot_do_is_refused_in_words(name):
    refused = [{"tiling": "8x16"}, {"parallel": nf.Parallel(domains="2x1x1")}]
    for options in (*refused, *([{"threads": 3}] if name == "reference" else [])):
        with pytest.raises(nf.ModelError, match=rf'cannot be had with engine "{name}".*leave it out'):
            model().run(engine=name, **options)
    model().run(threads=1, engine=name, parallel=nf.Parallel(domains=1))
    with pytest.raises(nf.ModelError, match="leave it out"):
        nf.Solver(model(), tiling="8x16", engine=name)

    @dataclass
    class Two:
        size: int = 2

    with pytest.raises(nf.ModelError, match="runs on one rank, and here are 2"):
        refuse_spread("reference", None, None, Parallel(), Two())
    refuse_spread("cuda", None, None, Parallel(), Two())


def test_a_card_that_is_not_there_is_refused_in_words_and_never_replaced_in_silence(monkeypatch, tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(model().to_toml(), encoding="utf-8")
    monkeypatch.setenv("NEARFIELD_CUDA_DRIVER", "/no/such/library.so")
    for wanted, said in (("", "no NVIDIA driver was found"), ("h200", "=h200 is not a device")):
        monkeypatch.setenv("NEARFIELD_DEVICE", wanted)
        with pytest.raises(nf.ModelError, match=said):
            model().run(engine="cuda")
        for command in (["run", str(file), "--output", str(tmp_path / "out")], ["bench", "box", "--cells", "8"]):
            assert main([*command, "--engine", "cuda"]) == 2
            printed = " ".join(capsys.readouterr().err.split())
            assert said in printed and 'engine "cpu"' in printed and "NEARFIELD_DEVICE=host" in printed
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("NEARFIELD_DEVICE", "")
    facts = model().run().facts
    assert facts["engine"] == "cpu" and "no NVIDIA driver was found" in facts["engine_choice"]


@pytest.mark.parametrize("boundary", ["pec", "cpml"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_box_of_bench_has_one_checksum_on_all_engines_and_threads(boundary, precision):
    runs = (("cpu", 1), ("cuda", 1), ("cuda", 3))
    found = [bench_box(24, 30, threads, boundary, precision=precision, engine=name) for name, threads in runs]
    told = [(each["engine"], each["device"], each["threads"]) for each in found]
    assert told == [("cpu", None, 1), ("cuda", "host", 1), ("cuda", "host", 3)]
    assert len({each["checksum"] for each in found}) == 1


def test_unknown_engines_are_refused_with_a_list():
    with pytest.raises(nf.ModelError, match="engine 'gpu' is unknown; there are auto, cpu, cuda, reference"):
        model().run(engine="gpu")
    with pytest.raises(nf.ModelError, match=r"engine.*'gpu'.*cpu.*reference"):
        model(engine="gpu")


def test_the_command_line_takes_an_engine(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(model().to_toml(), encoding="utf-8")
    command = ["run", str(file), "--no-report", "--json", "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*command, "--engine", "reference"])
    assert (done.exit_code, json.loads(done.stdout)["engine"]) == (0, "reference")
    assert_same_bits(model().run(), nf.open_result(tmp_path / "out" / "result.h5"))
