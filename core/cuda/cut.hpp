// The domain cut by place: columns of plain tiles, which one pass over memory makes (sweep.cu), and the rest, whose half
// steps are made in the set of records that the pass writes. No bit depends on the cut.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "plan.h"

namespace nearfield::cuda {

struct Cut {
    std::vector<Column> columns;
    // Tiles that are no plain ones, whose H the half step makes; those and what they read of E; what these read in turn.
    std::vector<Tile> magnetic, electric, carried;
};

// `tiles`: all of `tiles_of`, which cuts every plane alike; `plain`: of each of them, whether nothing but the update
// happens in it.
inline Cut cut_by_place(const Layout& l, const std::vector<Tile>& tiles, const std::vector<bool>& plain) {
    constexpr int longest = 32;  // planes of a column: one more is made twice
    const long planes = l.na, count = long(tiles.size()) / planes;
    std::map<std::pair<int, int>, long> at;  // row and block to number in a plane
    for (long m = 0; m < count; ++m) at[{tiles[m].j, tiles[m].k}] = m;
    // The tile after one along an axis, or before it; -1 where the domain ends.
    const auto after = [&](long t, int axis) -> long {
        if (axis == 0) return t + count < planes * count ? t + count : -1;
        const Tile& tile = tiles[t % count];
        const auto found =
            at.find(axis == 1 ? std::pair(tile.j + tile.rows, tile.k) : std::pair(tile.j, tile.k + tile.blocks));
        return found == at.end() ? -1 : t / count * count + found->second;
    };
    std::vector<bool> electric(tiles.size()), carried(tiles.size());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        if (plain[t]) continue;
        electric[t] = true;
        for (int axis = 0; axis < 3; ++axis)
            if (const long next = after(t, axis); next >= 0) electric[next] = true;
    }
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        carried[t] = carried[t] || electric[t];
        for (int axis = 0; axis < 3; ++axis)
            if (const long next = after(t, axis); next >= 0 && electric[next]) carried[t] = true;
    }
    Cut cut;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        if (!plain[t]) cut.magnetic.push_back(tiles[t]);
        if (electric[t]) cut.electric.push_back(tiles[t]);
        if (carried[t]) cut.carried.push_back(tiles[t]);
    }
    for (long m = 0; m < count; ++m) {
        Column column{};
        for (long i = 0; i < planes; ++i) {
            const long t = i * count + m;
            if (!plain[t]) continue;
            const Tile& tile = tiles[t];
            Column one{tile.i, tile.j, tile.k, 1, tile.rows, tile.blocks, tile.unit, 0, 0, 0};
            short* const given[3] = {&one.a_given, &one.b_given, &one.c_given};
            for (int axis = 0; axis < 3; ++axis) {
                const long next = after(t, axis);
                *given[axis] = next < 0 || !plain[next];
                if (!*given[axis]) one.unit = one.unit && tiles[next].unit;
            }
            if (column.planes && column.planes < longest && column.i + column.planes == one.i &&
                column.unit == one.unit && column.b_given == one.b_given && column.c_given == one.c_given) {
                ++column.planes, column.a_given = one.a_given;
                continue;
            }
            if (column.planes) cut.columns.push_back(column);
            column = one;
        }
        if (column.planes) cut.columns.push_back(column);
    }
    return cut;
}

// Bytes that a step of the cut moves over those of two half steps; `plain`: cells in columns.
inline double moved_share(const Cut& cut) {
    const auto cells = [](const auto& pieces, const auto& planes) {
        double sum = 0;
        for (const auto& each : pieces) sum += double(planes(each)) * each.rows * each.blocks;
        return sum;
    };
    const auto one = [](const Tile&) { return 1; };
    const double plain = cells(cut.columns, [](const Column& c) { return c.planes; });
    const double rest = cells(cut.magnetic, one);
    const double moved = 12 * (plain + cells(cut.carried, one)) + 9 * (cells(cut.electric, one) + rest);
    return moved / (18 * (plain + rest));
}

}  // namespace nearfield::cuda
