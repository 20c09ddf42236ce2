// The tiles of both half steps: no tile lies partly in a slab of the CPML.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "layout.hpp"
#include "plan.h"

namespace nearfield::cuda {

// `is_unit(axis, first, last)`: whether the inverse lengths of these samples are exactly 1, in both half steps.
template <class IsUnit>
std::vector<Tile> tiles_of(const Layout& l, const IsUnit& is_unit) {
    constexpr long most = 8;  // rows and blocks of a tile
    const std::array<long, 4> rows{0, l.slab[1].low, l.nb - l.slab[1].high, l.nb};
    const std::array<long, 4> blocks{0, l.c_low, l.c_high, l.blocks};
    std::vector<Tile> tiles;
    for (long i = 0; i < l.na; ++i) {
        const int a_slab = l.slab[0].holds(i, l.na) ? int(l.slab[0].index(i, l.na)) : -1;
        for (int b = 0; b < 3; ++b)
            for (long j = rows[b]; j < rows[b + 1]; j += most)
                for (int c = 0; c < 3; ++c)
                    for (long k = blocks[c]; k < blocks[c + 1]; k += most) {
                        const long j_end = std::min(rows[b + 1], j + most), k_end = std::min(blocks[c + 1], k + most);
                        const bool unit = (a_slab >= 0 || is_unit(0, i, i + 1)) && (b != 1 || is_unit(1, j, j_end)) &&
                                          (c != 1 || is_unit(2, lanes * k, std::min(l.nc, lanes * k_end)));
                        tiles.push_back({int(i), int(j), int(k), int(j_end - j), int(k_end - k), a_slab,
                                         b == 1 ? -1 : int(l.slab[1].index(j, l.nb)), c != 1, unit});
                    }
    }
    return tiles;
}

}  // namespace nearfield::cuda
