// The update of one component (Yee 1966; Taflove & Hagness, ch. 3):
//     E <- Ca E + Cb (curl H),    H <- Da H - Db (curl E),
// the curl as a difference of two derivatives. `first` and `second` are these, the caller's: differences, upper minus
// lower sample, times the inverse length (or cpml.h). Lossless: Ca = Da = 1, left out.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V, class C>
NEARFIELD_CELL V advance_electric(V e, C cb, V first, V second) {
    return e + cb * (first - second);
}
template <class V, class C>
NEARFIELD_CELL V advance_electric(V e, C ca, C cb, V first, V second) {
    return ca * e + cb * (first - second);
}

template <class V, class C>
NEARFIELD_CELL V advance_magnetic(V h, C db, V first, V second) {
    return h - db * (first - second);
}
template <class V, class C>
NEARFIELD_CELL V advance_magnetic(V h, C da, C db, V first, V second) {
    return da * h - db * (first - second);
}

}  // namespace nearfield::cell
