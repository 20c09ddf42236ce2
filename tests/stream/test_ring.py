"""A writer and readers of a ring: views into shared memory, order, time-outs, what is refused."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from parties import check, content, ended, fill, fork, read, write

from nearfield import _core, stream
from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.stream import names

HEAVY = {"numpy", "matplotlib", "xarray", "pandas", "h5py", "typer", "rich", "pydantic"}


@pytest.fixture
def ring(name):
    with stream.create(name, blocks=4, block_bytes=4096) as writer, stream.attach(name, timeout=0) as reader:
        yield writer, reader


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def mappings(path: str) -> list[range]:
    inode = str(os.stat(path).st_ino)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        spans = [line.split()[0].split("-") for line in maps if line.split()[4] == inode]
    return [range(int(low, 16), int(high, 16)) for low, high in spans]


def test_views_lie_in_the_shared_memory_itself(ring):
    writer, reader = ring
    view = writer.acquire()
    view[:] = 7
    writer.commit(4096)
    data = reader.receive(1).data
    inside = mappings(writer.stats()["path"])
    assert any(address(view) in span for span in inside)
    assert any(address(data) in span for span in inside)
    assert view.dtype == data.dtype == np.uint8 and (view.size, data.size) == (4096, 4096)
    assert view.flags.writeable and not data.flags.writeable
    view[0] = 9  # a writer must not do that any more, but it shows that nothing was copied
    assert data[0] == 9


def test_a_block_arrives_with_its_bytes_step_and_meta(ring):
    writer, reader = ring
    before = time.time()
    writer.acquire()[:3] = (1, 2, 3)
    writer.commit(3, step=42, meta=b"Ez")
    with reader.receive(1) as block:
        assert block.data.tolist() == [1, 2, 3]
        assert (block.seq, block.step, block.meta, block.missed, block.epoch) == (0, 42, b"Ez", 0, 0)
        assert before - 1 <= block.time <= time.time() + 1
    assert block.released


def test_blocks_that_are_acquired_ahead_are_committed_in_order(ring):
    writer, reader = ring
    views = [writer.acquire(0) for _ in range(4)]
    assert len({address(view) for view in views}) == 4
    with pytest.raises(ModelError, match="all 4 blocks are acquired"):
        writer.acquire(0)
    for n, view in enumerate(views):
        view[0] = n
        writer.commit(1, step=n)
    assert [(block.step, int(block.data[0])) for block in (reader.receive(1) for _ in range(4))] == [
        (n, n) for n in range(4)
    ]


def test_an_acquired_block_can_be_given_back(ring):
    writer, reader = ring
    writer.acquire()[0] = 1
    writer.acquire()[0] = 2
    writer.abandon()
    writer.commit(1)
    with pytest.raises(ModelError, match="no block is acquired"):
        writer.commit(1)
    assert reader.receive(1).data[0] == 1
    with pytest.raises(stream.TimedOut):
        reader.receive(0)


def test_a_descriptor_of_64_kib_comes_through(name):
    descriptor = {"dtype": "float32", "shape": [3, 4], "note": "x" * (_core.stream.MOST_DESCRIPTOR - 100)}
    with stream.create(name, descriptor=descriptor, block_bytes=8), stream.attach(name) as reader:
        assert reader.descriptor == descriptor


def test_the_wait_for_a_block_and_for_room_ends_when_it_was_to(ring):
    writer, reader = ring
    begun = time.monotonic()
    with pytest.raises(stream.TimedOut, match=r"no block came within 0\.05 s"):
        reader.receive(0.05)
    for _ in range(4):
        fill(writer, 0)
    with pytest.raises(stream.TimedOut, match=f"process {os.getpid()} has 4 to receive and holds 0"):
        writer.acquire(0.05)
    assert time.monotonic() - begun >= 0.1
    stats = writer.stats()
    assert stats["seconds_waited"] >= 0.05 and stats["readers"][0]["seconds_waited_for"] >= 0.05


def test_a_reader_that_comes_late_begins_with_the_next_block(ring, name):
    writer, _ = ring
    fill(writer, 0)
    with stream.attach(name) as late:
        fill(writer, 1)
        block = late.receive(1)
        check(block)
        assert (block.seq, block.missed) == (1, 0)


def test_after_close_readers_drain_and_meet_the_end(ring):
    writer, reader = ring
    for seq in range(3):
        fill(writer, seq)
    writer.close()
    for block in reader:
        check(block)
    assert block.seq == 2
    with pytest.raises(stream.EndOfStream):
        reader.receive(1)


def test_views_outlive_the_ends_of_the_ring(name):
    with stream.create(name, 2, 4096) as writer, stream.attach(name) as reader:
        fill(writer, 5)
        data = reader.receive(1).data
    assert not names.path_of(name).exists()
    np.testing.assert_array_equal(data, content(5, data.size))


def test_blocks_may_be_released_in_any_order_and_by_another_thread(ring):
    writer, reader = ring
    for seq in range(4):
        fill(writer, seq)
    blocks = [reader.receive(1) for _ in range(4)]
    thread = threading.Thread(target=blocks[2].release)
    thread.start()
    thread.join()
    writer.acquire(1)
    with pytest.raises(stream.RingGone, match="was released"):
        _ = blocks[2].data
    with pytest.raises(ModelError, match="released before"):
        reader.release(blocks[2])
    for block in (blocks[0], blocks[1], blocks[3]):
        check(block)


def test_eight_readers_with_random_stalls_get_every_block_right(name):
    count = 300
    with stream.create(name, 6, 512) as writer:
        readers = [fork(read, name, "block", count, 0.002) for _ in range(8)]
        writer.wait_for_readers(8, 20)
        for seq in range(count):
            fill(writer, seq, timeout=20)
    assert [ended(child) for child in readers] == [0] * 8


def test_a_reader_may_come_before_the_writer(name):
    reader = fork(read, name, "block", 20)
    time.sleep(0.05)
    write(name, 3, 4096, 20)
    assert ended(reader) == 0


def test_a_changed_byte_is_found_where_blocks_have_checksums(name):
    with stream.create(name, 3, 1000, checksum=True) as writer, stream.attach(name) as reader:
        fill(writer, 0)
        check(reader.receive(1))
        view = writer.acquire()
        writer.commit(1000, step=5)
        view[999] ^= 1
        with pytest.raises(stream.Damaged, match=r"block 1 \(step 5\)"):
            reader.receive(1)


def test_checksums_are_crc32c():
    assert _core.stream.crc32c(np.frombuffer(b"123456789", np.uint8)) == 0xE3069283
    for size in (0, 1, 7, 8, 9, 1000, 4099):
        data = content(size, size)
        assert _core.stream.crc32c(data) == _core.stream.crc32c_by_table(data)


def test_copies_past_the_caches_are_exact():
    source = content(1, 5000)
    for first, last in ((0, 5000), (1, 4097), (63, 66), (7, 7), (64, 1088)):
        target = np.zeros(6000, np.uint8)
        _core.stream.copy_past_caches(target[first + 3 :], source[first:last])
        np.testing.assert_array_equal(target[first + 3 : last + 3], source[first:last])
        assert not target[: first + 3].any() and not target[last + 3 :].any()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"blocks": 1}, "blocks=1: allowed are whole numbers from 2"),
        ({"blocks": 5000}, "allowed are whole numbers from 2 to 1024"),
        ({"block_bytes": 0}, "block_bytes=0"),
        ({"block_bytes": 1 << 39}, "more memory than"),
        ({"memory": 4000}, "there is no NUMA node 4000"),
        ({"memory": "everywhere"}, "'interleave'"),
        ({"descriptor": {"a": object()}}, "what JSON holds"),
        ({"descriptor": "x" * 70000}, "70002 bytes"),
        ({"name": "a/b"}, "allowed are up to 100 letters"),
        ({"name": ".."}, "allowed are up to 100 letters"),
    ],
)
def test_what_cannot_be_made_is_refused_and_leaves_nothing(name, given, words):
    with pytest.raises(ModelError) as refused:
        stream.create(**{"name": name} | given)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_what_cannot_be_committed_is_refused_and_the_block_kept(ring):
    writer, reader = ring
    writer.acquire()
    for nbytes, meta in ((4097, b""), (-1, b""), (1, b"x" * 4097)):
        with pytest.raises(ModelError):
            writer.commit(nbytes, meta=meta)
    writer.commit(4096, meta=b"x" * 4096)
    assert reader.receive(1).meta == b"x" * 4096


def test_a_name_has_one_writer(ring, name):
    with pytest.raises(stream.RingInUse, match=f"process {os.getpid()}"):
        stream.create(name)


def test_a_ring_that_is_not_there_and_closed_ends_say_so(name):
    with pytest.raises(stream.RingGone, match="nobody writes one"):
        stream.attach(name, timeout=0.02)
    with stream.create(name, 2, 64) as writer:
        reader = stream.attach(name)
        with pytest.raises(ModelError, match="drop-newest"):
            stream.attach(name, policy="lose")
        reader.close()
        reader.close()
    for use in (reader.receive, writer.acquire, lambda: writer.commit(1)):
        with pytest.raises(stream.RingGone, match="closed"):
            use()


def test_the_thirty_third_reader_is_refused(name):
    with stream.create(name, 2, 64):
        readers = [stream.attach(name) for _ in range(_core.stream.MOST_READERS)]
        with pytest.raises(ModelError, match="all 32 places"):
            stream.attach(name)
        for reader in readers:
            reader.close()


def test_every_error_is_one_of_nearfields():
    for error in (stream.TimedOut, stream.EndOfStream, stream.WriterDied, stream.RingGone, stream.Damaged):
        assert issubclass(error, stream.StreamError) and issubclass(error, NearfieldError)
    assert issubclass(stream.RingInUse, ModelError)


def test_pages_lie_on_the_node_that_was_asked_for(name):
    from nearfield.machine.pages import policy_refused
    from nearfield.stream.placement import nodes_with_memory

    node = nodes_with_memory()[-1]
    if why := policy_refused("bind", [node]):
        pytest.skip(why)
    for memory in (node, "interleave", None):
        with stream.create(name, 4, 1 << 16, memory=memory) as writer:
            found = writer.placement
            assert sum(found["by_node"]) == found["pages"] == 4 * (1 << 16) // os.sysconf("SC_PAGESIZE")
            assert memory != node or found["by_node"][node] == found["pages"]


def test_shared_memory_that_is_too_small_is_refused(tmp_path):
    code = (
        "import os; from nearfield import stream\n"
        "try: stream.create('big', 4, 1 << 20)\nexcept Exception as e: print(type(e).__name__, e)\n"
        "print(os.listdir(os.environ['NEARFIELD_SHARED_MEMORY']))"
    )
    script = f'mount -t tmpfs -o size=1m none {tmp_path} && exec {sys.executable} -c "$CODE"'
    environment = os.environ | {"NEARFIELD_SHARED_MEMORY": str(tmp_path), "CODE": code}
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script], env=environment, capture_output=True, text=True
    )
    if not done.stdout:
        pytest.skip(f"this system lets nobody mount: {done.stderr.strip()}")
    error, listing = done.stdout.splitlines()
    assert error.startswith("ModelError") and "--shm-size" in error and "1 MB left" in error
    assert listing == "[]"


def test_a_file_that_is_no_ring_is_refused(name):
    for text in (b"", b"x" * 10000, b"NFRING\r\n" + b"\xff" * 10000):
        names.path_of(name).write_bytes(text)
        for use in (stream.create, stream.attach):
            with pytest.raises(ModelError, match="no ring of this version"):
                use(name)
    names.path_of(name).unlink()


def test_a_fork_uses_no_end_of_its_parents(ring):
    writer, reader = ring

    def misuse() -> None:
        for use in (lambda: writer.acquire(0), lambda: reader.receive(0)):
            with pytest.raises(ModelError, match="forked from"):
                use()
        writer.close()

    assert ended(fork(misuse)) == 0
    fill(writer, 0)
    check(reader.receive(1))


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    ],
)
def test_no_exit_leaves_a_ring_behind(name, how, code):
    program = (
        f"import os, signal; from nearfield import stream; w = stream.create({name!r}, 2, 64)\n"
        f"r = stream.attach({name!r}); w.acquire()\n{how}"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == code
    assert not names.path_of(name).exists()


def test_ctrl_c_ends_a_wait(name):
    program = (
        f"from nearfield import stream; w = stream.create({name!r}, 2, 64); r = stream.attach({name!r})\n"
        "print(1, flush=True)\nr.receive()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == -signal.SIGINT
    process.stdout.close()


def test_importing_it_is_light():
    code = "import sys; from nearfield import stream; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & HEAVY == set()


def huge_bytes(path: str) -> int:
    """Bytes of a file that lie in huge pages of this process's mappings of it."""
    inode, total, own = str(os.stat(path).st_ino), 0, False
    with open("/proc/self/smaps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if "-" in words[0] and len(words) > 4:
                own = words[4] == inode
            elif own and words[0] == "ShmemPmdMapped:":
                total += 1024 * int(words[1])
    return total


def shared_memory_may_be_huge() -> bool:
    """Linux makes huge pages of shared memory when asked from 6.1 on, unless that is denied."""
    release = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    setting = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
    return release >= (6, 1) and setting.exists() and "[deny]" not in setting.read_text()


@pytest.mark.skipif(not shared_memory_may_be_huge(), reason="this system gives shared memory no huge pages")
def test_large_rings_lie_in_huge_pages_on_both_sides(name):
    with stream.create(name, blocks=8, block_bytes=2 << 20) as writer:
        path = str(names.path_of(name))
        written = huge_bytes(path)
        assert written > 8 << 20  # most of 16 MiB; a page less at each end, and what the system could not join
        with stream.attach(name, timeout=0) as reader:
            writer.acquire()[:] = 7
            writer.commit(2 << 20)
            with reader.receive(1) as block:
                assert (block.data == 7).all()
            assert huge_bytes(path) > written + (4 << 20)
