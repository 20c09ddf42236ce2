// The incident wave on the faces of a total-field box (nearfield/plan/incident_term.py, IncidentTerm): one operation a
// half step.
//
// A row in a face holds runs of samples. A row that crosses faces holds single ones, as the rows beside it do, and its
// own program adds what they take. Of a wave along an axis those are few different amounts, made for a block of steps
// at once (amounts.hpp). Else they are made for a window of rows at once, by the thread that makes the rows. Samples
// come in the order of the term: those that come twice keep their order.
#pragma once

#include <map>

#include "cell/incident.h"
#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct Incident final : RowOperation<Real> {
    struct Sample {  // of three components, in the order of rows
        long component, k;
        Real weight;
        std::vector<std::int32_t> columns;  // of the table, one for each tap
        std::vector<Real> shares;
    };
    struct Run {  // of samples along a row, or of one in each row of a strip
        std::int32_t at, count,
            along;  // at: of a row, from its first component on; along: columns count on with the samples
        std::uint32_t weight, tap;  // where they begin
    };
    struct Strip {  // rows [first, last), by number, that hold the same runs
        long first, last;
        std::uint32_t run, runs;
    };
    struct alignas(64)
        Window {  // what rows [first, last) of the block take at one step, (runs, lanes); or that they take nothing
        long step = -1, first = 0, last = 0;
        std::vector<Real> amounts;
        bool holds(long row, const Step& now) const { return step == now.number && row >= first && row < last; }
    };

    long taps, field, length, rows;  // field: from one component of a row to the next; rows: of a plane
    const Rows<Real>& kernels;
    std::vector<std::int32_t> strip_of;  // of each row of the span; 0: none, negative: its runs lie along the row
    std::vector<Strip> strips{{}};
    std::vector<Run> runs;
    std::vector<std::int32_t> at;                                  // of the runs
    std::vector<Real> weights = std::vector<Real>(lanes), shares;  // a block more at either end
    std::vector<std::int32_t> columns;
    std::vector<Window> windows;  // of each thread, of even and odd steps: two are under way in a tile
    // The incident field of the block under way, (steps, columns); null: there is none.
    const Real* table = nullptr;
    long width = 0, needed = 0;  // columns it has, and must have

    Incident(bool magnetic, const RowSpan& faces, long taps_, long threads, const Layout& layout, const Rows<Real>& r)
        : RowOperation<Real>(magnetic ? 3 : 0, faces), taps(taps_), field(layout.field_length), length(layout.nc),
          rows(layout.nb), kernels(r), strip_of(faces.count()), windows(2 * threads) {}

    // The samples of row (i, j), by component and k; rows come in their order.
    void set_row(long i, long j, const std::vector<Sample>& samples) {
        for (const Sample& sample : samples)
            needed = std::max<long>(needed, 1 + *std::max_element(sample.columns.begin(), sample.columns.end()));
        const long number = this->span.index(i, j);
        if (lonely(samples)) {
            if (j == this->span.b[0] || !across_.continued_by(samples, number)) {
                add_strip();
                across_ = {number, number, std::vector<std::vector<Sample>>(samples.size())};
            }
            for (std::size_t n = 0; n < samples.size(); ++n) across_.runs[n].push_back(samples[n]);
            ++across_.last;
        } else {
            strips.push_back({number, number + 1, std::uint32_t(runs.size()), 0});
            strip_of[number] = 1 - std::int32_t(strips.size());
            add_runs(samples);
        }
    }
    // All rows are set.
    void settled() {
        add_strip();
        known_.clear();
        weights.resize(weights.size() + lanes);
        std::size_t most = 0;
        for (const Strip& strip : strips)
            if (strip_of[strip.first] > 0) most = std::max<std::size_t>(most, strip.runs);
        for (Window& window : windows) window.amounts.resize(lanes * most);
        for (const Run& run : runs) at.push_back(run.at);
    }
    bool acts_on(long number) const override { return strip_of[number] != 0; }

    // Calls f(at, weight, column) for each sample of row `number`, if it takes single ones, each from one column.
    template <class F>
    bool visit_singles(long number, F&& f) const {
        if (taps > 1 || strip_of[number] <= 0) return false;
        const Strip& strip = strips[strip_of[number]];
        const long skipped = number - strip.first;
        for (const Run *run = runs.data() + strip.run, *end = run + strip.runs; run != end; ++run)
            f(run->at, weights[run->weight + skipped], columns[run->tap] + (run->along ? skipped : 0));
        return true;
    }
    // What row `number` takes of its window's amounts; empty where the wave must be called.
    std::vector<Taken> windowed(long number) const {
        std::vector<Taken> taken;
        if (strip_of[number] <= 0) return taken;
        const Strip& strip = strips[strip_of[number]];
        for (std::uint32_t n = 0; n < strip.runs; ++n) {
            const std::int32_t place = runs[strip.run + n].at;
            taken.push_back({place, std::int32_t(place % field / lanes), std::uint32_t(lanes * n)});
        }
        return taken;
    }
    // Amounts of row (i, j), from one run to the next a block apart.
    const Real* amounts(long i, long j, const Step& step) {
        Window& window = windows[2 * step.thread + (step.number & 1)];
        const long row = i * rows + j;
        if (!window.holds(row, step)) fill(window, i, j, step);
        return window.amounts.data() + row - window.first;
    }
    // A block more at either end may be read.
    void set_table(const Real* values, long columns_) {
        table = values, width = columns_;
        for (Window& window : windows) window.step = -1;
    }
    void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (!table) return;
        if (strip_of[number] < 0)
            return apply_runs(row, strips[-strip_of[number]], cells, table + step.in_block * width);
        const RowSpan& span = this->span;
        const long across = span.b[1] - span.b[0];
        const Real* const amount = amounts(span.a[0] + number / across, span.b[0] + number % across, step);
        const Strip& strip = strips[strip_of[number]];
        if (cells.first == 0 && cells.last >= length)
            return kernels.singles(row, at.data() + strip.run, amount, strip.runs);
        for (std::uint32_t n = 0; n < strip.runs; ++n) {
            const std::int32_t place = at[strip.run + n];
            if (cells.hold(place % field)) row[place] += amount[lanes * n];
        }
    }
    std::size_t bytes() const {
        return (strip_of.size() + columns.size() + at.size()) * 4 + strips.size() * sizeof(Strip) +
               runs.size() * sizeof(Run) + (weights.size() + shares.size()) * sizeof(Real);
    }

private:
    struct Across {  // a strip of single samples that is being put together
        long first = 0, last = 0;
        std::vector<std::vector<Sample>> runs;
        bool continued_by(const std::vector<Sample>& samples, long number) const {
            if (number != last || samples.size() != runs.size()) return false;
            for (std::size_t n = 0; n < samples.size(); ++n)
                if (samples[n].component != runs[n].back().component || samples[n].k != runs[n].back().k ||
                    !follows(runs[n], samples[n]))
                    return false;
            return true;
        }
    };
    Across across_;
    std::map<std::vector<Real>, std::uint32_t> known_;  // weights, and where they begin

    [[gnu::noinline]] void fill(Window& window, long i, long j, const Step& step) const {
        const auto& [a, b] = this->span;
        const long row = i * rows + j, number = this->span.index(i, j);
        const bool beside = i < a[0] || i >= a[1] || j < b[0] || j >= b[1];
        window.step = step.number, window.first = row, window.last = row + 1;
        if (beside) window.last = i * rows + (i >= a[0] && i < a[1] && j < b[0] ? b[0] : rows);
        if (beside || strip_of[number] <= 0) return;
        const Strip& strip = strips[strip_of[number]];
        const long first = std::max(strip.first, std::min(number, strip.last - lanes)),
                   last = std::min(strip.last, first + lanes);
        window.first += first - number, window.last = row + last - number;
        for (std::uint32_t n = 0; n < strip.runs; ++n) {
            const Run& run = runs[strip.run + n];
            const long skipped = first - strip.first;
            kernels.amounts(window.amounts.data(), lanes * n, weights.data() + run.weight + skipped, last - first,
                            table + step.in_block * width + (run.along ? skipped : 0), columns.data() + run.tap,
                            shares.data() + run.tap, taps, run.along);
        }
    }
    void apply_runs(Real* row, const Strip& strip, const Cells& cells, const Real* now) const {
        for (const Run *run = runs.data() + strip.run, *end = run + strip.runs; run != end; ++run) {
            const long k = run->at % field;
            const Cells part = cells.within({k, k + run->count});
            if (part.first >= part.last) continue;
            const long skipped = part.first - k;
            kernels.incident(row, run->at + skipped, weights.data() + run->weight + skipped, part.last - part.first,
                             now + (run->along ? skipped : 0), columns.data() + run->tap, shares.data() + run->tap,
                             taps, run->along);
        }
    }

    static bool lonely(const std::vector<Sample>& samples) {
        const auto next = [](const Sample& one, const Sample& other) {
            return one.component == other.component && one.k + 1 == other.k;
        };
        return std::adjacent_find(samples.begin(), samples.end(), next) == samples.end();
    }
    // How far columns move from one sample to the next: 0, 1, or -1 where these are not read alike.
    static int pace(const Sample& one, const Sample& other) {
        const std::int32_t step = other.columns[0] - one.columns[0];
        for (std::size_t n = 0; n < one.columns.size(); ++n)
            if (other.columns[n] != one.columns[n] + step || other.shares[n] != one.shares[n]) return -1;
        return step == 0 || step == 1 ? step : -1;
    }
    static bool follows(const std::vector<Sample>& run, const Sample& next) {
        const int step = pace(run.back(), next);
        return step >= 0 && (run.size() == 1 || step == pace(run[0], run[1]));
    }
    void add_runs(const std::vector<Sample>& samples) {
        std::vector<Sample> run;
        for (const Sample& sample : samples) {
            if (!run.empty() &&
                (sample.component != run[0].component || sample.k != run.back().k + 1 || !follows(run, sample)))
                add_run(run), run.clear();
            run.push_back(sample);
        }
        add_run(run);
    }
    void add_strip() {
        if (across_.runs.empty()) return;
        std::fill(strip_of.begin() + across_.first, strip_of.begin() + across_.last, std::int32_t(strips.size()));
        strips.push_back({across_.first, across_.last, std::uint32_t(runs.size()), 0});
        for (const auto& run : across_.runs) add_run(run);
        across_ = {};
    }
    // To the last strip.
    void add_run(const std::vector<Sample>& samples) {
        std::vector<Real> own;
        for (const Sample& sample : samples) own.push_back(sample.weight);
        const auto [known, fresh] = known_.try_emplace(own, std::uint32_t(weights.size()));
        if (fresh) weights.insert(weights.end(), own.begin(), own.end());
        const Sample& first = samples[0];
        runs.push_back({std::int32_t(first.component * field + first.k), std::int32_t(samples.size()),
                        samples.size() > 1 ? pace(first, samples[1]) : 0, known->second,
                        std::uint32_t(columns.size())});
        columns.insert(columns.end(), first.columns.begin(), first.columns.end());
        shares.insert(shares.end(), first.shares.begin(), first.shares.end());
        ++strips.back().runs;
    }
};

}  // namespace nearfield
