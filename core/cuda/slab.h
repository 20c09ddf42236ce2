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
NEARFIELD_CELL Four<Real> stretched(const Four<Real>& difference, const Stretch<Real>& s, Real* at) {
    Four<Real> psi = load(at);
    const Four<Real> value = cell::stretched(difference, s.inverse, s.decay, s.drive, psi);
    store(at, psi);
    return value;
}

}  // namespace nearfield::cuda
