// A term of a sum without rounding: three digits of 32 bits of a fixed-point number whose last bit is 2^-1074
// (core/exact_sum.hpp). The term is finite; digit n of the three belongs to digit `first` + n of the sum.
#pragma once

#include "cell.h"

namespace nearfield::cell {

struct ExactTerm {
    int first;
    long long digit[3];
};

NEARFIELD_CELL bool is_finite(unsigned long long bits) { return (bits >> 52 & 0x7ff) != 0x7ff; }

// `bits`: those of a double.
NEARFIELD_CELL ExactTerm exact_term(unsigned long long bits) {
    const unsigned long long exponent = bits >> 52 & 0x7ff, fraction = bits & 0xfffffffffffffull;
    const unsigned long long at = exponent ? exponent - 1 : 0, value = exponent ? fraction | 1ull << 52 : fraction;
    const int shift = int(at % 32);
    const unsigned long long low = value << shift, high = shift ? value >> (64 - shift) : 0;
    const long long sign = bits >> 63 ? -1 : 1;
    return {int(at / 32),
            {sign * (long long)(low & 0xffffffffull), sign * (long long)(low >> 32), sign * (long long)(high)}};
}

}  // namespace nearfield::cell
