"""The scripts of benchmarks/ run from their command lines and leave what they promise; how fast is not asked."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
TINY = ["--cells", "40", "--steps", "12", "--pairs", "2"]
RUNS = {
    "scaling": TINY,
    "denormals": TINY,
    "dft_plane": TINY,
    "weights": TINY,
    "domains": TINY,
    "busy_neighbour": TINY,
    "sizes": ["--sizes", "24", "33", "--reference", "32", "--work", "1e6", "--pairs", "2"],
    "field_files": ["--cells", "32", "--snapshots", "2", "--pairs", "2"],
    "solids": ["--rings", "12", "--cells", "20", "--pairs", "2"],
    "python_loops": ["--cells", "32", "--directions", "300", "--pairs", "2"],
    "thousand_threads": ["--cells", "24", "--pairs", "2", "--footprint", "2e7"],
    "residence": ["--up-to", "2", "--work", "1e6", "--pairs", "2"],
}


def run(script: str, *arguments: str) -> None:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def ratios(found) -> list[dict]:
    """Every comparison of two runs that a result holds."""
    if isinstance(found, list):
        return [ratio for entry in found for ratio in ratios(entry)]
    if not isinstance(found, dict):
        return []
    own = [found] if {"ratio", "lowest", "highest"} <= set(found) else []
    return own + [ratio for entry in found.values() for ratio in ratios(entry)]


QUICK = ("scaling", "dft_plane", "field_files", "solids")  # one of each kind


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in RUNS])
def test_each_script_writes_pairs_with_commit_machine_and_command(name, tmp_path):
    run(f"{name}.py", *RUNS[name], "--output", str(tmp_path))
    text = (tmp_path / f"{name}.json").read_text()
    found = json.loads(text)
    assert found["command"] == " ".join([f"benchmarks/{name}.py", *RUNS[name]]) and str(tmp_path) not in text
    assert found["commit"] and found["machine"]["processor"] and found["machine"]["cores"] >= 1
    if name == "dft_plane":
        assert all(row["dft_stride"] >= 1 and row["share_of_vacuum"] > 0 for row in found["comparisons"])
        return
    pairs = ratios(found)
    assert pairs
    for pair in pairs:
        assert len(pair["first"]) == len(pair["second"]) == 2
        assert 0 < pair["lowest"] <= pair["ratio"] <= pair["highest"]
        if name not in (
            "domains",
            "field_files",
            "python_loops",
            "solids",
            "thousand_threads",
        ):  # runs in processes of their own, and no run at all
            assert pair["schedule"] == "tiled" and pair["tile_depth"] >= 4


def test_the_patch_antenna_for_peers_has_four_times_the_cells_of_the_demo(tmp_path):
    run("peers/nearfield_patch.py", "--describe", str(tmp_path / "patch.json"))
    patch = json.loads((tmp_path / "patch.json").read_text())
    assert math.prod(len(line) - 1 for line in patch["lines"]) == 4 * 442_816  # the demo's, examples/patch_antenna.md
    assert [body["permittivity"] for body in patch["bodies"]] == [2.2, None, None]
    for axis, line in enumerate(patch["lines"]):
        for corner in ("lower", "upper"):  # every edge lies on a grid line, so another solver has the same body
            for body in (*patch["bodies"], patch["port"]):
                assert min(abs(place - body[corner][axis]) for place in line) < 1e-12


@pytest.mark.slow
def test_a_visit_to_a_card_finds_its_bits_and_its_rates(card, tmp_path):
    """On the stand-in, whose rates mean nothing: every part runs and lands in the file."""
    sizes = ["--cells", "24", "--steps", "20", "--bit-cells", "24", "--no-probe"]
    run("gpu.py", *sizes, "--output", str(tmp_path))
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert found["device"] == "Stand-in" and len(found["bits"]) == 4 and all(each["same"] for each in found["bits"])
    assert found["tininess"]["different"] == 0 and 0 < found["tininess"]["zero_here"] < found["tininess"]["products"]
    rates = {row["case"]: row for row in found["rates"]}
    bare = rates["PEC 24^3"]
    assert bare["bytes_per_cell"] == pytest.approx(72 * 32 / 24)  # whole blocks
    assert rates["CPML 24^3"]["graphs"] > 0
    moved = bare["mcells_per_second"] * bare["bytes_per_cell"] * 1e6
    assert bare["copy_share"] == pytest.approx(moved / found["copy_bytes_per_second"])
    planes = {f"PEC 24^3 {what}{how}" for what in ("DFT plane", "snapshots") for how in ("", " two steps a pass")}
    assert set(found["slower"]) == planes and all(rates[name]["passes"] in (2, 0.5) for name in planes)
    ways = ("", " one pass", " two steps a pass")
    assert [rates[f"PEC 24^3{how}"]["passes"] for how in ways] == [2, 1, 0.5]
    assert [rates[f"CPML 24^3{how}"]["passes"] for how in ways] == [2, 2, 2]  # nothing is out of the slabs' reach
    assert {"PEC 24^3 DFT plane", "PEC 24^3 snapshots", "PEC 24^3 double"} <= set(rates)


@pytest.mark.slow
def test_a_case_that_fails_is_kept_with_its_error_and_the_others_go_on(card, tmp_path, monkeypatch):
    """A card that is full for the box in double precision."""
    monkeypatch.setenv("NEARFIELD_STAND_IN", f"memory={70 << 20}")
    sizes = ["--cells", "40", "--steps", "4", "--bit-cells", "12", "--no-probe", "--output", str(tmp_path)]
    done = subprocess.run([sys.executable, str(BENCHMARKS / "gpu.py"), *sizes], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    rates = {row["case"]: row for row in json.loads((tmp_path / "gpu.json").read_text())["rates"]}
    failed = {name for name, row in rates.items() if "error" in row}
    assert "PEC 40^3 double" in failed and not failed & {"PEC 40^3", "PEC 32^3"} and len(rates) > len(failed) + 1
    assert "bits: not all compared; failed: PEC 40^3 double" in done.stdout  # 12 cells hold no CPML
    assert "is too full" in rates["PEC 40^3 double"]["error"] and rates["PEC 40^3"]["mcells_per_second"] > 0


TOOLS = {  # in place of Python and of NVIDIA's tools, as the visit calls them
    "python": """case "$1" in
    -) cat > /dev/null; echo "a card" ;;
    -c) [[ $2 == *json.dump* ]] && exec "$REAL_PYTHON" "$@" ;;
    -m) [[ $* == *pytest* ]] && { echo "5 passed"; sleep "${TESTS_TAKE:-0}"; }; [[ $* == *doctor* ]] && echo "{}" ;;
    *gpu_counters.py) echo "{}" > "$5/gpu_counters.json"; exit "${COUNTERS_PY:-0}" ;;
    *gpu.py) echo "{}" > "$5/gpu.json"; echo "${*:6}"; exit "${GPU_PY:-0}" ;;
    *card_box.py) [[ $* == *cupy* ]] && { echo "cupy is not installed" >&2; exit 2; }; echo '{"code": "torch"}' ;;
esac
exit 0""",
    "ncu": """while [ "${1#--}" != "$1" ]; do
    [ "$1" = --log-file ] && echo '"ID"' > "$2"
    [ "$1" = --csv ] || shift
    shift
done
"$@" """,
    "compute-sanitizer": """while [ "${1#--}" != "$1" ]; do shift 2; done
"$@" && echo '========= ERROR SUMMARY: 0 errors' """,
}


@pytest.fixture
def visit(tmp_path, monkeypatch):
    """Runs benchmarks/gpu.sh on scripts in place of all that it calls: what it does with them is its own."""
    tools, out = tmp_path / "tools", tmp_path / "out"
    tools.mkdir()
    for name, text in TOOLS.items():
        (tools / name).write_text("#!/usr/bin/env bash\n" + text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("REAL_PYTHON", sys.executable)
    for name in ("PYTHON_IN", "PEER_PYTHON"):
        monkeypatch.setenv(name, str(tools / "python"))

    def run(**variables: str):
        command = ["bash", str(BENCHMARKS / "gpu.sh"), str(out), "24"]
        return out, subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})

    return run


def test_a_whole_visit_leaves_at_most_eight_files_and_says_what_it_left_out(visit):
    out, done = visit()
    assert done.returncode == 0, done.stdout + done.stderr
    results = {"gpu.json", "gpu_counters.json", "gpu_doctor.json", "gpu_peers.json"}
    assert {path.name for path in out.iterdir()} == results | {"gpu_sanitizer.txt", "gpu_tests.txt"}
    assert (out / "gpu_sanitizer.txt").read_text().count("exit code 0 ========= ERROR SUMMARY: 0 errors") == 6
    assert json.loads((out / "gpu_peers.json").read_text())["peers"] == [{"code": "torch"}] * 2
    assert "left out: cupy" in done.stdout and "cupy is not installed" in done.stdout


def test_a_part_of_a_visit_that_fails_fails_it_and_the_others_go_on(visit):
    out, done = visit(GPU_PY="1")
    assert done.returncode == 1 and "FAILED: bits or rates" in done.stdout and (out / "gpu_peers.json").exists()


def test_options_of_rates_are_handed_on(visit):
    _, done = visit(RATES="--steps 12 --no-probe")
    assert done.returncode == 0 and "\n--steps 12 --no-probe\n" in done.stdout


def test_a_profiler_that_counts_nothing_is_said_to_and_the_visit_goes_on(visit):
    _, done = visit(COUNTERS_PY="1")
    assert done.returncode == 0 and "ncu counted no kernel" in done.stdout and "ncu_0.5.csv" in done.stdout


def test_a_part_that_its_time_ends_is_said_to_be_cut_short_with_what_it_found(visit):
    _, done = visit(MOST_SECONDS="10", TESTS_TAKE="60")
    assert done.returncode == 1 and "5 passed" in done.stdout
    assert "CUT SHORT: tests" in done.stdout and "FAILED" not in done.stdout


def test_parts_that_have_no_time_left_are_left_out(visit):
    _, done = visit(MOST_SECONDS="4")
    assert done.returncode == 1 and done.stderr.count("left out: the visit's 4 s are over") >= 3


@pytest.mark.slow
def test_a_visit_without_a_card_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_DEVICE", "")
    monkeypatch.setenv("NEARFIELD_CUDA_DRIVER", "/no/such/library.so")
    monkeypatch.setenv("PYTHON_IN", sys.executable)
    command = ["bash", str(BENCHMARKS / "gpu.sh"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "no NVIDIA driver was found" in done.stderr and not list(tmp_path.iterdir())
