// Which rows a run of steps makes, and how a block is shared out to domains.
//
// A region is a box of rows whose sides lean by -1, 0 or +1 row a step. Because H of a row reads E of the next row at
// the same step, and E reads H of the row before at the step before, a side that leans back (-1) ends H one row below
// E; one that leans forward (+1) ends both alike. Where E reads H of the next row too (`RowOperation::reach`), sides
// lean by two rows a step, and one that leans forward ends H one row above E. A region that shrinks leaves exactly what
// the region beside it, which grows into the room, must find; so the one that shrinks is made first.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "layout.hpp"

namespace nearfield {

// Along one axis: whether the last sample and the first are neighbours, and by which angle the fields turn from the
// first to the one past the last, where they have an imaginary part: F(n) = F(0) (cosine - j sine). A part of a ring
// closes at the seam alone: it has a gap, and its rows go from there over the seam to the row before.
struct Seam {
    bool closed = false;
    double cosine = 1, sine = 0;
    long gap = -1;  // the row before which it lies; -1: there is none

    // Whether tiles must make turns along an axis. A single row is its own neighbour, and as such never late.
    bool ring(long length) const { return closed && gap < 0 && length > 1; }
    // A row counted from the gap on, where there is one.
    long past_gap(long row, long length) const { return row < gap ? row + length : row; }
};
using Seams = std::array<Seam, 3>;

struct Side {
    long at = 0;   // of E at the first step of the block
    int lean = 0;  // rows a step
    long bound(int half, long step) const { return at + lean * step + half * (lean < 0 ? -1 : lean > 1); }
};

struct Region {  // along a and b
    std::array<Side, 2> low, high;
    static Region whole(const Layout& l) { return {{Side{}, Side{}}, {Side{l.na, 0}, Side{l.nb, 0}}}; }
};

struct Extent {  // [first, last)
    long first = 0, last = 0;
    bool holds(long n) const { return n >= first && n < last; }
};

// The rows of a region at one step.
struct StepRows {
    std::array<Extent, 2> a, b;  // by half step
    // Where a tile that makes E of row (i, j) together with H of row (i - 1, j - 1) meets any of them. Along a closed
    // axis rows go on past the last one, which is followed by the first.
    Extent meets_a, meets_b;

    bool holds(int half, long i, long j) const { return a[half].holds(i) && b[half].holds(j); }
    // Of a row as it is stored, whether it is met before the seams or past them.
    bool holds_stored(int half, long i, long j, const Layout& l) const {
        return (a[half].holds(i) || a[half].holds(i + l.na)) && (b[half].holds(j) || b[half].holds(j + l.nb));
    }
    static StepRows of(const Region& region, const Layout& l, const Seams& seams, long step) {
        StepRows rows;
        const long length[2] = {l.na, l.nb};
        for (int axis = 0; axis < 2; ++axis) {
            const long last = seams[axis].closed ? 2 * length[axis] : length[axis];
            const auto extent = [&](int half) {
                return Extent{std::clamp(region.low[axis].bound(half, step), 0L, last),
                              std::clamp(region.high[axis].bound(half, step), 0L, last)};
            };
            const Extent e = extent(0), h = extent(1);
            const Extent meets{std::min(e.first, h.first + 1), std::max(e.last, h.last + 1)};
            if (axis)
                rows.b = {e, h}, rows.meets_b = meets;
            else
                rows.a = {e, h}, rows.meets_a = meets;
        }
        return rows;
    }
};

// How a block is cut into domains: along a and b at rows, along c at blocks of 16 cells. First and last are the ends.
struct Cuts {
    std::vector<long> planes, rows, blocks;
    long count() const { return along_a() * along_b() * along_c(); }
    long along_a() const { return static_cast<long>(planes.size()) - 1; }
    long along_b() const { return static_cast<long>(rows.size()) - 1; }
    long along_c() const { return static_cast<long>(blocks.size()) - 1; }
};

// A thread's part in a domain (a, b, c): it is number `rank` of `count`.
struct Stint {
    long a, b, c, rank, count;
    long domain(const Cuts& cuts) const { return (a * cuts.along_b() + b) * cuts.along_c() + c; }
};

}  // namespace nearfield
