// A snapshot of a box, times a unit, in its own order. A thread copies one sample. Traffic in single precision: 8 bytes
// a sample.
#include "recorded.h"

namespace nearfield::cuda {

template <class Real, class Stored>
NEARFIELD_CELL void copy(const CopyBox<Real>& c) {
    last_phase([&](int thread) {
        const long number = long(block_number()) * threads_of_block + thread;
        if (number < samples_of(c.box)) c.to[number] = sample_of<Stored>(c.box, number) * c.unit;
    });
}

#define COPY_BOX(Real, Stored, a) copy<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(copy_box, CopyBox, 0, COPY_BOX)

}  // namespace nearfield::cuda
