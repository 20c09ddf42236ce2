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

// A weighted sum: products of a block of steps, (samples, terms). `shared`: only some terms lie here, and the products
// are given instead of their sums, with zeros for the others.
struct SumOfProducts {
    long terms, stride;
    bool shared;
    Buffer<Wide> products;
    long samples(long before, long steps) const { return (before + steps) / stride - before / stride; }
    std::vector<double> sums(long count) const {
        std::vector<double> all(products.size()), found(count, 0.0);
        products.read(all.data());
        if (shared) return all;
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
    // Snapshot `number` of this block has come: to its place, or to those that are kept.
    void collect(long number, const Real* samples) {
        if (kept) {
            values.insert(values.end(), samples, samples + box.samples());
            return;
        }
        const auto [ni, nj, nk] = box.shape();
        const Place& place = places[number];
        for (long i = 0; i < ni; ++i)
            for (long j = 0; j < nj; ++j)
                std::copy_n(samples + (i * nj + j) * nk, nk, place.first + i * place.plane + j * place.row);
    }
};

}  // namespace nearfield::cuda
