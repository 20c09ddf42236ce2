// A number in 16 bits, IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction), times a power of two that the caller chooses:
// `up` on the way in, `down` = 1 / up on the way out, both products exact.
//     in:  to the nearest, ties to even, denormals too; above 65504 it does not fit, and the largest stands for it
//     out: exact
// Cards have an instruction for each way, which is IEEE 754's conversion; processors do the same with whole numbers.
// Infinities and NaN do not fit.
#pragma once

#include "cell.h"

namespace nearfield::cell {

struct Sixteen {
    unsigned short bits;
};
union SingleBits {
    float value;
    unsigned bits;
};

constexpr float sixteen_end = 65520.0F, sixteen_largest = 65504.0F;  // what is below the first becomes the second

// Of a number that fits.
NEARFIELD_CELL unsigned short nearest_in_sixteen(float scaled) {
#if defined(__CUDACC__)
    unsigned short found;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(found) : "f"(scaled));
    return found;
#else
    const unsigned bits = SingleBits{scaled}.bits, size = bits & 0x7fffffffu, exponent = size >> 23;
    const unsigned fraction = (size & 0x7fffffu) | 0x800000u;
    // from 2^-14 on 13 bits go, below it one more for each power of two
    const unsigned gone = exponent >= 113 ? 13 : exponent > 101 ? 126 - exponent : 25;
    const unsigned rest = fraction & ((1u << gone) - 1), half = 1u << (gone - 1);
    unsigned found = fraction >> gone;
    found += rest > half || (rest == half && (found & 1u));
    found = exponent >= 113 ? found + ((exponent - 113) << 10) : exponent > 101 ? found : 0u;
    return static_cast<unsigned short>((bits >> 16 & 0x8000u) | found);
#endif
}

// Of any; `fits` becomes false where it does not, else stays as it is.
NEARFIELD_CELL unsigned short in_sixteen(float scaled, bool& fits) {
    fits = fits & (scaled > -sixteen_end) & (scaled < sixteen_end);
    const float below = scaled < sixteen_largest ? scaled : sixteen_largest;
    return nearest_in_sixteen(below > -sixteen_largest ? below : -sixteen_largest);
}

NEARFIELD_CELL float from_sixteen(unsigned short given) {
#if defined(__CUDACC__)
    float found;
    asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(given));
    return found;
#else
    const unsigned bits = given, size = bits & 0x7fffu;
    SingleBits found{float(size) * 0x1p-24F};
    if (size >= 0x400u) found.bits = (size << 13) + (112u << 23);
    found.bits |= (bits & 0x8000u) << 16;
    return found.value;
#endif
}

}  // namespace nearfield::cell
