"""What a disk leaves of a run's rate is measured where the files will be, and said before the run."""

from __future__ import annotations

import pytest

import nearfield as nf
from nearfield.output import disk_rate
from nearfield.output.disk_rate import DiskRate, measured

MM = 1e-3
CORNER = (12 * MM, 12 * MM, 12 * MM)


def model(**file) -> nf.Simulation:
    """A small box of which every second step goes to a file: 40 snapshots of some 50 kB."""
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (12, 12, 12)),
        boundaries=nf.Boundaries(nf.PEC),
        sources=[nf.PointCurrent((6 * MM, 6 * MM, 6 * MM), "z", nf.Ricker(20e9))],
        monitors=[nf.Snapshot("all", (0, 0, 0), CORNER, every=2, file=nf.FieldFile(**file))],
        steps=80,
    )


def test_a_disk_is_measured_through_a_file_of_which_nothing_is_left(tmp_path):
    found = measured(tmp_path / "not" / "made" / "yet")
    assert found is not None and found.bytes_per_second > 1e6 and found.processor_seconds >= 0
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_measured_is_not_foreseen():
    assert measured(disk_rate.Path("/proc")) is None


def test_a_run_keeps_the_part_that_the_disk_takes_or_what_the_writer_leaves_of_shared_processors():
    slow = DiskRate(0.5e9, 1e-10)
    assert slow.share(0.25e9) == 1.0
    assert slow.share(2e9) == pytest.approx(0.25)
    assert DiskRate(4e9, 1e-9).share(1e9) == 1.0  # the writer has a processor of its own
    assert DiskRate(4e9, 1e-9).share(1e9, processors=2) == pytest.approx(2 / 3)  # a second's bytes cost half a second


def test_a_slow_disk_is_said_before_the_first_step_and_in_the_result(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_rate, "WORTHWHILE", 1.0)
    monkeypatch.setattr(disk_rate, "measured", lambda folder: DiskRate(1e3, 0.0))
    with pytest.warns(UserWarning, match=r"the disk of .* takes 1 kB/s .*steps will wait.*of the rate without files"):
        result = model().run(threads=1, output=tmp_path / "result.h5")
    assert any("steps will wait" in text for text in result.facts["warnings"])
    assert "steps will wait" in nf.open_result(tmp_path / "result.h5").facts["fields"]["outlook"]


@pytest.mark.parametrize("file", [{}, {"codec": "zlib"}, {"format": "ascii"}], ids=["quick", "coded", "text"])
def test_nothing_is_warned_of_a_disk_that_keeps_up_or_where_other_work_bounds_the_rate(file, tmp_path, monkeypatch):
    monkeypatch.setattr(disk_rate, "WORTHWHILE", 1.0)
    monkeypatch.setattr(disk_rate, "measured", lambda folder: DiskRate(1e15, 0.0))
    facts = model(**file).run(threads=1, output=tmp_path / "result.h5").facts
    assert not any("disk of" in text for text in facts["warnings"])
    assert ("keeps up" in facts["fields"].get("outlook", "")) == (not file)
