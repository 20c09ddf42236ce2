// The incident wave on the faces of a total-field box (nearfield/incident/term.py, IncidentTerm): one operation a half step.
//
// A row holds points alone, where it crosses faces, or runs, where it lies in a face. What rows hold is kept once: in the
// middle of a box nearly all are alike. Samples come in the order of the term: those that come twice keep their order.
#pragma once

#include <cstring>
#include <map>

#include "operations.hpp"

namespace nearfield {

template <class Real>
struct Incident final : RowOperation<Real> {
    struct Sample {  // of three components, in the order of rows
        long component, k;
        Real weight;
        std::vector<std::int32_t> columns;  // of the table, one for each tap
        std::vector<Real> shares;
    };
    struct Point {  // of a row, from its first component on
        std::int32_t at, column;
        Real weight;
    };
    struct Run {
        std::int32_t component, k, count, along;  // along: columns count on with k
        std::uint32_t weight, tap;                // where they begin
        bool continued_by(const Sample& last, const Sample& next, std::int32_t step) const {
            if (next.component != component || next.k != k + count || next.shares != last.shares) return false;
            for (std::size_t n = 0; n < last.columns.size(); ++n)
                if (next.columns[n] != last.columns[n] + step) return false;
            return true;
        }
    };
    struct Program {
        std::uint32_t first_point = 0, points = 0, first_run = 0, runs = 0;
    };

    long taps, field, length;  // field: from one component of a row to the next
    const Rows<Real>& kernels;
    std::vector<std::uint32_t> program_of;  // of each row of the span; the first one is empty
    std::vector<Program> programs{{}};
    std::vector<Point> points;
    std::vector<Run> runs;
    std::vector<Real> weights, shares;
    std::vector<std::int32_t> columns;
    // The incident field of the block under way, (steps, columns); null: there is none.
    const Real* table = nullptr;
    long width = 0, needed = 0;  // columns it has, and must have

    Incident(bool magnetic, const RowSpan& rows, long taps_, const Layout& layout, const Rows<Real>& r)
        : RowOperation<Real>(magnetic ? 3 : 0, rows), taps(taps_), field(layout.field_length), length(layout.nc), kernels(r), program_of(rows.count()) {}

    // The samples of row (i, j), by component and k.
    void set_row(long i, long j, const std::vector<Sample>& samples) {
        std::string key;
        const auto note = [&](const auto& value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
        for (const Sample& sample : samples) {
            note(sample.component), note(sample.k), note(sample.weight);
            for (long n = 0; n < taps; ++n) {
                note(sample.columns[n]), note(sample.shares[n]);
                needed = std::max<long>(needed, sample.columns[n] + 1);
            }
        }
        const auto [known, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(programs.size()));
        if (fresh) add_program(samples);
        program_of[this->span.index(i, j)] = known->second;
    }
    void settled() { known_.clear(); }
    bool acts_on(long number) const override { return program_of[number] != 0; }

    void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (!table) return;
        const Real* const now = table + step.in_block * width;
        const Program& program = programs[program_of[number]];
        const Point* const begin = points.data() + program.first_point;
        if (program.runs || cells.first != 0 || cells.last < length) return apply_parts(row, program, cells, now);
        for (const Point *point = begin, *end = begin + program.points; point != end; ++point)
            row[point->at] += point->weight * now[point->column];
    }
    [[gnu::noinline]] void apply_parts(Real* row, const Program& program, const Cells& cells, const Real* now) const {
        for (const Point *point = points.data() + program.first_point, *end = point + program.points; point != end; ++point)
            if (cells.hold(point->at % field)) row[point->at] += point->weight * now[point->column];
        for (const Run *run = runs.data() + program.first_run, *end = run + program.runs; run != end; ++run) {
            if (run->count == 1) {
                if (cells.hold(run->k)) row[run->component * field + run->k] += weights[run->weight] * read(now, *run);
                continue;
            }
            const Cells part = cells.within({run->k, run->k + run->count});
            const long skipped = part.first - run->k;
            if (part.first < part.last)
                kernels.incident(row + run->component * field + part.first, weights.data() + run->weight + skipped,
                                 part.last - part.first, now + (run->along ? skipped : 0), columns.data() + run->tap,
                                 shares.data() + run->tap, taps, run->along);
        }
    }
    Real read(const Real* now, const Run& run) const {
        const std::int32_t* const column = columns.data() + run.tap;
        const Real* const share = shares.data() + run.tap;
        if (taps == 1) return now[column[0]];
        Real value = share[0] * now[column[0]];
        for (long n = 1; n < taps; ++n) value += share[n] * now[column[n]];
        return value;
    }
    std::size_t bytes() const {
        return (program_of.size() + columns.size()) * 4 + programs.size() * sizeof(Program) + points.size() * sizeof(Point) + runs.size() * sizeof(Run) +
               (weights.size() + shares.size()) * sizeof(Real);
    }

private:
    std::map<std::string, std::uint32_t> known_;

    static bool lonely(const std::vector<Sample>& samples) {
        const auto next = [](const Sample& one, const Sample& other) {
            return one.component == other.component && one.k + 1 == other.k;
        };
        return std::adjacent_find(samples.begin(), samples.end(), next) == samples.end();
    }
    void add_program(const std::vector<Sample>& samples) {
        Program program{std::uint32_t(points.size()), 0, std::uint32_t(runs.size()), 0};
        if (taps == 1 && lonely(samples)) {
            for (const Sample& sample : samples)
                points.push_back({std::int32_t(sample.component * field + sample.k), sample.columns[0], sample.weight});
            program.points = static_cast<std::uint32_t>(samples.size());
            programs.push_back(program);
            return;
        }
        for (std::size_t n = 0, next; n < samples.size(); n = next) {
            Run run{std::int32_t(samples[n].component), std::int32_t(samples[n].k), 1, 0, std::uint32_t(weights.size()),
                    std::uint32_t(columns.size())};
            for (next = n + 1; next < samples.size(); ++next, ++run.count) {
                const auto continues = [&](int step) { return run.continued_by(samples[next - 1], samples[next], step); };
                if (run.count == 1) run.along = !continues(0);
                if (!continues(run.along)) break;
            }
            columns.insert(columns.end(), samples[n].columns.begin(), samples[n].columns.end());
            shares.insert(shares.end(), samples[n].shares.begin(), samples[n].shares.end());
            for (std::size_t m = n; m < next; ++m) weights.push_back(samples[m].weight);
            runs.push_back(run);
        }
        program.runs = static_cast<std::uint32_t>(runs.size()) - program.first_run;
        programs.push_back(program);
    }
};

}  // namespace nearfield
