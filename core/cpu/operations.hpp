// What else happens in a row at one half step, right after the update of the same cells: currents, circuits, recorders;
// or right before it: poles.
// A new feature is a new RowOperation; nothing else grows a branch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "block.hpp"
#include "exact_sum.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace nearfield {

// Tables that Python hands over for one block of steps; row operations index them by step within the block.
template <class Real>
struct Tables {
    const Real* electric = nullptr;  // waveform amplitudes (steps, waveforms) at (m - 1/2) dt
    const Real* magnetic = nullptr;  // at m dt
    long waveforms = 0;
};

struct Step {
    long number;    // m, from 1
    long in_block;  // from 0
    ExactSum* energy = nullptr;  // takes the squares of all fields after this step, where they are wanted
    long thread = 0;             // that makes it
};

struct Cells {  // [first, last) of a row
    long first, last;
    bool hold(long k) const { return k >= first && k < last; }
    Cells within(const Cells& other) const { return {std::max(first, other.first), std::min(last, other.last)}; }
};

struct RowSpan {  // rows [first, last) along a and along b
    std::array<long, 2> a, b;
    long count() const { return (a[1] - a[0]) * (b[1] - b[0]); }
    long index(long i, long j) const { return (i - a[0]) * (b[1] - b[0]) + j - b[0]; }
};

template <class Real>
struct RowOperation {
    int component;  // storage component, 6 more for its imaginary part; the half step follows from it
    RowSpan span;
    RowOperation(int c, const RowSpan& rows) : component(c), span(rows) {}
    RowOperation(int c, long i, long j) : RowOperation(c, {{i, i + 1}, {j, j + 1}}) {}
    virtual ~RowOperation() = default;
    // `row`: the field of `component` in row `number` of the span, of which `cells` were just updated. An operation reads
    // and writes those alone, of this component or of the three that were updated with it; but see `reach`. The cells of a
    // row come in one piece or in several, from the first to the last; several rows may come at once, in several threads.
    virtual void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>& tables) = 0;
    // It acts just before the update of the same cells, not after it; it may then change all three components.
    virtual bool precedes() const { return false; }
    // Part `part` of `parts` of what it will read for a row is fetched into the second-level cache, if it precedes.
    virtual void fetch_ahead(long /*number*/, long /*part*/, long /*parts*/) const {}
    // Whether there is anything to do in a row of the span.
    virtual bool acts_on(long /*number*/) const { return true; }
    // 2: E reads H of the rows, and of the samples, after its own too, as far as one, and of those before and after crosswise.
    virtual long reach() const { return 1; }
    // It acts on multiples of this step alone.
    virtual long stride() const { return 1; }
    // Before the first of `steps` steps; `row`, the first of the span, as the block finds it, perhaps written by the user.
    virtual void begin_block(const Real* /*row*/, long /*first*/, long /*steps*/) {}
    // So many steps may be under way in a row at once.
    virtual void expect(long /*steps*/) {}
    // The row may have been written since: halos between steps.
    virtual void refresh(const Real* /*row*/) {}
    virtual void reset() {}
};

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
            if (cells.hold(k[n])) row[k[n]] += weight[n] * amplitude;
    }
};

// A linear circuit with two states across one edge, implicit in the edge's field (nearfield/plan/plan.py, CircuitTerm).
struct CircuitNumbers {
    double admittance, voltage_factor, feedback, inverse, drive;
    std::array<double, 2> output, input;
    std::array<double, 4> transition;
};
template <class Real>
struct Circuit final : RowOperation<Real> {
    long k, waveform;  // waveform -1: none
    CircuitNumbers c;
    std::array<double, 3> state{};  // x0, x1, E of the step before
    Circuit(int component, long i, long j, long at, long w, const CircuitNumbers& numbers)
        : RowOperation<Real>(component, i, j), k(at), waveform(w), c(numbers) {}
    void begin_block(const Real* row, long, long) override { refresh(row); }
    void refresh(const Real* row) override { state[2] = double(row[k]); }
    void apply(Real* row, long, const Cells& cells, const Step& step, const Tables<Real>& tables) override {
        if (!cells.hold(k)) return;
        const double v =
            waveform < 0 ? 0.0 : c.drive * double(tables.electric[step.in_block * tables.waveforms + waveform]);
        const double memory = c.output[0] * state[0] + c.output[1] * state[1];
        const double known = c.admittance * (c.voltage_factor * state[2] - v) + memory;
        const Real value = Real((double(row[k]) - c.feedback * known) * c.inverse);
        const double across = c.voltage_factor * (double(value) + state[2]) - v;
        const double x0 = (c.transition[0] * state[0] + c.transition[1] * state[1]) + c.input[0] * across;
        const double x1 = (c.transition[2] * state[0] + c.transition[3] * state[1]) + c.input[1] * across;
        row[k] = value;
        state = {x0, x1, double(value)};
    }
    void reset() override { state = {}; }
};

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
            if (cells.hold(k[n])) product[n] = weight[n] * double(row[k[n]]);
    }
};

// A running Fourier transform of one box. What costs is the pass over the sums, so samples are kept until `room` of them
// can be added in one pass, in their order. The innermost axis of the sums is padded to whole blocks.
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

// Snapshots of one box: a run may end early, so room is made block by block for those that fall in it. Those that go
// elsewhere are written, times `unit`, where the caller says before each block, and not kept.
template <class Real>
struct Snapshots final : RowOperation<Real> {
    long first, length;       // cells of each row
    std::vector<long> steps;  // sorted
    long every = 0;           // the largest number of steps that all of them are multiples of
    bool kept;
    Real unit;
    const Rows<Real>& kernels;
    std::vector<Real> values;
    long first_of_block = 0;
    std::vector<long> of_step;  // of each step of this block, -1: none
    struct Place {
        Real* first;
        long plane, row;  // from one to the next
    };
    std::vector<Place> places;  // of those of this block, where they are not kept
    Snapshots(int c, const RowSpan& rows, long k, long cells, std::vector<long> at, bool keep, Real in_units,
              const Rows<Real>& r)
        : RowOperation<Real>(c, rows), first(k), length(cells), steps(std::move(at)), kept(keep), unit(in_units), kernels(r) {
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
            values.resize(std::max<std::size_t>(values.size(), last * samples()));
        else if (static_cast<long>(places.size()) != last - first_of_block)
            throw std::logic_error("each snapshot of this block needs a place");
    }
    Real* place(long snapshot, long number) {
        if (kept) return values.data() + snapshot * samples() + number * length;
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
    void reset() override { values.clear(), places.clear(); }
};

}  // namespace nearfield
