// Four samples in a slab of the CPML (cell/cpml.h): psi of a derivative is read in one place and left in another, or in
// the same one.
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

// `keeps`: whether psi is left behind.
template <class Real>
NEARFIELD_CELL Four<Real> stretched(const Four<Real>& difference, const Stretch<Real>& s, const Real* from, Real* to,
                                    bool keeps) {
    Four<Real> psi = load(from);
    const Four<Real> value = cell::stretched(difference, s.inverse, s.decay, s.drive, psi);
    if (keeps) store(to, psi);
    return value;
}

// Number of a plane, row or block among those in slabs; -1: outside.
NEARFIELD_CELL int number_in_slabs(const Ends& ends, int n) {
    return n < ends.low ? n : n >= ends.high ? n - ends.high + ends.low : -1;
}

}  // namespace nearfield::cuda
