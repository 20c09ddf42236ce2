// Samples of fields as they lie in memory: numbers of the arithmetic, or 16 bits each (cell/sixteen.h). Kernels that
// touch fields take either, as the type `Stored`; their argument names the first sample as a number in both cases.
#pragma once

#include "cell/sixteen.h"
#include "plan.h"

namespace nearfield::cuda {

using cell::Sixteen;

template <class Stored, class Real>
NEARFIELD_CELL Stored* stored(Real* first) {
    return reinterpret_cast<Stored*>(first);
}
template <class Stored, class Real>
NEARFIELD_CELL const Stored* stored(const Real* first) {
    return reinterpret_cast<const Stored*>(first);
}

template <class Real>
NEARFIELD_CELL Real sample(const Real* at, const Scale&) {
    return *at;
}
NEARFIELD_CELL float sample(const Sixteen* at, const Scale& scale) { return cell::from_sixteen(at->bits) * scale.down; }
template <class Real>
NEARFIELD_CELL void put_sample(Real* at, Real value, const Scale&) {
    *at = value;
}
NEARFIELD_CELL void put_sample(Sixteen* at, float value, const Scale& scale) {
    bool fits = true;
    at->bits = cell::in_sixteen(value * scale.up, fits);
    if (!fits) add_digit(scale.lost, 1);
}

struct alignas(8) NEARFIELD_ALIAS FourSixteen {
    unsigned first, second;  // two samples each, the earlier one in the low half
};
NEARFIELD_CELL void parted(unsigned both, float& low, float& high) {
    unsigned short one, two;
#if defined(__CUDACC__)
    asm("mov.b32 {%0, %1}, %2;" : "=h"(one), "=h"(two) : "r"(both));
#else
    one = static_cast<unsigned short>(both), two = static_cast<unsigned short>(both >> 16);
#endif
    low = cell::from_sixteen(one), high = cell::from_sixteen(two);
}
NEARFIELD_CELL unsigned joined(unsigned short low, unsigned short high) {
#if defined(__CUDACC__)
    unsigned both;
    asm("mov.b32 %0, {%1, %2};" : "=r"(both) : "h"(low), "h"(high));
    return both;
#else
    return low | unsigned(high) << 16;
#endif
}

template <class Real>
NEARFIELD_CELL Four<Real> four(const Real* at, const Scale&) {
    return load(at);
}
NEARFIELD_CELL Four<float> four(const Sixteen* at, const Scale& scale) {
    const FourSixteen bits = *reinterpret_cast<const FourSixteen*>(at);
    Four<float> v;
    parted(bits.first, v.x, v.y), parted(bits.second, v.z, v.w);
    return v * all_four(scale.down);
}
template <class Real>
NEARFIELD_CELL void put_four(Real* at, const Four<Real>& v, const Scale&) {
    store(at, v);
}
NEARFIELD_CELL void put_four(Sixteen* at, const Four<float>& v, const Scale& scale) {
    bool fits = true;
    const auto bits = [&](float value) { return cell::in_sixteen(value * scale.up, fits); };
    *reinterpret_cast<FourSixteen*>(at) = {joined(bits(v.x), bits(v.y)), joined(bits(v.z), bits(v.w))};
    if (!fits) add_digit(scale.lost, 1);
}

// A kernel whose fields lie in either way: in single and double precision as they are, and in single with 16 bits. Three
// blocks are to have registers at once on a multiprocessor in single precision.
#if defined(__CUDACC__)
#define NEARFIELD_FIELD_KERNEL(name, Arguments, memory, ...)                                                         \
    extern "C" __global__ void __launch_bounds__(256, 3) name##_single(const __grid_constant__ Arguments<float> a) { \
        __VA_ARGS__(float, float, a);                                                                                \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(256) name##_double(const __grid_constant__ Arguments<Wide> a) {     \
        __VA_ARGS__(Wide, Wide, a);                                                                                  \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(256) name##_sixteen(const __grid_constant__ Arguments<float> a) {   \
        __VA_ARGS__(float, Sixteen, a);                                                                              \
    }
#else
#define NEARFIELD_FIELD_KERNEL(name, Arguments, memory, ...)                                                          \
    const Kernel name[3] = {                                                                                          \
        {#name "_single", [](const void* p) { __VA_ARGS__(float, float, *static_cast<const Arguments<float>*>(p)); }, \
         sizeof(Arguments<float>), memory, true},                                                                     \
        {#name "_double", [](const void* p) { __VA_ARGS__(Wide, Wide, *static_cast<const Arguments<Wide>*>(p)); },    \
         sizeof(Arguments<Wide>), memory, false},                                                                     \
        {#name "_sixteen",                                                                                            \
         [](const void* p) { __VA_ARGS__(float, Sixteen, *static_cast<const Arguments<float>*>(p)); },                \
         sizeof(Arguments<float>), memory, true}};
#endif

}  // namespace nearfield::cuda
