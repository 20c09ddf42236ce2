// The off-diagonal part of an inverse permittivity at one sample of E: what D of other components, hence H around it,
// adds (nearfield/plan/plan.py, CouplingTerm),
//     E <- E + sum of weight[n] H[offset[n]],   offsets from the sample itself, in one array of records.
// Taps go to four sums by turns, which need not wait for each other.
#pragma once

#include "cell.h"

namespace nearfield::cell {

// `taken(offset)` gives H there.
template <class Real, class Taken, class Offset>
NEARFIELD_CELL Real coupled_by(Real sample, const Taken& taken, const Real* weight, const Offset* offset, long taps) {
    Real sums[4] = {};
    long n = 0;
    for (; n + 4 <= taps; n += 4)
        for (int m = 0; m < 4; ++m) sums[m] += weight[n + m] * taken(offset[n + m]);
    for (int m = 0; m < 3; ++m)  // a fixed count, so that the sums stay in a kernel's registers
        if (n + m < taps) sums[m] += weight[n + m] * taken(offset[n + m]);
    return sample + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}
template <class Real, class Offset>
NEARFIELD_CELL Real coupled(const Real* sample, const Real* weight, const Offset* offset, long taps) {
    return coupled_by(*sample, [sample](Offset at) { return sample[at]; }, weight, offset, taps);
}

}  // namespace nearfield::cell
