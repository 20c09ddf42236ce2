// The samples of a box of one component, numbered along its three axes.
#pragma once

#include "stored.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL long samples_of(const Box<Real>& box) {
    return box.shape[0] * box.shape[1] * box.shape[2];
}
template <class Stored, class Real>
NEARFIELD_CELL Real sample_of(const Box<Real>& box, long number) {
    const long k = number % box.shape[2], row = number / box.shape[2];
    return sample(stored<Stored>(box.from) + row / box.shape[1] * box.plane + row % box.shape[1] * box.row + k,
                  box.scale);
}

}  // namespace nearfield::cuda
