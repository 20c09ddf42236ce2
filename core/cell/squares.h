// The squares of all six fields, of which the guard against divergence asks the sum: for each lane of a block of 16
// cells over its six components, then over the lanes in turn, in double precision; blocks are added exactly
// (exact_sum.hpp).
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class Wide, class Real>
NEARFIELD_CELL Wide plus_square(Wide sum, Real sample) {
    return sum + Wide(sample) * Wide(sample);
}

}  // namespace nearfield::cell
