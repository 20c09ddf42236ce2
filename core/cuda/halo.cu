// States that a message carries, between a device's arrays and one row of values: `out` to the row, else from it. A
// thread copies one state. Traffic in single precision: 16 bytes a state, its place included.
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL void exchange(const Halo<Real>& h) {
    last_phase([&](int thread) {
        const long number = long(block_number()) * threads_of_block + thread;
        if (number >= h.count) return;
        const long place = h.places[number];
        Real& state = place < h.a_psi_from   ? h.records[place]
                      : place < h.b_psi_from ? h.a_psi[place - h.a_psi_from]
                                             : h.b_psi[place - h.b_psi_from];
        Real& value = h.values[number];
        if (h.out)
            value = state;
        else
            state = value;
    });
}

#define HALO(Real, a) exchange<Real>(a)
NEARFIELD_KERNEL(halo, Halo, 0, HALO)

}  // namespace nearfield::cuda
