// Row kernels: what happens to blocks [first, last) of one row at one half step. Compiled once per instruction
// set; `rows_for` picks the best that this processor has.
#pragma once

#include <string>
#include <vector>

#include "block.hpp"

namespace nearfield {

template <class Real>
struct Rows {
    // E of row (i, j). Reads H of rows (i, j), (i - 1, j), (i, j - 1) at the half step before.
    void (*electric)(const HalfStep<Real>&, long i, long j, long first, long last);
    // H of row (i, j). Reads E of rows (i, j), (i + 1, j), (i, j + 1) at the step just made.
    void (*magnetic)(const HalfStep<Real>&, long i, long j, long first, long last);
    // Sum of squares of six rows of `length` samples, in 16 fixed lanes of doubles; `stride` apart.
    double (*energy)(const Real* row, long stride, long length);
    // re[k] += value[k] * c, im[k] += value[k] * s: one frequency of a running DFT.
    void (*fourier)(Real* re, Real* im, const Real* value, long length, Real c, Real s);
};

// Names known to this build and supported by this processor, best last.
std::vector<std::string> isa_available();
// The given name, or the best when empty; throws std::invalid_argument for one that cannot run here.
std::string isa_choose(const std::string& name);
template <class Real>
const Rows<Real>& rows_for(const std::string& isa);

}  // namespace nearfield
