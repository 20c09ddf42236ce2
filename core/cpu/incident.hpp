// The incident wave on the faces of a total-field box (nearfield/incident/term.py, IncidentTerm): one operation a half step.
//
// In each row lie points, where a face is crossed, and runs, where the row lies in a face or on an edge. What rows hold is
// kept once: in the middle of a box nearly all rows are alike.
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
        std::uint32_t first = 0, count = 0;  // of the runs
    };

    long taps, field;  // field: from one component of a row to the next
    const Rows<Real>& kernels;
    std::vector<std::uint32_t> program_of;  // of each row of the span; the first one is empty
    std::vector<Program> programs{{}};
    std::vector<Run> runs;
    std::vector<Real> weights, shares;
    std::vector<std::int32_t> columns;
    // The incident field of the block under way, (steps, columns); null: there is none.
    const Real* table = nullptr;
    long width = 0, needed = 0;  // columns it has, and must have

    Incident(bool magnetic, const RowSpan& rows, long taps_, const Layout& layout, const Rows<Real>& r)
        : RowOperation<Real>(magnetic ? 3 : 0, rows), taps(taps_), field(layout.field_length), kernels(r), program_of(rows.count()) {}

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

    void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>&) override {
        if (!table) return;
        const Real* const now = table + step.in_block * width;
        const Program program = programs[program_of[number]];
        for (const Run *run = runs.data() + program.first, *end = run + program.count; run != end; ++run) {
            Real* const f = row + run->component * field;
            const std::int32_t* const column = columns.data() + run->tap;
            if (run->count == 1 && taps == 1) {
                if (cells.hold(run->k)) f[run->k] += weights[run->weight] * now[*column];
                continue;
            }
            const Cells part = cells.within({run->k, run->k + run->count});
            const long skipped = part.first - run->k;
            if (part.first < part.last)
                kernels.incident(f + part.first, weights.data() + run->weight + skipped, part.last - part.first,
                                 now + (run->along ? skipped : 0), column, shares.data() + run->tap, taps, run->along);
        }
    }
    std::size_t bytes() const {
        return (program_of.size() + columns.size()) * 4 + programs.size() * sizeof(Program) + runs.size() * sizeof(Run) +
               (weights.size() + shares.size()) * sizeof(Real);
    }

private:
    std::map<std::string, std::uint32_t> known_;

    void add_program(const std::vector<Sample>& samples) {
        Program program{static_cast<std::uint32_t>(runs.size()), 0};
        const Sample* last = nullptr;
        for (const Sample& sample : samples) {
            Run* const run = last ? &runs.back() : nullptr;
            bool continues = false;
            for (std::int32_t step : {0, 1})
                if (run && !continues && (run->count == 1 || run->along == step) && run->continued_by(*last, sample, step))
                    continues = true, run->along = step;
            if (!continues) {
                runs.push_back({std::int32_t(sample.component), std::int32_t(sample.k), 0, 0, std::uint32_t(weights.size()),
                                std::uint32_t(columns.size())});
                columns.insert(columns.end(), sample.columns.begin(), sample.columns.end());
                shares.insert(shares.end(), sample.shares.begin(), sample.shares.end());
            }
            weights.push_back(sample.weight);
            ++runs.back().count;
            last = &sample;
        }
        program.count = static_cast<std::uint32_t>(runs.size()) - program.first;
        programs.push_back(program);
    }
};

}  // namespace nearfield
