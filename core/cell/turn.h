// Bloch's condition at a seam: a sample's image one period further on is F (cosine + j sine). The caller gives both
// parts of the original, and the sine's sign for its direction.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V, class C>
NEARFIELD_CELL V turned_real(V re, V im, C cosine, C sine) {
    return cosine * re - sine * im;
}
template <class V, class C>
NEARFIELD_CELL V turned_imaginary(V re, V im, C cosine, C sine) {
    return cosine * im + sine * re;
}

}  // namespace nearfield::cell
