// The poles of a dispersive medium at one sample (nearfield/media/poles.py). Over a step
//     P_new - P_old = before E_old + now E_new + T,
// T the sum of the states of all poles. Just before the update of a field that holds e:
//     E <- stay E - weight T;   first order:   T_n += k T_n + q e;
//                               second order:  T_n += (k T_n + U_n) + q e,   U_n += (rho T_n + k U_n) + r e.
// `number(n)`: k, q of each recursion of first order, then k, rho, q, r of each of second. `state.load(n)` and
// `state.store(n, value)`: T of each of first order, then T, U of each of second.
#pragma once

#include "cell.h"

namespace nearfield::cell {

// T, added to `sum` pole after pole; the states advance with e.
template <class V, class Number, class State>
NEARFIELD_CELL V remembered(V sum, V e, const Number& number, const State& state, long firsts, long seconds) {
    for (long n = 0; n < firsts; ++n) {
        const V t = state.load(n);
        sum = sum + t;
        state.store(n, t + (number(2 * n) * t + number(2 * n + 1) * e));
    }
    for (long n = 0; n < seconds; ++n) {
        const long at = firsts + 2 * n, c = 2 * firsts + 4 * n;
        const V t = state.load(at), u = state.load(at + 1);
        const auto k = number(c);
        sum = sum + t;
        state.store(at, t + ((k * t + u) + number(c + 2) * e));
        state.store(at + 1, u + ((number(c + 1) * t + k * u) + number(c + 3) * e));
    }
    return sum;
}

template <class V>
NEARFIELD_CELL V polarised(V e, V stay, V weight, V sum) {
    return stay * e - weight * sum;
}

}  // namespace nearfield::cell
