// What single samples of incident waves take in each step of a block, where the rows' programs know it (Taken in
// palette.hpp). Of waves along an axis it is a weight times a column of a table: few of them differ, so they are made
// beforehand. Of one other wave the amounts are made for a window of rows at a time (operations/incident.hpp).
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "operations/incident.hpp"
#include "team.hpp"

namespace nearfield {

// Of one half step.
template <class Real>
class Amounts {
public:
    static constexpr std::size_t most = 4096;  // different ones; they should stay in cache

    void clear() { takers_.clear(), known_.clear(), windowed_ = nullptr; }
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
    // The one wave whose windows are read: the first that has any.
    bool may_window(const Incident<Real>* wave) const { return !windowed_ || windowed_ == wave; }
    std::vector<Taken> of_window(Incident<Real>& wave, long number) {
        std::vector<Taken> taken = wave.windowed(number);
        if (!taken.empty()) windowed_ = &wave;
        return taken;
    }
    // The amounts of so many steps; nothing is added for waves that are silent.
    void begin_block(long steps) {
        const FlushedDenormals flushed;
        const bool silent =
            std::none_of(takers_.begin(), takers_.end(), [](const Taker& taker) { return taker.wave->table; });
        stride_ = silent ? 0 : takers_.size();
        values_.resize(steps * stride_);
        Real* value = values_.data();
        for (long n = 0; !silent && n < steps; ++n)
            for (const auto& [wave, weight, column] : takers_)
                *value++ =
                    wave->table ? cell::incident_amount(weight, wave->table[n * wave->width + column]) : Real(-0.0);
        heard_ = windowed_ && windowed_->table ? windowed_ : nullptr;
    }
    bool any() const { return heard_ || !values_.empty(); }
    // Those of row (i, j), as its program counts them.
    const Real* of(long i, long j, const Step& step) const {
        return heard_ ? heard_->amounts(i, j, step) : values_.data() + step.in_block * stride_;
    }

private:
    struct Taker {
        const Incident<Real>* wave;
        Real weight;
        std::int32_t column;
        auto operator<=>(const Taker&) const = default;
    };
    std::vector<Taker> takers_;
    std::map<Taker, std::uint32_t> known_;
    Incident<Real>* windowed_ = nullptr;  // the wave whose windows rows' programs take from
    // Set by `begin_block`.
    Incident<Real>* heard_ = nullptr;  // the same, unless it is silent
    std::vector<Real> values_;         // (steps, takers)
    long stride_ = 0;
};

}  // namespace nearfield
