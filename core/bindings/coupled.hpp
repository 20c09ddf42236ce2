// The coupling of an engine's E samples, from arrays.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "arguments.hpp"
#include "engine.hpp"
#include "operations/coupling.hpp"

namespace nearfield {

// Samples (samples, 4) in the order of rows and taps (taps, 4), as (component, a, b, c); those of sample n are taps
// [first[n], first[n + 1]), which may lie one before or past the ends of a closed axis. Imaginary parts likewise.
template <class Real, class Places, class Numbers, class Weights>
void couple(Engine<Real>& engine, const Places& at, const Numbers& first, const Places& tap, const Weights& weight) {
    const Layout& l = engine.block().layout;
    const long count = at.shape(0), taps = tap.shape(0);
    if (!count || at.shape(1) != 4 || tap.shape(1) != 4 || long(first.shape(0)) != count + 1 || first(0) != 0 ||
        first(count) != taps || long(weight.shape(0)) != taps)
        throw std::invalid_argument("the arrays of a coupling do not fit each other");
    const auto inside = [&](const Places& place, long n, bool magnetic) {
        const long length[3] = {l.na, l.nb, l.nc};
        bool right = place(n, 0) / 3 == magnetic;
        for (int axis = 0; axis < 3; ++axis) {
            const long beyond = magnetic && engine.seams()[axis].closed;
            right &= place(n, 1 + axis) >= -beyond && place(n, 1 + axis) < length[axis] + beyond;
        }
        if (!right) throw std::out_of_range("a coupling leads out of the domain");
        return l.field(place(n, 0), place(n, 1), place(n, 2)) + place(n, 3);
    };
    std::vector<std::unique_ptr<Coupling<Real>>> fresh;
    for (int part = 0; part < engine.block().parts; ++part)
        fresh.push_back(std::make_unique<Coupling<Real>>(RowSpan{{0, l.na}, {0, l.nb}}, part));
    std::vector<std::int32_t> offsets;
    for (long n = 0, row = 0; n < count; ++n) {
        const long sample = inside(at, n, false), number = l.row(at(n, 1), at(n, 2));
        if (number < row) throw std::invalid_argument("the samples of a coupling come in the order of rows");
        row = number;
        offsets.clear();
        for (long t = first(n); t < first(n + 1); ++t) {
            for (int axis = 1; axis < 4; ++axis)
                if (std::abs(tap(t, axis) - at(n, axis)) > 1)
                    throw std::out_of_range("a coupling reaches over more than one cell");
            offsets.push_back(narrow(inside(tap, t, true) - sample));
        }
        const auto of_row = narrow(sample - l.field(0, at(n, 1), at(n, 2)));
        for (auto& each : fresh) each->add(number, of_row, std::int32_t(at(n, 3)), offsets, weight.data() + first(n));
    }
    for (auto& each : fresh) {
        each->settled();
        engine.operations().add(std::move(each));
    }
}

}  // namespace nearfield
