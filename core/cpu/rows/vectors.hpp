// Vectors of NEARFIELD_VECTOR_BYTES, for the instruction set that a file is compiled for.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace nearfield::NEARFIELD_ISA {

template <class Real>
struct Vector {
    static constexpr long width = NEARFIELD_VECTOR_BYTES / sizeof(Real);
    typedef Real type __attribute__((vector_size(NEARFIELD_VECTOR_BYTES)));
    typedef Real unaligned __attribute__((vector_size(NEARFIELD_VECTOR_BYTES), aligned(alignof(Real)), may_alias));
};
template <class Real>
inline typename Vector<Real>::type load(const Real* p) {
    return *reinterpret_cast<const typename Vector<Real>::unaligned*>(p);
}
template <class Real>
inline void store(Real* p, typename Vector<Real>::type v) {
    *reinterpret_cast<typename Vector<Real>::unaligned*>(p) = v;
}
template <class Real>
inline typename Vector<Real>::type broadcast(Real value) {
    return value - typename Vector<Real>::type{};  // minus zero keeps the sign of a zero
}

// The vector one sample below `here`, whose last lane of the vector before stands first. With the widest vectors a lane
// shift is cheaper than a load that straddles two lines; with narrower ones the load is.
template <class Real>
inline typename Vector<Real>::type one_below(typename Vector<Real>::type before, typename Vector<Real>::type here,
                                             [[maybe_unused]] const Real* p) {
#if NEARFIELD_VECTOR_BYTES == 64
    if constexpr (sizeof(Real) == 4)
        return __builtin_shufflevector(before, here, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    else
        return __builtin_shufflevector(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
#else
    (void)before, (void)here;
    return load(p - 1);
#endif
}
// The vector one sample above `here`.
template <class Real>
inline typename Vector<Real>::type one_above(typename Vector<Real>::type here, typename Vector<Real>::type after,
                                             [[maybe_unused]] const Real* p) {
#if NEARFIELD_VECTOR_BYTES == 64
    if constexpr (sizeof(Real) == 4)
        return __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    else
        return __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8);
#else
    (void)here, (void)after;
    return load(p + 1);
#endif
}

// `here` with an amount added in one lane; minus zero changes nothing in the others.
template <class Real>
inline typename Vector<Real>::type plus_in_lane(typename Vector<Real>::type here, std::int32_t at, const Real& amount) {
#if NEARFIELD_VECTOR_BYTES == 64
    if constexpr (sizeof(Real) == 4)
        here = _mm512_mask_add_ps(here, 1u << at, here, _mm512_set1_ps(amount));
    else
        here = _mm512_mask_add_pd(here, 1u << at, here, _mm512_set1_pd(amount));
    asm("" : "+v"(here));  // else a masked store comes of it, which no later load can be given
    return here;
#else
    using V = typename Vector<Real>::type;
    decltype(V{} == V{}) lane;
    for (std::int32_t n = 0; n < Vector<Real>::width; ++n) lane[n] = n;
    return here + (lane == at ? broadcast(amount) : broadcast(Real(-0.0)));
#endif
}

// row[at] += amount as a whole vector: one cell stored by itself would hold up the next load of its vector.
template <class Real>
inline void add_single(Real* row, std::int32_t at, const Real& amount) {
    constexpr std::int32_t W = Vector<Real>::width;
    Real* const place = row + (at & -W);
    store(place, plus_in_lane<Real>(load(place), at & (W - 1), amount));
}

}  // namespace nearfield::NEARFIELD_ISA
