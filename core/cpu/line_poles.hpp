// The poles of a dispersive layer on the line of an incident wave: what operations/poles.hpp does to a row, to some
// places of another.
#pragma once

#include <cstdint>

#include "cell/poles.h"

namespace nearfield {

template <class Real>
struct LinePoles {
    long count, firsts, seconds;
    const std::int64_t* at;  // places in the row
    const Real *numbers, *stay, *weight;
    Real* states;  // (states, count)

    // `old`: the row before the first medium acts.
    void apply(Real* row, const Real* old) const {
        const auto number = [this](long n) { return numbers[n]; };
        for (long n = 0; n < count; ++n) {
            const Real sum = cell::remembered(Real(0), old[at[n]], number, States{states + n, count}, firsts, seconds);
            row[at[n]] = cell::polarised(row[at[n]], stay[n], weight[n], sum);
        }
    }

private:
    struct States {  // of one place
        Real* first;
        long count;
        Real load(long n) const { return first[n * count]; }
        void store(long n, Real value) const { first[n * count] = value; }
    };
};

}  // namespace nearfield
