"""Every run says what it moves and how that stands to the memory's rate, and keeps it."""

from __future__ import annotations

import pytest
from checkpointed import tiny

import nearfield as nf
from nearfield.cli import main
from nearfield.engines.cpu.tiling import Tiling
from nearfield.machine.profile import Gpu, Link, Profile
from nearfield.run import roofline


def test_a_run_on_tiles_is_held_against_the_triad_on_as_many_threads(tmp_path, monkeypatch):
    asked: list[int] = []

    def known(threads: int) -> float:
        asked.append(threads)
        return 24e9

    monkeypatch.setattr(roofline, "known_triad", known)
    tiny(steps=60).run(threads=1, output=tmp_path / "result.h5", tiling="4x16")
    (facts,) = nf.open_result(tmp_path / "result.h5").facts["runs"].values()
    rate = facts["mcells_per_second"] * 1e6
    assert asked == [1] and facts["triad_gb_per_second"] == 24
    assert facts["moved_bytes_per_cell"] == pytest.approx(48 * Tiling(4, 16).traffic)  # 12 numbers of 4 bytes
    assert facts["roofline_multiple"] == pytest.approx(rate / (24e9 / 48))
    assert facts["memory_share"] == pytest.approx(rate * facts["moved_bytes_per_cell"] / 24e9)


def test_recordings_and_cpml_move_bytes_of_their_own():
    corner = (4e-3, 4e-3, 4e-3)
    bare = tiny().replace(schedule="stepwise")
    kept = bare.replace(monitors=[nf.Snapshot("all", (0, 0, 0), corner, every=10)])
    absorbing = bare.replace(
        grid=nf.Grid.uniform(1e-3, (12, 12, 12)),
        sources=[],
        boundaries=nf.Boundaries(nf.CPML(3), z_low=nf.PEC, z_high=nf.PEC),
    )
    setups = [simulation._setup().plan for simulation in (bare, kept, absorbing)]
    samples = sum(term.samples for term in setups[1].recorders)
    assert [roofline.moved_bytes(plan, {}) for plan in setups] == [48, 48, 48 + 32 * 2 * 6 / 12]
    assert roofline.recorded_bytes(setups[1], 30) == pytest.approx(4 * samples * 3 / 30 / 4**3)


def test_where_nothing_was_measured_the_summary_says_what_measures_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(roofline, "memory_rate", lambda threads: None)
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    options = ["--output", str(tmp_path / "o"), "--no-report", "--threads", "1"]
    assert main(["run", str(tmp_path / "model.toml"), *options]) == 0
    assert "bytes a cell and step" in (out := capsys.readouterr().out) and "`nearfield tune` measures" in out
    monkeypatch.setattr(roofline, "memory_rate", lambda threads: 24e9)
    assert main(["run", str(tmp_path / "model.toml"), *options, "--force"]) == 0
    assert "% of a triad's 24.0 GB/s" in (out := capsys.readouterr().out) and "times the memory roofline" in out


def test_a_run_on_a_card_is_held_against_the_rate_at_which_it_copies(card, tmp_path, monkeypatch, capsys):
    """Two passes move 18 numbers a cell of the rows, which are whole blocks of 16 cells; a snapshot, one a sample."""
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    command = ["run", str(tmp_path / "model.toml"), "--engine", "cuda", "--output", str(tmp_path / "o"), "--no-report"]
    assert main(command) == 0
    assert "memory of Stand-in: " in (out := capsys.readouterr().out) and "`nearfield probe gpu` measures" in out
    link = Link(latency=1e-5, bandwidth=2e10)
    copies = {"to_card": link, "to_host": link, "on_card": link}
    known = Profile(gpu=Gpu(name="Stand-in", **copies, memory=4e12, update={"pec": 1000}, cells=100))
    monkeypatch.setattr(roofline, "load_profile", lambda path: known)
    assert main([*command, "--force"]) == 0
    assert "% of the 4000 GB/s at which it copies" in capsys.readouterr().out
    setup = tiny()._setup()
    (facts,) = nf.open_result(tmp_path / "o").facts["runs"].values()
    a, b, _ = setup.plan.active
    moved = 4 * 18 * a * b * 16 / 64 + roofline.recorded_bytes(setup.plan, facts["steps"])
    assert facts["moved_bytes_per_cell"] == pytest.approx(moved)
    assert facts["copy_share"] == pytest.approx(facts["mcells_per_second"] * 1e6 * moved / 4e12)
    (of_host,) = tiny().run(engine="cpu").facts["runs"].values()
    assert "copy_share" not in of_host
