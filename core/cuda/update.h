// The last part of a half step of four samples: coefficients of the palette, and the update itself (cell/curl.h).
#pragma once

#include "cell/curl.h"
#include "plan.h"

namespace nearfield::cuda {

// One component of four samples. `n`: which of three; `values`: those of its block of 16, from the four's first lane on.
template <class Real, bool electric>
NEARFIELD_CELL Four<Real> advanced(const Four<Real>& old, const Four<Real>& first, const Four<Real>& second, bool lossy,
                                   const Real* values, int n) {
    if (lossy) {
        const Four<Real> stay = load(values + 2 * n * lanes_of_block),
                         drive = load(values + (2 * n + 1) * lanes_of_block);
        return electric ? cell::advance_electric(old, stay, drive, first, second)
                        : cell::advance_magnetic(old, stay, drive, first, second);
    }
    const Four<Real> drive = load(values + n * lanes_of_block);
    return electric ? cell::advance_electric(old, drive, first, second)
                    : cell::advance_magnetic(old, drive, first, second);
}

}  // namespace nearfield::cuda
