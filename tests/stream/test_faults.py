"""Processes that are killed at random points: nobody hangs, nothing committed is lost, nothing is left behind."""

from __future__ import annotations

import os
import random
import resource
import signal
import time

import pytest
from parties import PATIENCE, check, ended, fill, fork, kill, read, write

from nearfield import stream
from nearfield.stream import names
from nearfield.stream.rings import remove, ring

NOTICED = 2.0  # seconds within which a death must be noticed
TRIES = 3  # a shared machine is slow for seconds at a time; the best of several is the ring's own time
ROUNDS = [24, pytest.param(1000, marks=pytest.mark.slow)]


def write_on(name: str, blocks: int, stalls: float) -> None:
    """Make or take over a ring and commit without end."""
    with stream.create(name, blocks, 4096, timeout=10) as writer:
        writer.wait_for_readers(1, 10)
        seq = writer.stats()["blocks"]
        while True:
            fill(writer, seq)
            seq += 1
            if random.random() < 0.05:
                time.sleep(random.random() * stalls)


def follow(name: str) -> None:
    """Check every block of all writers, one after another, until the last one closes."""
    with stream.attach(name, timeout=10) as reader:
        expected = None
        while True:
            try:
                with reader.receive(PATIENCE) as block:
                    check(block)
                    assert expected in (None, block.seq)
                    expected = block.seq + 1
            except stream.WriterDied:
                reader.wait_for_writer(10)
            except stream.EndOfStream:
                return


def hold(name: str, policy: str, ready: int) -> None:
    """Take a block and never give it back."""
    with stream.attach(name, policy) as reader:
        os.write(ready, b".")
        reader.receive(10)
        os.write(ready, b".")
        time.sleep(60)


def seconds_to_drop_a_dead_reader(name: str, policy: str) -> float:
    """From its death, with a block in hand, to the moment when the writer, which goes on, knows of it no more."""
    with stream.create(name, 2, 4096) as writer:
        listening, ready = os.pipe()
        child = fork(hold, name, policy, ready)
        os.read(listening, 1)
        fill(writer, 0)
        os.read(listening, 1)
        kill(child)
        seq, begun = 1, time.monotonic()
        while writer.stats()["readers"] and time.monotonic() - begun < PATIENCE:
            fill(writer, seq)
            seq += 1
        took = time.monotonic() - begun
        assert writer.stats()["readers"] == [] and writer.stats()["readers_died"] == 1
    assert ended(child) == -signal.SIGKILL
    os.close(listening)
    os.close(ready)
    return took


@pytest.mark.parametrize("policy", ["block", "drop-oldest", "drop-newest"])
def test_a_reader_that_is_killed_with_a_block_in_hand_is_dropped_in_time(name, policy):
    assert any(seconds_to_drop_a_dead_reader(name, policy) < NOTICED for _ in range(TRIES))


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killing_readers_stops_neither_the_writer_nor_other_readers(name, rounds):
    random.seed(rounds)
    policies = ("block", "drop-oldest", "drop-newest")
    with stream.create(name, 5, 512) as writer:
        first = fork(read, name, "block", None, 0.0005)
        writer.wait_for_readers(1, 10)
        victims = [fork(read, name, policies[n % 3], None, 0.002) for n in range(3)]
        seq = 0
        for n in range(rounds):
            until = time.monotonic() + random.random() * 0.03
            while time.monotonic() < until:
                fill(writer, seq)
                seq += 1
            victim = victims.pop(random.randrange(len(victims)))
            kill(victim)
            victims.append(fork(read, name, policies[n % 3], None, 0.002))
            assert ended(victim) == -signal.SIGKILL
        writer.wait_for_readers(4, 10)
        # the survivor was there from the first block on
        survivor = next(each for each in writer.stats()["readers"] if each["pid"] == first)
        assert survivor["dropped"] == 0
        writer.close()
    assert [ended(child) for child in (first, *victims)] == [0] * 4


@pytest.mark.parametrize("rounds", ROUNDS)
def test_readers_get_all_that_a_killed_writer_committed_and_go_on_with_the_next(name, rounds):
    random.seed(rounds)
    child = fork(write_on, name, 4, 0.005)
    expected = epoch = 0
    with stream.attach(name, timeout=10) as reader:
        others = [fork(follow, name) for _ in range(2)]
        for _ in range(rounds):
            killed, at = False, time.monotonic() + random.random() * 0.03
            while True:
                try:
                    block = reader.receive(PATIENCE)
                except stream.WriterDied:
                    assert killed
                    break
                with block:
                    check(block)
                    assert (block.seq, block.missed, block.epoch) == (expected, 0, epoch)
                    expected += 1
                if not killed and time.monotonic() > at:
                    kill(child)
                    killed = True
            assert ended(child) == -signal.SIGKILL
            # the last one may have been handed out before it was counted
            assert expected - reader._core.facts()["blocks"] in (0, 1)
            child = fork(write_on, name, 4, 0.005)
            reader.wait_for_writer(10)
            epoch += 1
        kill(child)
        assert ended(child) == -signal.SIGKILL
        last = fork(write, name, 4, 4096, 10)
        for other in others:
            with pytest.raises(stream.EndOfStream):
                drain(reader)
            assert ended(other) == 0
        assert ended(last) == 0


def drain(reader: stream.Reader) -> None:
    """Receive until the end of data, past deaths of writers."""
    while True:
        try:
            reader.receive(PATIENCE).release()
        except stream.WriterDied:
            reader.wait_for_writer(10)


def remove_if_left(name: str) -> None:
    """The reader leaves while it still takes the killed writer for alive, or it is the last."""
    if names.path_of(name).exists():
        assert ring(name).stale
        remove(ring(name))


def seconds_to_learn_of_a_dead_writer(name: str) -> float:
    """From its death to WriterDied, what it had committed received in between."""
    child = fork(write_on, name, 4, 0.0)
    with stream.attach(name, timeout=10) as reader:
        with reader.receive(PATIENCE):
            kill(child)
        begun = time.monotonic()
        with pytest.raises(stream.WriterDied):
            for block in reader:
                check(block)
        took = time.monotonic() - begun
        with pytest.raises(stream.WriterDied):
            reader.receive()
        with pytest.raises(stream.TimedOut):
            reader.wait_for_writer(0.02)
    assert ended(child) == -signal.SIGKILL
    assert not names.path_of(name).exists(), "the last one out removes the ring"
    return took


def test_a_waiting_reader_learns_of_a_killed_writer_in_time(name):
    assert any(seconds_to_learn_of_a_dead_writer(name) < NOTICED for _ in range(TRIES))


def test_the_death_of_a_writer_is_told_even_if_the_next_is_quick(name):
    listening, ready = os.pipe()

    def few(count: int) -> None:
        writer = stream.create(name, 4, 4096, timeout=10)
        writer.wait_for_readers(1, 10)
        for seq in range(writer.stats()["blocks"], writer.stats()["blocks"] + count):
            fill(writer, seq)
        os.write(ready, b".")
        time.sleep(60)

    first = fork(few, 2)
    with stream.attach(name, timeout=10) as reader:
        os.read(listening, 1)
        kill(first)
        second = fork(few, 1)
        os.read(listening, 1)
        found = []
        for _ in range(4):
            try:
                with reader.receive(PATIENCE) as block:
                    check(block)
                    found.append((block.seq, block.epoch))
            except stream.WriterDied:
                found.append("died")
        assert found == [(0, 0), (1, 0), "died", (2, 1)]
        kill(second)
    assert (ended(first), ended(second)) == (-signal.SIGKILL, -signal.SIGKILL)
    remove_if_left(name)
    os.close(listening)
    os.close(ready)


def test_a_ring_that_is_not_alike_is_replaced_and_its_readers_are_told(name):
    child = fork(write_on, name, 4, 0.0)
    with stream.attach(name, timeout=10) as reader:
        reader.receive(PATIENCE).release()
        kill(child)
        assert ended(child) == -signal.SIGKILL
        with stream.create(name, 4, 8192) as writer, stream.attach(name) as other:
            fill(writer, 0)
            assert (other.receive(1).epoch, writer.epoch) == (0, 0)
            with pytest.raises(stream.WriterDied):
                for block in reader:
                    check(block)
            with pytest.raises(stream.RingGone, match="replaced"):
                reader.wait_for_writer(10)


def test_a_closed_ring_that_is_still_read_gives_its_name_to_the_next(name):
    with stream.create(name, 4, 4096) as first, stream.attach(name) as reader:
        fill(first, 0)
        first.close()
        with stream.create(name, 4, 4096) as second, stream.attach(name) as other:
            fill(second, 0)
            check(other.receive(1))
            check(reader.receive(1))
            with pytest.raises(stream.EndOfStream):
                reader.receive(1)
            reader.close()
            assert names.path_of(name).exists()


def test_a_killed_writer_without_readers_leaves_a_stale_ring_that_the_next_replaces(name):
    def lone() -> None:
        writer = stream.create(name, 4, 4096)
        writer.acquire()
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended(fork(lone)) == -signal.SIGKILL
    assert ring(name).stale
    with pytest.raises(stream.RingGone):
        stream.attach(name, timeout=0)
    with stream.create(name, 4, 4096) as writer:
        assert ring(name).state == "open" and writer.epoch == 0


def test_readers_that_died_with_their_writer_leave_a_stale_ring_that_can_be_removed(name):
    writer = fork(write_on, name, 4, 0.0)
    reader = fork(read, name, "block", None)
    time.sleep(0.1)
    kill(writer)
    kill(reader)
    assert (ended(writer), ended(reader)) == (-signal.SIGKILL, -signal.SIGKILL)
    one = ring(name)
    assert one.stale
    remove(one)
    assert not names.path_of(name).exists()


def test_a_ring_with_someone_alive_cannot_be_removed(name):
    with stream.create(name, 2, 64) as writer:
        with pytest.raises(stream.RingInUse):
            remove(ring(name))
        with stream.attach(name):
            writer.close()
            assert ring(name).state == "closed"
            with pytest.raises(stream.RingInUse):
                remove(ring(name))


def test_a_stopped_process_is_alive(name):
    with stream.create(name, 2, 4096) as writer:
        child = fork(read, name, "block", None, 0.0)
        writer.wait_for_readers(1, 10)
        os.kill(child, signal.SIGSTOP)
        with pytest.raises(stream.TimedOut):
            for seq in range(4):
                fill(writer, seq, timeout=0.3)
        assert writer.readers == 1
        os.kill(child, signal.SIGCONT)
        writer.acquire(10)
        writer.abandon()
    assert ended(child) == 0


def test_a_machine_without_room_for_a_ring_is_no_wrong_input(name):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(stream.StreamError, match="no ring can be made") as refused:
            stream.create(name, blocks=4, block_bytes=4096)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.value.exit_code == 4
