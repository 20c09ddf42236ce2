// What single samples of incident waves along an axis take in each step of a block: a weight times a column of a table.
// Few of them differ, so they are made beforehand, and the rows' programs know which they take (Taken in palette.hpp).
#pragma once

#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "incident.hpp"

namespace nearfield {

template <class Real>
class Amounts {
public:
    static constexpr std::size_t most = 4096;  // different ones; they should stay in cache

    void clear() { takers_.clear(), known_.clear(); }
    // What row `number` of a wave's span takes; empty where the wave must be called.
    std::vector<Taken> of_row(const Incident<Real>& wave, long number) {
        std::vector<Taken> taken;
        if (takers_.size() >= most) return taken;
        wave.visit_singles(number, [&](std::int32_t at, Real weight, std::int32_t column) {
            const auto [found, fresh] = known_.try_emplace({&wave, weight, column}, std::uint32_t(takers_.size()));
            if (fresh) takers_.push_back({&wave, weight, column});
            taken.push_back({at, std::int32_t(at % wave.field / lanes), found->second});
        });
        return taken;
    }
    // The amounts of so many steps; nothing is added for waves that are silent.
    void begin_block(long steps) {
        const FlushedDenormals flushed;
        const bool silent = std::none_of(takers_.begin(), takers_.end(), [](const Taker& taker) { return taker.wave->table; });
        stride_ = silent ? 0 : takers_.size();
        values_.resize(steps * stride_);
        Real* value = values_.data();
        for (long n = 0; !silent && n < steps; ++n)
            for (const auto& [wave, weight, column] : takers_)
                *value++ = wave->table ? weight * wave->table[n * wave->width + column] : Real(-0.0);
    }
    bool any() const { return !values_.empty(); }
    const Real* of_step(long in_block) const { return values_.data() + in_block * stride_; }

private:
    struct Taker {
        const Incident<Real>* wave;
        Real weight;
        std::int32_t column;
        auto operator<=>(const Taker&) const = default;
    };
    std::vector<Taker> takers_;
    std::map<Taker, std::uint32_t> known_;
    std::vector<Real> values_;  // (steps, takers)
    long stride_ = 0;
};

}  // namespace nearfield
