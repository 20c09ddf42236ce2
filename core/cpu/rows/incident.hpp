// Incident waves along a run of samples of a row, and at single ones.
#pragma once

#include <cstdint>

#include "cell/incident.h"
#include "cpu/rows.hpp"
#include "vectors.hpp"

namespace nearfield::NEARFIELD_ISA {

// The first or the last vector of a run holds samples beside it, which take nothing: minus zero changes no value.
template <class Real>
inline typename Vector<Real>::type within(typename Vector<Real>::type amount, std::int32_t k, std::int32_t count) {
    using V = typename Vector<Real>::type;
    decltype(V{} == V{}) lane;
    for (std::int32_t n = 0; n < Vector<Real>::width; ++n) lane[n] = k + n;
    return (lane >= 0) & (lane < count) ? amount : broadcast(Real(-0.0));
}

// A function for each usual number of taps, whose shares stay in registers; `usual` 0: any. Vectors are those of the
// update: others would wait for its stores. `adding`: to the row; else the amounts overwrite whole vectors.
template <class Real, int usual, bool adding>
inline void incident_of(Real* row, long at, const Real* weight, long count, const Real* table,
                        const std::int32_t* column, const Real* share, long given, bool along) {
    using V = typename Vector<Real>::type;
    constexpr long W = Vector<Real>::width;
    const long taps = usual ? usual : given;
    V kept[usual ? usual : 1];
    for (long n = 0; n < usual; ++n) kept[n] = broadcast(share[n]);
    const auto share_of = [&](long n) { return usual ? kept[usual ? n : 0] : broadcast(share[n]); };
    const auto of_first = [&](long n) { return broadcast(table[column[n]]); };
    const V same = along ? V{} : cell::interpolated<V>(share_of, of_first, taps);
    for (long k = -(at & (W - 1)); k < count; k += W) {
        const auto here = [&](long n) { return load(table + column[n] + k); };
        const V amount =
            cell::incident_amount(load(weight + k), along ? cell::interpolated<V>(share_of, here, taps) : same);
        Real* const f = row + at + k;
        if constexpr (!adding)
            store(f, amount);
        else
            store(f, load(f) + (k < 0 || k + W > count ? within<Real>(amount, k, count) : amount));
    }
}

template <class Real, bool adding>
void incident(Real* row, long at, const Real* weight, long count, const Real* table, const std::int32_t* column,
              const Real* share, long taps, bool along) {
    (taps == 1    ? incident_of<Real, 1, adding>
     : taps == 6  ? incident_of<Real, 6, adding>
     : taps == 10 ? incident_of<Real, 10, adding>
                  : incident_of<Real, 0, adding>)(row, at, weight, count, table, column, share, taps, along);
}

template <class Real>
void singles(Real* row, const std::int32_t* at, const Real* amount, long count) {
    for (long n = 0; n < count; ++n) add_single(row, at[n], amount[lanes * n]);
}

}  // namespace nearfield::NEARFIELD_ISA
