// The off-diagonal part of an inverse permittivity: E takes what H makes of D on edges beside its own
// (nearfield/plan/plan.py, CouplingTerm). One operation for the whole block, and the only one that reads rows beside
// its own: of H, one before and one after along each axis, as they were made in the step before. Its rows lean by two a
// step (`reach`).
#pragma once

#include <map>
#include <utility>

#include "cell/coupling.h"
#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct Coupling final : RowOperation<Real> {
    struct Sample {
        std::int32_t at, k;    // at: from the row's first component on
        std::uint32_t taps;    // which offsets its taps have
        std::uint32_t weight;  // where its weights begin
    };
    std::vector<std::uint32_t> first;  // sample of each row of the span, and one past the last
    std::vector<Sample> samples;
    std::vector<std::vector<std::int32_t>> taps;  // offsets from the sample; equal ones once
    std::vector<Real> weights;

    Coupling(const RowSpan& rows, bool imaginary) : RowOperation<Real>(6 * imaginary, rows), first(rows.count() + 1) {}

    long reach() const override { return 2; }
    bool acts_on(long number) const override { return first[number] < first[number + 1]; }
    void apply(Real* row, long number, const Cells& cells, const Step&, const Tables<Real>&) override {
        for (const Sample *s = samples.data() + first[number], *end = samples.data() + first[number + 1]; s != end;
             ++s) {
            if (!cells.hold(s->k)) continue;
            Real* const sample = row + s->at;
            const Real* const weight = weights.data() + s->weight;
            const std::vector<std::int32_t>& offsets = taps[s->taps];
            *sample = cell::coupled(sample, weight, offsets.data(), long(offsets.size()));
        }
    }
    // Samples come in the order of rows.
    void add(long number, std::int32_t at, std::int32_t k, const std::vector<std::int32_t>& offsets,
             const Real* tap_weights) {
        const auto [known, fresh] = known_.try_emplace(offsets, std::uint32_t(taps.size()));
        if (fresh) taps.push_back(offsets);
        samples.push_back({at, k, known->second, std::uint32_t(weights.size())});
        weights.insert(weights.end(), tap_weights, tap_weights + offsets.size());
        first[number + 1] = std::uint32_t(samples.size());
    }
    // All samples are in.
    void settled() {
        for (std::size_t n = 1; n < first.size(); ++n) first[n] = std::max(first[n], first[n - 1]);
        known_.clear();
    }

private:
    std::map<std::vector<std::int32_t>, std::uint32_t> known_;
};

}  // namespace nearfield
