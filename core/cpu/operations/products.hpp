// Weighted sums of samples: voltages, currents, fluxes.
#pragma once

#include <vector>

#include "cell/functional.h"
#include "cpu/operations.hpp"

namespace nearfield {

// The terms of a weighted sum that lie in one row. They are added up after the block, in the order of the whole sum.
template <class Real>
struct Products final : RowOperation<Real> {
    std::vector<long> k;
    std::vector<double> weight;
    long every, first_sample = 0;
    std::vector<double> products;  // of this block, (samples, terms of this row)
    Products(int c, long i, long j, long steps) : RowOperation<Real>(c, i, j), every(steps) {}
    long stride() const override { return every; }
    long samples() const { return static_cast<long>(products.size() / k.size()); }
    void begin_block(const Real*, long first, long steps) override {
        first_sample = (first + every - 1) / every;
        products.assign(((first + steps - 1) / every - first_sample + 1) * k.size(), 0.0);
    }
    void apply(Real* row, long, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (step.number % every) return;
        double* const product = products.data() + (step.number / every - first_sample) * k.size();
        for (std::size_t n = 0; n < k.size(); ++n)
            if (cells.hold(k[n])) product[n] = cell::weighed(weight[n], row[k[n]]);
    }
};

}  // namespace nearfield
