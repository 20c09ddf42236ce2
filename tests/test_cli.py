"""The command line: exit codes, one message an error, exactly one JSON object, nothing overwritten unasked."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkpointed import awaited

import nearfield
from nearfield.cli import main
from nearfield.commands import console
from nearfield.commands.new import TEMPLATES
from nearfield.commands.progress import PlainProgress
from nearfield.machine import memory_rate
from nearfield.run import time_loop
from nearfield.run.options import ProgressInfo
from nearfield.run.outlook import Outlook

TINY = """
steps = 60
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [8, 9, 10]
[boundaries]
all = "pec"
[[sources]]
kind = "point-current"
position = ["4 mm", "4 mm", "4.5 mm"]
axis = "z"
waveform = {kind = "gaussian-derivative", frequency = "20 GHz"}
[[monitors]]
kind = "probe"
name = "tip"
position = ["2 mm", "2 mm", "2 mm"]
"""
ENDLESS = TINY.replace("steps = 60", "steps = 1000000000").replace("[8, 9, 10]", "[60, 60, 60]")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test in a folder of its own, with no memory of other runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    Path("tiny.toml").write_text(TINY)


def python_process(*arguments: str) -> subprocess.Popen:
    """Python with this package, as a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(Path(nearfield.__file__).parents[1])}
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["run"],
        ["check"],
        ["check", "a", "b"],
        ["check", "missing.toml"],
        ["check", "."],
        ["check", ""],
        ["run", "missing.toml"],
        ["show", "missing.h5"],
        ["show", "missing.toml"],
        ["show", "tiny.toml", "--output", "."],
        ["show", "tiny.toml", "--resonances", "tip", "1e9", "2e9"],
        ["export", "tiny.toml"],
        ["export", "tiny.toml", "--stl"],
        ["export", "tiny.toml", "--stl", "--output", "a.glb"],
        ["show", "."],
        ["new", "zeppelin"],
        ["bench"],
        ["bench", "box", "--cells", "0"],
        ["bench", "box", "--cells", "many"],
        ["bench", "box", "--boundary", "glass"],
        ["bench", "box", "--cells", "20", "--boundary", "cpml"],
        ["bench", "box", "--schedule", "none"],
        ["bench", "box", "--threads", "0"],
        ["run", "tiny.toml", "--threads"],
        ["run", "tiny.toml", "--output", "tiny.toml"],
        ["run", "tiny.toml", "--colour"],
        ["check", "a\0b"],
        ["run", "tiny.toml", "--output", "/dev/null/x"],
        ["run", "tiny.toml", "--output", "long" * 99],
        ["new", "box", "--output", "no/such/folder.toml"],
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_2(arguments, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ") and "Traceback" not in captured.err
    assert not Path("out").exists()


def test_a_missing_result_is_one_short_message(capsys):
    assert main(["show", "."]) == 2
    assert capsys.readouterr().err.count("give a result.h5") == 1


REFUSED = [["check", "no.toml"], ["run"], ["new", "zeppelin"], ["bench", "box", "--cells", "x"]]
ANSWERED = [["--help"], ["run", "-h"], ["bench", "box", "--help"], ["--version"], ["version"]]


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_refusal_with_json_is_one_object_too(arguments, capsys):
    assert main([*arguments, "--json"]) == 2
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert answer["exit_code"] == 2 and answer["error"] in captured.err


@pytest.mark.parametrize("arguments", ANSWERED)
def test_help_and_version_end_well(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip()


def test_help_imports_nothing_heavy():
    code = "import sys, nearfield.cli; print([m for m in ('numpy', 'xarray', 'matplotlib') if m in sys.modules])"
    assert python_process("-c", code).communicate()[0].strip() == b"[]"


@pytest.mark.parametrize("name", TEMPLATES)
def test_new_writes_a_model_that_passes_check_and_never_overwrites(name, capsys):
    assert main(["new", name]) == 0
    text = Path(f"{name}.toml").read_text()
    assert f"nearfield run {name}.toml" in text and main(["check", f"{name}.toml"]) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning")]
    assert all("reaches beyond the surface" in line for line in warnings)  # of boards
    Path(f"{name}.toml").write_text("mine")
    assert main(["new", name]) == 2
    assert Path(f"{name}.toml").read_text() == "mine" and "--force" in capsys.readouterr().err
    assert main(["new", name, "--force"]) == 0 and Path(f"{name}.toml").read_text() == text


def test_new_without_a_name_lists_every_template_with_what_it_is(capsys):
    assert main(["new"]) == 0
    printed = capsys.readouterr().out
    assert all(re.search(rf"^{name} +[A-Z]", printed, re.MULTILINE) for name in TEMPLATES)
    assert "docs/templates.md" in printed and not list(Path().glob("*-*.toml"))
    assert main(["new", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["templates"]] == list(TEMPLATES)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_runs_and_none_of_its_numbers_is_bad(name, capsys):
    assert main(["new", name]) == 0 and main(["run", f"{name}.toml", "--threads", "1"]) == 0
    verdicts = {entry.verdict for entry in nearfield.open_result(f"out/{name}/result.h5").trust}
    assert "good" in verdicts and ("bad" not in verdicts or name == "box")  # a box rings for ever


def test_a_model_that_is_not_there_names_the_first_steps(capsys):
    assert main(["check", "no.toml"]) == 2
    assert "docs/first-hour.md" in capsys.readouterr().err


def test_check_with_json_is_one_object(capsys):
    assert main(["check", "tiny.toml", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["cells"] == [8, 9, 10] and answer["total_cells"] == 720 and answer["steps"] == 60


def test_run_writes_its_folder_once(capsys):
    assert main(["run", "tiny.toml", "--no-report", "--threads", "1"]) == 0
    result = nearfield.open_result("out/tiny/result.h5")
    assert result.status == "done" and result["tip"].sizes["time"] == 60
    before = Path("out/tiny/result.h5").read_bytes()
    assert main(["run", "tiny.toml", "--no-report"]) == 2
    assert "--force" in capsys.readouterr().err and Path("out/tiny/result.h5").read_bytes() == before
    assert main(["run", "tiny.toml", "--no-report", "--force", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "done" and answer["files"] == ["out/tiny/result.h5"]
    assert main(["run", "tiny.toml", "--no-report", "--output", "there"]) == 0 and Path("there/result.h5").exists()


def test_a_refused_run_leaves_nothing_behind(capsys):
    Path("wrong.toml").write_text(TINY.replace("4.5 mm", "45 mm"))
    assert main(["run", "wrong.toml"]) == 2 and not Path("out").exists()
    walled = TINY.partition("[[monitors]]")[0] + '[[monitors]]\nkind = "far-field"\nname = "p"\nfrequencies = ["9 GHz"]'
    Path("wrong.toml").write_text(walled)
    capsys.readouterr()
    assert main(["run", "wrong.toml"]) == 2 and not Path("out").exists()
    assert capsys.readouterr().err.startswith("error: ")


def test_run_and_show_draw_the_report():
    assert main(["run", "tiny.toml"]) == 0
    report = Path("out/tiny/report.html")
    assert report.exists()
    report.unlink()
    assert main(["show", "out/tiny"]) == 0 and report.exists()
    report.unlink()
    assert main(["show", "out/tiny/result.h5", "--json"]) == 0 and report.exists()
    assert main(["show", "out/tiny", "--output", "/proc"]) == 2  # a folder, but not one to write into


def test_a_diverging_run_has_exit_code_3(monkeypatch, capsys):
    from nearfield.run import time_loop

    monkeypatch.setattr(time_loop.Guard, "add", lambda self, time, energy: "diverged")
    assert main(["run", "tiny.toml", "--no-report"]) == 3
    assert "diverged" in capsys.readouterr().err
    assert nearfield.open_result("out/tiny/result.h5").status == "diverged"


def test_a_full_disk_has_exit_code_4(monkeypatch, capsys):
    def refuse(path, record):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("nearfield.run.time_loop.write_result", refuse)
    assert main(["run", "tiny.toml", "--no-report"]) == 4
    assert "No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize(("kilobytes", "kept", "code"), [(8, "result.h5", 4), (60, "report.html", 0)])
def test_a_disk_that_fills_up_keeps_what_was_there(kilobytes, kept, code):
    """The limit on file sizes stands in for the disk; HDF5 crashes when a file that it cannot write is left to it.

    A report that cannot be written is a warning beside a result that was.
    """
    ended = code
    Path("out/tiny").mkdir(parents=True)
    Path("out/tiny", kept).write_text("what was there")
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({kilobytes * 1024},) * 2)"
    code = f"{limit}; import sys; from nearfield.cli import main; sys.exit(main())"
    process = python_process("-c", code, "run", "tiny.toml", "--force", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == ended, err
    answer = json.loads(out)
    if ended:
        assert answer["exit_code"] == ended
    else:
        assert any(text.startswith("the report failed") for text in answer["warnings"])
    assert b"Traceback" not in err and b"internal" not in err
    assert Path("out/tiny", kept).read_text() == "what was there"
    assert not list(Path("out/tiny").glob(".*"))


def test_new_on_a_full_disk_keeps_what_was_there():
    Path("box.toml").write_text("mine")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100,) * 2)"
    code = f"{limit}; import sys; from nearfield.cli import main; sys.exit(main())"
    assert python_process("-c", code, "new", "box", "--force").wait(timeout=60) in (2, 4)
    assert Path("box.toml").read_text() == "mine" and not list(Path().glob(".*"))


def test_a_fault_of_our_own_is_one_message_and_exit_code_4(monkeypatch, capsys):
    monkeypatch.setattr(nearfield.Simulation, "check", lambda *_, **__: 1 / 0)
    assert main(["check", "tiny.toml"]) == 4
    captured = capsys.readouterr()
    assert "internal error, ZeroDivisionError" in captured.err and "Traceback" not in captured.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_outside_the_run_has_exit_code_130(number, monkeypatch, capsys):
    monkeypatch.setattr(nearfield.Simulation, "check", lambda *_, **__: os.kill(os.getpid(), number))
    assert main(["check", "tiny.toml"]) == 130
    assert main(["check", "tiny.toml", "--json"]) == 130
    assert json.loads(capsys.readouterr().out) == {"error": "interrupted", "exit_code": 130}


def test_an_interrupt_after_the_last_step_keeps_what_was_recorded(monkeypatch, capsys):
    def interrupt(self, variables):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)

    monkeypatch.setattr(nearfield.Probe, "complete", interrupt)
    assert main(["run", "tiny.toml", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"
    result = nearfield.open_result("out/tiny/result.h5")
    assert result.status == "interrupted" and result["tip"].sizes["time"] == 60


def test_an_interrupt_while_the_result_is_written_waits_for_it(monkeypatch, capsys):
    save = time_loop.write_result

    def interrupt(path, record):
        os.kill(os.getpid(), signal.SIGINT)
        return save(path, record)

    monkeypatch.setattr(time_loop, "write_result", interrupt)
    assert main(["run", "tiny.toml"]) == 130
    assert nearfield.open_result("out/tiny/result.h5").status == "done"
    assert not Path("out/tiny/report.html").exists()


def test_an_interrupted_run_keeps_what_it_recorded():
    Path("endless.toml").write_text(ENDLESS)
    process = python_process(
        "-m", "nearfield", "run", "endless.toml", "--threads", "1", "--json", "--checkpoint", "every 100 steps"
    )
    awaited("out/endless/checkpoint-*")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted" and b"Traceback" not in err
    result = nearfield.open_result("out/endless/result.h5")
    assert result.status == "interrupted" and result["tip"].sizes["time"] > 0


def test_a_reader_that_leaves_early_is_no_error():
    for arguments in (["check", "tiny.toml"], ["--help"]):
        process = python_process("-m", "nearfield", *arguments)
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_a_run_needs_no_stderr(closed):
    program = f"{sys.executable} -m nearfield run tiny.toml --no-report --threads 4096 --json {closed}"
    environment = os.environ | {"PYTHONPATH": str(Path(nearfield.__file__).parents[1])}
    done = subprocess.run(["sh", "-c", program], stdout=subprocess.PIPE, env=environment, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)["status"] == "done"


def test_an_answer_that_cannot_be_written_has_exit_code_4():
    with open("/dev/full", "w") as full:
        environment = os.environ | {"PYTHONPATH": str(Path(nearfield.__file__).parents[1])}
        command = [sys.executable, "-m", "nearfield", "check", "tiny.toml", "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, timeout=60)
    assert done.returncode == 4 and done.stderr.startswith(b"error: ") and b"Traceback" not in done.stderr


@pytest.mark.parametrize("boundary", ["pec", "cpml"])
def test_bench_box_keeps_its_contract(boundary, capsys):
    arguments = ["bench", "box", "--cells", "24", "--steps", "20", "--threads", "1", "--boundary", boundary, "--json"]
    assert main([*arguments, "--schedule", "stepwise", "--precision", "double"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) >= {
        "cells",
        "steps",
        "threads",
        "boundary",
        "precision",
        "isa",
        "schedule",
        "seconds",
        "mcells_per_second",
        "bytes_per_cell",
        "traffic_bytes_per_cell",
        "checksum",
    }
    assert answer["cells"] == 24**3 and answer["boundary"] == boundary and answer["precision"] == "double"
    assert len(answer["checksum"]) == 64


def test_doctor_describes_the_machine(capsys, monkeypatch):
    monkeypatch.setattr(memory_rate, "MOST_BYTES", 2**20)
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"isa", "cores", "usable_cores", "caches", "numa_nodes", "mpi", "gpu", "hdf5"} <= set(found)
    assert found["mpi_and_cards"].startswith("MPI ") and "takes the memory of cards" in found["mpi_and_cards"]
    assert found["missing"] == [] and found["memory_gigabytes_per_second"] > 0
    assert main(["doctor"]) == 0 and "Nothing is missing" in capsys.readouterr().out


def test_json_holds_no_number_that_json_has_not(capsys):
    out = console.Console(as_json=True)
    out.answer({"a": float("nan"), "b": (float("inf"), 1.5), "c": Path("x")})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": "x"}


def test_progress_in_a_pipe_is_plain_lines(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    show = PlainProgress()
    show(ProgressInfo(50, 100, 123.4, 1e-3, 7.0, "feed"))
    show(ProgressInfo(100, 100, 123.4, 0.0, 0.0, "feed"))
    assert stream.getvalue() == "step 100  123 Mcells/s  energy 0  under 1 s left\n"


def test_a_decaying_run_is_as_far_as_its_energy():
    outlook = Outlook(1e-6)
    assert outlook.part(ProgressInfo(10, 1000, 1.0, 1e-3, 7.0, "feed")) == pytest.approx(0.5)
    assert Outlook(None).part(ProgressInfo(10, 1000, 1.0, 1e-3, 7.0, "feed")) == pytest.approx(0.01)


def test_a_run_ends_with_the_numbers_that_were_asked_for(capsys):
    assert main(["new", "dipole"]) == 0 and main(["run", "dipole.toml"]) == 0
    printed = capsys.readouterr().out
    assert "lowest |S11|, at" in printed and "directivity at" in printed and "radiation efficiency" in printed
