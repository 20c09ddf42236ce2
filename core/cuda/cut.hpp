// The domain cut by place: columns of tiles, which one pass over memory makes (sweep.cu), and the rest, whose half steps
// are made in the set of records that the pass writes. No bit depends on the cut.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "plan.h"

namespace nearfield::cuda {

struct Cut {
    std::vector<Column> columns, slabs;  // outside of the CPML, and in its slabs, whose E is made first
    // Tiles that are no plain ones, whose H the half step makes; those and what they read of E; what these read in turn.
    std::vector<Tile> magnetic, electric, carried;
    double moved = 0, moved_by_two = 0;  // numbers that a step of the cut moves, and one of two passes
};

// Axes in whose slabs a tile lies.
inline int slabs_of(const Tile& tile) { return (tile.a_slab >= 0) + (tile.b_slab >= 0) + (tile.c_slab != 0); }

// Numbers that both half steps of all tiles move, in blocks of cells: of fields, and of states of the CPML.
inline std::array<double, 2> moved_by_halves(const std::vector<Tile>& tiles) {
    std::array<double, 2> moved{};
    for (const Tile& tile : tiles) {
        const double size = double(tile.rows) * tile.blocks;
        moved[0] += 18 * size, moved[1] += 8 * slabs_of(tile) * size;
    }
    return moved;
}

// The tiles of `tiles_of`, which cuts every plane alike, and their neighbours.
class Tiling {
public:
    Tiling(const Layout& l, const std::vector<Tile>& tiles)
        : tiles(tiles), planes(l.na), count(long(tiles.size()) / l.na) {
        for (long m = 0; m < count; ++m) at_[{tiles[m].j, tiles[m].k}] = m;
    }
    // The tile after one along an axis; -1 where the domain ends.
    long after(long t, int axis) const {
        if (axis == 0) return t + count < planes * count ? t + count : -1;
        const Tile& tile = tiles[t % count];
        const auto found =
            at_.find(axis == 1 ? std::pair(tile.j + tile.rows, tile.k) : std::pair(tile.j, tile.k + tile.blocks));
        return found == at_.end() ? -1 : t / count * count + found->second;
    }
    const std::vector<Tile>& tiles;
    const long planes, count;  // tiles of a plane

private:
    std::map<std::pair<int, int>, long> at_;  // by row and block
};

// Columns of the plain tiles in slabs, or of those outside; what slabs have made of E is ready for the others.
inline std::vector<Column> columns_of(const Tiling& tiling, const std::vector<bool>& plain, bool in_slabs) {
    constexpr int longest = 32;  // planes of a column: one more is made twice
    const std::vector<Tile>& tiles = tiling.tiles;
    std::vector<Column> columns;
    for (long m = 0; m < tiling.count; ++m) {
        bool open = false;  // whether the last column may go on
        for (long i = 0; i < tiling.planes; ++i) {
            const long t = i * tiling.count + m;
            const Tile& tile = tiles[t];
            if (!plain[t] || (slabs_of(tile) > 0) != in_slabs) {
                open = false;
                continue;
            }
            Column one{tile.i, tile.j, tile.k, 1, tile.rows, tile.blocks, tile.unit, 0, 0, 0};
            short* const given[3] = {&one.a_given, &one.b_given, &one.c_given};
            for (int axis = 0; axis < 3; ++axis) {
                const long next = tiling.after(t, axis);
                *given[axis] = next < 0 || !plain[next] || (!in_slabs && slabs_of(tiles[next]));
                if (!*given[axis]) one.unit = one.unit && tiles[next].unit;
            }
            if (open && columns.back().planes < longest && columns.back().unit == one.unit &&
                columns.back().b_given == one.b_given && columns.back().c_given == one.c_given) {
                ++columns.back().planes, columns.back().a_given = one.a_given;
                continue;
            }
            columns.push_back(one);
            open = true;
        }
    }
    return columns;
}

// `plain`: of each tile, whether nothing but the update happens in it.
inline Cut cut_by_place(const Layout& l, const std::vector<Tile>& tiles, const std::vector<bool>& plain) {
    const Tiling tiling(l, tiles);
    std::vector<bool> electric(tiles.size()), carried(tiles.size());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        if (plain[t]) continue;
        electric[t] = true;
        for (int axis = 0; axis < 3; ++axis)
            if (const long next = tiling.after(t, axis); next >= 0) electric[next] = true;
    }
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        carried[t] = carried[t] || electric[t];
        for (int axis = 0; axis < 3; ++axis)
            if (const long next = tiling.after(t, axis); next >= 0 && electric[next]) carried[t] = true;
    }
    Cut cut{columns_of(tiling, plain, false), columns_of(tiling, plain, true), {}, {}, {}};
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const double size = double(tiles[t].rows) * tiles[t].blocks;
        const double half = size * (9 + 4 * slabs_of(tiles[t])), all = size * (12 + 8 * slabs_of(tiles[t]));
        cut.moved_by_two += 2 * half;
        cut.moved += all * (int(plain[t]) + int(carried[t])) + half * (int(electric[t]) + int(!plain[t]));
        if (!plain[t]) cut.magnetic.push_back(tiles[t]);
        if (electric[t]) cut.electric.push_back(tiles[t]);
        if (carried[t]) cut.carried.push_back(tiles[t]);
    }
    for (const auto* columns : {&cut.columns, &cut.slabs})  // the plane past each is read too; rows lie in the caches
        for (const Column& each : *columns) cut.moved += 6.0 * each.rows * each.blocks;
    return cut;
}

}  // namespace nearfield::cuda
