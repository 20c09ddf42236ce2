// What an incident wave adds to one sample on a face of a total-field box (Taflove & Hagness, ch. 5):
//     F <- F + weight v,   v = sum of share[n] table[column[n]] in the order of the taps; one tap has no share.
// The table holds the wave's fields at this half step; `share(n)` and `value(n)`, of a tap, are the caller's, as is the
// weight: of the update's coefficient, inverse length and direction.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V, class Share, class Value>
NEARFIELD_CELL V interpolated(const Share& share, const Value& value, long taps) {
    V sum = value(0);
    if (taps > 1) sum = sum * share(0);
    for (long n = 1; n < taps; ++n) sum = sum + share(n) * value(n);
    return sum;
}

template <class V>
NEARFIELD_CELL V incident_amount(V weight, V value) {
    return weight * value;
}

// The same on a line along the axis of the wave, whose second row is total from one node on: `value` is the neighbour's
// across the entry, the coefficient and the inverse length are those of the node.
template <class V>
NEARFIELD_CELL V entered(V field, V direction, V drive, V inverse, V value) {
    return field + direction * (drive * inverse * value);
}

}  // namespace nearfield::cell
