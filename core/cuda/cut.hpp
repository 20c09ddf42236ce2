// The domain cut by place for one step or two in one pass (sweep.h): prisms of what nothing reaches within them but the
// update outside of the CPML, prisms of what one slab of it reaches too, and the rest, whose half steps are made in the
// set of records that the pass writes. No bit depends on the cut.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "tiles.hpp"

namespace nearfield::cuda {

struct Prisms {
    std::vector<Prism> list;
    // Numbers that a step moves between memory and caches, in blocks of cells; sides are read twice from the caches.
    double moved = 0;
    double busy = 1;  // part of a card that makes prisms until the last of them has ended, by estimate
};

struct Cut {
    Prisms plain, in_slabs;
    // Of the rest, by half step; each shrinks towards what is not in prisms. What the first of them reads is carried.
    std::vector<std::vector<Tile>> halves;
    std::vector<Tile> carried;
    double by_halves = 0;  // as `Prisms::moved`, of the rest

    bool empty() const { return plain.list.empty() && in_slabs.list.empty(); }
    double moved() const { return plain.moved + in_slabs.moved + by_halves; }
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

// A set of blocks of 16 cells: by plane, row and block.
struct Places {
    Places(long planes, long rows, long blocks)
        : planes(planes), rows(rows), blocks(blocks), has(planes * rows * blocks, 0) {}
    long at(long i, long j, long block) const { return (i * rows + j) * blocks + block; }
    void add(long first, long count) { std::fill_n(has.begin() + first, count, 1); }
    void add(const Places& other) {
        for (std::size_t n = 0; n < has.size(); ++n) has[n] |= other.has[n];
    }
    Places others() const {
        Places found = *this;
        for (unsigned char& each : found.has) each = !each;
        return found;
    }

    long planes, rows, blocks;
    std::vector<unsigned char> has;
};

// A set with all neighbours after, or before, its members along each axis.
inline Places grown(const Places& set, bool upwards) {
    Places all = set;
    const auto add = [&](long from, long to, long count) {
        for (long n = 0; n < count; ++n) all.has[to + n] |= set.has[from + n];
    };
    const long row = set.blocks, plane = set.rows * row;
    const long up = upwards ? 1 : 0, down = 1 - up;
    add(down * plane, up * plane, (set.planes - 1) * plane);
    for (long i = 0; i < set.planes; ++i) add(i * plane + down * row, i * plane + up * row, plane - row);
    for (long r = 0; r < set.planes * set.rows; ++r) add(r * row + down, r * row + up, row - 1);
    return all;
}

// Parts of tiles that hold all of a set, those of a column of blocks joined where one block of threads can make them.
inline std::vector<Tile> tiles_within(const std::vector<Tile>& tiles, const Places& set) {
    std::vector<Tile> found;
    std::map<std::array<int, 3>, std::size_t> last;  // by plane, first block and blocks
    const auto add = [&](const Tile& tile) {
        const auto [known, fresh] = last.try_emplace({tile.i, tile.k, tile.blocks}, found.size());
        if (!fresh) {
            Tile& above = found[known->second];
            if (above.j + above.rows == tile.j && above.rows + tile.rows <= most_rows(tile.blocks) &&
                above.c_slab == tile.c_slab && above.unit == tile.unit &&
                tile.b_slab == (above.b_slab < 0 ? above.b_slab : above.b_slab + above.rows)) {
                above.rows += tile.rows;
                return;
            }
            known->second = found.size();
        }
        found.push_back(tile);
    };
    for (const Tile& tile : tiles) {
        int j = tile.rows, j_end = 0, k = tile.blocks, k_end = 0;
        for (int y = 0; y < tile.rows; ++y)
            for (int x = 0; x < tile.blocks; ++x)
                if (set.has[set.at(tile.i, tile.j + y, tile.k + x)])
                    j = std::min(j, y), j_end = y + 1, k = std::min(k, x), k_end = std::max(k_end, x + 1);
        Tile part = tile;
        part.j += j, part.rows = j_end - j;
        if (tile.b_slab >= 0) part.b_slab += j;
        if (!j_end) continue;
        for (const Columns& each : columns_of(tile.k + k, tile.k + k_end)) {
            part.k = int(each.first), part.blocks = int(each.count);
            add(part);
        }
    }
    return found;
}

struct Rectangle {  // of a plane's samples
    long j, j_end, k, k_end;
    auto operator<=>(const Rectangle&) const = default;
};

// What of plane i is not in a set, as rectangles that do not meet.
inline std::vector<Rectangle> rectangles_outside(const Places& set, long i) {
    std::vector<Rectangle> runs, made;
    for (long j = 0; j < set.rows; ++j)
        for (long k = 0; k < set.blocks; ++k) {
            if (set.has[set.at(i, j, k)]) continue;
            if (!runs.empty() && runs.back().j == j && runs.back().k_end == lanes * k)
                runs.back().k_end += lanes;
            else
                runs.push_back({j, j + 1, lanes * k, lanes * (k + 1)});
        }
    for (const Rectangle& run : runs) {
        const auto on_top = std::find_if(made.begin(), made.end(), [&](const Rectangle& each) {
            return each.j_end == run.j && each.k == run.k && each.k_end == run.k_end;
        });
        if (on_top == made.end())
            made.push_back(run);
        else
            on_top->j_end = run.j_end;
    }
    return made;
}

struct Part {  // of an axis: what is made begins at `origin`, what is stored of it lies in [first, last)
    long origin, first, last;
};

// [first, last) of an axis of so many samples in parts of prisms, `margin` short at each side that is not the domain's.
inline std::vector<Part> parts_of(long first, long last, long samples, long most, long margin) {
    std::vector<Part> parts;
    while (first < last) {
        const long origin = std::max(0L, first - margin), known = origin + most;
        const long end = std::min(last, known >= samples ? samples : known - margin);
        parts.push_back({origin, first, end});
        first = end;
    }
    return parts;
}

// Planes [i, i_end) of a rectangle in prisms of at most `longest` planes, for a pass of some steps. Adds what they move.
inline void add_prisms(const Layout& l, const Rectangle& r, long i, long i_end, long longest, bool unit, long steps,
                       Prisms& prisms) {
    constexpr long four = 4;  // cells go in fours
    const long cells = lanes * l.blocks;
    for (long first = i; first < i_end; first += longest)
        for (const Part& b : parts_of(r.j, r.j_end, l.nb, rows_of_prism, steps))
            for (const Part& c : parts_of(r.k, r.k_end, cells, cells_of_prism, four)) {
                const long planes = std::min(longest, i_end - first);
                prisms.list.push_back({int(first), int(b.first), int(c.first), int(planes), int(b.last - b.first),
                                       int(c.last - c.first), int(b.origin), int(c.origin), unit});
                const double columns = double(b.last - b.first) * (c.last - c.first);
                prisms.moved += 6 * columns * (2 * planes + 2 * steps) / lanes / steps;
            }
}

// Prisms of all that is not in a set. `at_once`: prisms that a card makes at once; the last of them ought not to be made
// while most of the card is idle.
inline Prisms prisms_outside(const Layout& l, const Places& set, bool unit, long steps, long at_once) {
    std::vector<std::pair<Rectangle, std::array<long, 2>>> boxes;
    std::map<Rectangle, long> open;
    for (long i = 0; i <= set.planes; ++i) {
        std::map<Rectangle, long> now;
        if (i < set.planes)
            for (const Rectangle& each : rectangles_outside(set, i)) now[each] = open.contains(each) ? open[each] : i;
        for (const auto& [each, first] : open)
            if (!now.contains(each)) boxes.push_back({each, {first, i}});
        open = std::move(now);
    }
    Prisms found;
    double least = 0;
    for (const long longest : {planes_of_prism, 112, 96, 80, 64, 56, 48, 40, 32, 24, 16}) {
        Prisms tried;
        for (const auto& [each, ends] : boxes) add_prisms(l, each, ends[0], ends[1], longest, unit, steps, tried);
        double all = 0, most = 0;  // positions
        for (const Prism& each : tried.list) {
            all += each.planes + 2 * steps;
            most = std::max(most, double(each.planes + 2 * steps));
        }
        const double shared = all / double(at_once), time = std::max(shared, most) + most / 2;
        if (least && time >= least) continue;
        least = time;
        found = std::move(tried);
        found.busy = time > 0 ? shared / time : 1;
    }
    return found;
}

// Blocks of the domain in at least so many slabs of the CPML.
inline Places slabs_of(const Layout& l, int least) {
    Places set(l.na, l.nb, l.blocks);
    for (long i = 0; i < l.na; ++i)
        for (long j = 0; j < l.nb; ++j) {
            const int across = l.slab[0].holds(i, l.na) + l.slab[1].holds(j, l.nb);
            if (across + 1 < least) continue;
            const bool whole = across >= least;
            set.add(set.at(i, j, 0), whole ? l.blocks : l.c_low);
            set.add(set.at(i, j, l.c_high), l.blocks - l.c_high);
        }
    return set;
}

// All of what acts somewhere, as far as it is felt in so many steps: H reads E after it, E reads H before it.
inline Places felt(Places set, long steps) {
    for (long n = 1; n < 2 * steps; ++n) set = grown(set, n % 2 == 0);
    return set;
}

struct Pass {
    long steps;
    long at_once;           // prisms that a card makes at once outside of the CPML; as in `prisms_outside`
    long at_once_in_slabs;  // in one slab of it; 0: these are of the rest
};

// For a pass. `tiles`: of both half steps; `acts`: where more than the update and the CPML happens.
inline Cut cut_by_place(const Layout& l, const std::vector<Tile>& tiles, const Places& acts, const Pass& pass) {
    const bool unit = std::all_of(tiles.begin(), tiles.end(), [](const Tile& each) { return each.unit; });
    const long steps = pass.steps;
    Places rest = acts;
    rest.add(slabs_of(l, pass.at_once_in_slabs ? 2 : 1));
    rest = felt(std::move(rest), steps);
    Cut cut;
    Places not_plain = rest;
    if (pass.at_once_in_slabs) {
        const Places within = slabs_of(l, 1), slabs = felt(within, steps);
        not_plain.add(slabs);
        Places others = slabs.others();
        others.add(rest);
        cut.in_slabs = prisms_outside(l, others, false, steps, pass.at_once_in_slabs);
        for (std::size_t n = 0; n < within.has.size(); ++n)
            cut.in_slabs.moved += within.has[n] && !rest.has[n] ? 8.0 / double(steps) : 0;
    }
    cut.plain = prisms_outside(l, not_plain, unit, steps, pass.at_once);
    cut.halves.resize(2 * steps);
    for (long n = 2 * steps; n-- > 0;) {
        cut.halves[n] = tiles_within(tiles, rest);
        rest = grown(rest, n % 2 == 1);
    }
    cut.carried = tiles_within(tiles, rest);
    const auto count = [&](const std::vector<Tile>& list, int numbers, int of_slab) {
        for (const Tile& each : list)
            cut.by_halves += double(each.rows) * each.blocks * (numbers + of_slab * slabs_of(each)) / double(steps);
    };
    for (const auto& half : cut.halves) count(half, 9, 4);
    count(cut.carried, 12, 8);
    return cut;
}

}  // namespace nearfield::cuda
