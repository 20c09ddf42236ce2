// The next step begins: one thread counts. Traffic: 24 bytes.
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL void tick_now(const Tick<Real>& t) {
    last_phase([&](int thread) {
        if (thread == 0) ++t.now->step, ++t.now->in_block;
    });
}

#define TICK(Real, a) tick_now<Real>(a)
NEARFIELD_KERNEL(tick, Tick, 0, TICK)

}  // namespace nearfield::cuda
