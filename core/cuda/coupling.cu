// The off-diagonal part of an inverse permittivity (cell/coupling.h), right after the update of E:
//     E <- E + sum of weight[n] H[offset[n]].
// Reads H of the step before alone, so samples do not wait for each other. A thread makes one sample. Traffic in single
// precision: 24 bytes a sample, 12 a tap.
#include "cell/coupling.h"
#include "stored.h"

namespace nearfield::cuda {

template <class Real, class Stored>
NEARFIELD_CELL void couple(const Coupling<Real>& c) {
    last_phase([&](int thread) {
        const int number = block_number() * threads_of_block + thread;
        if (number >= c.count) return;
        const unsigned first = c.first[number], last = c.first[number + 1];
        Stored* const at = stored<Stored>(c.records) + c.at[number];
        const auto taken = [&](int offset) { return sample(at + offset, c.magnetic); };
        const Real e = sample(at, c.electric);
        put_sample(at, cell::coupled_by(e, taken, c.weights + first, c.offsets + first, long(last - first)),
                   c.electric);
    });
}

#define COUPLING(Real, Stored, a) couple<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(coupling, Coupling, 0, COUPLING)

}  // namespace nearfield::cuda
