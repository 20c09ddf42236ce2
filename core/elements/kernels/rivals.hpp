// Slopes to neighbours, the steepest of them so far and the one after it.
#pragma once

#include "elements/kernels.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

template <class T, class Weight>
[[gnu::always_inline]] inline void compete(const T* at, const T* to, const Weight& weight, T sign, int direction,
                                           long count, Rivals<T>& rivals) {
    for (long k = 0; k < count; ++k) {
        const T slope = (to[k] - at[k]) * weight(k) * sign, most = rivals.best[k];
        const T lesser = slope < most ? slope : most;
        rivals.second[k] = lesser > rivals.second[k] ? lesser : rivals.second[k];
        rivals.code[k] = slope > most ? typename Rivals<T>::Code(direction) : rivals.code[k];
        rivals.best[k] = slope > most ? slope : most;
    }
}

template <class T>
void weigh(const T* at, const T* to, T weight, const T* weights, int direction, long count, Rivals<T>& up,
           Rivals<T>& down) {
    const auto both = [&](const auto& of) {
        compete(at, to, of, T(1), direction, count, up);
        compete(at, to, of, T(-1), direction, count, down);
    };
    if (weights)
        both([weights](long k) { return weights[k]; });
    else
        both([weight](long) { return weight; });
}

}  // namespace nearfield::elements::NEARFIELD_ISA
