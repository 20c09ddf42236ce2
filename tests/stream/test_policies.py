"""What a reader that falls behind loses, what the others do not, and how it is counted."""

from __future__ import annotations

import random

import pytest
from parties import check, ended, fill, fork, read

from nearfield import stream

BLOCKS = 4


def received(reader: stream.Reader) -> list[tuple[int, int]]:
    """(seq, missed) of what is there, each block checked and released."""
    found = []
    while True:
        try:
            with reader.receive(0) as block:
                check(block)
                found.append((block.seq, block.missed))
        except (stream.TimedOut, stream.EndOfStream):
            return found


@pytest.fixture
def writer(name):
    with stream.create(name, BLOCKS, 256) as writer:
        yield writer


def test_block_makes_the_writer_wait_and_loses_nothing(writer, name):
    with stream.attach(name, "block") as reader:
        for seq in range(BLOCKS):
            fill(writer, seq)
        with pytest.raises(stream.TimedOut):
            writer.acquire(0.02)
        assert received(reader) == [(seq, 0) for seq in range(BLOCKS)]
        assert reader.stats()["dropped"] == 0


def test_drop_oldest_keeps_the_last_blocks(writer, name):
    with stream.attach(name, "drop-oldest") as reader:
        for seq in range(10):
            fill(writer, seq, timeout=0)
        assert received(reader) == [(6, 6), (7, 0), (8, 0), (9, 0)]
        assert (reader.stats()["dropped"], reader.stats()["received"]) == (6, 4)


def test_drop_newest_keeps_the_first_blocks(writer, name):
    with stream.attach(name, "drop-newest") as reader:
        for seq in range(10):
            fill(writer, seq, timeout=0)
        assert received(reader) == [(0, 0), (1, 0), (2, 0)]  # the fourth is the writer's
        assert reader.stats()["dropped"] == 7
        fill(writer, 10, timeout=0)
        assert received(reader) == [(10, 7)]


def test_a_block_in_hand_is_never_overwritten(writer, name):
    with stream.attach(name, "drop-oldest") as reader:
        fill(writer, 0)
        block = reader.receive(1)
        for seq in range(1, 20):
            fill(writer, seq, timeout=0)
        check(block)
        assert received(reader) == [(17, 16), (18, 0), (19, 0)]


def test_readers_that_drop_do_not_stop_one_that_must_have_all(writer, name):
    kept = []
    with stream.attach(name, "drop-newest"), stream.attach(name, "drop-oldest"), stream.attach(name, "block") as reader:
        for seq in range(30):
            fill(writer, seq, timeout=0)
            kept += received(reader)
        assert kept == [(seq, 0) for seq in range(30)]
        dropped = {each["policy"]: each["dropped"] for each in writer.stats()["readers"]}
        assert dropped["block"] == 0 and dropped["drop-newest"] > 20 and dropped["drop-oldest"] > 20


def test_a_writer_may_hold_all_blocks_whatever_droppers_have_pending(writer, name):
    with stream.attach(name, "drop-newest") as first, stream.attach(name, "drop-oldest") as last:
        for seq in range(9):
            fill(writer, seq, timeout=0)
        for _ in range(BLOCKS):
            writer.acquire(0)
        assert received(first) == received(last) == []


def test_only_what_a_reader_holds_stops_a_writer_of_droppers(writer, name):
    with stream.attach(name, "drop-oldest") as reader:
        blocks = []
        for seq in range(BLOCKS):
            fill(writer, seq)
            blocks.append(reader.receive(1))
        with pytest.raises(stream.TimedOut, match="holds 4"):
            writer.acquire(0.02)
        blocks[1].release()
        fill(writer, BLOCKS, timeout=0)
        for block in (blocks[0], *blocks[2:]):
            check(block)


def test_received_and_dropped_add_up_to_what_was_committed(name):
    count, random_state = 400, random.Random(1)
    with stream.create(name, BLOCKS, 512) as writer, stream.attach(name, "drop-oldest") as oldest:
        others = [fork(read, name, policy, None, 0.003) for policy in ("drop-newest", "drop-oldest")]
        whole = fork(read, name, "block", count, 0.0005)
        writer.wait_for_readers(4, 20)
        seen = 0
        for seq in range(count):
            fill(writer, seq, timeout=20)
            if random_state.random() < 0.4:
                seen += sum(1 + missed for _, missed in received(oldest))
        writer.close()
        seen += sum(1 + missed for _, missed in received(oldest))
    assert [ended(child) for child in (*others, whole)] == [0, 0, 0]
    assert seen == count


def test_statistics_say_how_full_the_ring_was(writer, name):
    with stream.attach(name) as reader:
        for seq in range(BLOCKS):
            fill(writer, seq)
        received(reader)
        fill(writer, BLOCKS)
        stats = writer.stats()
    assert stats["fill_levels"] == [2, 1, 1, 1, 0]
    assert stats["blocks"] == BLOCKS + 1
    assert stats["bytes"] == sum(1 + seq * 37 % 256 for seq in range(BLOCKS + 1))
