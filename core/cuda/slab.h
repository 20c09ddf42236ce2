// Four samples in a slab of the CPML (cell/cpml.h).
#pragma once

#include "cell/cpml.h"
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
struct Stretch {  // of four samples, along one axis
    Four<Real> inverse, decay, drive;
};
// Along the rows, from sample k on; across them all four have those of one sample.
template <class Real>
NEARFIELD_CELL Stretch<Real> stretch_of_four(const Axis<Real>& axis, int k) {
    return {load(axis.inverse + k), load(axis.decay + k), load(axis.drive + k)};
}
template <class Real>
NEARFIELD_CELL Stretch<Real> stretch_of_one(const Axis<Real>& axis, int n) {
    return {all_four(axis.inverse[n]), all_four(axis.decay[n]), all_four(axis.drive[n])};
}

template <class Real>
NEARFIELD_CELL Four<Real> stretched(const Four<Real>& difference, const Stretch<Real>& s, Four<Real>& psi) {
    return cell::stretched(difference, s.inverse, s.decay, s.drive, psi);
}
template <class Real>
NEARFIELD_CELL Four<Real> stretched(const Four<Real>& difference, const Stretch<Real>& s, Real* at) {
    Four<Real> psi = load(at);
    const Four<Real> value = stretched(difference, s, psi);
    store(at, psi);
    return value;
}

// Of four samples, along one axis: of the derivatives in the order of cell/cpml.h's states.
template <class Real>
struct Psi {
    Four<Real> first, second;
};
constexpr int no_slab = 3;  // in place of an axis
// Where psi of a half step lie, for the four samples from (i, j, k) on in the slab along an axis.
template <class Real>
NEARFIELD_CELL long psi_place(const Sweep<Real>& s, int axis, int i, int j, int k, int half) {
    const int block = k / lanes_of_block;
    const long row = axis == 2   ? i * s.plane + j * s.record + 6 * s.field
                     : axis == 1 ? i * s.psi.b_plane + s.slab[1].index(j) * s.psi.row
                                 : (long(s.slab[0].index(i)) * s.rows + j) * s.psi.row;
    const long states = 4 * lanes_of_block * (axis == 2 ? s.slab[2].index(block) : block);
    return row + states + 2 * lanes_of_block * half + k % lanes_of_block;
}
template <class Real>
NEARFIELD_CELL Psi<Real> psi_of(const Sweep<Real>& s, int axis, int i, int j, int k, int half) {
    if (axis == no_slab) return {};
    const Real* const psi = (axis == 2   ? s.from
                             : axis == 1 ? s.psi.b_from
                                         : s.psi.a_from) +
                            psi_place(s, axis, i, j, k, half);
    return {load(psi), load(psi + lanes_of_block)};
}
template <class Real>
NEARFIELD_CELL void store_psi(const Sweep<Real>& s, int axis, int i, int j, int k, int half, const Psi<Real>& p) {
    Real* const psi = (axis == 2 ? s.to : axis == 1 ? s.psi.b_to : s.psi.a_to) + psi_place(s, axis, i, j, k, half);
    store(psi, p.first), store(psi + lanes_of_block, p.second);
}

}  // namespace nearfield::cuda
