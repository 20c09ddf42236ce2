// Regions of rows, their turns on rings, and the tiles they are cut into (core/cpu/region.hpp, turns.hpp,
// time_blocks.hpp).
#include "region.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "step_counts.hpp"
#include "time_blocks.hpp"
#include "turns.hpp"

using namespace nearfield;

namespace {

const Layout layout{12, 9, 16, {}};
constexpr Seam ring{true, 1, 0, -1}, open{};

// Makes all rows of a region in steps [0, steps): every read is checked by the counts, as in a debug build.
void make(StepCounts& counts, const Region& region, const Seams& seams, long steps, long reach) {
    for (long n = 0; n < steps; ++n) {
        const StepRows rows = StepRows::of(region, layout, seams, n);
        const Blocks whole{0, layout.blocks};
        for (const int half : {0, 1})
            for (long i = rows.a[half].first; i < rows.a[half].last; ++i)  // along a ring perhaps past the last one
                for (long j = rows.b[half].first; j < rows.b[half].last; ++j) {
                    if (half)
                        counts.magnetic(i % layout.na, j % layout.nb, whole, n + 1);
                    else
                        counts.electric(i % layout.na, j % layout.nb, whole, n + 1, reach);
                }
    }
}

// Throws unless all rows stand after so many steps: a next step of the whole reads every one of them.
void check_all_made(StepCounts& counts, const Seams& seams, long steps) {
    const StepRows all = StepRows::of(Region::whole(layout), layout, seams, 0);
    const Blocks whole{0, layout.blocks};
    for (long i = 0; i < layout.na; ++i)
        for (long j = 0; j < layout.nb; ++j) {
            REQUIRE(all.holds_stored(0, i, j, layout));
            counts.electric(i, j, whole, steps + 1, 1);
        }
    for (long i = 0; i < layout.na; ++i)
        for (long j = 0; j < layout.nb; ++j) counts.magnetic(i, j, whole, steps + 1);
}

}  // namespace

TEST_CASE("a region that shrinks leaves just what the one beside it finds") {
    const Seams seams{open, open, open};
    for (const int reach : {1, 2})
        for (const long at : {4L, 8L}) {
            const long steps = 3;
            Region low = Region::whole(layout), high = low;
            low.high[0] = high.low[0] = {at, -reach};
            StepCounts counts(layout, seams);
            counts.reset(0);
            CHECK_NOTHROW(make(counts, low, seams, steps, reach));
            CHECK_NOTHROW(make(counts, high, seams, steps, reach));
            CHECK_NOTHROW(check_all_made(counts, seams, steps));
        }
}

TEST_CASE("the region that grows cannot be made first") {
    const Seams seams{open, open, open};
    Region high = Region::whole(layout);
    high.low[0] = {6, -1};
    StepCounts counts(layout, seams);
    counts.reset(0);
    CHECK_THROWS(make(counts, high, seams, 2, 1));
}

TEST_CASE("turns around rings make every row once a step, from rows that are made") {
    const Seams cases[] = {{ring, open, open}, {open, ring, open}, {ring, ring, open}};
    for (const Seams& seams : cases)
        for (const long reach : {1L, 2L}) {
            const long steps = deepest({100, 16}, layout, seams, reach);
            StepCounts counts(layout, seams);
            counts.reset(0);
            const auto turns = turns_of(Region::whole(layout), layout, seams, reach, 0);
            CHECK(turns.size() == (seams[0].closed && seams[1].closed ? 4 : 2));
            for (const Region& turn : turns) CHECK_NOTHROW(make(counts, turn, seams, steps, reach));
            CHECK_NOTHROW(check_all_made(counts, seams, steps));
        }
}

TEST_CASE("turns that are too deep meet") {
    const Seams seams{ring, open, open};
    const long steps = deepest({100, 16}, layout, seams, 1) + 1;
    StepCounts counts(layout, seams);
    counts.reset(0);
    const auto all = [&] {
        for (const Region& turn : turns_of(Region::whole(layout), layout, seams, 1, 0))
            make(counts, turn, seams, steps, 1);
        check_all_made(counts, seams, steps);
    };
    CHECK_THROWS(all());
}

TEST_CASE("a single row and a ring with a gap need no turns") {
    CHECK_FALSE(makes_turns({1, 9, 16, {}}, {ring, open, open}));
    CHECK_FALSE(makes_turns(layout, {Seam{true, 1, 0, 3}, open, open}));
    CHECK(makes_turns(layout, {open, ring, open}));
}

TEST_CASE("time blocks cut every step once, and their bands and positions hold all its rows") {
    const Seams seams{open, open, open};
    const Cuts cuts{{0, 5, 12}, {0, 4, 9}, {0, 1}};
    const long steps = 11;
    std::vector<StepRows> rows;
    Region region = Region::whole(layout);
    region.high[1] = {9, -1}, region.low[0] = {2, 0};
    for (long n = 0; n < steps; ++n) rows.push_back(StepRows::of(region, layout, seams, n));
    for (const long depth : {1L, 4L, 20L})
        for (const long width : {1L, 3L, 16L}) {
            TimeBlocks blocks(layout, seams, cuts);
            blocks.cut(0, steps, rows, {depth, width}, 1);
            long next = 0, bands = 0;
            for (const TimeBlock& block : blocks.all()) {
                CHECK(block.begun == next);
                CHECK(block.depth <= depth);
                CHECK(block.first_id == bands);
                next += block.depth, bands += block.bands;
                for (long tau = 0; tau < block.depth; ++tau) {
                    const StepRows& made = rows[block.begun + tau];
                    CHECK(made.meets_b.first + tau >= block.row);
                    CHECK(made.meets_b.last + tau <= block.row + block.bands * width);
                    CHECK(made.meets_a.first + tau >= block.from);
                    CHECK(made.meets_a.last + tau <= block.to);
                }
            }
            CHECK(next == steps);
            CHECK(blocks.bands() == bands);
        }
}

TEST_CASE("domains share bands and positions without gap or overlap") {
    const Seams seams{open, open, open};
    const Cuts cuts{{0, 5, 12}, {0, 2, 4, 9}, {0, 1}};
    const std::vector<StepRows> rows(8, StepRows::of(Region::whole(layout), layout, seams, 0));
    for (const long width : {1L, 2L, 16L}) {
        TimeBlocks blocks(layout, seams, cuts);
        blocks.cut(0, 8, rows, {4, width}, 1);
        for (const TimeBlock& block : blocks.all()) {
            CHECK(blocks.bands_of(block, 0).first == 0);
            for (long b = 0; b + 1 < cuts.along_b(); ++b)
                CHECK(blocks.bands_of(block, b).last == blocks.bands_of(block, b + 1).first);
            CHECK(blocks.bands_of(block, cuts.along_b() - 1).last == block.bands);
            CHECK(blocks.positions_of(block, 0).first == block.from);
            CHECK(blocks.positions_of(block, 0).last == blocks.positions_of(block, 1).first);
            CHECK(blocks.positions_of(block, 1).last == block.to);
        }
    }
}
