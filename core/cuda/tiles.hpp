// The tiles of both half steps: no tile lies partly in a slab of the CPML.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "layout.hpp"
#include "plan.h"

namespace nearfield::cuda {

inline long most_rows(long blocks) { return threads_of_block >> threads_of_row(int(blocks)); }

struct Columns {  // of blocks: 8, 4, 2 or 1, so that no thread of their rows is idle
    long first, count;
};
inline std::vector<Columns> columns_of(long first, long last) {
    std::vector<Columns> columns;
    for (long count = 8; first < last; first += count) {
        while (count > last - first) count /= 2;
        columns.push_back({first, count});
    }
    return columns;
}

// `is_unit(axis, first, last)`: whether the inverse lengths of these samples are exactly 1, in both half steps.
template <class IsUnit>
std::vector<Tile> tiles_of(const Layout& l, const IsUnit& is_unit) {
    const std::array<long, 4> rows{0, l.slab[1].low, l.nb - l.slab[1].high, l.nb};
    const std::array<long, 4> blocks{0, l.c_low, l.c_high, l.blocks};
    std::vector<Tile> tiles;
    for (long i = 0; i < l.na; ++i) {
        const int a_slab = l.slab[0].holds(i, l.na) ? int(l.slab[0].index(i, l.na)) : -1;
        const auto add = [&](int b, int c, long j, const Columns& k) {
            const long j_end = std::min(rows[b + 1], j + most_rows(k.count)), k_end = k.first + k.count;
            const bool unit = (a_slab >= 0 || is_unit(0, i, i + 1)) && (b != 1 || is_unit(1, j, j_end)) &&
                              (c != 1 || is_unit(2, lanes * k.first, std::min(l.nc, lanes * k_end)));
            tiles.push_back({int(i), int(j), int(k.first), int(j_end - j), int(k.count), a_slab,
                             b == 1 ? -1 : int(l.slab[1].index(j, l.nb)), c != 1, unit});
        };
        for (int b = 0; b < 3; ++b)
            for (long width = 8; width > 0; width /= 2)  // all columns of a width row by row: they are near in memory
                for (long j = rows[b]; j < rows[b + 1]; j += most_rows(width))
                    for (int c = 0; c < 3; ++c)
                        for (const Columns& k : columns_of(blocks[c], blocks[c + 1]))
                            if (k.count == width) add(b, c, j, k);
    }
    return tiles;
}

}  // namespace nearfield::cuda
