// How a run of steps is cut into tiles: time blocks, bands of rows within them, and what domains make of these.
#pragma once

#include <vector>

#include "layout.hpp"
#include "region.hpp"

namespace nearfield {

// Time-skewed tiles: `depth` steps while a band of `width` rows a plane stays in cache; depth 0 means stepwise.
struct Tiling {
    long depth = 0, width = 16;
    long segment = 0;   // blocks of 16 cells that a row is updated in at a time; 0: whole rows
    bool fetch = true;  // the block does not fit the cache: rows are fetched before they are met
};

struct TimeBlock {  // steps [begun, begun + depth) of a run, and the tiles that make them
    long begun, depth;
    long row, bands;          // lowest row of band 0 at the first step; bands
    long from, to;            // positions of the sweep
    long first_id;            // of band 0, among the bands of all time blocks
    std::vector<long> turns;  // bands that each domain along b had before
};

class TimeBlocks {
public:
    TimeBlocks(const Layout& layout, const Seams& seams, const Cuts& cuts)
        : layout_(layout), seams_(seams), cuts_(cuts) {}

    // Cuts steps [first, last), which make `rows`, into time blocks of equal depth, and each of them into bands.
    // `reach`: rows by which they lean a step.
    void cut(long first, long last, const std::vector<StepRows>& rows, const Tiling& tiling, long reach);
    const std::vector<TimeBlock>& all() const { return all_; }
    long bands() const { return bands_; }  // of all time blocks
    // What a domain makes of a time block: bands and positions that lie within it half-way through the block's steps.
    Extent bands_of(const TimeBlock& block, long b) const;
    Extent positions_of(const TimeBlock& block, long a) const;
    // The highest band of time block `before` that some of the rows of a band of the next one, from `row` on, lean on.
    long band_below(const TimeBlock& before, long row) const;
    long reach() const { return reach_; }

private:
    const Layout& layout_;
    const Seams& seams_;
    const Cuts& cuts_;
    // Set by `cut`.
    std::vector<TimeBlock> all_;
    long bands_ = 0, width_ = 1, reach_ = 1;
};

// Steps that a time block may have before the turns along a closed axis meet.
long deepest(const Tiling& tiling, const Layout& layout, const Seams& seams, long reach);

}  // namespace nearfield
