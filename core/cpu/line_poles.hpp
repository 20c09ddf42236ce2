// The poles of a dispersive layer on the line of an incident wave: what poles.hpp does to a row, to some places of another.
#pragma once

#include <cstdint>

namespace nearfield {

template <class Real>
struct LinePoles {
    long count, firsts, seconds;
    const std::int64_t* at;  // places in the row
    const Real *numbers, *stay, *weight;
    Real* states;  // (states, count)

    // `old`: the row before the first medium acts.
    void apply(Real* row, const Real* old) const {
        for (long n = 0; n < count; ++n) row[at[n]] = stay[n] * row[at[n]] - weight[n] * remembered(old[at[n]], states + n);
    }

private:
    // The same arithmetic in the same order as `remembered` in rows.cpp.
    Real remembered(Real e, Real* s) const {
        Real sum = 0;
        const Real* c = numbers;
        for (long n = 0; n < firsts; ++n, c += 2, s += count) {
            const Real t = *s;
            sum += t;
            *s = t + (c[0] * t + c[1] * e);
        }
        for (long n = 0; n < seconds; ++n, c += 4, s += 2 * count) {
            const Real t = s[0], u = s[count];
            sum += t;
            s[0] = t + ((c[0] * t + u) + c[2] * e);
            s[count] = u + ((c[1] * t + c[0] * u) + c[3] * e);
        }
        return sum;
    }
};

}  // namespace nearfield
