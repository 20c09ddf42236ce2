"""Checkpoints: a run that goes on from one gives the bytes of a run that never stopped, or is refused."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from checkpointed import MM, assert_goes_on, kept_on_the_way, rich, tiny
from whole_runs import arrays

import nearfield as nf
from nearfield.machine.transport import Alone
from nearfield.plan.boxes import Box
from nearfield.records.hdf5 import write_result
from nearfield.run.checkpoint import keeper, pieces
from nearfield.run.checkpoint.folder import checkpoints, newest, opened
from nearfield.run.checkpoint.manifest import HEAD
from nearfield.run.checkpoint.schedule import Schedule
from nearfield.run.checkpoint.store import Stored, write_arrays
from nearfield.run.time_loop import TimeLoop


@pytest.mark.parametrize(
    ("text", "seconds", "steps"),
    [
        ("every 10 min", 600, None),
        ("10 min", 600, None),
        ("every 1000 steps", None, 1000),
        ("1000 steps", None, 1000),
        ("every 1 step", None, 1),
        ("every 1.5 hours", 5400, None),
        ("20s", 20, None),
        ("every 1e3 steps", None, 1000),
        ("every 300 h", 1.08e6, None),
        ("every 5e-5 s", 5e-5, None),
    ],
)
def test_a_schedule_is_a_time_or_a_number_of_steps(text, seconds, steps):
    found = Schedule.of(text)
    assert (found.seconds, found.steps) == (seconds, steps) and Schedule.of(str(found)) == found


@pytest.mark.parametrize(
    "text",
    ["", "10", "every", "0 steps", "every 0 min", "2.5 steps", "-1 min", "10 mm", "often", "1e400 steps", "1e400 s"],
)
def test_any_other_schedule_is_refused_before_anything_is_written(text, tmp_path):
    with pytest.raises(nf.ModelError, match="every 1000 steps"):
        tiny().run(output=tmp_path / "out" / "result.h5", checkpoint=text)
    assert not list(tmp_path.iterdir())


def test_checkpoints_need_an_output_to_lie_beside():
    with pytest.raises(nf.ModelError, match="give output"):
        tiny().run(checkpoint="every 10 steps")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict:
    """The rich model, never stopped."""
    path = tmp_path_factory.mktemp("whole") / "result.h5"
    result = rich().run(output=path)
    ended = {name: facts["ended"] for name, facts in result.facts["runs"].items()}
    assert result.status == "done" and ended == {"sources": "steps", "feed": "decayed"}
    return arrays(path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> list[Path]:
    """Its checkpoints, every 20 steps, which is also where decay is looked for."""
    return kept_on_the_way(rich(), tmp_path_factory.mktemp("kept") / "all", 20)


def test_checkpoints_change_no_bit_and_the_last_two_are_kept(whole, kept):
    run = kept[0].parent / "run"
    assert arrays(run / "result.h5") == whole
    assert checkpoints(run) == [run / path.name for path in reversed(kept[-2:])]


def attributes(path: Path) -> dict[str, dict]:
    """Those of every group and array in a result file, but for what HDF5 keeps there."""
    found = {}

    def note(name: str, item) -> None:
        found[name] = {key: np.asarray(item.attrs[key]).tolist() for key in item.attrs if not key.isupper()}

    with h5py.File(path) as file:
        file.visititems(note)
        return found | {"": dict(file.attrs)}


WAYS = (
    {"threads": 1},
    {"threads": 3, "tiling": "5x4"},
    {"parallel": nf.Parallel(domains="2x1x2"), "threads": 2},
    {"parallel": nf.Parallel(domains="1x3x1"), "threads": 1},
    {"checkpoint": "every 7 steps"},
)


def test_a_run_goes_on_from_any_checkpoint_in_any_domains_and_tiles_with_the_same_bytes(whole, kept):
    assert len(kept) >= 6
    excitations = set()
    for number, folder in enumerate([*kept[::3], kept[-1]]):
        result = nf.resume(folder, **WAYS[number % len(WAYS)])
        assert result.status == "done" and list(result.facts["runs"]) == ["sources", "feed"]
        found = arrays(folder / "result.h5")
        assert [name for name in whole if whole[name] != found.get(name)] == [] and len(found) == len(whole)
        assert attributes(folder / "result.h5") == attributes(kept[0].parent / "run" / "result.h5")
        excitations.add(result.facts["resumed"][0]["excitation"])
    assert excitations == {"sources", "feed"}


def test_a_checkpoint_that_holds_every_sample_of_a_body_s_box_goes_on_with_the_same_bytes(whole, tmp_path, monkeypatch):
    """So format 1 stored them."""
    monkeypatch.setattr(pieces, "kept_samples", lambda values: None)
    monkeypatch.setattr(keeper, "FORMAT", 1)
    folder = kept_on_the_way(rich(), tmp_path / "all", 60)[1]
    monkeypatch.undo()
    assert json.loads((checkpoints(folder)[0] / "manifest.json").read_bytes())["format"] == 1
    assert nf.resume(folder).status == "done" and arrays(folder / "result.h5") == whole


def test_samples_that_are_kept_come_back_with_every_bit(tmp_path):
    """Minus zero, which is no zero, and what is no number among them."""
    values = np.zeros((2, 5, 6, 7), np.float32)
    values[0, 1, 2, 3], values[1, 4, 5, 6], values[1, 0, 3, 0] = -0.0, np.nan, 2.5
    piece = pieces.Piece("state", values, (3, 1, 2), pieces.kept_samples(values))
    assert np.count_nonzero(piece.kept) == 3
    stored = Stored(tmp_path, {"rank-0.bin": write_arrays(tmp_path / "rank-0.bin", [piece])})
    assert (tmp_path / "rank-0.bin").stat().st_size == 16 + 27 + 3 * 2 * 4
    for lower, upper in (((0, 0, 0), (8, 8, 9)), ((4, 3, 5), (6, 7, 9)), ((3, 1, 2), (8, 7, 9))):
        wanted = np.zeros((2, 8, 8, 9), np.float32)
        wanted[:, 3:8, 1:7, 2:9] = values
        wanted = wanted[(slice(None), *(slice(*ends) for ends in zip(lower, upper)))]
        assert stored.filled("state", Box(lower, upper), (2,), sparse=True).tobytes() == wanted.tobytes()


def test_what_conductors_remember_goes_on_with_the_same_bits(tmp_path):
    copper = nf.Conductor(5.8e7)
    spans = [((5, 5, 6), (8, 9, 10)), ((12, 13, 24), (15, 15, 30))]
    blocks = [nf.Structure(nf.Box(*(tuple(MM * x for x in end) for end in span)), copper) for span in spans]
    walls = nf.Boundaries(nf.CPML(4), z_low=nf.PEC, conductor=copper)
    simulation = rich(excitations=("feed",)).model_copy(update={"structures": blocks, "boundaries": walls})
    assert_goes_on(simulation, tmp_path, 50, 1)


def test_the_stepwise_schedule_and_double_precision_go_on_too(tmp_path):
    assert_goes_on(rich(schedule="stepwise", precision="double", excitations=("feed",)), tmp_path, 50, 1)


def test_checkpoints_by_the_clock_change_no_bit(tmp_path):
    simulation = tiny(steps=2000, check_every=5)
    result = simulation.run(output=tmp_path / "out" / "result.h5", checkpoint="every 0.01 s")
    simulation.run(output=tmp_path / "whole.h5")
    assert result.facts["checkpoints"]["written"] > 0 and result.facts["checkpoints"]["bytes"] > 0
    assert arrays(tmp_path / "out" / "result.h5") == arrays(tmp_path / "whole.h5")
    assert nf.resume(tmp_path / "out").status == "done"
    assert arrays(tmp_path / "out" / "result.h5") == arrays(tmp_path / "whole.h5")


def test_samples_that_a_file_held_are_in_the_checkpoint(tmp_path):
    times = np.linspace(0, 0.1e-9, 50)
    np.savetxt(tmp_path / "pulse.txt", np.column_stack((times, np.sin(2e10 * np.pi * times) ** 2)))
    pulse = nf.Samples(file=str(tmp_path / "pulse.txt"))
    source = nf.PointCurrent((2e-3,) * 3, "z", pulse)
    simulation = tiny().model_copy(update={"sources": (source,)})

    def take_away(info) -> None:
        (tmp_path / "pulse.txt").unlink(missing_ok=True)

    simulation.run(output=tmp_path / "out" / "result.h5", checkpoint="every 20 steps", progress=take_away)
    before, text = arrays(tmp_path / "out" / "result.h5"), nf.open_result(tmp_path / "out" / "result.h5").model_text
    assert nf.resume(tmp_path / "out").model_text == text
    assert arrays(tmp_path / "out" / "result.h5") == before


# ---- what is refused


@pytest.fixture
def small(tmp_path) -> Path:
    """The folder of a tiny run with two checkpoints."""
    tiny().run(output=tmp_path / "small" / "result.h5", checkpoint="every 10 steps", threads=1)
    (tmp_path / "small" / "result.h5").unlink()
    return tmp_path / "small"


def test_each_byte_of_a_checkpoint_that_is_flipped_is_noticed(small):
    last, before = checkpoints(small)
    for file in last.iterdir():
        content = file.read_bytes()
        with open(file, "r+b", buffering=0) as raw:
            for place, byte in enumerate(content):
                raw.seek(place)
                raw.write(bytes([byte ^ (1 << place % 8)]))
                assert opened(last, Alone())[1].startswith(file.name), (file, place)
                raw.seek(place)
                raw.write(bytes([byte]))
    assert opened(last, Alone())[1] == "" == opened(before, Alone())[1]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_each_truncation_is_noticed_and_the_checkpoint_before_is_used(every, small):
    last, before = checkpoints(small)
    for file in last.iterdir():
        content = file.read_bytes()
        for length in [*range(0, len(content), every), len(content) - 1, len(content) + 1]:
            file.write_bytes((content + b" ")[:length])
            said: list[str] = []
            assert newest(small, Alone(), said.append).path == before
            assert len(said) == 1 and str(last) in said[0] and file.name in said[0]
        file.write_bytes(content)
    assert newest(small, Alone(), lambda text: pytest.fail(text)).path == last


def test_a_missing_file_is_a_damage_and_its_checkpoint_makes_room_for_the_next(small):
    last = checkpoints(small)[0]
    (last / "rank-0.bin").unlink()
    with pytest.warns(UserWarning, match=f"{last.name} is damaged: rank-0.bin cannot be read"):
        result = nf.resume(small, checkpoint="every 5 steps")
    assert result.status == "done" and any(last.name in warning for warning in result.facts["warnings"])
    assert [path.name for path in checkpoints(small)] == ["checkpoint-30", "checkpoint-25"]
    assert all(opened(path, Alone())[1] == "" for path in checkpoints(small))


def test_without_a_whole_checkpoint_a_run_is_refused_and_nothing_written(small, tmp_path):
    for path in checkpoints(small):
        (path / "manifest.json").write_bytes(b"{}")
    before = sorted(small.rglob("*"))
    with pytest.warns(UserWarning), pytest.raises(nf.ModelError, match=r"checkpoint-30.*checkpoint-20.*--force"):
        nf.resume(small)
    assert sorted(small.rglob("*")) == before
    with pytest.raises(nf.ModelError, match="holds no checkpoint"):
        nf.resume(tmp_path)
    with pytest.raises(nf.ModelError, match="no folder"):
        nf.resume(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("other", "named"),
    [({"precision": "double"}, "precision"), ({"courant": 0.5}, "courant"), ({"steps": 31}, "steps")],
)
def test_another_model_is_refused_and_named(other, named, small):
    with pytest.raises(nf.ModelError, match=f"another model: they differ in {named}\\."):
        nf.resume(small, tiny(**other))
    assert nf.resume(small, tiny()).status == "done"


def rewritten(path: Path, **entries) -> None:
    """Other entries in a manifest, with the checksum that they need."""
    manifest = json.loads((path / "manifest.json").read_bytes()) | entries
    del manifest["crc32"]
    rest = json.dumps(manifest)[1:].encode()
    (path / "manifest.json").write_bytes(HEAD % zlib.crc32(rest) + rest)


@pytest.mark.parametrize(
    ("entries", "said"),
    [({"format": 9}, "in format 9"), ({"nearfield": "9.9"}, "by Nearfield 9.9"), ({"plan": "0"}, "does not fit")],
)
def test_another_version_or_plan_is_refused(entries, said, small):
    rewritten(checkpoints(small)[0], **entries)
    with pytest.raises(nf.ModelError, match=said):
        nf.resume(small)


def test_a_checkpoint_that_states_no_metal_goes_on_as_a_staircase(small):
    """It is of a version with that default."""
    for path in checkpoints(small):
        text = json.loads((path / "manifest.json").read_bytes())["model"]
        assert 'metal = "auto"\n' in text
        rewritten(path, model=text.replace('metal = "auto"\n', ""))
    with pytest.raises(nf.ModelError, match=r"another model: they differ in metal\."):
        nf.resume(small, tiny())
    assert nf.resume(small, tiny(metal="staircase")).status == "done"


def test_warnings_before_a_checkpoint_are_in_the_result_of_a_run_that_goes_on(small):
    rewritten(checkpoints(small)[0], warnings=["the disk was full"] * 2, failed_derivations=["far-field 'pattern'"])
    facts = nf.resume(small, checkpoint="every 5 steps").facts
    assert facts["warnings"].count("the disk was full") == 1 and facts["failed_derivations"] == ["far-field 'pattern'"]


def test_warnings_go_into_the_checkpoint(tmp_path, monkeypatch):
    def failing(self, *given):
        raise ValueError("no number")

    monkeypatch.setattr(TimeLoop, "used_waveform", failing)
    feed = nf.LumpedPort("feed", (MM, MM, MM), (MM, MM, 2 * MM), "z")
    simulation = tiny(ports=[feed], waveform=nf.Gaussian(15e9), excitations=("sources", "feed"))
    simulation.run(output=tmp_path / "result.h5", checkpoint="every 12 steps", threads=1)
    manifest = json.loads((checkpoints(tmp_path)[0] / "manifest.json").read_bytes())
    assert manifest["failed_derivations"] == ["the samples of the waveform of excitation 'sources'"]
    assert "no number" in manifest["warnings"][0]


def test_a_run_into_a_folder_with_checkpoints_of_an_unfinished_one_is_refused(small):
    with pytest.raises(nf.ModelError, match="checkpoint-30 of a run that did not end"):
        tiny().run(output=small / "result.h5", checkpoint="every 10 steps")
    assert nf.resume(small).status == "done"
    tiny().run(output=small / "result.h5", checkpoint="every 12 steps")
    assert [path.name for path in checkpoints(small)] == ["checkpoint-24", "checkpoint-12"]


def test_checkpoints_belong_to_the_result_that_they_name(small):
    """One folder takes one run after the other; those of a run that did not end stay, whatever else ended there."""
    tiny().run(output=small / "b.h5", threads=1)  # shares the folder with what may go on
    with pytest.raises(nf.ModelError, match="checkpoint-30 of a run that did not end"):
        tiny().run(output=small / "b.h5", checkpoint="every 10 steps")
    with pytest.raises(nf.ModelError, match="checkpoint-30 of a run that did not end"):
        tiny().run(output=small / "result.h5", threads=1)
    assert nf.resume(small).status == "done"
    for name in ("b.h5", "c.h5"):
        tiny().run(output=small / name, checkpoint="every 12 steps")
    tiny().run(output=small / "b.h5", threads=1)
    assert [path.name for path in checkpoints(small)] == ["checkpoint-24", "checkpoint-12"]
    tiny().run(output=small / "c.h5", threads=1)
    assert not checkpoints(small)  # they would go on with what is no more


def test_a_run_that_diverged_makes_room_for_a_mended_model(small):
    record = tiny().run(threads=1).record
    record.status = "diverged"
    write_result(small / "result.h5", record)
    tiny().run(output=small / "result.h5", checkpoint="every 12 steps")
    assert [path.name for path in checkpoints(small)] == ["checkpoint-24", "checkpoint-12"]


def test_an_earlier_result_does_not_say_done_of_a_run_under_way(small):
    nf.resume(small)

    def look(info) -> None:
        assert not checkpoints(small) or not (small / "result.h5").exists()

    tiny(steps=4000).run(output=small / "result.h5", checkpoint="every 10 steps", progress=look)


def test_what_a_run_that_died_left_half_written_is_removed(small):
    shutil.copytree(checkpoints(small)[0], small / ".checkpoint-40.part")
    assert nf.resume(small).status == "done" and not list(small.glob(".*"))
