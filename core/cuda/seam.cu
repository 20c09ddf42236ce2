// The copies that close a periodic axis, as core/cpu/seams.hpp tells: a sample past one end is the image of the first
// or last, turned by Bloch's angle where fields are complex (cell/turn.h). A thread makes one copied sample of one
// component. Traffic in single precision: 8 bytes a copied sample, 16 where it turns.
#include "cell/turn.h"
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL void carry(const Seam<Real>& s) {
    last_phase([&](int thread) {
        const long number = long(block_number()) * threads_of_block + thread, plane = s.inners * s.outers;
        if (number >= plane * s.count) return;
        const long n = number % plane;
        const long offset = s.components[number / plane] * s.field + n / s.inners * s.outer + n % s.inners * s.inner;
        const long from = s.from + offset, to = s.to + offset;
        const Real re = s.re[from];
        if (!s.im) {
            s.re[to] = re;
            return;
        }
        const Real im = s.im[from];
        s.re[to] = cell::turned_real(re, im, s.cosine, s.sine);
        s.im[to] = cell::turned_imaginary(re, im, s.cosine, s.sine);
    });
}

#define SEAM(Real, a) carry<Real>(a)
NEARFIELD_KERNEL(seam, Seam, 0, SEAM)

}  // namespace nearfield::cuda
