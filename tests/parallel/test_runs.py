"""Whole runs of a model file by the command line: the same result file however a run is spread, and clear ends."""

import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from checkpointed import awaited
from lines import line
from test_ranks import line_for
from whole_runs import arrays

import nearfield as nf
from nearfield.cli import main
from nearfield.parallel.launch import command, launcher

pytest.importorskip("mpi4py")
MM = 1e-3
PULSE = nf.Gaussian(20e9)
BAND = (6e9, 12e9)


def lines(cells: int) -> np.ndarray:
    """Graded grid lines (m) about the origin."""
    return MM * (np.cumsum([0.0, *(1 + 0.2 * np.sin(1.0 + np.arange(cells)))]) - cells / 2)


X, Y, Z = lines(24), lines(22), lines(36)


def at(i: int, j: int, k: int) -> tuple[float, float, float]:
    return X[i], Y[j], Z[k]


def everything_across_the_middle() -> nf.Simulation:
    """Bodies, source, ports and monitors that halves and thirds of every axis cut through; rows (z) are cut at 16."""
    return nf.Simulation(
        grid=nf.Grid(X, Y, Z),
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC, y_high=nf.PMC),
        structures=[
            nf.Structure(nf.Box(at(8, 7, 9), at(17, 15, 27)), nf.Medium(2.2, 1.0, 0.01)),
            nf.Structure(nf.Sheet(at(7, 11, 10), at(17, 11, 14)), nf.PEC),
            nf.Structure(nf.Sheet(at(7, 11, 18), at(17, 11, 22)), nf.PEC),
        ],
        sources=[nf.CurrentSheet(at(6, 6, 24), at(18, 16, 24), "x", PULSE)],
        ports=[
            nf.LumpedPort("across", at(7, 11, 14), at(17, 11, 18), "z", inductance=1e-9, capacitance=1e-12),
            nf.LumpedPort("along", at(19, 7, 14), at(19, 15, 18), "y"),
        ],
        monitors=[
            nf.Probe("tip", (0.2 * MM, 0.3 * MM, -1.9 * MM), "Ez"),
            nf.Voltage("u", at(6, 9, 17), at(18, 9, 17)),
            nf.Current("i", at(6, 9, 16), at(18, 13, 16)),
            nf.Snapshot("cut", at(12, 4, 4), at(12, 18, 32), every=20),
            nf.FieldDFT("plane", at(4, 11, 4), at(20, 11, 32), BAND),
            nf.Flux("out", at(6, 6, 8), at(18, 17, 28), BAND),
            nf.FarField("pattern", BAND[0], theta=(0.0, 0.6, 1.2), phi=(3.5, 4.5)),
        ],
        waveform=PULSE,
        excitations=("sources", "across", "along"),
        steps=41,
        check_every=27,
    )


def cube(steps: int, moment: float = 1e-3) -> str:
    """A model file: a current in a closed box."""
    return nf.Simulation(
        grid=nf.Grid.uniform(1 * MM, (30, 30, 30)),
        boundaries=nf.Boundaries(all=nf.PEC),
        steps=steps,
        sources=[nf.PointCurrent((10 * MM,) * 3, "z", nf.Gaussian(15e9), moment=moment)],
        monitors=[nf.Probe("tip", (5 * MM,) * 3, "Ez")],
    ).to_toml()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def run_line(*options: str) -> list[str]:
    return [sys.executable, "-m", "nearfield", "run", "model.toml", "--no-report", *options]


def run(*options: str) -> subprocess.CompletedProcess:
    return subprocess.run(run_line(*options), capture_output=True, text=True, timeout=120, check=False)


def run_blind(ranks: int, *runs: str) -> subprocess.CompletedProcess:
    """Runs with these options, in one start of so many ranks, of which none but the first can find modes of guides."""
    line, environment = line_for(ranks, str(Path(__file__).with_name("blind.py")), *runs)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The folder of that model's file and of what one process and domain makes of it."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "model.toml").write_text(everything_across_the_middle().to_toml())
    assert main(["run", str(folder / "model.toml"), "--no-report", "--output", str(folder)]) == 0
    with h5py.File(folder / "result.h5") as file:
        for name, (_, dtype, _) in arrays(folder / "result.h5").items():  # nothing is equal for being zero
            assert dtype.kind not in "fc" or np.nanmax(np.abs(file[name][()])) > 0, name
    return folder


@pytest.mark.parametrize(
    "options, domains, ranks",
    [
        ("--domains 2x2x2 --threads 3", 8, 1),
        ("--ranks 3 --threads 1 --halo-depth 4", 3, 3),
        pytest.param("--ranks 2 --domains 1x1x2 --halo-depth 4", 2, 2, marks=pytest.mark.slow),
        pytest.param("--ranks 2", 2, 2, marks=pytest.mark.slow),
    ],
)
def test_a_model_file_gives_the_same_result_file_on_any_domains_and_ranks(options, domains, ranks, alone):
    shutil.copy(alone / "model.toml", ".")
    done = run("--output", "spread", "--json", *options.split())
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["domains"], answer["ranks"]) == (domains, ranks)
    found, wanted = arrays("spread/result.h5"), arrays(alone / "result.h5")
    assert list(found) == list(wanted)
    assert [name for name in wanted if wanted[name] != found[name]] == []
    assert Path("spread/model.s2p").read_text() == (alone / "model.s2p").read_text()


def half_of_a_row_of_strips(y) -> nf.Simulation:
    """Dispersive strips side by side, cut in two by an electric plane across x, between CPMLs and walls; faces y."""
    strip = nf.Cylinder((-9 * MM, Y[1], -2 * MM), (9 * MM, Y[1], -2 * MM), 3 * MM)
    return nf.Simulation(
        grid=nf.Grid(MM * np.arange(-12, 13), Y, Z),
        symmetry=nf.Symmetry(x="electric"),
        boundaries=nf.Boundaries(all=nf.CPML(4), y=y, z_low=nf.PEC),
        structures=[nf.Structure(strip, nf.Medium(3.0, poles=nf.Debye(2.0, 2e-11)))],
        sources=[nf.CurrentSheet((-4 * MM, Y[0], 3 * MM), (4 * MM, Y[-1], 3 * MM), "x", PULSE)],
        monitors=[
            nf.Probe("edge", (-3.3 * MM, Y[-1], 2.9 * MM), "Ex"),
            nf.Snapshot("cut", (-5 * MM, Y[0], Z[8]), (5 * MM, Y[-1], Z[8]), every=20),
            nf.Flux("out", (-6 * MM, Y[0], Z[8]), (6 * MM, Y[-1], Z[30]), BAND),
        ],
        steps=61,
    )


def quarter_of_a_round_guide() -> nf.Simulation:
    """A guide of conformal metal that conducts poorly between two ports, cut in four by its planes of symmetry."""
    radius, x, z = 4 * MM, MM * np.arange(-5, 6), MM * np.arange(33)
    block = nf.Structure(nf.Box((x[0], x[0], z[0]), (x[-1], x[-1], z[-1])), nf.Conductor(1e5))
    hole = nf.Structure(nf.Cylinder((0, 0, z[0]), (0, 0, z[-1]), radius), nf.Medium())
    ports = [
        nf.WaveguidePort(name, (-radius, -radius, z[k]), (radius, radius, z[k]), direction, "TE11x", "circular")
        for name, k, direction in (("in", 10, "+z"), ("out", 22, "-z"))
    ]
    return nf.Simulation(
        grid=nf.Grid(x, x, z),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(8), z_high=nf.CPML(8)),
        structures=[block, hole],
        ports=ports,
        waveform=nf.ModulatedGaussian(33e9, 6e9),
        monitors=[nf.Probe("beside", (3 * MM, MM, z[16]), "Ex")],
        steps=300,
        symmetry=nf.Symmetry(x="electric", y="magnetic"),
        metal="conformal",
    )


def guide_with_a_rod() -> nf.Simulation:
    """Hybrid modes of a guide that runs from rank to rank, both of its ports in one of them."""
    corner, z = 8 * MM, MM * np.arange(33)
    ports = [
        nf.WaveguidePort(name, (0, 0, z[k]), (corner, corner, z[k]), direction, (1, 2), "any")
        for name, k, direction in (("in", 10, "+z"), ("out", 14, "-z"))
    ]
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (8, 8, 32)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(8), z_high=nf.CPML(8)),
        structures=[nf.Structure(nf.Box((3 * MM, 3 * MM, 0), (5 * MM, 5 * MM, 1)), nf.Medium(4.0))],
        ports=ports,
        waveform=nf.ModulatedGaussian(24e9, 8e9),
        monitors=[nf.Probe("beside", (3 * MM, MM, z[16]), "Ex")],
        steps=200,
    )


def half_of_a_strip() -> nf.Simulation:
    """A microstrip line that runs from rank to rank, cut in two along its middle."""
    model = line(room=1.5, length=32, steps=150, waveform=nf.Gaussian(20e9), precision="single")
    probe = nf.Probe("beside", (0.3 * MM, 8 * MM, 0.5 * MM), "Ez")
    return model.model_copy(update={"monitors": (probe,), "symmetry": nf.Symmetry(x="magnetic")})


SHARED = {
    "periodic": (half_of_a_row_of_strips("periodic"), "edge", "1x2x1"),
    "bloch": (half_of_a_row_of_strips(nf.Bloch(phase="70 deg")), "edge", "1x2x1"),
    "guide": (quarter_of_a_round_guide(), "beside", "1x1x2"),
    "filled": (guide_with_a_rod(), "beside", "1x1x2"),
    "open": (half_of_a_strip(), "beside", "1x2x1"),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Path:
    """The folder of what two ranks make of those models."""
    folder, runs = tmp_path_factory.mktemp("shared"), []
    for name, (model, _, domains) in SHARED.items():
        (folder / f"{name}.toml").write_text(model.to_toml())
        names = f"{folder}/{name}.toml", "--output", f"{folder}/{name}"
        runs.append(shlex.join([*names, "--domains", domains, "--halo-depth", "3"]))
    done = run_blind(2, *runs)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", SHARED)
def test_ranks_share_parts_of_a_model_with_the_same_result_file(name, shared, tmp_path):
    model, probe, _ = SHARED[name]
    result = model.run(output=tmp_path / "alone.h5", threads=1)
    assert np.abs(result[probe]).max() > 0
    alone, found = arrays(tmp_path / "alone.h5"), arrays(shared / name / "result.h5")
    assert list(alone) == list(found) and [each for each in alone if alone[each] != found[each]] == []


def test_ranks_refuse_modes_that_the_first_does_not_find(tmp_path):
    port = guide_with_a_rod().ports[0].model_copy(update={"modes": ("99",)})
    (tmp_path / "model.toml").write_text(guide_with_a_rod().model_copy(update={"ports": (port,)}).to_toml())
    done = run_blind(2, "model.toml --output out")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("error: ") == 1, done.stderr
    assert "among the first 99 modes" in done.stderr and not Path("out").exists()


@pytest.mark.parametrize("ranks", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_ctrl_c_at_a_terminal_ends_all_ranks_and_keeps_what_was_recorded(ranks, tmp_path):
    (tmp_path / "model.toml").write_text(cube(steps=10**8))
    line = run_line("--ranks", ranks, "--threads", "1", "--output", "out", "--checkpoint", "every 1000 steps")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, **pipes, start_new_session=True) as on:
        awaited("out/checkpoint-*")
        os.killpg(on.pid, signal.SIGINT)  # as a terminal does
        _, said = on.communicate(timeout=30)
    assert on.returncode == 130 and "Traceback" not in said, said
    result = nf.open_result("out/result.h5")
    assert result.status == "interrupted" and result["tip"].sizes["time"] > 0
    assert result.facts["ranks"] == int(ranks)


def test_ranks_that_diverge_say_so_once_and_where(tmp_path):
    (tmp_path / "model.toml").write_text(cube(steps=400, moment=1e30))
    said = []
    for ranks in ("1", "2"):
        done = run("--ranks", ranks, "--output", ranks)
        assert done.returncode == 3 and done.stderr.count("error: ") == 1, done.stderr
        said.append(done.stderr[done.stderr.index("error: ") :])
        assert nf.open_result(f"{ranks}/result.h5").status == "diverged"
    assert said[0] == said[1] and "diverged at step" in said[0]


def test_a_result_that_exists_is_refused_once(tmp_path):
    (tmp_path / "model.toml").write_text(cube(steps=20))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.h5").write_text("mine")
    done = run("--ranks", "2", "--output", "out")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("has a result already") == 1, done.stderr
    assert (tmp_path / "out" / "result.h5").read_text() == "mine"


OWN_CACHE = 'NEARFIELD_CACHE="cache${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" exec "$@"'
WRITE_CUTS = """
import json, os, pathlib
import nearfield.model_file as model_file

cuts = model_file.load("model.toml").run(threads=1).facts["cuts"]
pathlib.Path(os.environ["NEARFIELD_CACHE"], "cuts.json").write_text(json.dumps(cuts))
"""


def test_a_rank_whose_host_has_the_faster_profile_owns_the_larger_box(tmp_path):
    (tmp_path / "model.toml").write_text(cube(2))
    for rank, rate in enumerate((400.0, 800.0)):
        profile = {"fdtd": {"pec": {"core": rate, "numa": rate, "cores": 1}}}
        folder = tmp_path / f"cache{rank}"
        folder.mkdir()
        (folder / "profile.json").write_text(json.dumps({platform.node(): profile}))
    line, needed = command(2, [], launcher())
    own = line.index(sys.executable)
    line = [*line[:own], "sh", "-c", OWN_CACHE, "sh", sys.executable, "-c", WRITE_CUTS]
    subprocess.run(line, capture_output=True, text=True, timeout=100, check=True, env=os.environ | needed)
    first, second = (json.loads((tmp_path / f"cache{rank}" / "cuts.json").read_text()) for rank in range(2))
    (cuts,) = [ends for ends in first if len(ends) == 3]
    assert first == second and 1.5 < (cuts[2] - cuts[1]) / (cuts[1] - cuts[0]) < 2.5
