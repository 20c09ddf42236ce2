// The off-diagonal part of an inverse permittivity (cell/coupling.h), right after the update of E:
//     E <- E + sum of weight[n] H[offset[n]].
// Reads H of the step before alone, so samples do not wait for each other. A thread makes one sample. Traffic in single
// precision: 24 bytes a sample, 12 a tap.
#include "cell/coupling.h"
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL void couple(const Coupling<Real>& c) {
    last_phase([&](int thread) {
        const int number = block_number() * threads_of_block + thread;
        if (number >= c.count) return;
        const unsigned first = c.first[number], last = c.first[number + 1];
        Real* const sample = c.records + c.at[number];
        *sample = cell::coupled(sample, c.weights + first, c.offsets + first, long(last - first));
    });
}

#define COUPLING(Real, a) couple<Real>(a)
NEARFIELD_KERNEL(coupling, Coupling, 0, COUPLING)

}  // namespace nearfield::cuda
