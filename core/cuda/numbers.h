// Numbers of kernels: doubles that flush denormals, and four neighbouring samples.
#pragma once

#include "block.h"

namespace nearfield::cuda {

// A double whose results are never denormal: the CPU's switch does so for both precisions, a card for single alone. Two
// integer operations each. What is read from memory must be flushed already.
struct Wide {
    double value;
    Wide() = default;
    NEARFIELD_CELL Wide(double v) : value(v) {}
    NEARFIELD_CELL explicit operator float() const { return float(value); }
    NEARFIELD_CELL Wide& operator+=(Wide other);
};
union WideBits {
    double value;
    unsigned long long bits;
};
NEARFIELD_CELL Wide flushed(double v) {
    WideBits u{v};
    if (!(u.bits & 0x7ff0000000000000ull)) u.bits &= 0x8000000000000000ull;
    return Wide(u.value);
}
NEARFIELD_CELL Wide operator+(Wide p, Wide q) { return flushed(p.value + q.value); }
NEARFIELD_CELL Wide operator-(Wide p, Wide q) { return flushed(p.value - q.value); }
NEARFIELD_CELL Wide operator*(Wide p, Wide q) { return flushed(p.value * q.value); }
NEARFIELD_CELL Wide& Wide::operator+=(Wide other) { return *this = *this + other; }

// Four samples of a row, one load or store of 16 bytes in single precision.
template <class Real>
struct alignas(16) NEARFIELD_ALIAS Four {
    Real x, y, z, w;
};
template <class Real>
NEARFIELD_CELL Four<Real> operator+(const Four<Real>& p, const Four<Real>& q) {
    return {p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w};
}
template <class Real>
NEARFIELD_CELL Four<Real> operator-(const Four<Real>& p, const Four<Real>& q) {
    return {p.x - q.x, p.y - q.y, p.z - q.z, p.w - q.w};
}
template <class Real>
NEARFIELD_CELL Four<Real> operator*(const Four<Real>& p, const Four<Real>& q) {
    return {p.x * q.x, p.y * q.y, p.z * q.z, p.w * q.w};
}
template <class Real>
NEARFIELD_CELL Four<Real> all_four(Real v) {
    return {v, v, v, v};
}
template <class Real>
NEARFIELD_CELL Four<Real> load(const Real* p) {
    return *reinterpret_cast<const Four<Real>*>(p);
}
template <class Real>
NEARFIELD_CELL void store(Real* p, const Four<Real>& v) {
    *reinterpret_cast<Four<Real>*>(p) = v;
}

// To the card's memory, in one piece, which a `store` may not be, and not to be read again soon.
#if defined(__CUDACC__)
NEARFIELD_CELL void send(float* p, const Four<float>& v) {
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w));
}
#endif
template <class Real>
NEARFIELD_CELL void send(Real* p, const Four<Real>& v) {
    store(p, v);
}

}  // namespace nearfield::cuda
