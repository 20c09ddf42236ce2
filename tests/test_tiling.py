"""The choice of tiles: what fits the cache and moves least."""

import pytest

from nearfield.tiling import SHARE_OF_CACHE, STEPWISE, Tiling, choose_tiling, replay, second_level_cache

MIB = 2**20


@pytest.mark.parametrize("cache", [MIB // 4, MIB // 2, MIB, 2 * MIB])
@pytest.mark.parametrize("cells", [32, 64, 200, 400, 700])
def test_chosen_tiles_fit_the_cache_and_move_at_most_half(cells, cache):
    record = 6 * 4 * 16 * (-(-cells // 16) + 2)
    tiling = choose_tiling(record, cells, 2, cache)
    assert tiling.depth >= 4 and tiling.traffic <= 0.5
    assert tiling.footprint(record) <= SHARE_OF_CACHE * cache or tiling == Tiling(4, 4)


def test_a_smaller_cache_takes_narrower_tiles():
    record = 6 * 4 * 16 * 15
    small, large = (choose_tiling(record, 200, 2, cache) for cache in (MIB // 2, 2 * MIB))
    assert small.footprint(record) < large.footprint(record) and small.traffic > large.traffic


def test_every_thread_has_two_bands_where_there_are_rows_enough():
    for threads in (1, 2, 8, 16):
        assert 400 / choose_tiling(5760, 400, threads, 2 * MIB).width >= 2 * threads


def test_stepwise_moves_every_field_once_a_step():
    assert STEPWISE.traffic == 1.0


def test_this_machine_tells_its_cache():
    assert 64 * 1024 <= second_level_cache() <= 64 * MIB


@pytest.mark.parametrize("threads, least", [(1, 1.0), (2, 0.99), (8, 0.98), (32, 0.8), (64, 0.7), (128, 0.5)])
def test_bands_keep_many_threads_busy_without_a_barrier(threads, least):
    record = 6 * 4 * 16 * (400 // 16 + 2)
    assert replay(400, 400, choose_tiling(record, 400, threads, 2 * MIB), 100, threads) >= least


def test_replaying_two_equal_bands_that_wait_for_each_other_loses_the_start():
    # one time block of two bands: the second follows one chunk behind, and the work of either is 3 chunks
    assert replay(20, 8, Tiling(4, 6), 4, 2) == 6 / (2 * 4)
