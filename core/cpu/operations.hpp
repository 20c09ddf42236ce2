// What else happens in a row at one half step, right after the update of the same cells: currents, circuits, recorders.
// A new feature is a new RowOperation; nothing else grows a branch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "block.hpp"
#include "rows.hpp"

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
};

struct Cells {  // [first, last) of a row
    long first, last;
    bool hold(long k) const { return k >= first && k < last; }
    Cells within(const Cells& other) const { return {std::max(first, other.first), std::min(last, other.last)}; }
};

template <class Real>
struct RowOperation {
    int component;  // storage component; the half step follows from it
    long i, j;
    RowOperation(int c, long row_i, long row_j) : component(c), i(row_i), j(row_j) {}
    virtual ~RowOperation() = default;
    // `row`: the field of `component`, of which `cells` were just updated. An operation reads and writes those alone.
    // The cells of a row come in one piece or in several, from the first to the last.
    virtual void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>& tables) = 0;
    // It acts on multiples of this step alone.
    virtual long stride() const { return 1; }
    // Before the first of `steps` steps; `row` as the block finds it, perhaps written by the user.
    virtual void begin_block(const Real* /*row*/, long /*first*/, long /*steps*/) {}
    virtual void reset() {}
};

template <class Real>
struct Currents final : RowOperation<Real> {
    std::vector<long> k;
    std::vector<Real> weight;
    long waveform;
    Currents(int c, long i, long j, long w) : RowOperation<Real>(c, i, j), waveform(w) {}
    void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>& tables) override {
        const Real* table = this->component < 3 ? tables.electric : tables.magnetic;
        const Real amplitude = table[step.in_block * tables.waveforms + waveform];
        for (std::size_t n = 0; n < k.size(); ++n)
            if (cells.hold(k[n])) row[k[n]] += weight[n] * amplitude;
    }
};

// A linear circuit with two states across one edge, implicit in the edge's field (nearfield/plan.py, CircuitTerm).
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
    void begin_block(const Real* row, long, long) override { state[2] = double(row[k]); }
    void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>& tables) override {
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

// Part of a weighted sum that lies in one row; parts are added up in row order after the block.
template <class Real>
struct PartialSum final : RowOperation<Real> {
    std::vector<long> k;  // rising, so that the order of the sum does not depend on the pieces of the row
    std::vector<double> weight;
    long every, first_sample = 0;
    std::vector<double> samples;  // of this block
    PartialSum(int c, long i, long j, long steps) : RowOperation<Real>(c, i, j), every(steps) {}
    long stride() const override { return every; }
    void begin_block(const Real*, long first, long steps) override {
        first_sample = (first + every - 1) / every;
        samples.assign((first + steps - 1) / every - first_sample + 1, 0.0);
    }
    void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (step.number % every) return;
        double& sum = samples[step.number / every - first_sample];
        for (std::size_t n = 0; n < k.size(); ++n)
            if (cells.hold(k[n])) sum += weight[n] * double(row[k[n]]);
    }
};

// A running Fourier transform of one box. What costs is the pass over the sums, so a row keeps its samples until `room`
// of them can be added in one pass, in their order. The innermost axis of the sums is padded to whole blocks.
template <class Real>
struct Spectrum {
    static constexpr long most = 8, short_row = lanes;
    long stride, frequencies, length;  // length: of a row, cells
    std::vector<Real> phasors{};       // (samples so far, padded 2 frequencies), cos and -sin by turns
    static long padded(long count) { return (count + lanes - 1) / lanes * lanes; }
    long parts() const { return 2 * frequencies; }
    long room() const { return std::min(most, frequencies); }
    bool turned() const { return length < short_row; }  // sums of a row are (cells, parts), not (parts, cells)
    long row_sums() const { return turned() ? length * padded(parts()) : parts() * padded(length); }
    long kept_cells() const { return turned() ? length : padded(length); }
    long sum(long part, long k) const { return turned() ? k * padded(parts()) + part : part * padded(length) + k; }
};

template <class Real>
struct FourierRow final : RowOperation<Real> {
    long first, taken = 0;
    Real *sums, *kept;  // kept: (room, kept cells)
    const Spectrum<Real>& spectrum;
    const Rows<Real>& rows;
    FourierRow(int c, long i, long j, long k, Real* s, Real* values, const Spectrum<Real>& box, const Rows<Real>& r)
        : RowOperation<Real>(c, i, j), first(k), sums(s), kept(values), spectrum(box), rows(r) {}
    long stride() const override { return spectrum.stride; }
    void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (step.number % spectrum.stride) return;
        const Cells part = cells.within({first, first + spectrum.length});
        Real* const sample = kept + taken % spectrum.room() * spectrum.kept_cells() - first;
        for (long k = part.first; k < part.last; ++k) sample[k] = row[k];
        if (!cells.hold(first + spectrum.length - 1)) return;
        if (++taken % spectrum.room() == 0) add_to(sums, spectrum.room());
    }
    // Adds the last `count` samples, which are those kept, to sums laid out as this row's.
    void add_to(Real* target, long count) const {
        const long parts = spectrum.padded(spectrum.parts()), cells = spectrum.kept_cells();
        const Real* const phasors = spectrum.phasors.data() + (taken - count) * parts;
        if (spectrum.turned())
            rows.accumulate(target, cells, parts, kept, cells, phasors, count);
        else
            rows.accumulate(target, spectrum.parts(), cells, phasors, parts, kept, count);
    }
    void reset() override { taken = 0; }
};

// Snapshots of one box: a run may end early, so room is made block by block for those that fall in it.
template <class Real>
struct Snapshots {
    std::vector<long> steps;  // sorted
    long samples;             // of one snapshot
    long every;               // the largest number of steps that all of them are multiples of
    std::vector<Real> values;
    long taken(long step) const { return std::upper_bound(steps.begin(), steps.end(), step) - steps.begin(); }
};

template <class Real>
struct CopyRow final : RowOperation<Real> {
    long first, length, offset;  // offset: of the row in a snapshot
    Snapshots<Real>& target;
    CopyRow(int c, long i, long j, long k, long n, long at, Snapshots<Real>& t)
        : RowOperation<Real>(c, i, j), first(k), length(n), offset(at), target(t) {}
    long stride() const override { return target.every; }
    void begin_block(const Real*, long begin, long steps) override {
        const std::size_t needed = target.taken(begin + steps - 1) * target.samples;
        if (target.values.size() < needed) target.values.resize(needed);
    }
    void apply(Real* row, const Cells& cells, const Step& step, const Tables<Real>&) override {
        const long number = target.taken(step.number) - 1;
        if (number < 0 || target.steps[number] != step.number) return;
        const Cells part = cells.within({first, first + length});
        Real* const copy = target.values.data() + number * target.samples + offset - first;
        for (long k = part.first; k < part.last; ++k) copy[k] = row[k];
    }
};

}  // namespace nearfield
