// One term of a weighted sum of samples, such as a voltage along edges: weight F, in double precision whatever the
// fields are. The caller keeps the terms and adds them up in the order of the sum, whoever made them.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class Wide, class Real>
NEARFIELD_CELL Wide weighed(Wide weight, Real sample) {
    return weight * Wide(sample);
}

}  // namespace nearfield::cell
