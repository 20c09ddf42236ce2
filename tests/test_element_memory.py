"""Memory for tables of elements: counted in blocks before the analysis, measured in white noise, refused in time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import h5py
import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.dissipation import memory
from nearfield.dissipation.crowding import expected_elements
from nearfield.dissipation.memory import BYTES_AN_ELEMENT, SAVED_BYTES_AN_ELEMENT, labels_bytes
from nearfield.dissipation.team import Place
from nearfield.machine.transport import ALONE, Alone

SIDE = 96
FREE = 20 << 20  # bytes: room for labels of the field, not for tables of noise


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).standard_normal((SIDE, SIDE, SIDE)).astype(np.float32)


def smooth() -> np.ndarray:
    x = np.arange(SIDE, dtype=np.float32) * np.float32(np.pi / 24)
    return np.cos(x)[:, None, None] + np.cos(x)[:, None] + np.cos(x)


def test_blocks_tell_how_many_elements_a_field_has(noise):
    found = len(nf.elements(noise, method="discrete"))
    assert expected_elements(noise) == pytest.approx(found, rel=0.05)
    assert expected_elements(noise, 1e3) < found / 100  # nothing is left but the blocks themselves
    assert expected_elements(smooth()) < SIDE**3 / 500
    for flat in (noise[0], noise[0, 0]):
        assert expected_elements(flat) == pytest.approx(len(nf.elements(flat, method="discrete")), rel=0.05)
    for odd in (np.ones((8, 8)), np.full((8, 8, 8), np.nan), np.ones((8, 2)), np.ones((0, 4)), np.ones((4, 4, 4, 4))):
        assert expected_elements(odd) == 0


PEAK = """
import sys
from pathlib import Path
import numpy as np
import nearfield as nf

def peak():
    return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

def begun():
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    return peak()

side, method = int(sys.argv[1]), sys.argv[2]
field = np.random.default_rng(0).standard_normal((side, side, side)).astype(np.float32)
nf.elements(field[:16, :16, :16], threads=1).save(sys.argv[3])
before = begun()
found = nf.elements(field, method=method, threads=1)
found.summary()
made, after = peak(), begun()
found.save(sys.argv[3])
print(len(found), made - before, peak() - after)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from Linux's /proc")
@pytest.mark.parametrize("method", ["discrete", pytest.param("hybrid", marks=pytest.mark.slow)])
def test_memory_for_elements_of_noise_is_what_is_said(method, tmp_path):
    command = [sys.executable, "-c", PEAK, "128", method, str(tmp_path / "found.h5")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    count, made, saved = map(int, told.split())
    most = 128**3 * labels_bytes(method) + count * BYTES_AN_ELEMENT
    assert 0.5 * most < made < most
    assert 0.5 * count * SAVED_BYTES_AN_ELEMENT < saved < count * SAVED_BYTES_AN_ELEMENT


def test_fields_of_too_many_elements_are_refused_before_the_analysis(noise, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: FREE)
    with pytest.raises(nf.ModelError, match=r"96 x 96 x 96 points have some 2e\+05 elements.*persistence"):
        nf.elements(noise, method="discrete")
    assert len(nf.elements(noise, method="discrete", persistence="90%")) < 100
    assert len(nf.elements(smooth(), method="discrete")) > 8


def test_ranks_of_a_host_share_its_memory(noise, monkeypatch):
    def refused(hosts: str) -> bool:
        try:
            memory.refuse_crowded(noise, "discrete", 0.0, Place(Path(), ALONE, tuple(hosts)))
        except nf.ModelError as error:
            assert re.search(r"on each of \d ranks of a host and .* are free; .*fewer ranks a host", str(error))
            return True
        return False

    tables = memory.tables_bytes(noise, 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 2.5 * tables)
    assert [refused(hosts) for hosts in ("a", "aa", "aabb", "aaa", "abbb")] == [False, False, False, True, True]


def test_ranks_of_one_host_go_to_files_where_its_memory_has_no_room_for_all(noise, tmp_path, monkeypatch):
    tables = memory.tables_bytes(noise, 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * memory.PRIVATE_BYTES + 4 * tables)
    for count, folder in ((1, None), (2, memory.SHARED_MEMORY), (8, tmp_path)):
        keeper = memory.Keeper(ExitStack(), "discrete", tmp_path, ranks=Ranks(count))
        with keeper.stack:
            keeper.take(noise)
            assert (keeper.place and keeper.place.folder.parent) == folder


class Ranks(Alone):
    """Some ranks of one host, of which this process is all."""

    def __init__(self, size: int) -> None:
        self.size = size

    def everywhere(self, value) -> list:
        return [value] * self.size


def test_tables_of_a_file_are_refused_before_they_are_made(monkeypatch, tmp_path):
    found = nf.elements(smooth(), method="discrete")
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(nf.ModelError, match=r"boxes, neighbours and lengths of \d+ elements need"):
        found.save(tmp_path / "found.h5")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["noise", "smooth"])
def test_noise_goes_to_files_where_memory_has_room_for_its_labels_alone(name, noise, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = noise if name == "noise" else smooth()
    np.save("field.npy", values)
    with h5py.File("field.h5", "w") as file:
        file["phi"] = values
    for given in ("field.npy", "field.h5:phi"):
        assert main(["elements", given, "--memory", "20MB", "--method", "discrete", "--json"]) == 0
        assert ("storage" in json.loads(capsys.readouterr().out)) == (name == "noise")
