// A running Fourier transform of one box. What costs is the pass over the sums, so samples are kept until `room` of
// them can be added in one pass, in their order. The innermost axis of the sums is padded to whole blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/operations.hpp"
#include "cpu/team.hpp"

namespace nearfield {

template <class Real>
struct Spectrum final : RowOperation<Real> {
    static constexpr long most = 8, short_row = lanes;
    long first, length, frequencies, every;  // cells [first, first + length) of each row
    const Rows<Real>& kernels;
    std::vector<Real> phasors;  // (samples so far, padded 2 frequencies), cos and -sin by turns
    std::vector<Real> sums;     // (rows, parts, padded cells), or (rows, cells, padded parts) where rows are short
    long groups = 1;            // of `room` samples that are kept
    std::vector<Real> kept;     // (groups, room, rows, padded cells, or cells)
    std::vector<std::int32_t> taken, added;  // samples of each row that are whole, that are in the sums
    Spectrum(int c, const RowSpan& rows, long k, long cells, long number, long steps, const Rows<Real>& r)
        : RowOperation<Real>(c, rows), first(k), length(cells), frequencies(number), every(steps), kernels(r),
          sums(rows.count() * row_sums()), kept(room() * sample()), taken(rows.count()), added(rows.count()) {}

    long parts() const { return 2 * frequencies; }
    long room() const { return std::min(most, frequencies); }
    bool turned() const { return length < short_row; }
    long row_sums() const { return turned() ? length * padded(parts()) : parts() * padded(length); }
    long row_kept() const { return turned() ? length : padded(length); }
    long sample() const { return this->span.count() * row_kept(); }
    long slot(long number) const { return number % (groups * room()) * sample(); }
    long sum(long part, long k) const { return turned() ? k * padded(parts()) + part : part * padded(length) + k; }

    long stride() const override { return every; }
    void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (step.number % every) return;
        const Cells part = cells.within({first, first + length});
        Real* const values = kept.data() + slot(step.number / every - 1) + number * row_kept() - first;
        for (long k = part.first; k < part.last; ++k) values[k] = row[k];
        if (!cells.hold(first + length - 1)) return;
        if (++taken[number] % room() == 0) flush(number);
    }
    void flush(long number) {
        add_to(sums.data() + number * row_sums(), number);
        added[number] = taken[number];
    }
    void expect(long steps) override {
        const long wanted = 1 + (steps / every + room()) / room();
        if (wanted <= groups) return;
        const FlushedDenormals flushed;
        for (long number = 0; number < this->span.count(); ++number) flush(number);
        groups = wanted;
        kept.assign(groups * room() * sample(), Real(0));
    }
    // Adds the samples of a row that are still kept to sums laid out as its own.
    void add_to(Real* target, long number) const {
        const long row = padded(parts()), count = taken[number] - added[number];
        const Real* const turns = phasors.data() + added[number] * row;
        const Real* const values = kept.data() + slot(added[number]) + number * row_kept();
        if (turned())
            kernels.accumulate(target, length, row, values, sample(), turns, row, count);
        else
            kernels.accumulate(target, parts(), row_kept(), turns, row, values, sample(), count);
    }
    // The phasors of the steps after `done` that are sampled, of a table (steps, frequencies, 2).
    void add_phasors(const Real* table, long done, long steps) {
        for (long n = 0; n < steps; ++n)
            if ((done + 1 + n) % every == 0) {
                phasors.insert(phasors.end(), table + n * parts(), table + (n + 1) * parts());
                phasors.resize(phasors.size() + padded(parts()) - parts());
            }
    }
    void reset() override { resume(0); }
    // As after so many steps, all samples of which are in the sums: those are zero, and the caller's to write.
    void resume(long step) {
        phasors.assign(step / every * padded(parts()), Real(0));
        std::fill(sums.begin(), sums.end(), Real(0));
        std::fill(taken.begin(), taken.end(), static_cast<std::int32_t>(step / every));
        std::fill(added.begin(), added.end(), static_cast<std::int32_t>(step / every));
    }
    std::size_t bytes() const {
        return (sums.size() + kept.size() + phasors.size()) * sizeof(Real) + 2 * taken.size() * sizeof(std::int32_t);
    }
};

}  // namespace nearfield
