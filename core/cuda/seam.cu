// The copies that close a periodic axis, as core/cpu/seams.hpp tells: a sample past one end is the image of the first
// or last, turned by Bloch's angle where fields are complex (cell/turn.h). A thread makes one copied sample of one
// component. Traffic in single precision: 8 bytes a copied sample, 16 where it turns.
#include "cell/turn.h"
#include "stored.h"

namespace nearfield::cuda {

template <class Real, class Stored>
NEARFIELD_CELL void carry(const Seam<Real>& s) {
    last_phase([&](int thread) {
        const long number = long(block_number()) * threads_of_block + thread, plane = s.inners * s.outers;
        if (number >= plane * s.count) return;
        const long n = number % plane;
        const long offset = s.components[number / plane] * s.field + n / s.inners * s.outer + n % s.inners * s.inner;
        const long from = s.from + offset, to = s.to + offset;
        Stored *const re = stored<Stored>(s.re), *const im = stored<Stored>(s.im);
        if (!im) {
            re[to] = re[from];
            return;
        }
        const Real x = sample(re + from, s.scale), y = sample(im + from, s.scale);
        put_sample(re + to, cell::turned_real(x, y, s.cosine, s.sine), s.scale);
        put_sample(im + to, cell::turned_imaginary(x, y, s.cosine, s.sine), s.scale);
    });
}

#define SEAM(Real, Stored, a) carry<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(seam, Seam, 0, SEAM)

}  // namespace nearfield::cuda
