// The derivative in a stretched coordinate (convolutional PML, Roden & Gedney 2000):
//     psi <- decay psi + drive difference,    d/du = difference / (kappa length) + psi.
// The caller gives 1 / (kappa length) as `inverse`, and keeps psi: one for each of the four derivatives in a slab.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V, class C>
NEARFIELD_CELL V stretched(V difference, C inverse, C decay, C drive, V& psi) {
    psi = decay * psi + drive * difference;
    return difference * inverse + psi;
}

}  // namespace nearfield::cell
