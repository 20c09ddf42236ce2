// Currents along a row that follow one waveform.
#pragma once

#include <vector>

#include "cell/current.h"
#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct Currents final : RowOperation<Real> {
    std::vector<long> k;
    std::vector<Real> weight;
    long waveform;
    Currents(int c, long i, long j, long w) : RowOperation<Real>(c, i, j), waveform(w) {}
    void apply(Real* row, long, const Cells& cells, const Step& step, const Tables<Real>& tables) override {
        const Real* table = this->component % 6 < 3 ? tables.electric : tables.magnetic;
        const Real amplitude = table[step.in_block * tables.waveforms + waveform];
        for (std::size_t n = 0; n < k.size(); ++n)
            if (cells.hold(k[n])) row[k[n]] = cell::driven(row[k[n]], weight[n], amplitude);
    }
};

}  // namespace nearfield
