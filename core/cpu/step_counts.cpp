#include "step_counts.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nearfield {

void StepCounts::reset(long steps) {
    for (auto& counts : made_) counts.assign(layout_.rows() * layout_.blocks, steps);
}

void StepCounts::refresh(const std::array<Extent, 3>& own, long steps) {
    for (long i = 0; i < layout_.na; ++i)
        for (long j = 0; j < layout_.nb; ++j)
            for (long n = 0; n < layout_.blocks; ++n)
                if (!own[0].holds(i) || !own[1].holds(j) || !own[2].holds(lanes * n))
                    made(0, i, j, n) = made(1, i, j, n) = steps;
}

void StepCounts::electric(long i, long j, const Blocks& part, long step, long reach) {
    const Blocks before{part.first - 1, part.last}, around{part.first - 1, part.last + 1};
    require(0, i, j, part, step - 1, "E update");
    require(1, i, j, before, step - 1, "E update");
    require(1, i - 1, j, part, step - 1, "E update");
    require(1, i, j - 1, part, step - 1, "E update");
    for (long di = -1; di <= 1 && reach > 1; ++di)
        for (long dj = -1; dj <= 1; ++dj) require(1, i + di, j + dj, around, step - 1, "coupling");
    count(0, i, j, part);
}

void StepCounts::magnetic(long i, long j, const Blocks& part, long step) {
    require(1, i, j, part, step - 1, "H update");
    require(0, i, j, {part.first, part.last + 1}, step, "H update");
    require(0, i + 1, j, part, step, "H update");
    require(0, i, j + 1, part, step, "H update");
    count(1, i, j, part);
}

void StepCounts::count(int half, long i, long j, const Blocks& part) {
    for (long n = part.first; n < part.last; ++n) ++made(half, i, j, n);
}

// Ghosts never change and may be read at any step.
void StepCounts::require(int half, long i, long j, const Blocks& part, long steps, const char* reader) {
    const Layout& l = layout_;
    if (seams_[0].closed) i = (i + l.na) % l.na;
    if (seams_[1].closed) j = (j + l.nb) % l.nb;
    if (i < 0 || j < 0 || i >= l.na || j >= l.nb) return;
    if (half == 0 && (i == seams_[0].gap || j == seams_[1].gap)) return;  // from over the gap, by H that is not used
    for (long n = std::max(0L, part.first); n < std::min(l.blocks, part.last); ++n)
        if (made(half, i, j, n) != steps)
            throw std::logic_error(std::string(reader) + " needs " + (half ? "H" : "E") + " of block " +
                                   std::to_string(n) + " of row (" + std::to_string(i) + ", " + std::to_string(j) +
                                   ") after step " + std::to_string(steps) + ", found step " +
                                   std::to_string(made(half, i, j, n)));
}

}  // namespace nearfield
