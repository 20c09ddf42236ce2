// How often each block of 16 cells has been made, in debug builds: every read that an update declares is checked.
#pragma once

#include <vector>

#include "layout.hpp"
#include "region.hpp"
#include "step.hpp"

namespace nearfield {

#ifdef NEARFIELD_DEBUG
inline constexpr bool steps_are_counted = true;
#else
inline constexpr bool steps_are_counted = false;
#endif

class StepCounts {
public:
    StepCounts(const Layout& layout, const Seams& seams) : layout_(layout), seams_(seams) {}

    // Everything stands after so many steps.
    void reset(long steps);
    // So do the blocks that begin outside what is owned: others wrote them.
    void refresh(const std::array<Extent, 3>& own, long steps);
    // A part of row (i, j) is about to be made; throws std::logic_error where what it reads is of another step.
    // `reach`: 2 where E reads H of the next rows too.
    void electric(long i, long j, const Blocks& part, long step, long reach);
    void magnetic(long i, long j, const Blocks& part, long step);

private:
    long& made(int half, long i, long j, long n) { return made_[half][layout_.row(i, j) * layout_.blocks + n]; }
    void count(int half, long i, long j, const Blocks& part);
    void require(int half, long i, long j, const Blocks& part, long steps, const char* reader);

    const Layout& layout_;
    const Seams& seams_;
    std::vector<long> made_[2];  // steps made, per block of 16 cells
};

}  // namespace nearfield
