// What an engine on a device records: where it lies there, and what the host has of it.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "device.hpp"

namespace nearfield::cuda {

struct BoxOf {  // of one component, 6 more for its imaginary part
    int component;
    std::array<long, 3> lower, upper;
    std::array<long, 3> shape() const { return {upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]}; }
    long samples() const { return shape()[0] * shape()[1] * shape()[2]; }
};

// A weighted sum: products of a block of steps, (samples, terms).
struct SumOfProducts {
    long terms, stride;
    Buffer<Wide> products;
    long samples(long before, long steps) const { return (before + steps) / stride - before / stride; }
    std::vector<double> sums(long count) const {
        std::vector<double> all(products.size()), found(count, 0.0);
        products.read(all.data());
        for (long sample = 0; sample < count; ++sample)
            for (long n = 0; n < terms; ++n) found[sample] += all[sample * terms + n];
        return found;
    }
};

template <class Real>
struct Transform {
    BoxOf box;
    long frequencies, stride;
    Buffer<Number<Real>> sums, phasors;
};

template <class Real>
struct Copies {
    BoxOf box;
    std::vector<long> steps;  // sorted
    bool kept;
    Real unit;
    Buffer<Number<Real>> taken_in_block;
    std::vector<Real> values;  // all that are kept
    struct Place {
        Real* first;
        long plane, row;  // from one to the next
    };
    std::vector<Place> places;  // of those of this block, where they are not kept

    long taken(long step) const { return std::upper_bound(steps.begin(), steps.end(), step) - steps.begin(); }
    bool is_due(long step) const { return std::binary_search(steps.begin(), steps.end(), step); }
    // So many of this block are made: to their places, or to those that are kept.
    void collect(long count) {
        if (!count) return;
        const long samples = box.samples();
        std::vector<Real> all(taken_in_block.size());
        taken_in_block.read(all.data());
        if (kept) {
            values.insert(values.end(), all.begin(), all.begin() + count * samples);
            return;
        }
        const auto [ni, nj, nk] = box.shape();
        for (long n = 0; n < count; ++n)
            for (long i = 0; i < ni; ++i)
                for (long j = 0; j < nj; ++j)
                    std::copy_n(all.data() + n * samples + (i * nj + j) * nk, nk,
                                places[n].first + i * places[n].plane + j * places[n].row);
    }
};

}  // namespace nearfield::cuda
