// A current through one edge, electric or magnetic: E <- E + weight I(t), H <- H + weight M(t). The caller gives the
// waveform's amplitude at this half step; signs, step and edge are in the weight (nearfield/plan/plan.py, CurrentTerm).
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class V>
NEARFIELD_CELL V driven(V field, V weight, V amplitude) {
    return field + weight * amplitude;
}

}  // namespace nearfield::cell
