"""Real memory policies and real pages on a machine with any number of nodes, and what is read of the system."""

from __future__ import annotations

import ctypes
import mmap
import platform
import subprocess
import sys

import pytest

from nearfield import _core
from nearfield.machine import system_files
from nearfield.machine.pages import (
    Locality,
    huge_pages,
    locality,
    numa_balancing,
    policy_refused,
    process_policy,
    system_facts,
)
from nearfield.machine.system_files import SYSTEM, numbers_in, text

PAGE = mmap.PAGESIZE
NODES = sorted(numbers_in(text(SYSTEM / system_files.NODES / "has_memory")))
numa = pytest.mark.skipif(not NODES or bool(policy_refused("bind", NODES[:1])), reason="no NUMA calls on this system")


class Pages:
    """Fresh pages, none of which has been touched."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.memory = mmap.mmap(-1, count * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def touch(self, first: int, last: int) -> None:
        for page in range(first, last):
            self.memory[page * PAGE] = 1

    def found(self, sample: int = 1_000_000) -> dict:
        view = (ctypes.c_char * 1).from_buffer(self.memory)
        return _core.machine.pages_by_node(ctypes.addressof(view), self.count * PAGE, sample)


@numa
def test_pages_lie_nowhere_before_they_are_touched():
    pages = Pages(256)
    assert pages.found() == {"by_node": [], "absent": 256, "unknown": 0, "pages": 256}
    pages.touch(0, 100)
    found = pages.found()
    assert (sum(found["by_node"]), found["absent"]) == (100, 156)


@numa
def test_pages_that_were_only_read_lie_on_no_node():
    pages = Pages(16)
    assert not any(pages.memory[page * PAGE] for page in range(16))
    found = pages.found()
    assert found["by_node"] == [] and found["absent"] + found["unknown"] == 16


@numa
def test_a_sample_is_spread_evenly():
    pages = Pages(4096)
    pages.touch(0, 1024)
    found = pages.found(sample=64)
    assert (sum(found["by_node"]), found["absent"], found["pages"]) == (16, 48, 4096)


@numa
def test_more_pages_than_one_question_holds_are_counted_once():
    count = (1 << 16) + 5
    pages = Pages(count)
    pages.touch(count - 7, count)
    found = pages.found()
    assert (sum(found["by_node"]), found["absent"]) == (7, count - 7)


@numa
@pytest.mark.parametrize("policy", ["bind", "interleave"])
def test_pages_touched_under_a_policy_lie_on_its_node(policy):
    for node in NODES:
        pages = Pages(64)
        with _core.machine.ThreadPolicy(policy, [node]):
            pages.touch(0, 64)
        assert pages.found()["by_node"][node] == 64


@numa
def test_a_policy_ends_with_its_block():
    before = process_policy()
    with _core.machine.ThreadPolicy("bind", NODES[:1]):
        assert process_policy() == f"bind:{NODES[0]}"
        with _core.machine.ThreadPolicy("first-touch"):
            assert process_policy() == "default"
        assert process_policy() == f"bind:{NODES[0]}"
    assert process_policy() == before


@numa
@pytest.mark.parametrize("policy", ["bind", "interleave"])
@pytest.mark.parametrize("absent", [NODES[-1:] and NODES[-1] + 1, 1023, 5000])
def test_a_node_that_is_not_there_is_refused(policy, absent):
    # the kernel would take it beside one that is there, and drop it in silence
    assert policy_refused(policy, NODES[:1]) == ""
    for nodes in ([absent], [NODES[0], absent]):
        assert f"on node {absent}: no such node" in policy_refused(policy, nodes)
    with pytest.raises(OSError, match="no such node"), _core.machine.ThreadPolicy(policy, [absent]):
        pass
    assert "needs a node" in policy_refused(policy, [])


def test_first_touch_and_off_need_no_permission():
    assert policy_refused("first-touch", []) == policy_refused("off", []) == ""
    with _core.machine.ThreadPolicy("first-touch"), _core.machine.ThreadPolicy("off"):
        pass


# Answers set_mempolicy (238), mbind (237), get_mempolicy (239) and move_pages (279) with an error, as containers do.
FORBID = """
import ctypes, struct, sys
rules = [(0x20, 0, 0, 0)] + [(0x15, 4 - n, 0, number) for n, number in enumerate((237, 238, 239, 279))]
rules += [(6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50000 | int(sys.argv[1]))]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
program = struct.pack("=H6xQ", len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("this system has no seccomp")
from nearfield.entry.errors import ModelError
from nearfield.machine.binding import resolve
from nearfield.machine.hardware import this_machine
try:
    resolve(None, "bind", 1, this_machine())
except ModelError as error:
    print(error)
chosen = resolve("numa", None, 1, this_machine())
print(chosen.memory)
def look():
    from nearfield import _core
    here = ctypes.create_string_buffer(1)
    _core.machine.pages_by_node(ctypes.addressof(here), 1)
print(chosen.locality(look, chosen.verify([__import__("threading").get_native_id()])).share)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of system calls")
@numa
@pytest.mark.parametrize(("number", "words"), [(1, "forbidden to this process"), (38, "knows no NUMA nodes")])
def test_a_policy_that_the_system_forbids_is_refused_and_not_chosen_by_default(number, words):
    done = subprocess.run([sys.executable, "-c", FORBID, str(number)], capture_output=True, text=True)
    if "no seccomp" in done.stderr:
        pytest.skip("no seccomp here")
    refusal, chosen, share = done.stdout.splitlines()
    assert refusal.startswith("memory='bind' cannot be honoured: ") and words in refusal
    assert chosen == "first-touch"
    assert share == ("1.0" if len(NODES) == 1 else "None")


def test_the_locality_share_counts_pages_on_the_node_of_their_thread():
    near, far = ([0, 300], 300), ([100, 0], 100)  # pages on nodes 0 and 1
    assert locality([near], [[[1, 1]]]).share == 1
    assert locality([far], [[[1]]]).share == 0
    assert locality([near, far], [[[1]], [[1]]]) == Locality(300 / 400, (100, 300), 400)
    # one thread on each node, or one that may run on either: every page is near with a chance of one half
    assert locality([near], [[[0], [1]]]).share == locality([near], [[[0, 1]]]).share == 0.5


def test_a_share_that_nobody_tells_is_unknown_and_a_poor_one_is_in_capitals():
    assert locality([([], 7)], [[[0]]]).share is None
    assert locality([([9, 91], 100)], [[[0]]]).words() == "ONLY 9.0 % OF 100 PAGES ARE LOCAL"
    assert locality([([1, 999], 1000)], [[[1]]]).words() == "99.9 % of 1,000 pages are local"


def test_what_of_the_system_bears_on_pages_is_read(tmp_path):
    (tmp_path / "numa_balancing").write_text("1\n")
    assert numa_balancing(tmp_path) and not numa_balancing(tmp_path / "absent")
    folder = tmp_path / "kernel" / "mm" / "transparent_hugepage"
    folder.mkdir(parents=True)
    (folder / "enabled").write_text("always [madvise] never\n")
    assert huge_pages(tmp_path) == "madvise" and huge_pages(tmp_path / "absent") == ""
    (tmp_path / "numa_maps").write_text("55e8 interleave:0-1 file=/bin/x\n7f00 interleave:0-1\n")
    assert process_policy(tmp_path / "numa_maps") == "interleave:0-1"
    assert process_policy(tmp_path / "absent") == "default"
    assert set(system_facts()) == {"process_policy", "numa_balancing", "huge_pages"}
