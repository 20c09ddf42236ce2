"""The choice of tiles: what fits the cache and moves least."""

import pytest

from nearfield.tiling import SHARE_OF_CACHE, STEPWISE, Tiling, choose_tiling, second_level_cache

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
