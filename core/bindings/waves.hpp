// The incident waves of an engine: the tables of a block of steps, and who reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "operations/incident.hpp"
#include "recorded.hpp"

namespace nearfield {

template <class Real>
class Waves {
public:
    using Given =
        std::vector<std::optional<In<Real, nb::ndim<3>>>>;  // each (2, steps, columns), for E and for H; None: silent

    // Samples of E or of H in the order (a, b, component), (samples, taps) columns and shares of table `wave`.
    template <class Numbers, class Weights, class Columns, class Shares>
    void add(Engine<Real>& engine, bool magnetic, long wave, const Numbers& component, const Numbers& i,
             const Numbers& j, const Numbers& k, const Weights& weight, const Columns& column, const Shares& share) {
        const std::size_t count = i.shape(0), taps = column.shape(1);
        RowSpan rows{{i(0), i(0) + 1}, {j(0), j(0) + 1}};
        for (std::size_t n = 0; n < count; ++n) {
            if (std::any_of(column.data() + n * taps, column.data() + (n + 1) * taps, [](auto c) { return c < 0; }))
                throw std::out_of_range("a column lies outside the table of its incident wave");
            if (component(n) / 3 != magnetic) throw std::invalid_argument("an incident term drives E or H, not both");
            rows.a = {std::min<long>(rows.a[0], i(n)), std::max<long>(rows.a[1], i(n) + 1)};
            rows.b = {std::min<long>(rows.b[0], j(n)), std::max<long>(rows.b[1], j(n) + 1)};
        }
        auto fresh = std::make_unique<Incident<Real>>(magnetic, rows, taps, engine.team().size(), engine.block().layout,
                                                      engine.rows());
        std::vector<typename Incident<Real>::Sample> samples;
        for (std::size_t n = 0; n < count; ++n) {
            const std::int32_t* const columns = column.data() + n * taps;
            const Real* const shares = share.data() + n * taps;
            samples.push_back({component(n) % 3, k(n), weight(n), {columns, columns + taps}, {shares, shares + taps}});
            if (n + 1 == count || i(n + 1) != i(n) || j(n + 1) != j(n)) {
                fresh->set_row(i(n), j(n), samples);
                samples.clear();
            }
        }
        fresh->settled();
        operations_.push_back({fresh.get(), wave});
        engine.operations().add_wave(std::move(fresh));
    }

    // The tables of the next block.
    void begin(long steps, const Given& waves) {
        tables_.clear();
        for (const auto& wave : waves) {
            if (wave && (wave->shape(0) != 2 || long(wave->shape(1)) != steps))
                throw std::invalid_argument("the table of an incident wave does not fit the block of steps");
            tables_.emplace_back();
            if (!wave) continue;
            tables_.back().resize(wave->size() + 2 * lanes);
            std::copy(wave->data(), wave->data() + wave->size(), tables_.back().begin() + lanes);
        }
        for (const auto& [operation, number] : operations_) {
            const std::vector<Real>& values = tables_.at(number);
            const long width = waves[number] ? waves[number]->shape(2) : 0;
            operation->set_table(
                values.empty() ? nullptr : values.data() + lanes + operation->component / 3 * steps * width, width);
            if (operation->table && operation->needed > operation->width)
                throw std::out_of_range("a column lies outside the table of its incident wave");
        }
    }

private:
    std::vector<std::vector<Real>> tables_;
    std::vector<std::pair<Incident<Real>*, long>> operations_;  // each with the number of its wave
};

}  // namespace nearfield
