#include "time_blocks.hpp"

#include <algorithm>
#include <utility>

namespace nearfield {

void TimeBlocks::cut(long first, long last, const std::vector<StepRows>& rows_of, const Tiling& tiling, long reach) {
    const long depth = std::min(tiling.depth, deepest(tiling, layout_, seams_, reach));
    const long blocks = (last - first + depth - 1) / depth;
    width_ = tiling.width, reach_ = reach, bands_ = 0;
    all_.clear();
    std::vector<long> turns(cuts_.along_b());
    for (long n = 0; n < blocks; ++n) {
        TimeBlock block{first + (last - first) * n / blocks, 0, 0, 0, 0, 0, bands_, turns};
        block.depth = first + (last - first) * (n + 1) / blocks - block.begun;
        const StepRows* const made = rows_of.data() + block.begun;
        Extent rows = made[0].meets_b, positions = made[0].meets_a;
        for (long tau = 1; tau < block.depth; ++tau) {
            const long lean = reach * tau;
            rows = {std::min(rows.first, made[tau].meets_b.first + lean),
                    std::max(rows.last, made[tau].meets_b.last + lean)};
            positions = {std::min(positions.first, made[tau].meets_a.first + lean),
                         std::max(positions.last, made[tau].meets_a.last + lean)};
        }
        block.row = rows.first, block.bands = std::max(0L, (rows.last - rows.first + width_ - 1) / width_);
        block.from = positions.first, block.to = std::max(positions.first, positions.last);
        for (long b = 0; b < cuts_.along_b(); ++b) turns[b] += bands_of(block, b).last - bands_of(block, b).first;
        bands_ += block.bands;
        all_.push_back(std::move(block));
    }
}

Extent TimeBlocks::bands_of(const TimeBlock& block, long b) const {
    const auto cut = [&](long n) {
        if (n == 0 || n == cuts_.along_b()) return n ? block.bands : 0;
        const long rows =
            seams_[1].past_gap(cuts_.rows[n], layout_.nb) + (reach_ * block.depth + width_) / 2 - block.row;
        return std::clamp(rows / width_, 0L, block.bands);
    };
    return {cut(b), cut(b + 1)};
}

Extent TimeBlocks::positions_of(const TimeBlock& block, long a) const {
    const auto cut = [&](long n) {
        if (n == 0 || n == cuts_.along_a()) return n ? block.to : block.from;
        return std::clamp(seams_[0].past_gap(cuts_.planes[n], layout_.na) + reach_ * block.depth / 2, block.from,
                          block.to);
    };
    return {cut(a), cut(a + 1)};
}

long TimeBlocks::band_below(const TimeBlock& before, long row) const {
    const long rows = row + width_ - 1 + reach_ * before.depth - before.row;
    return before.first_id + std::clamp(rows / width_, 0L, before.bands - 1);
}

long deepest(const Tiling& tiling, const Layout& layout, const Seams& seams, long reach) {
    long most = std::max<long>(1, tiling.depth);
    const long length[2] = {layout.na, layout.nb};
    for (int axis = 0; axis < 2; ++axis)
        if (seams[axis].ring(length[axis])) most = std::min(most, (length[axis] + reach) / (2 * reach));
    return most;
}

}  // namespace nearfield
