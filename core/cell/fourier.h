// A running Fourier transform of one sample: S(f) <- S(f) + F(t) exp(-j 2 pi f t), real and imaginary part in turn. The
// caller gives cos or -sin of the step as `phasor`, adds steps in their order, and multiplies by their length at the
// end.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V>
NEARFIELD_CELL V transformed(V sum, V phasor, V sample) {
    return sum + phasor * sample;
}

}  // namespace nearfield::cell
