"""What may happen to a run with checkpoints: signals, kills at any moment, disks that refuse, a second run."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from checkpointed import awaited, rich, tiny
from whole_runs import arrays

import nearfield as nf
from nearfield.cli import main
from nearfield.commands import run as run_command
from nearfield.discretization.discretization import Discretization
from nearfield.formats.lock import LOCK_NAME, locked
from nearfield.machine.transport import Alone
from nearfield.run.checkpoint import folder as folders
from nearfield.run.checkpoint import store
from nearfield.run.checkpoint.folder import checkpoints, opened

HERE = Path(__file__).parent
RUN = [sys.executable, "-m", "nearfield", "run"]
QUIET = ["--no-report", "--threads", "1"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test in a folder of its own, with no memory of other runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(nf.__file__).parents[1]))


def run_to(pattern: str, number: int, *options: str) -> tuple[int, str]:
    """Run by the command line until there is such a file, send a signal; exit code and what was said."""
    with subprocess.Popen([*RUN, *options, *QUIET], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as on:
        awaited(pattern)
        os.kill(on.pid, number)
        _, said = on.communicate(timeout=60)
    return on.returncode, said


# ---- signals


def test_sigterm_writes_a_checkpoint_exits_with_75_and_the_run_goes_on_from_there():
    simulation = rich(steps=1500, decay=None, duration=None, excitations=("sources",))
    Path("model.toml").write_text(simulation.to_toml())
    options = ["model.toml", "--output", "out", "--checkpoint", "200 steps"]
    code, said = run_to("out/checkpoint-*", signal.SIGTERM, *options)
    assert code == 75 and "nearfield run --resume out" in said and "Traceback" not in said, said
    stopped = nf.open_result("out/result.h5")
    steps = stopped.facts["runs"]["sources"]["steps"]
    assert stopped.status == "interrupted" and stopped["tip"].sizes["time"] == steps < 1500
    assert checkpoints(Path("out"))[0].name == f"checkpoint-{steps}"  # not one step is lost
    assert main(["run", "--resume", "out", "--no-report", "--json", "--domains", "2"]) == 0
    assert main(["run", "model.toml", "--output", "whole", *QUIET]) == 0
    assert arrays("out/result.h5") == arrays("whole/result.h5")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_ends_a_run_in_python_with_a_checkpoint_of_its_last_step(number):
    before = signal.getsignal(number)
    simulation = tiny(steps=5000)

    def send(info) -> None:
        if info.step > 50:
            os.kill(os.getpid(), number)

    stopped = simulation.run(output="out/result.h5", checkpoint="every 1 h", progress=send)
    assert stopped.status == "interrupted" and 50 < stopped["tip"].sizes["time"] < 5000
    assert [path.name for path in checkpoints(Path("out"))] == [f"checkpoint-{stopped['tip'].sizes['time']}"]
    assert nf.resume("out").status == "done" and signal.getsignal(number) is before
    simulation.run(output="whole/result.h5")
    assert arrays("out/result.h5") == arrays("whole/result.h5")


def test_without_checkpoints_sigterm_ends_a_run_as_ctrl_c_does():
    Path("model.toml").write_text(tiny(steps=10**9).to_toml())
    code, said = run_to("out", signal.SIGTERM, "model.toml", "--output", "out")
    assert code == 130 and not checkpoints(Path("out")), said


def test_ctrl_c_leaves_the_checkpoints_that_there_are():
    Path("model.toml").write_text(tiny(steps=10**9).to_toml())
    options = ["model.toml", "--output", "out", "--checkpoint", "2000 steps"]
    code, said = run_to("out/checkpoint-*", signal.SIGINT, *options)
    assert code == 130 and nf.open_result("out/result.h5").status == "interrupted", said
    assert all(opened(path, Alone())[1] == "" for path in checkpoints(Path("out")))


def test_sigterm_while_results_are_derived_keeps_the_steps_that_were_made(monkeypatch):
    from nearfield.monitors.radiation import FarField

    def interrupted(self, variables):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    wanted = rich().run(output="whole/result.h5")
    with monkeypatch.context() as patch:
        patch.setattr(FarField, "complete", interrupted)
        stopped = rich().run(output="out/result.h5", checkpoint="every 1 h")
    assert stopped.status == "interrupted" and stopped.facts["checkpoints"]["ended_by"] == "SIGTERM"
    result = nf.resume("out")
    assert result.facts["resumed"][0]["step"] == wanted.facts["runs"]["sources"]["steps"]
    assert arrays("out/result.h5") == arrays("whole/result.h5")


def cycles(kills: int) -> None:
    line = [sys.executable, str(HERE / "checkpointed.py"), "out", str(kills), "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0 and f"killed {kills} times" in done.stdout, done.stdout + done.stderr
    rich(steps=400, decay=None, duration=None).run(output="whole/result.h5")
    assert arrays("out/result.h5") == arrays("whole/result.h5")
    assert sorted(path.name for path in Path("out").iterdir()) == ["checkpoint-792", "checkpoint-800", "result.h5"]


def test_half_a_dozen_kills_at_any_moment_change_no_byte():
    cycles(6)


@pytest.mark.slow
def test_a_hundred_kills_at_any_moment_change_no_byte():
    cycles(100)


# ---- disks that refuse


CALLS = ("mkdir", "open", "write", "fsync", "rename")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_refuses_any_call_costs_that_checkpoint_alone(call, code, monkeypatch):
    """Every n-th call of one kind fails, for n from the first on, until no checkpoint makes so many."""
    simulation = tiny(steps=30)
    simulation.run(output="whole/result.h5")
    failed = True
    for number in range(1, 100):
        folder = Path(f"{number}")
        with monkeypatch.context() as patch:
            left = refuse(patch, call, code, number)
            with catching() as said:
                result = simulation.run(output=folder / "result.h5", checkpoint="every 10 steps", threads=1)
            failed = left[0] <= 0
        assert result.status == "done" and arrays(folder / "result.h5") == arrays("whole/result.h5")
        assert len(said) == failed or call == "rename"  # which may have been that of one to be removed
        assert all("could not be written" in str(each.message) for each in said)
        assert not list(folder.glob(".*")) and 2 <= len(checkpoints(folder)) <= 2 + failed
        assert all(opened(path, Alone())[1] == "" for path in checkpoints(folder))
        if not failed:
            break
    assert number > 3 and not failed


def catching() -> warnings.catch_warnings:
    """Every warning, in a list."""
    catcher = warnings.catch_warnings(record=True)
    warnings.simplefilter("always")
    return catcher


def refuse(patch, call: str, code: int, number: int) -> list[int]:
    """Let the n-th such call that writes a checkpoint fail; how many are left until then."""
    left = [number]

    def failing(real):
        def wrapped(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(code, os.strerror(code))
            return real(*arguments, **options)

        return wrapped

    if call == "mkdir":
        real = Path.mkdir
        patch.setattr(
            Path,
            "mkdir",
            lambda path, *rest, **named: (failing(real) if path.name.endswith(".part") else real)(path, *rest, **named),
        )
    elif call == "write":
        patch.setattr(store.ChunkedFile, "_flush", failing(store.ChunkedFile._flush))
    elif call == "open":
        patch.setattr(store, "open", failing(open), raising=False)
    elif call == "fsync":
        patch.setattr(store, "os", Redirected(fsync=failing(os.fsync)))
    else:
        patch.setattr(folders, "os", Redirected(rename=failing(os.rename), fsync=failing(os.fsync)))
    return left


class Redirected:
    """The module `os` with some functions replaced."""

    def __init__(self, **replaced) -> None:
        vars(self).update(replaced)

    def __getattr__(self, name: str):
        return getattr(os, name)


def test_a_full_disk_is_told_once_keeps_the_older_checkpoints_and_the_run_goes_on():
    """The limit on file sizes stands in for the disk: after the first checkpoint no file may have a byte."""
    Path("model.toml").write_text(tiny(steps=40).to_toml())
    code = (
        "import resource, sys\n"
        "from nearfield.run.checkpoint import keeper\n"
        "from nearfield.cli import main\n"
        "real = keeper.keep_only\n"
        "def keep_only(folder, kept):\n"
        "    real(folder, kept)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n"
        "keeper.keep_only = keep_only\n"
        "from nearfield.run import time_loop\n"
        "finish = time_loop.finish\n"
        "def unlimited(*arguments):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
        "    finish(*arguments)\n"
        "time_loop.finish = unlimited\n"
        "sys.exit(main())\n"
    )
    line = [sys.executable, "-c", code, "run", "model.toml", "--output", "out", "--checkpoint", "10 steps", *QUIET]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stderr.count("warning: a checkpoint could not be written") == 1, done.stderr
    assert [path.name for path in checkpoints(Path("out"))] == ["checkpoint-10"] and not list(Path("out").glob(".*"))
    assert any("could not be written" in warning for warning in nf.open_result("out/result.h5").facts["warnings"])


# ---- folders


def test_two_runs_in_one_folder_are_refused_and_a_killed_one_gives_it_back():
    Path("model.toml").write_text(tiny(steps=10**9).to_toml())
    Path("short.toml").write_text(tiny().to_toml())
    with subprocess.Popen([*RUN, "model.toml", "--output", "out", *QUIET], stderr=subprocess.DEVNULL) as on:
        awaited(f"out/{LOCK_NAME}")
        line = [*RUN, "short.toml", "--output", "out", *QUIET]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and f"out is in use by another run (process {on.pid} on" in done.stderr, done.stderr
        assert done.stderr.count("error: ") == 1 and not Path("out/result.h5").exists()
        on.kill()
    assert main(["run", "short.toml", "--output", "out", *QUIET]) == 0
    assert [path.name for path in Path("out").iterdir()] == ["result.h5"]


def test_a_run_whose_set_up_outlasts_another_one_looks_again_before_it_begins(monkeypatch, capsys):
    Path("model.toml").write_text(tiny().to_toml())
    slow = Discretization

    def meanwhile(*given):
        monkeypatch.setattr(run_command, "Discretization", slow)
        tiny().run(output="out/result.h5", checkpoint="every 10 steps")
        return slow(*given)

    monkeypatch.setattr(run_command, "Discretization", meanwhile)
    assert main(["run", "model.toml", "--output", "out", *QUIET]) == 2
    assert "out has a result already" in capsys.readouterr().err and len(checkpoints(Path("out"))) == 2


def test_runs_without_checkpoints_share_a_folder_and_keep_out_those_with(tmp_path):
    with locked(tmp_path, shared=True):
        with locked(tmp_path, shared=True):
            assert (tmp_path / LOCK_NAME).exists()
        with pytest.raises(nf.ModelError, match="in use by another run"):
            tiny().run(output=tmp_path / "result.h5", checkpoint="every 10 steps")
        assert tiny().run(output=tmp_path / "result.h5").status == "done" and (tmp_path / LOCK_NAME).exists()
    assert not (tmp_path / LOCK_NAME).exists()
    with locked(tmp_path), pytest.raises(nf.ModelError, match="in use by another run"):
        tiny().run(output=tmp_path / "result.h5")


def test_a_lock_that_its_holder_took_away_is_taken_anew(tmp_path):
    with locked(tmp_path):
        with pytest.raises(nf.ModelError, match="in use by another run"), locked(tmp_path):
            pass
    with locked(tmp_path):
        assert (tmp_path / LOCK_NAME).exists()
    assert not (tmp_path / LOCK_NAME).exists()


def test_a_folder_that_takes_no_results_is_refused_before_the_run(capsys):
    Path("model.toml").write_text(tiny().to_toml())
    Path("file").write_text("")
    read_only = Path("read-only")
    read_only.mkdir(mode=0o500)
    places = ["file/out", "/proc/out", *([] if os.geteuid() == 0 else [str(read_only)])]
    for place in places:
        assert main(["run", "model.toml", "--output", place, "--checkpoint", "10 steps", *QUIET]) == 2
        assert "cannot take the results" in capsys.readouterr().err


# ---- the command line


def test_the_command_line_names_what_is_wrong_with_checkpoints(capsys):
    Path("model.toml").write_text(tiny().to_toml())
    Path("empty").mkdir()
    wrong = [
        (["model.toml", "--checkpoint", "often"], "every 10 min"),
        (["--resume", "empty"], "holds no checkpoint"),
        (["--resume", "nowhere"], "no folder"),
        ([], "a model is missing"),
        (["--resume", "empty", "--output", "other"], "leave --output out"),
    ]
    for arguments, named in wrong:
        assert main(["run", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("error: ") and named in said.err
    assert not Path("out").exists()


def test_the_command_line_resumes_without_a_model_file_and_says_from_where(capsys):
    Path("model.toml").write_text(tiny().to_toml())
    assert main(["run", "model.toml", "--output", "out", "--checkpoint", "every 20 steps", *QUIET]) == 0
    before = arrays("out/result.h5")
    Path("out/result.h5").unlink()
    assert main(["run", "model.toml", "--output", "out", *QUIET]) == 2
    assert "`nearfield run --resume out`" in capsys.readouterr().err
    Path("model.toml").rename("other.toml")
    assert main(["run", "--resume", "out", "--json", *QUIET]) == 0
    said = capsys.readouterr()
    assert "resumed from out/checkpoint-20 at step 20" in said.err and json.loads(said.out)["status"] == "done"
    assert arrays("out/result.h5") == before
    Path("other.toml").write_text(tiny(steps=31).to_toml())
    assert main(["run", "other.toml", "--resume", "out", *QUIET]) == 2
    assert "they differ in steps" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(capsys):
    Path("model.toml").write_text(tiny(steps=35).to_toml())
    assert main(["run", "model.toml", "--output", "out", "--checkpoint", "every 10 steps", *QUIET]) == 0
    before = arrays("out/result.h5")
    last, other = checkpoints(Path("out"))
    with open(last / "rank-0.bin", "r+b") as file:
        file.write(b"?")
    assert main(["run", "--resume", "out", *QUIET]) == 0
    said = capsys.readouterr().err
    assert said.count(f"warning: {last} is damaged: rank-0.bin") == 1 and f"resumed from {other}" in said
    assert arrays("out/result.h5") == before
    for path in checkpoints(Path("out")):
        (path / "manifest.json").unlink()
    assert main(["run", "--resume", "out", *QUIET]) == 2
    assert "no checkpoint of out can be used" in capsys.readouterr().err and arrays("out/result.h5") == before
