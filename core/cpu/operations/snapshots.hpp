// Snapshots of one box: a run may end early, so room is made block by block for those that fall in it, each in memory of
// its own, which never moves; the threads that sweep its rows touch its pages first. Those that go elsewhere are
// written, times `unit`, where the caller says before each block, and not kept.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct Snapshots final : RowOperation<Real> {
    long first, length;       // cells of each row
    std::vector<long> steps;  // sorted
    long every = 0;           // the largest number of steps that all of them are multiples of
    bool kept;
    Real unit;
    const Rows<Real>& kernels;
    struct Free {
        void operator()(Real* values) const { std::free(values); }
    };
    std::vector<std::unique_ptr<Real[], Free>> taken_values;  // of each snapshot that is kept, row after row
    long first_of_block = 0;
    std::vector<long> of_step;  // of each step of this block, -1: none
    struct Place {
        Real* first;
        long plane, row;  // from one to the next
    };
    std::vector<Place> places;  // of those of this block, where they are not kept
    Snapshots(int c, const RowSpan& rows, long k, long cells, std::vector<long> at, bool keep, Real in_units,
              const Rows<Real>& r)
        : RowOperation<Real>(c, rows), first(k), length(cells), steps(std::move(at)), kept(keep), unit(in_units),
          kernels(r) {
        for (const long step : steps) every = std::gcd(every, step);
        every = std::max(1L, every);
    }
    long samples() const { return this->span.count() * length; }  // of one snapshot
    long taken(long step) const { return std::upper_bound(steps.begin(), steps.end(), step) - steps.begin(); }
    long stride() const override { return every; }
    void begin_block(const Real*, long begin, long count) override {
        const long last = taken(begin + count - 1);
        first_of_block = taken(begin - 1);
        of_step.assign(count, -1);
        for (long n = first_of_block; n < last; ++n) of_step[steps[n] - begin] = n;
        if (kept)
            make_room(last);
        else if (static_cast<long>(places.size()) != last - first_of_block)
            throw std::logic_error("each snapshot of this block needs a place");
    }
    void make_room(long snapshots) {
        while (long(taken_values.size()) < snapshots) {
            auto* const values = static_cast<Real*>(std::calloc(std::max(1L, samples()), sizeof(Real)));
            if (!values) throw std::bad_alloc();
            taken_values.emplace_back(values);
        }
    }
    std::size_t bytes() const { return taken_values.size() * samples() * sizeof(Real); }
    Real* place(long snapshot, long number) {
        if (kept) return taken_values[snapshot].get() + number * length;
        const Place& given = places[snapshot - first_of_block];
        const long rows = this->span.b[1] - this->span.b[0];
        return given.first + number / rows * given.plane + number % rows * given.row;
    }
    void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>&) override {
        const long snapshot = of_step[step.in_block];
        if (snapshot < 0) return;
        const Cells part = cells.within({first, first + length});
        if (part.first >= part.last) return;
        Real* const copy = place(snapshot, number) - first;
        if (kept)
            std::copy(row + part.first, row + part.last, copy + part.first);
        else
            kernels.send(copy + part.first, row + part.first, part.last - part.first, unit);
    }
    void reset() override { taken_values.clear(), places.clear(); }
};

}  // namespace nearfield
