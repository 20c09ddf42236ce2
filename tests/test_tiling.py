"""The choice of tiles by the cost model: what fits the cache and is fastest."""

import dataclasses

import pytest

from nearfield.engines.cpu.heuristics import LEAST_DEPTH, SHARE_OF_CACHE
from nearfield.engines.cpu.tiling import (
    STEPWISE,
    Machine,
    Rows,
    Tiling,
    balance,
    choose_tiling,
    chunk,
    predicted_gain,
    predicted_rate,
    replay,
    seconds_per_cell,
    tile_costs,
)
from nearfield.entry.errors import ModelError

KIB, MIB = 2**10, 2**20
LARGEST = 10 * MIB  # of L3 in these tests, so that 200^3 lies in memory


def cube(cells: int, precision: str = "single") -> Rows:
    size = 4 if precision == "single" else 8
    return Rows(cells, cells, cells, 6 * size * 16 * (-(-cells // 16) + 2), precision)


def machine(threads: int = 2, l2: int = 2 * MIB, **entries) -> Machine:
    given = {"l1": 48 * KIB, "l3": LARGEST, "memory_rate": 17e9 * threads}
    return Machine(threads, l2=l2, **given | entries)


@pytest.mark.parametrize("cache", [MIB // 4, MIB // 2, MIB, 2 * MIB])
@pytest.mark.parametrize("cells", [8, 16, 32, 64, 200, 400, 700])
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_chosen_tiles_fit_the_cache_or_are_the_smallest(cells, cache, threads):
    tiling = choose_tiling(cube(cells), machine(threads, cache))
    assert tiling.depth >= LEAST_DEPTH and tiling.segment == 0
    smallest = tiling.depth == LEAST_DEPTH and tiling.width <= 6
    assert tiling.footprint(cube(cells)) <= SHARE_OF_CACHE * cache or smallest


@pytest.mark.parametrize("cells", [200, 300, 400])
def test_large_domains_move_at_most_half_and_gain(cells):
    rows = cube(cells)
    for cache in (MIB // 2, MIB, 2 * MIB):
        tiling = choose_tiling(rows, machine(2, cache))
        assert tiling.traffic <= 0.5 and predicted_gain(tiling, rows, machine(2, cache)) > 1.3


def test_a_smaller_cache_takes_narrower_tiles():
    small, large = (choose_tiling(cube(200), machine(2, cache)) for cache in (MIB // 2, 2 * MIB))
    assert small.footprint(cube(200)) < large.footprint(cube(200)) and small.traffic > large.traffic


def test_double_precision_takes_smaller_tiles_than_single():
    double, single = (choose_tiling(cube(200, name), machine()) for name in ("double", "single"))
    assert double.traffic > single.traffic


@pytest.mark.parametrize(("cells", "threads"), [(64, 1), (64, 2), (200, 2), (200, 8), (400, 32)])
def test_the_choice_is_as_fast_by_the_model_as_any_other(cells, threads):
    rows, here = cube(cells), machine(threads)
    best = predicted_rate(choose_tiling(rows, here), rows, here)
    for depth in (4, 8, 16):
        for width in (4, 8, 16, 32):
            other = Tiling(depth, width)
            if other.footprint(rows) <= SHARE_OF_CACHE * here.l2:
                assert predicted_rate(other, rows, here) <= best


@pytest.mark.parametrize("cells", [8, 16, 24, 32])
def test_small_domains_on_one_thread_lose_little_by_tiles(cells):
    """A domain that stays in L2 has nothing to gain; the tile must not lean out of it so far that it loses."""
    assert predicted_gain(choose_tiling(cube(cells), machine(1)), cube(cells), machine(1)) > 0.9


def test_threads_are_kept_busy_where_there_are_rows_enough():
    for threads in (1, 2, 8, 16):
        assert balance(choose_tiling(cube(400), machine(threads)), cube(400), threads) > 0.9


def test_every_level_that_is_slower_costs_time():
    rows, tiling = cube(200), Tiling(8, 16)
    usual = seconds_per_cell(tiling, rows, machine())
    assert seconds_per_cell(tiling, rows, machine(memory_rate=10e9)) > usual  # 5e9 a thread
    assert seconds_per_cell(tiling, rows, machine(l3=2**30)) < usual
    assert seconds_per_cell(tiling, rows, machine(l2=MIB // 4)) > usual  # the tile spills
    assert seconds_per_cell(tiling, rows, machine(l1=8 * KIB)) > usual  # a row leaves L1 between two steps
    assert seconds_per_cell(tiling, rows, machine(isa="baseline")) > usual
    assert seconds_per_cell(tiling, dataclasses.replace(rows, cpml=0.1), machine()) > usual


def test_tiles_are_for_most_rows_unless_the_others_keep_much():
    def dispersive(kept: int, full: float) -> Rows:
        return dataclasses.replace(cube(200), record_bytes=5760 + round(full * kept), kept_bytes=kept, full=full)

    plain = choose_tiling(cube(200), machine())
    assert choose_tiling(dispersive(2304, 0.2), machine()) == plain
    for rows in (dispersive(2304, 1.0), dispersive(20000, 0.2)):
        assert choose_tiling(rows, machine()).footprint(cube(200)) < plain.footprint(cube(200))
    (part, full), (rest, empty) = dispersive(2304, 0.2).kinds()
    assert (part, full.record_bytes, rest, empty) == (0.2, 5760 + 2304, 0.8, cube(200))
    for tiling in (Tiling(8, 16), STEPWISE):
        costs = [seconds_per_cell(tiling, dispersive(2304, share), machine()) for share in (0.0, 0.2, 1.0)]
        assert costs == sorted(costs) and costs[0] < costs[2]


def test_segments_shorten_the_rows_at_hand_but_not_the_tile():
    rows = cube(700)  # 44 blocks and two of padding
    assert rows.segment_bytes(0) == rows.segment_bytes(44) == rows.segment_bytes(100) == rows.record_bytes
    assert rows.segment_bytes(11) == rows.record_bytes // 4
    assert Tiling(8, 16, 11).footprint(rows) == Tiling(8, 16).footprint(rows)


def test_stepwise_moves_every_field_once_a_step():
    assert STEPWISE.traffic == 1.0 and cube(64).moved_bytes == 48 and cube(64, "double").moved_bytes == 96


@pytest.mark.parametrize(
    ("text", "tiling"),
    [("8x16", Tiling(8, 16)), ("1x1", Tiling(1, 1)), ("4x6x12", Tiling(4, 6, 12)), ("8x16x0", Tiling(8, 16))],
)
def test_tiles_are_read_as_they_are_written(text, tiling):
    assert Tiling.of(text) == tiling == Tiling.of(tiling) == Tiling.of(str(tiling))


@pytest.mark.parametrize("text", ["", "8", "8x", "x8", "0x8", "8x0", "-8x4", "8x4x2x1", "8 x 4", "8x1e3", "9999999x4"])
def test_what_is_no_tiling_is_refused(text):
    with pytest.raises(ModelError, match="DEPTHxWIDTH"):
        Tiling.of(text)


@pytest.mark.parametrize("threads, least", [(1, 1.0), (2, 0.97), (8, 0.95), (32, 0.8), (64, 0.7), (128, 0.5)])
def test_bands_keep_many_threads_busy_without_a_barrier(threads, least):
    assert replay(400, 400, choose_tiling(cube(400), machine(threads)), 100, threads) >= least


@pytest.mark.parametrize("tiling", [Tiling(4, 6), Tiling(5, 3), Tiling(12, 40), Tiling(7, 1)])
@pytest.mark.parametrize("shape", [(20, 8), (3, 30), (1, 1), (9, 16)])
def test_the_bands_of_a_time_block_make_every_row_once_a_step(shape, tiling):
    costs = tile_costs(*shape, tiling)
    positions, rows = shape[0] + tiling.depth, shape[1] + tiling.depth
    assert costs.shape == (-(-rows // tiling.width), -(-positions // chunk(shape[0])))
    assert costs.min() >= 0 and costs.sum() == shape[0] * shape[1] * tiling.depth


def test_replaying_two_bands_that_wait_for_each_other_loses_the_start():
    """One time block of 4 steps: the second band follows one position behind the first.

    Rows of the bands in the four steps: 6, 5, 4, 3 and 2, 3, 4, 5; two planes, of which a step has one at most at a
    position, the first step at positions 0 and 1, the next at 1 and 2, and so on.
    """
    costs = tile_costs(2, 8, Tiling(4, 6))
    assert costs.tolist() == [[6, 6 + 5, 5 + 4, 4 + 3, 3, 0], [2, 2 + 3, 3 + 4, 4 + 5, 5, 0]]
    first, second = costs.tolist()
    end = 0
    for position, cost in enumerate(second):
        end = max(end, sum(first[: position + 1])) + cost
    assert replay(2, 8, Tiling(4, 6), 4, 2) == costs.sum() / (2 * end)
