// Where an engine stands: the steps that it made, and the block of steps under way.
#pragma once

#include <vector>

#include "region.hpp"
#include "step.hpp"

namespace nearfield {

struct StepBlock {
    long made = 0;               // before the block
    long steps = 0;              // of the block; 0: none is under way
    std::vector<StepRows> rows;  // of every step; those of the run are set
    bool weighed = false;        // rows add their squares in the last step

    Step at(long in_block, ExactSum& energy, long thread) const {
        return {made + in_block + 1, in_block, weighed && in_block == steps - 1 ? &energy : nullptr, thread};
    }
    // Steps [first, last) make the rows of a region.
    void set_rows(const Region& region, const Layout& layout, const Seams& seams, long first, long last) {
        for (long n = first; n < last; ++n) rows[n] = StepRows::of(region, layout, seams, n);
    }
};

}  // namespace nearfield
